"""The section on speed: a table for each corpus and each family that is timed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tokbench.report.cells import Series, legends
from tokbench.report.escaping import plain
from tokbench.report.tables import CellTables
from tokbench.results.cells import OWN_TEXTS


@dataclass(frozen=True, slots=True)
class SpeedTable:
    """The numbers of one corpus and one family that is timed, the fastest tokenizer first.

    Attributes:
        corpus: the corpus whose texts were timed.
        family: the family of the metrics.
        by_group: ``True`` if the columns are the groups of one metric.
        columns: the metrics, or the groups of one.
        rows: name of the tokenizer, number of rounds for each column, its notes, and its engine. Tokenizers of one
            vocabulary stand together, see :attr:`vocabularies`.
        vocabularies: by tokenizer, the one whose ids it gives (``same_as``), itself included, where there is one.
    """

    corpus: str
    family: str
    by_group: bool
    columns: Sequence[Series]
    rows: Sequence[tuple[str, Sequence[int | None], str, str]]
    vocabularies: Mapping[str, str]

    @property
    def title(self) -> str:
        """The heading, as it stands in a list of tables."""
        own = self.corpus == OWN_TEXTS
        what = self.columns[0].label if self.by_group else self.family
        return f"{what}{' by group' if self.by_group and not own else ''}{'' if own else f' on {self.corpus}'}"

    @property
    def legends(self) -> list[str]:
        """The meaning of the marks in it."""
        return legends(cell for column in self.columns for cell in column.cells.values())

    def head(self, column: Series) -> Series:
        """Return the column as its head shows it: under the name of its group in a table by group."""
        return replace(column, label=column.group, short_label=column.group) if self.by_group else column


def speed_tables(tables: CellTables) -> Iterator[SpeedTable]:
    """Yield a table for each corpus and family that is timed, and one for each metric with numbers by group."""
    timed = [name for name in tables.metrics if tables.metric(name).timed]
    families = dict.fromkeys(tables.metric(name).family for name in timed)
    for corpus in tables.corpora:
        for family in families:
            names = [name for name in timed if tables.metric(name).family == family]
            whole = [column for name in names if (column := tables.series(name, corpus)).measured]
            if whole:
                yield _table(tables, corpus, family, whole, by_group=False)
            for name in names:
                groups = [group for group in tables.groups(name, corpus) if tables.is_shown(corpus, group)]
                columns = [column for group in groups if (column := tables.series(name, corpus, group)).measured]
                if columns:
                    yield _table(tables, corpus, family, columns, by_group=True)


def _table(tables: CellTables, corpus: str, family: str, columns: Sequence[Series], *, by_group: bool) -> SpeedTable:
    ranked = columns[0].ranked()
    declared = {name: tables.tokenizer(name).same_as for name in ranked}
    roots: dict[str, str] = {
        name: other or name for name, other in declared.items() if other or name in declared.values()
    }
    root = {name: roots.get(name, name) for name in ranked}
    place = {root[name]: -k for k, name in enumerate(reversed(ranked))}  # of the first tokenizer of each vocabulary
    rows = []
    for name in sorted(ranked, key=lambda each: place[root[each]]):
        cells = [tables.cell(column.metric, corpus, column.group, name) for column in columns]
        if any(cells):  # a tokenizer that was not ready stands in the section on problems
            rounds = [cell.n if cell and cell.value is not None else None for cell in cells]
            info = tables.tokenizer(name)
            rows.append((name, rounds, plain(info.notes), info.engine))
    return SpeedTable(corpus, family, by_group, columns, rows, roots)
