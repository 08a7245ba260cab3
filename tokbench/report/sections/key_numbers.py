"""The few numbers and the sentence at the head of a report."""

from __future__ import annotations

from typing import NamedTuple

from tokbench.measuring.metric import Role
from tokbench.report.number_format import byte_size, duration
from tokbench.report.sections.problems import failing_tokenizers, missing_tokenizers
from tokbench.report.tables import CellTables
from tokbench.results.cells import FAILED, Status
from tokbench.results.model import Results


class KeyNumber(NamedTuple):
    """A number in large print, with its name and a remark."""

    name: str
    text: str
    remark: str


def subtitle(tables: CellTables) -> str:
    """Return a sentence on what ran, when, and for how long."""
    results = tables.results
    total, missing = len(results.tokenizers), len(missing_tokenizers(results))
    ran = f"{total - missing} of {total} tokenizers" if missing else _count(total, "tokenizer")
    parts = [f"{ran} on {_count(len(results.corpora), 'corpus', 'corpora')}"]
    if results.created:
        parts.append(f"begun {results.created.replace('T', ' ').replace('+00:00', ' UTC')}")
    if results.seconds:
        parts.append(f"took {duration(results.seconds)}")
    if bad := _failed(results):
        parts.append(f"{_count(bad, 'cell')} failed")
    if results.interrupted:
        parts.append("stopped before it was through")
    return ", ".join(parts)


def overrides(results: Results) -> list[str]:
    """Return a line for each override of the configuration.

    >>> from tokbench.results.blocks import RunConfig
    >>> overrides(Results(name="r", config=RunConfig(limit=5, only=["gpt-4"], settings=["limits.step=9"])))
    ['first look: at most 5 documents a group', 'only gpt-4', 'set by the command: limits.step=9']
    """
    config = results.config
    lines = []
    if config.limit is not None:
        lines.append(f"first look: at most {_count(config.limit, 'document')} a group")
    if config.quick:
        lines.append("quick look: less is measured than the configuration asks for; do not publish these numbers")
    if config.only:
        lines.append(f"only {', '.join(config.only)}")
    if config.settings:
        lines.append(f"set by the command: {'; '.join(config.settings)}")
    return lines


def key_numbers(tables: CellTables) -> list[KeyNumber]:
    """Return the numbers of tokenizers, text, cells and lossless tokenizers."""
    results = tables.results
    corpora = results.corpora.values()
    groups = [count for corpus in corpora for count in corpus.groups.values()]
    # The text that was measured; text kept for training does not count.
    amount = sum(corpus.evaluated_bytes or corpus.bytes or 0 for corpus in corpora)
    statuses = [cell.status for cell in results.cells]
    bad = _failed(results)
    total, missing = len(results.tokenizers), len(missing_tokenizers(results))
    documents = f"{_count(sum(groups), 'document')} in {_count(len(groups), 'group')}"
    return [
        KeyNumber("tokenizers", str(total - missing), _how_they_ran(tables, missing)),
        KeyNumber("text", byte_size(amount), documents),
        KeyNumber("cells", f"{statuses.count(Status.OK):,}", f"of {len(statuses):,}; {bad:,} failed"),
        *_lossless(tables),
    ]


def _failed(results: Results) -> int:
    return sum(cell.status in FAILED for cell in results.cells)


def _how_they_ran(tables: CellTables, missing: int) -> str:
    failing = len(failing_tokenizers(tables.results))
    parts = [f"{missing} did not run"] if missing else []
    parts += [f"{failing} with failed cells"] if failing else []
    return ", ".join(parts) or "all ran"


def _lossless(tables: CellTables) -> list[KeyNumber]:
    tested: dict[str, bool] = {}
    for corpus in tables.corpora:
        for name, cell in tables.series(tables.with_role(Role.ERRORS), corpus).cells.items():
            if cell.value is not None and not cell.partial:
                tested[name] = tested.get(name, True) and not cell.value
    if not tested:
        return []
    return [KeyNumber("lossless", f"{sum(tested.values())} of {len(tested)}", "every document equal after NFC")]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
