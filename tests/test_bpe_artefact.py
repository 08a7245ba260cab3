"""A saved tokenizer comes back as it was, and every damage is refused with file and reason."""

import hashlib
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokbench
from tokbench_plugins.bpe import PATTERNS, read_artefact, write_artefact

MERGES = [(104, 105), (256, 33), (257, 257)]


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


@pytest.mark.parametrize("pattern", [None, PATTERNS["o200k"], r"\w+|é"])
@pytest.mark.parametrize("merges", [[], MERGES])
def test_round_trip(tmp_path, pattern, merges):
    path = tmp_path / "x.bpe.json"
    write_artefact(path, merges, pattern)
    assert read_artefact(path, "naive_bpe" if pattern is None else "regex_bpe") == (merges, pattern)


def test_the_format_comes_first_and_the_bytes_are_always_the_same(path, tmp_path):
    assert path.read_text().startswith('{"format":"tokbench-bpe/1","kind":"regex_bpe"')
    again = tmp_path / "y.bpe.json"
    write_artefact(again, MERGES, PATTERNS["gpt4"])
    assert again.read_bytes() == path.read_bytes()


def test_reformatting_is_no_damage(path):
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2))
    assert read_artefact(path, "regex_bpe").merges == MERGES


def test_writing_replaces_and_leaves_nothing_beside(path, tmp_path):
    write_artefact(path, [], None)
    assert read_artefact(path, "naive_bpe") == ([], None)
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(path, tmp_path, monkeypatch):
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_artefact(path, [], None)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_missing(tmp_path):
    refused(tmp_path / "none.bpe.json", "No such file")
    refused(tmp_path, "directory")


@given(cut=st.data())
def test_no_cut_file_is_read(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("cut") / "x.bpe.json"
    write_artefact(path, MERGES, PATTERNS["gpt4"])
    whole = path.read_bytes().rstrip()
    path.write_bytes(whole[: cut.draw(st.integers(0, len(whole) - 1))])
    refused(path, "not JSON")


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
    assert artefact == (MERGES, PATTERNS["gpt4"])


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"[" * 100_000, b"hello"])
def test_not_json(path, content):
    path.write_bytes(content)
    refused(path, "not JSON")


@pytest.mark.parametrize("content", ["[]", "null", "{}", '"tokbench-bpe/1"', '{"version": 1}'])
def test_other_json(path, content):
    path.write_text(content)
    refused(path, "not a file saved by tokbench's BPE")


def test_wrong_version(path):
    rewrite(path, format="tokbench-bpe/2")
    refused(path, "'tokbench-bpe/2' is unknown; this version of tokbench reads 'tokbench-bpe/1'")


def test_digest_mismatch(path):
    rewrite(path, signed=False, merges=[[104, 105]])
    refused(path, "does not match its sha256")


@pytest.mark.parametrize("extra", [{"comment": "mine"}, {"Merges": []}])
def test_unknown_keys(path, extra):
    rewrite(path, **extra)
    refused(path, "its keys are")


@pytest.mark.parametrize(
    ("merges", "reason"),
    [
        ([[104, 105], [258, 33]], "merge 1 makes id 257 from .258, 33."),
        ([[256, 1]], "only ids below 256"),
        ([[-1, 1]], "merge 0"),
        ([[1, 2], [1, 2]], "merge 1 repeats merge 0"),
        ([[1, 2, 3]], "not two ids"),
        ([[1, 2.0]], "not two ids"),
        ([[True, 1]], "not two ids"),
        (["ab"], "not two ids"),
        ({}, "not a list"),
        (None, "not a list"),
    ],
)
def test_impossible_merges(path, merges, reason):
    rewrite(path, merges=merges)
    refused(path, reason)


def test_kind_and_pattern(path):
    refused(path, "load it with 'backend: regex_bpe'", kind="naive_bpe")
    rewrite(path, pattern=None)
    refused(path, "does not go with pattern None")
    rewrite(path, pattern=7)
    refused(path, "does not go with pattern 7")
    rewrite(path, pattern="(")
    refused(path, "not a regular expression")
