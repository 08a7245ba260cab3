"""The part of the answer on a study's subject: headline metrics, and languages that pay more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokbench.corpus.languages import find_language
from tokbench.measuring.metric import Role
from tokbench.report.tables import CellTables, intervals_overlap
from tokbench.results.cells import Cell

MOST_NAMES: Final = 4
_PREMIUMS: Final = (Role.PREMIUM, Role.INEQUALITY, Role.PREMIUM_RANGE)


def subject_sentences(tables: CellTables, corpus: str) -> Iterator[str]:
    """Yield who is best in the metrics of a run's subject and in speed, and which languages are worst off."""
    leading = [name for name in tables.headline if tables.metric(name).leads]
    for metric in [*leading, tables.with_role(Role.ENCODING_SPEED)]:
        if metric and tables.metric(metric).role not in _PREMIUMS:
            yield from _best(tables, metric, corpus)
    if tables.with_role(Role.PREMIUM) in leading:
        yield from _languages(tables, corpus)


def names(several: Sequence[str], most: int = MOST_NAMES) -> str:
    """Return names as a list in words.

    >>> names(["a", "b", "c"]), names(["a", "b", "c", "d", "e", "f"])
    ('a, b and c', 'a, b, c, d and 2 more')
    """
    shown = [*several[:most], *([f"{len(several) - most} more"] if len(several) > most else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def shown(tables: CellTables, cell: Cell) -> str:
    """Return the value of a whole-corpus cell with its unit, for a sentence."""
    series = tables.series(cell.metric, cell.corpus)
    unit = series.unit_label
    words = unit.replace("/", " per ") if "token" in unit else unit
    return f"{series.cells[cell.tokenizer].text} {words}"


def _best(tables: CellTables, metric: str, corpus: str) -> Iterator[str]:
    pool, label = tables.competing(metric, corpus), tables.label(metric)
    if len(pool) < 2 or tables.metric(metric).direction == "none":  # noqa: PLR2004 - one alone cannot be compared
        return
    level = tables.level_with_best(metric, corpus)
    best = f"{pool[0].tokenizer} is best in {label}, {shown(tables, pool[0])}"
    near = [cell.tokenizer for cell in pool[1:] if cell.tokenizer in level]
    if all(cell.value == pool[0].value for cell in pool):
        yield f"All that are ranked are equal in {label}, {shown(tables, pool[0])}."
    elif not level:
        yield f"These documents do not show who is best in {label}."
    elif near:
        verb = "does" if len(near) == 1 else "do"
        yield f"{best}; {names(near)} {verb} not differ significantly."
    else:
        yield f"{best}, significantly ahead of all others."


def _languages(tables: CellTables, corpus: str) -> Iterator[str]:
    pool = tables.competing(tables.with_role(Role.INEQUALITY), corpus)
    mentioned = []
    if len(pool) > 1 and pool[0].ci_high is not None:
        top, *others = pool
        near = [cell.tokenizer for cell in others if cell.ci_low is None or intervals_overlap(cell, top)]
        more = f"; {names(near)} may be as even" if near else ""
        coefficient = f"{tables.label(top.metric)} {tables.series(top.metric, corpus).cells[top.tokenizer].text}"
        yield f"{top.tokenizer} is most even between languages, {coefficient}{more}."
        mentioned.append(top.tokenizer)
    shortest = tables.competing(tables.with_role(Role.TEXT_PER_TOKEN), corpus)
    mentioned += [shortest[0].tokenizer] if shortest else []
    for tokenizer in dict.fromkeys(mentioned):
        yield from _worst_off(tables, corpus, tokenizer)


def _worst_off(tables: CellTables, corpus: str, tokenizer: str) -> Iterator[str]:
    info, metric = tables.corpus(corpus), tables.with_role(Role.PREMIUM)
    languages = [group for group in info.groups if group != info.reference]
    cells = [tables.cell(metric, corpus, group, tokenizer) for group in languages]
    known = [cell for cell in cells if cell and tables.competes(cell) and cell.ci_low is not None]
    if not known:
        return
    worst = max(known, key=lambda cell: cell.value or 0.0)
    rivals = [_language(cell.group) for cell in known if cell is not worst and intervals_overlap(cell, worst)]
    left = len(languages) - len(known)
    of = f", of the {len(known)} languages of {len(languages)} that have an interval" if left else ""
    more = f"; {names(rivals)} may be worse off" if rivals else ""
    yield (
        f"{_language(worst.group)} is worst off under {tokenizer}{of}: {worst.value:.2f} times "
        f"[{worst.ci_low:.2f}, {worst.ci_high:.2f}] the tokens of {_language(info.reference)}{more}."
    )


def _language(group: str) -> str:
    """Return the name of a language with its code.

    >>> _language("hy"), _language("slang")
    ('Armenian (hy)', 'slang')
    """
    language = find_language(group)
    return f"{language.name} ({group})" if language else group
