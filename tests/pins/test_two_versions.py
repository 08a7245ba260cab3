"""The recipe of the documentation: two real versions of a library give other ids for one vocabulary."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import tokbench.pins

OLD = "0.0.10"
CONFIG = """\
schema: tokbench/1
name: digits
corpora: {hostile: {source: sample, part: hostile}}
tokenizers:
  gpt-4: {backend: tokie, encoding: cl100k_base}
  gpt-4o: {backend: tokie, encoding: o200k_base}
metrics: [compression]
"""


def tokbench_in(folder, *arguments, library=""):
    """Run a command in a folder, with a folder of libraries before all others; return its exit code and its output."""
    path = os.pathsep.join(filter(None, [library, os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-m", "tokbench", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout.decode()


@pytest.mark.slow
def test_an_older_tokie_cuts_digits_in_another_way(tmp_path):
    pytest.importorskip("tokie")
    pytest.importorskip("tiktoken")
    old = tmp_path / "old"
    install = ["-m", "pip", "install", "-q", "--no-deps", "--target", str(old), f"tokie=={OLD}"]
    if subprocess.run([sys.executable, *install], capture_output=True, timeout=300, check=False).returncode:
        pytest.skip(f"tokie {OLD} cannot be installed here")
    (tmp_path / "digits.yaml").write_text(CONFIG)
    pinned, said = tokbench_in(tmp_path, "pin", "digits.yaml", "-o", "ids.lock")
    if "no network" in said or "unavailable" in said:
        pytest.skip("the vocabularies are not on this machine")
    assert pinned == 0, said
    assert tokbench_in(tmp_path, "pin", "--check", "ids.lock")[0] == 0
    code, said = tokbench_in(tmp_path, "pin", "--check", "ids.lock", library=str(old))
    assert code == 1
    if version("tokie") == "0.1.4":
        readme = (Path(tokbench.pins.__file__).parent / "README.md").read_text(encoding="utf-8")
        [shown] = re.findall(r"```text\n(gpt-4.*?)```", readme, re.DOTALL)
        assert said == shown
