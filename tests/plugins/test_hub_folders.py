"""A name of the hub, its folder and AutoTokenizer give the same ids, over folders put together from ingredients."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import hub_folders
import pytest
from loopback_hub import COMMIT, serving

import tokbench
from tokbench.registry.plugins import load_registry, missing

pytestmark = pytest.mark.skipif(find_spec("transformers") is None, reason="needs transformers")

NOTHING_READ = ("Couldn't instantiate the backend tokenizer", "no vocabulary")


@pytest.mark.parametrize("number", [12, pytest.param(300, marks=[pytest.mark.slow, pytest.mark.nightly])])
def test_every_door_gives_one_answer(number, tmp_path):
    kinds = hub_folders.folders(number, tmp_path)
    repositories = {
        name: {COMMIT: {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()}} for name in kinds
    }
    with serving(repositories) as server:
        hub = {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(tmp_path / "home")}
        done = subprocess.run(
            [sys.executable, hub_folders.__file__, str(tmp_path)],
            env={**os.environ, **hub, "NO_PROXY": "*", "no_proxy": "*", "TIKTOKEN_CACHE_DIR": ""},
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
    assert len(loaded) >= (len(set(kinds.values())) - 3 if number == 300 else 6)


def test_ranks_with_a_split_of_their_own_are_not_read_by_another(tmp_path):
    """``AutoTokenizer`` has GPT-4's split for all ranks; an export says which one its ranks have."""
    tokbench.train("regex_bpe:gpt2", hub_folders.TRAINED_ON, 330).export("tiktoken", tmp_path / "tokenizer.model")
    whole = tokbench.load(str(tmp_path))
    assert whole.encode("1234567") == tokbench.load(str(tmp_path / "tokenizer.model")).encode("1234567")
    (tmp_path / "added_tokens.json").write_text('{"<tool>": 330}', encoding="utf-8")
    with pytest.raises(tokbench.BackendError, match=r"name the file itself: .*tokenizer\.model"):
        tokbench.load(str(tmp_path))


@pytest.fixture
def old_transformers(monkeypatch):
    """Let the library be older than declared."""
    monkeypatch.setattr("tokbench.registry.plugins.version", lambda name: "4.57.6" if name == "transformers" else "99")


@pytest.mark.usefixtures("old_transformers")
def test_a_library_that_is_too_old_is_named_with_the_remedy():
    said = "needs transformers>=5, and 4.57.6 is installed: pip install 'transformers>=5'"
    assert missing(load_registry().backends.get("transformers")) == said
    with pytest.raises(tokbench.BackendUnavailable, match="needs transformers>=5"):
        tokbench.load("transformers:org/name")


@pytest.mark.usefixtures("old_transformers")
def test_without_autotokenizer_only_what_decides_nothing_is_read(tmp_path):
    vocabulary = hub_folders.vocabularies(tmp_path)

    def folder(name, **more):
        (tmp_path / "f" / name).mkdir(parents=True)
        for file, data in (vocabulary[name] | more).items():
            (tmp_path / "f" / name / file).write_bytes(data)
        return str(tmp_path / "f" / name)

    config = {"tokenizer_config.json": b'{"tokenizer_class": "LlamaTokenizer"}'}
    whole = tokbench.load(folder("json bytes", **config))
    assert [note for note in whole.notes if note.startswith("caution: tokenizer.json alone was read")]
    assert tokbench.load(folder("ranks")).encode("low lower") == tokbench.load(
        "tiktoken", path=tmp_path / "x.tiktoken"
    ).encode("low lower")
    assert tokbench.load(folder("tekken")).vocab_size == tokbench.load(folder("ranks tiktoken")).vocab_size + 7
    assert tokbench.load(folder("bpe tokenizer.model")).vocab_size == 340
    assert tokbench.load(folder("pair")).vocab_size == 330
    with pytest.raises(
        tokbench.BackendUnavailable, match=r"AutoTokenizer decides the ids of .*spiece\.model, and needs"
    ):
        tokbench.load(folder("pieces spiece.model", **config))


def test_ranks_of_a_folder_are_read_again_when_they_change(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    ids = []
    for text in ("low lower lowest", "cat cats catch"):
        tokbench.train("tiktoken:gpt4", [text] * 9, 262).save(tmp_path / "x.tiktoken")
        (tmp_path / "model").mkdir(exist_ok=True)
        (tmp_path / "model" / "tokenizer.model").write_bytes((tmp_path / "x.tiktoken").read_bytes())
        ids.append(len(tokbench.load("transformers", path=str(tmp_path / "model")).encode(text)))
    assert max(ids) < len("cat cats catch")
    assert not (tmp_path / "cache").exists()


def test_a_folder_of_several_is_refused(tmp_path):
    for name in ("one.tiktoken", "two.tokenizer.json"):
        (tmp_path / name).write_text("IQ== 0" if name == "one.tiktoken" else "{}")
    with pytest.raises(tokbench.BackendError, match=r"one\.tiktoken, two\.tokenizer\.json"):
        tokbench.load(str(tmp_path))
