"""The few numbers that stand above everything else."""

from __future__ import annotations

from tokbench.report.number_format import duration, size
from tokbench.report.sections.problems import missing_tokenizers
from tokbench.report.tables import Tables
from tokbench.results.cells import Status

__all__ = ["key_numbers", "subtitle"]


def subtitle(tables: Tables) -> str:
    """What ran, when, and for how long."""
    results = tables.results
    total, missing = len(results.tokenizers), len(missing_tokenizers(results))
    ran = f"{total - missing} of {total} tokenizers" if missing else _count(total, "tokenizer")
    parts = [f"{ran} on {_count(len(results.corpora), 'corpus', 'corpora')}"]
    if results.created:
        parts.append(f"begun {results.created.replace('T', ' ').replace('+00:00', ' UTC')}")
    if results.seconds:
        parts.append(f"took {duration(results.seconds)}")
    if results.interrupted:
        parts.append("interrupted before it was through")
    return ", ".join(parts)


def key_numbers(tables: Tables) -> list[tuple[str, str, str]]:
    """What, how much, and the small print."""
    results = tables.results
    corpora = results.corpora.values()
    groups = [count for corpus in corpora for count in corpus.get("groups", {}).values()]
    # What was measured, not what was kept for training.
    amount = sum(corpus.get("evaluated_bytes") or corpus.get("bytes") or 0 for corpus in corpora)
    statuses = [cell.status for cell in results.cells]
    bad = sum(status in {Status.FAILED, Status.TIMEOUT} for status in statuses)
    total, missing = len(results.tokenizers), len(missing_tokenizers(results))
    return [
        ("tokenizers", str(total - missing), f"{missing} did not run" if missing else "all ran"),
        ("text", size(amount), f"{_count(sum(groups), 'document')} in {_count(len(groups), 'group')}"),
        ("cells", f"{statuses.count(Status.OK):,}", f"of {len(statuses):,}; {bad:,} failed"),
        *_lossless(tables),
        *_tightest(tables),
    ]


def _lossless(tables: Tables) -> list[tuple[str, str, str]]:
    tested: dict[str, bool] = {}
    for corpus in tables.corpora:
        for name, cell in tables.series("roundtrip_exact", corpus).cells.items():
            if cell.value is not None:
                tested[name] = tested.get(name, True) and cell.value == 1
    if not tested:
        return []
    return [("lossless", f"{sum(tested.values())} of {len(tested)}", "every document came back")]


def _tightest(tables: Tables) -> list[tuple[str, str, str]]:
    """The best compression of each of the first two corpora, among those that can be compared."""
    found = []
    for corpus in tables.corpora[:2]:
        series = tables.series("compression_ratio", corpus)
        best = [name for name, cell in series.cells.items() if cell.best]
        if best:
            found.append((f"best compression, {corpus}", series.cells[best[0]].text, f"bytes/token, {', '.join(best)}"))
    return found


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
