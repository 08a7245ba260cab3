"""The report of a run: all that any format shows, computed from the results when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

from tokbench.report.cells import Series
from tokbench.report.charts.heat import HeatMap, heat_map
from tokbench.report.document import Section
from tokbench.report.sections.answer import Answer, answer
from tokbench.report.sections.bits_per_byte import BitsSection, bits_per_byte
from tokbench.report.sections.definitions import definitions_document
from tokbench.report.sections.fairness import fairness_document
from tokbench.report.sections.groups import groups_document
from tokbench.report.sections.key_numbers import KeyNumber, key_numbers, overrides, subtitle
from tokbench.report.sections.losses import LossSection, losses, losses_document
from tokbench.report.sections.matrices import MatrixSection, matrices_document, matrix_sections
from tokbench.report.sections.metric_curves import CurveSection, metric_curves
from tokbench.report.sections.overview import main_columns, overview_document
from tokbench.report.sections.pairs import PairSection, pairs, pairs_document
from tokbench.report.sections.partial import PartialSection, durations, partial_section
from tokbench.report.sections.probes import ProbeSection, probes
from tokbench.report.sections.problems import ProblemSection, problems, problems_document
from tokbench.report.sections.same_ids import SameIdsSection, same_ids, same_ids_document
from tokbench.report.sections.size_lines import SizeLines
from tokbench.report.sections.speed import speed_document, speed_notes
from tokbench.report.sections.tokens import TokensSection
from tokbench.report.sections.tradeoff import tradeoff_document
from tokbench.report.sections.validity import ValiditySection, validity
from tokbench.report.sections.vocabulary_size import VocabularySizeSection
from tokbench.report.tables import CellTables
from tokbench.results.model import Results


@dataclass(frozen=True)
class Report:
    """The sections of a report, each computed once and only if a format asks for it.

    Nothing here measures: a report is a function of the results alone.

    Attributes:
        results: the run.

    >>> report = Report(Results(name="nothing yet"))
    >>> report.subtitle
    '0 tokenizers on 0 corpora'
    >>> report.losses.without_loss
    'No round trip was made.'
    """

    results: Results

    @cached_property
    def tables(self) -> CellTables:
        """The cells by key, with labels and roles of metrics."""
        return CellTables(self.results)

    @cached_property
    def subtitle(self) -> str:
        """A sentence that says what ran, when, and for how long."""
        return subtitle(self.tables)

    @cached_property
    def partial(self) -> PartialSection | None:
        """The share that a stopped run has measured of each group; ``None`` if the run came to its end."""
        return partial_section(self.results)

    @cached_property
    def durations(self) -> list[tuple[str, str]]:
        """The phases of the run in words, with their seconds."""
        return durations(self.results)

    @cached_property
    def overrides(self) -> list[str]:
        """A line for each way in which the command changed what the configuration says."""
        return overrides(self.results)

    @cached_property
    def answer(self) -> Answer:
        """The answer in sentences, which stands first."""
        return answer(self.tables, self.losses)

    @cached_property
    def key_numbers(self) -> list[KeyNumber]:
        """The few numbers that stand above everything else."""
        return key_numbers(self.tables)

    @cached_property
    def main_columns(self) -> list[Series]:
        """The headline metrics of all corpora side by side."""
        return main_columns(self.tables)

    def heat_map(self, metric: str, corpus: str) -> HeatMap | None:
        """Return the heat map of one metric, or ``None`` if no group has numbers that tell tokenizers apart."""
        return heat_map(self.tables, corpus, metric)

    @cached_property
    def pairs(self) -> list[PairSection]:
        """Comparisons of every two tokenizers, by corpus."""
        return [found for corpus in self.tables.corpora if (found := pairs(self.tables, corpus))]

    @cached_property
    def matrices(self) -> list[MatrixSection]:
        """Maps of every two groups and of every two tokenizers, by corpus."""
        return matrix_sections(self.tables)

    @cached_property
    def documents(self) -> dict[str, Section | None]:
        """The sections that are trees, by name; ``None`` for one without content."""
        return {
            "overview": overview_document(self.tables),
            "groups": groups_document(self.tables),
            "fairness": fairness_document(self.tables),
            "pairs": pairs_document(self.pairs),
            "matrices": matrices_document(self.matrices),
            "tradeoff": tradeoff_document(self.tables),
            "speed": speed_document(self.tables),
            "same_ids": same_ids_document(self.same_ids),
            "losses": losses_document(self.losses),
            "problems": problems_document(self.problems),
            "definitions": definitions_document(self.tables),
        }

    @cached_property
    def bits_per_byte(self) -> list[BitsSection]:
        """Bits per byte of small models, by corpus."""
        return [bits_per_byte(self.tables, each, self.results.bits_per_byte) for each in self.results.bits_per_byte]

    @cached_property
    def validity(self) -> list[ValiditySection]:
        """The metrics that rank tokenizers as bits per byte do, by corpus and family of models."""
        return [validity(self.tables, each) for each in self.results.validity]

    @cached_property
    def curves(self) -> list[CurveSection]:
        """Curves over a few metrics, such as tokens over the strength of a change, by family."""
        return metric_curves(self.tables)

    @cached_property
    def size_lines(self) -> SizeLines:
        """Lines over vocabulary sizes, by name, corpus and group."""
        return SizeLines(self.results)

    @cached_property
    def vocabulary_size(self) -> VocabularySizeSection | None:
        """Tables and charts of vocabulary sizes; ``None`` if the run has none."""
        return VocabularySizeSection(self.size_lines) if self.size_lines.lines else None

    @cached_property
    def speed_notes(self) -> list[str]:
        """The notes of the run that are about speeds."""
        return speed_notes(self.results)

    @cached_property
    def notes(self) -> list[str]:
        """The other notes of the run."""
        return [note for note in self.results.notes if note not in self.speed_notes]

    @cached_property
    def same_ids(self) -> SameIdsSection:
        """Tokenizers that are declared to give the ids of another."""
        return same_ids(self.tables)

    @cached_property
    def probes(self) -> list[ProbeSection]:
        """Probes, each with the tokens of every tokenizer."""
        return probes(self.results)

    @cached_property
    def tokens(self) -> TokensSection:
        """Texts as tokens, and the worst documents of each tokenizer."""
        return TokensSection(self.results)

    @cached_property
    def losses(self) -> LossSection:
        """Texts that did not come back, by cause."""
        return losses(self.tables)

    @cached_property
    def environment(self) -> dict[str, object]:
        """Facts of the machine, and versions, by name, as far as they are known."""
        found = self.results.environment
        values = {each.name: getattr(found, each.name) for each in fields(found)}
        return {name: value for name, value in values.items() if value not in (None, "", {})}

    @cached_property
    def problems(self) -> ProblemSection:
        """Tokenizers, cells and plugins that did not run, and the reasons."""
        return problems(self.results)
