"""A name of the hub, its folder and AutoTokenizer give the same ids, over folders put together from ingredients."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import hub_folders
import pytest
from loopback_hub import COMMIT, serving

pytestmark = pytest.mark.skipif(find_spec("transformers") is None, reason="needs transformers")

NOTHING_READ = ("Couldn't instantiate the backend tokenizer", "no vocabulary")


@pytest.mark.parametrize("number", [20, pytest.param(300, marks=pytest.mark.slow)])
def test_every_door_gives_one_answer(number, tmp_path):
    kinds = hub_folders.folders(number, tmp_path)
    repositories = {
        name: {COMMIT: {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()}} for name in kinds
    }
    with serving(repositories) as server:
        hub = {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(tmp_path / "home")}
        done = subprocess.run(
            [sys.executable, hub_folders.__file__, str(tmp_path)],
            env={**os.environ, **hub, "NO_PROXY": "*", "no_proxy": "*"},
            capture_output=True,
            text=True,
            check=False,
            timeout=1800,
        )
    assert done.returncode == 0, done.stderr
    loaded = set()
    for name, doors in json.loads(done.stdout).items():
        by_name, by_folder, theirs = doors["name"], doors["folder"], (doors["auto"], doors["ordinary"])
        assert by_name.get("ids") == by_folder.get("ids"), (name, doors)
        if "ids" in by_folder:
            loaded.add(kinds[name])
            alone = any(reason in theirs[0].get("refused", "") for reason in NOTHING_READ)
            assert alone or by_folder in theirs, (name, doors)
        else:
            assert by_name["refused"].split(":")[0] == by_folder["refused"].split(":")[0] != "AttributeError"
            assert "refused" in theirs[0], (name, doors)
    assert len(loaded) >= (len(set(kinds.values())) - 3 if number == 300 else 9)
