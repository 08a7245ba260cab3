"""Assertions for the tests of a tokenizer library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tokbench.comparison.compare import CellChange, Comparison, compare
from tokbench.comparison.gate import EVERY, Rule, check_rules
from tokbench.comparison.render import ChangeRow
from tokbench.foundation.errors import InputError, did_you_mean
from tokbench.foundation.visible_text import visible
from tokbench.results.model import NamedRun, Results
from tokbench.testing.shrink import shrink
from tokbench.tokenizers.contract import HasTokenBytes, Tokenizer

_AROUND = 4

_MOST_ROWS = 20


def assert_same_ids(tokenizer: Tokenizer, reference: Tokenizer, texts: Iterable[str]) -> None:
    """Assert that two tokenizers give the same ids for every text.

    >>> import tokbench
    >>> assert_same_ids(tokbench.load("utf8_bytes"), tokbench.load("utf8_bytes"), ["one", "né"])
    >>> assert_same_ids(tokbench.load("utf16_units"), tokbench.load("utf8_bytes"), ["one", "two né"])
    Traceback (most recent call last):
    AssertionError: document 1: token 5 is 233, and 195 in the reference
      ids:       [116, 119, 111, 32, 110, >>> 233]
      reference: [116, 119, 111, 32, 110, >>> 195, 169]
    the smallest text that was found: 'é'
      ids:       [233]
      reference: [195, 169]
    type next: tokenizer.encode('é')
    """
    __tracebackhide__ = True
    for number, text in enumerate(texts):
        one, two = _ids(tokenizer, text), _ids(reference, text)
        if one != two:
            smallest = shrink(text, _differ(tokenizer, reference))
            raise AssertionError(_other_ids(number, one, two, smallest, tokenizer, reference))


def _ids(tokenizer: Tokenizer, text: str) -> list[int]:
    return [int(token) for token in tokenizer.encode(text)]


def _differ(tokenizer: Tokenizer, reference: Tokenizer) -> Callable[[str], bool]:
    return lambda text: _ids(tokenizer, text) != _ids(reference, text)


def _other_ids(
    number: int, one: Sequence[int], two: Sequence[int], smallest: str, tokenizer: Tokenizer, reference: Tokenizer
) -> str:
    at = next((k for k, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    names = [_named(ids, at, encoder) for ids, encoder in ((one, tokenizer), (two, reference))]
    return "\n".join(
        [
            f"document {number}: token {at} is {names[0]}, and {names[1]} in the reference",
            f"  ids:       {_marked(one, at)}",
            f"  reference: {_marked(two, at)}",
            f"the smallest text that was found: {visible(repr(smallest))}",
            f"  ids:       {_ids(tokenizer, smallest)}",
            f"  reference: {_ids(reference, smallest)}",
            f"type next: tokenizer.encode({visible(repr(smallest))})",
        ]
    )


def _named(ids: Sequence[int], at: int, tokenizer: Tokenizer) -> str:
    if at >= len(ids):
        return "missing"
    data = tokenizer.token_bytes(ids[at]) if isinstance(tokenizer, HasTokenBytes) else b""
    return f"{ids[at]} ({data!r})" if len(data) > 1 and data.isascii() else str(ids[at])


def _marked(ids: Sequence[int], at: int) -> str:
    first, last = max(0, at - 2 * _AROUND), at + _AROUND
    parts = [f"{'>>> ' if k == at else ''}{ids[k]}" for k in range(first, min(len(ids), last))]
    return f"[{'... ' if first else ''}{', '.join(parts)}{' ...' if last < len(ids) else ''}]"


def assert_lossless(tokenizer: Tokenizer, texts: Iterable[str]) -> None:
    """Assert that a tokenizer is lossless: ``decode(encode(text)) == text``.

    >>> import tokbench
    >>> assert_lossless(tokbench.load("utf8_bytes"), ["one", "né"])
    >>> assert_lossless(tokbench.train("codepoints", ["a one two three"], 99, store=False), ["one", "two Three"])
    Traceback (most recent call last):
    AssertionError: document 1 does not come back: at character 4 it has 'Three', and '�hree' comes back
    the smallest text that was found: 'T'
      ids:        [0]
      comes back: '�'
    type next: tokenizer.decode(tokenizer.encode('T'))
    """
    __tracebackhide__ = True
    for number, text in enumerate(texts):
        back = tokenizer.decode(tokenizer.encode(text))
        if back != text:
            smallest = shrink(text, lambda part: tokenizer.decode(tokenizer.encode(part)) != part)
            raise AssertionError(_lost(number, text, back, smallest, tokenizer))


def _lost(number: int, text: str, back: str, smallest: str, tokenizer: Tokenizer) -> str:
    at = next((k for k, (a, b) in enumerate(zip(text, back, strict=False)) if a != b), min(len(text), len(back)))
    there, returned = (_quoted(whole[at:]) for whole in (text, back))
    ids = _ids(tokenizer, smallest)
    return "\n".join(
        [
            f"document {number} does not come back: at character {at} it has {there}, and {returned} comes back",
            f"the smallest text that was found: {visible(repr(smallest))}",
            f"  ids:        {ids}",
            f"  comes back: {visible(repr(tokenizer.decode(ids)))}",
            f"type next: tokenizer.decode(tokenizer.encode({visible(repr(smallest))}))",
        ]
    )


def _quoted(text: str) -> str:
    longest = 24
    return visible(repr(text[:longest])) + ("..." if len(text) > longest else "") if text else "its end"


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
    runs = [_named_run(side, name) for side, name in ((baseline, "the baseline"), (results, "the results"))]
    comparison = compare(*runs)
    rules = _rules(comparison, limit.strip().lstrip("+-"), metrics, each_group=each_group, significantly=significantly)
    failed = [failed.change for failed in check_rules(rules, comparison)]
    if failed:
        raise AssertionError(_worse(failed, limit, [run.name for run in runs]))


def _named_run(run: Results | str | Path, name: str) -> NamedRun:
    return NamedRun(name, run) if isinstance(run, Results) else NamedRun.read(run)


def _rules(
    comparison: Comparison, limit: str, metrics: Sequence[str], *, each_group: bool, significantly: bool
) -> list[Rule]:
    known = comparison.metrics
    if not re.fullmatch(r"\d+(\.\d+)?\s*%?", limit):
        raise InputError(f"assert_not_worse: limit {limit!r} is not a number; write it as '+1%' or '0.02'")
    if unknown := [name for name in metrics if name not in known]:
        hint = did_you_mean(unknown[0], known)
        raise InputError(f"assert_not_worse: no run has a metric {unknown[0]!r}; {hint}")
    chosen = metrics or [
        name
        for name in dict.fromkeys(change.metric for change in comparison.changes)
        if known[name].direction != "none" and not known[name].timed
    ]
    if not chosen:
        reasons = "; ".join(comparison.refused) or "the runs have no number of which a direction is better"
        raise InputError(f"assert_not_worse compares nothing: {reasons}")
    place, how = f"[{EVERY}]" if each_group else "", " significantly" if significantly else ""
    signs = {"higher": "< -", "lower": "> +"}
    rules = []
    for name in chosen:
        if known[name].direction not in signs:
            raise InputError(f"assert_not_worse: no direction of {name!r} is better; leave it out of 'metrics'")
        rules.append(Rule.parse(f"{name}{place} {signs[known[name].direction]}{limit}{how}"))
    return rules


def _worse(changes: Sequence[CellChange], limit: str, names: Sequence[str]) -> str:
    ordered = sorted(changes, key=lambda change: -abs(change.ratio if change.ratio is not None else 1.0))
    numbers = "1 number is" if len(changes) == 1 else f"{len(changes):,} numbers are"
    lines = [f"{numbers} worse than in {names[0]} by more than {limit.lstrip('+-')}:"]
    for change in ordered[:_MOST_ROWS]:
        row = ChangeRow.of(change)
        what = f"{row.change}; 95 % interval {row.interval}" if row.interval else row.change or row.verdict
        place = f"{row.tokenizer} on {row.corpus}, {row.group}"
        lines.append(f"  {place}: {row.metric} {row.before} -> {row.after} ({what})")
    if len(changes) > _MOST_ROWS:
        lines.append(f"  and {len(changes) - _MOST_ROWS:,} more")
    return "\n".join([*lines, "type next: tokbench compare BASELINE RUN, with the folders of both runs"])
