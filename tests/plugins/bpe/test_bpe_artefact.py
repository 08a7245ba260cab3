"""A saved tokenizer comes back as it was, and every damage is refused with file and reason."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokbench
from tokbench_plugins.bpe import PATTERNS, read_artefact
from tokbench_plugins.bpe.artefact import Artefact, TrainingRecord, TrainingText, write_artefact
from tokbench_plugins.bpe.special import NO_SPECIAL, SpecialTokens

MERGES = [(104, 105), (256, 33), (257, 257)]
SPECIAL = SpecialTokens({"<|endoftext|>": 259, "<é>": 300})
TRAINING = TrainingRecord(1000, "smallest", TrainingText("0" * 64, 2, 17))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.bpe.json"
    write_artefact(path, MERGES, PATTERNS["gpt4"])
    return path


def refused(path, reason, kind="regex_bpe"):
    with pytest.raises(tokbench.BackendError, match=reason) as caught:
        read_artefact(path, kind)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def rewrite(path, *, signed=True, **changes):
    """Change the file; with ``signed`` its digest is made to fit."""
    content = {**json.loads(path.read_text()), **changes}
    if signed:
        body = {key: value for key, value in content.items() if key != "sha256"}
        digest = hashlib.sha256(json.dumps(body, separators=(",", ":")).encode()).hexdigest()
        content = {**body, "sha256": digest}
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("pattern", "merges", "special", "training"),
    [
        (None, [], NO_SPECIAL, TrainingRecord()),
        (PATTERNS["o200k"], MERGES, SPECIAL, TRAINING),
        (r"\w+|é", MERGES, NO_SPECIAL, TrainingRecord(300, "first", None)),
        (PATTERNS["gpt4"], MERGES, NO_SPECIAL, TRAINING._replace(kind="superbpe", rule={"stage_one": 257})),
    ],
)
def test_round_trip(tmp_path, pattern, merges, special, training):
    path = tmp_path / "x.bpe.json"
    write_artefact(path, merges, pattern, special, training)
    kind = training.kind or ("naive_bpe" if pattern is None else "regex_bpe")
    assert read_artefact(path, kind) == Artefact(merges, pattern, special, training)


def test_what_the_file_says(tmp_path):
    path = tmp_path / "x.bpe.json"
    write_artefact(path, MERGES, "[a-z]+", SPECIAL, TRAINING)
    content = json.loads(path.read_text())
    assert len(content.pop("sha256")) == 64
    assert content == {
        "format": "tokbench-bpe/2",
        "tokbench": tokbench.__version__,
        "kind": "regex_bpe",
        "options": {"pattern": "[a-z]+", "tie": "smallest", "vocab_size": 1000},
        "corpus": {"sha256": "0" * 64, "documents": 2, "bytes": 17},
        "special_tokens": {"<|endoftext|>": 259, "<é>": 300},
        "merges": [[104, 105], [256, 33], [257, 257]],
    }


def test_the_bytes_are_always_the_same_and_may_be_reformatted(path, tmp_path):
    assert path.read_text().startswith('{"format":"tokbench-bpe/2","tokbench":"')
    again = tmp_path / "y.bpe.json"
    write_artefact(again, MERGES, PATTERNS["gpt4"])
    assert again.read_bytes() == path.read_bytes()
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2))
    assert read_artefact(path, "regex_bpe").merges == MERGES


@given(data=st.data())
def test_no_changed_byte_is_read_differently(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("flip") / "x.bpe.json"
    write_artefact(path, MERGES, PATTERNS["gpt4"])
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        artefact = read_artefact(path, "regex_bpe")
    except tokbench.BackendError:
        return
    assert artefact == Artefact(MERGES, PATTERNS["gpt4"])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", ":1:1: not JSON"),
        (b"\xff\xfe", ":1:1: not UTF-8"),
        (b"[" * 100_000, ":1:1: JSON that is nested deeper"),
        (b"[]", "not a file saved by tokbench's BPE"),
        (b'{"version": 1}', "not a file saved by tokbench's BPE"),
    ],
)
def test_other_content(path, content, reason):
    path.write_bytes(content)
    refused(path, reason)
    path.unlink()
    refused(path, "No such file")


@pytest.mark.parametrize("written", ["tokbench-bpe/1", "tokbench-bpe/3", "tokbench-bpe/10"])
def test_another_version_is_refused(path, written):
    rewrite(path, format=written)
    refused(path, f"its format is '{written}'")


def test_a_change_is_noticed_by_the_digest(path):
    rewrite(path, signed=False, merges=[[104, 105]])
    refused(path, "does not match its sha256")


def test_kind_pattern_and_options(path):
    refused(path, "load it with 'backend: regex_bpe'", kind="naive_bpe")
    known = {"pattern": "(", "tie": None, "vocab_size": None}
    rewrite(path, options=known)
    refused(path, "not a regular expression")
    rewrite(path, options={**known, "sampling": {"dropout": 0.1}})
    refused(path, "its options are pattern, tie, vocab_size, sampling")
