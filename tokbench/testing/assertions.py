"""Assertions for the tests of a tokenizer library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tokbench.comparison.compare import compare
from tokbench.comparison.gate import EVERY, GateRule, check_rules
from tokbench.comparison.render import texts_of
from tokbench.foundation.errors import InputError
from tokbench.foundation.visible_text import visible
from tokbench.results.model import NamedRun, Results
from tokbench.testing.shrink import shrink
from tokbench.tokenizers.contract import Tokenizer

_MOST_ROWS = 20


def assert_same_ids(tokenizer: Tokenizer, reference: Tokenizer, texts: Iterable[str]) -> None:
    """Assert that two tokenizers give the same ids for every text.

    >>> import tokbench
    >>> assert_same_ids(tokbench.load("utf8_bytes"), tokbench.load("utf8_bytes"), ["one", "né"])
    >>> assert_same_ids(tokbench.load("utf16_units"), tokbench.load("utf8_bytes"), ["one", "two né"])
    Traceback (most recent call last):
    AssertionError: document 1 has other ids; the smallest text that was found: 'é'
      ids:       [233]
      reference: [195, 169]
    type next: tokenizer.encode('é')
    """
    __tracebackhide__ = True

    def ids(encoder: Tokenizer, text: str) -> list[int]:
        return list(map(int, encoder.encode(text)))

    def fails(text: str) -> bool:
        return ids(tokenizer, text) != ids(reference, text)

    for number, text in enumerate(texts):
        if fails(text):
            small = shrink(text, fails)
            raise AssertionError(
                f"document {number} has other ids; the smallest text that was found: {visible(repr(small))}\n"
                f"  ids:       {ids(tokenizer, small)}\n  reference: {ids(reference, small)}\n"
                f"type next: tokenizer.encode({visible(repr(small))})"
            )


def assert_lossless(tokenizer: Tokenizer, texts: Iterable[str]) -> None:
    """Assert that a tokenizer is lossless: ``decode(encode(text)) == text``.

    >>> import tokbench
    >>> assert_lossless(tokbench.load("utf8_bytes"), ["one", "né"])
    >>> assert_lossless(tokbench.train("codepoints", ["a one two three"], 99, store=False), ["one", "two Three"])
    Traceback (most recent call last):
    AssertionError: document 1 is decoded differently; the smallest text that was found: 'T'
      ids:     [0]
      decoded: '�'
    type next: tokenizer.decode(tokenizer.encode('T'))
    """
    __tracebackhide__ = True

    def fails(text: str) -> bool:
        return tokenizer.decode(tokenizer.encode(text)) != text

    for number, text in enumerate(texts):
        if fails(text):
            small = shrink(text, fails)
            ids = list(map(int, tokenizer.encode(small)))
            raise AssertionError(
                f"document {number} is decoded differently; the smallest text that was found: {visible(repr(small))}\n"
                f"  ids:     {ids}\n  decoded: {visible(repr(tokenizer.decode(ids)))}\n"
                f"type next: tokenizer.decode(tokenizer.encode({visible(repr(small))}))"
            )


def assert_not_worse(
    results: Results | str | Path,
    baseline: Results | str | Path,
    limit: str = "+1%",
    *,
    metrics: Sequence[str] = (),
    each_group: bool = False,
    significantly: bool = False,
) -> None:
    """Assert that no number of a run is worse than in an earlier run by more than a limit.

    Numbers without a better direction are left out, and so are speeds, unless ``metrics`` names them. A missing number
    is worse.

    Args:
        results: the run: results, a folder, or a ``results.json`` file.
        baseline: the earlier run.
        limit: a share of the baseline's value (``"+1%"``), or a difference in the unit of the metric (``"0.02"``).
        metrics: metric ids; empty for all.
        each_group: compare every group, too, not only whole corpora.
        significantly: fail only where chance does not explain it; see :func:`tokbench.comparison.gate.check_rules`.

    Raises:
        InputError: the limit is not a number, the metric is unknown, or nothing can be compared.
    """
    __tracebackhide__ = True
    runs = [
        NamedRun(name, run) if isinstance(run, Results) else NamedRun.read(run)
        for run, name in ((baseline, "the baseline"), (results, "the results"))
    ]
    comparison = compare(*runs)
    chosen = metrics or dict.fromkeys(
        change.metric
        for change in comparison.changes
        if change.direction != "none" and not comparison.metrics[change.metric].timed
    )
    if not chosen:
        raise InputError(
            f"assert_not_worse compares nothing: {'; '.join(comparison.refused) or 'no number is in both'}"
        )
    place, how = f"[{EVERY}]" if each_group else "", " significantly" if significantly else ""
    signs = {name: "<-" if info.direction == "higher" else ">+" for name, info in comparison.metrics.items()}
    rules = [
        GateRule.parse(f"{name}{place} {signs.get(name, '>+')}{limit.strip().lstrip('+-')}{how}") for name in chosen
    ]
    rows = [texts_of(failed.change) for failed in check_rules(rules, comparison)]
    if rows:
        shown = [f"  {' | '.join(filter(None, row))}" for row in rows[:_MOST_ROWS]]
        more = [f"  and {len(rows) - _MOST_ROWS:,} more"] if len(rows) > _MOST_ROWS else []
        head = f"{len(rows):,} of the numbers are worse than in {runs[0].name} by more than {limit}:"
        raise AssertionError("\n".join([head, *shown, *more]))
