"""Each machine writes what Python writes; a search finds the shortest text, or proves that there is none."""

from __future__ import annotations

import json
from itertools import count, product
from typing import Any

import pytest

from tokbench_identity.equal.patterns import UndecidedError
from tokbench_identity.inject.machines import (
    LOWER,
    UPPER,
    Answered,
    LeftStripped,
    Mapped,
    Parted,
    PartTaken,
    Replaced,
    RightStripped,
    alphabet,
    json_escaped,
)
from tokbench_identity.inject.search import Marks, PlaceInText, Search, _finish, _push

_TEXTS = ["".join(chars) for size in range(6) for chars in product("ab <", repeat=size)]


def written(machine: Any, text: str) -> set[str]:
    """Return all that a machine may write."""
    return {out + last for state, out in _push([machine], (machine.start,), text) for last in _finish([machine], state)}


@pytest.mark.parametrize(
    ("machine", "function"),
    [
        (Replaced("ab", ""), lambda text: text.replace("ab", "")),
        (Replaced("aa", "b"), lambda text: text.replace("aa", "b")),
        (Replaced("aba", "x", 1), lambda text: text.replace("aba", "x", 1)),
        (LeftStripped(), str.lstrip),
        (LeftStripped("<a"), lambda text: text.lstrip("<a")),
        (RightStripped(), str.rstrip),
        (RightStripped("b<"), lambda text: text.rstrip("b<")),
        (UPPER, str.upper),
        (json_escaped(ascii_only=True), lambda text: json.dumps(text)[1:-1]),
        (PartTaken(drop=2), lambda text: text[2:]),
        (PartTaken(keep=2), lambda text: text[:2]),
    ],
    ids=count(),
)
def test_machine_writes_what_python_does(machine: Any, function: Any) -> None:
    for text in _TEXTS:
        assert written(machine, text) == {function(text)}, text


@pytest.mark.parametrize("sep", ["a", "ab", "aa", "aba"])
def test_parts_of_a_split_are_pythons(sep: str) -> None:
    for text in _TEXTS:
        parts = text.split(sep)
        expected = {"before": parts[:1], "after last": parts[-1:], "after first": text.split(sep, 1)[1:]}
        for side, part in expected.items():
            assert written(Parted(sep, side), text) == ({*part} if len(parts) > 1 else set()), (side, text)


@pytest.mark.parametrize("word", ["", "a", "ab", "aa", "aab"])
def test_guards_let_through_what_answers(word: str) -> None:
    asks = {"contains": str.__contains__, "starts": str.startswith, "ends": str.endswith, "equals": str.__eq__}
    for text in _TEXTS:
        for question, ask in asks.items():
            answer = ask(text, word)
            for wanted in (True, False):
                expected = {text} if answer == wanted else set()
                assert written(Answered(question, word, wanted), text) == expected, (question, wanted, text)


def test_open_cut_writes_every_part() -> None:
    for text in _TEXTS:
        parts = {text[a:b] for a in range(len(text) + 1) for b in range(a, len(text) + 1)}
        assert written(PartTaken(), text) == parts


_CHAINS = {
    "none": ((), lambda text: text),
    "strip": ((LeftStripped(), RightStripped()), str.strip),
    "remove once": ((Replaced("ab", ""),), lambda text: text.replace("ab", "")),
    "remove twice": ((Replaced("ab", ""), Replaced("ab", "")), lambda text: text.replace("ab", "").replace("ab", "")),
    "remove a letter": ((Replaced("a", ""),), lambda text: text.replace("a", "")),
    "strip, then replace": ((LeftStripped(), Replaced("b", "<")), lambda text: text.lstrip().replace("b", "<")),
    "before": ((Parted("<", "before"),), lambda text: text.split("<")[0] if "<" in text else None),
}


@pytest.mark.parametrize("chain", _CHAINS)
@pytest.mark.parametrize(("before", "after"), [("", ""), ("a", ""), ("", "b"), ("<a", "b<"), ("b", "a")])
@pytest.mark.parametrize("mark", ["ab", "ba<", " a", "aa"])
def test_search_agrees_with_trying_all(chain: str, before: str, after: str, mark: str) -> None:
    machines, function = _CHAINS[chain]

    def makes(text: str) -> bool:
        middle = function(text)
        whole, end = f"{before}{middle}{after}", len(before) + len(middle or "")
        starts = [k for k in range(len(whole)) if whole.startswith(mark, k)] if middle is not None else []
        if end == len(before):
            return any(k < end < k + len(mark) for k in starts)
        return any(k < end and k + len(mark) > len(before) for k in starts)

    texts = [text for text in _TEXTS if makes(text)]
    search = Search(PlaceInText(before, machines, after, open=False), Marks((mark,)))
    first = next(search.candidates(9), None)
    if texts:
        assert first is not None
        assert makes(first)
        assert len(first) == min(map(len, texts))
    else:
        assert first is None or len(first) > 5
        assert first is not None or search.ended


def test_look_alikes_that_become_a_mark() -> None:
    letters = set(alphabet((UPPER,), ("<S>",)))
    assert {"S", "s", "\u00df"} <= letters
    assert "\u017f" not in letters, "it becomes an S, as s does"
    assert next(Search(PlaceInText("", (UPPER,), "", open=False), Marks(("K",))).candidates(3)) in {"k", "K"}
    search = Search(PlaceInText("", (LOWER,), "", open=False), Marks(("[INST]",)))
    assert list(search.candidates(9)) == []
    assert search.ended


def test_marks_that_begin_in_escapes_are_undecided() -> None:
    with pytest.raises(UndecidedError):
        alphabet((json_escaped(ascii_only=True),), ("u003c",))


def test_longest_mark_of_each_state() -> None:
    marks = Marks(("ab", "b", "cab"))
    state = 0
    for char, longest in zip("cabb", (0, 0, 3, 1), strict=True):
        state = marks.step(state, char)
        assert marks.longest[state] == longest


def test_unknown_map_is_asked_per_character() -> None:
    wide = Mapped("wide", lambda char: chr(ord(char) - 0xFEE0) if "\uff01" <= char <= "\uff5e" else char)
    items = list(Search(PlaceInText("<|im_end", (wide,), "", open=False), Marks(("<|im_end|>",))).candidates(2))
    assert "|>" in items
