"""What a check says: first what changed, then whether ids are equal, then causes."""

import pytest

from tokbench_identity.pins.check import LockCheck, TokenizerCheck
from tokbench_identity.pins.explain import causes, updates
from tokbench_identity.pins.lock import PinnedTokenizer, PinnedVocabulary
from tokbench_identity.pins.terminal import lines

UPDATE = ("tiktoken 0.14.0 → 0.12.0",)


@pytest.mark.parametrize(
    ("found", "line"),
    [
        ({}, "t: same (2 documents)"),
        ({"updates": UPDATE}, "t: tiktoken 0.14.0 → 0.12.0: same ids (2 documents)"),
        (
            {"updates": UPDATE, "causes": ("merges: cannot be read now",)},
            "t: tiktoken 0.14.0 → 0.12.0: same ids (2 documents), but not the same tokenizer",
        ),
        ({"causes": ("ids: some",)}, "t: same ids (2 documents), but not the same tokenizer"),
        ({"updates": UPDATE, "changed": ("a",)}, "t: tiktoken 0.14.0 → 0.12.0: 1 of 2 documents has other ids"),
        ({"changed": ("a", "b")}, "t: 2 of 2 documents have other ids"),
        ({"reason": "gone"}, "t: not checked: gone"),
    ],
)
def test_a_check_begins_with_what_changed(found, line):
    assert next(lines(LockCheck((TokenizerCheck("t", 2, **found),)))) == line


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (("b", "x 1", "y 1"), ("b", "x 1", "y 1"), []),
        (("b", "x 1", "y 1"), ("b", "y 2", "x 1"), ["y 1 → 2"]),
        (("b", "x 1"), ("b", "y 2"), ["x 1 → not there", "y not there → 2"]),
        (("b", "x 1"), ("c", "y 2"), ["b → c"]),
    ],
)
def test_changes_are_backends_or_versions(before, now, said):
    one, two = (
        PinnedTokenizer("t", backend, tuple(packages), {}, PinnedVocabulary(9), ())
        for backend, *packages in (before, now)
    )
    assert list(updates(one, two)) == said


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"merges": "a"}, {"merges": "b"}, ["merges: was 'a', now 'b'"]),
        ({"merges": "a"}, {}, ["merges: cannot be read now"]),
        ({}, {"merges": "a"}, ["merges: could not be read when pinned"]),
        ({"merges": "a"}, {"merges": "a"}, []),
    ],
)
def test_a_stage_that_is_not_there_cannot_be_read(before, now, said):
    one, two = (PinnedVocabulary(9, stages=stages) for stages in (before, now))
    assert causes(one, two, [], same_backend=True) == said
