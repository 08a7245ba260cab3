"""The report of a run: what every format shows, computed from the results on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tokbench.report.answer.answer import Answer, answer_of
from tokbench.report.answer.page_data import ChipRow, chip_rows, packed_answer
from tokbench.report.document import Line, Node, Section
from tokbench.report.section import SectionSpec
from tokbench.report.sections.answer import answer_document
from tokbench.report.sections.cautions import distrust
from tokbench.report.sections.core import CORE_SECTIONS
from tokbench.report.sections.what_ran import overrides, partial_sentences, subtitle
from tokbench.report.tables import CellTables
from tokbench.results.model import Results


@dataclass(frozen=True)
class Report:
    """The sections of a report, each computed once and only if a format asks for it.

    >>> report = Report(Results(name="nothing yet"))
    >>> report.subtitle, [section.title for section in report.sections][:2]
    ('0 tokenizers on 0 corpora', ['Overview', 'By group'])
    """

    results: Results
    specs: Sequence[SectionSpec] = ()

    @cached_property
    def tables(self) -> CellTables:
        return CellTables(self.results)

    @cached_property
    def subtitle(self) -> str:
        return subtitle(self.tables)

    @cached_property
    def partial(self) -> str:
        """What a stopped run lacks; empty for a complete one."""
        return " ".join(partial_sentences(self.results))

    @cached_property
    def overrides(self) -> list[str]:
        return overrides(self.results)

    @property
    def ordered_specs(self) -> list[SectionSpec]:
        due = (spec for spec in self.specs if not spec.study or spec.study in self.results.studies)
        return sorted([*CORE_SECTIONS, *due], key=lambda spec: spec.place)

    @cached_property
    def answer(self) -> Answer:
        """The answer of the run, which all formats and the console show."""
        lines = [line for spec in self.ordered_specs if spec.answer for line in spec.answer(self.tables)]
        return answer_of(self.tables, lines)

    @cached_property
    def answer_section(self) -> Section | None:
        return answer_document(self.tables, self.answer, [node for nodes in self._leads.values() for node in nodes])

    @cached_property
    def page_data(self) -> str:
        return packed_answer(self.tables, self.answer)

    @cached_property
    def chips(self) -> list[ChipRow]:
        return chip_rows(self.tables, self.answer)

    @cached_property
    def _leads(self) -> dict[str, Sequence[Node]]:
        return {spec.name: spec.lead(self.tables) if spec.lead else () for spec in self.ordered_specs}

    @cached_property
    def sections(self) -> list[Section]:
        return [
            replace(section, folded=section.folded and not self._leads[spec.name])
            for spec in self.ordered_specs
            for section in spec.sections(self.tables)
        ]

    @cached_property
    def plain_sections(self) -> list[Section]:
        specs = (spec for spec in self.ordered_specs if not spec.page_only)
        return [section for spec in specs for section in spec.sections(self.tables)]

    @cached_property
    def cautions(self) -> list[Line]:
        """What a reader must know first: what to distrust, and the notes of the run."""
        return [*distrust(self.tables), *self.notes]

    @cached_property
    def notes(self) -> list[Line]:
        section_notes = [spec.notes(self.tables) for spec in self.ordered_specs if spec.notes]
        shown_there = {note for section in section_notes for note in section.notes}
        page_notes = [note for note in self.results.notes if note not in shown_there]
        return [*page_notes, *(section.hint for section in section_notes if section.notes)]
