"""The report of a run: all that any format shows, computed from the results when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tokbench.report.cells import BEST_LEGEND, NOT_CHECKED_LEGEND
from tokbench.report.charts.heat import HeatMap, heat_map, heat_maps
from tokbench.report.charts.scatter import Scatter, scatter
from tokbench.report.document import Note, Section
from tokbench.report.sections.answer import Answer, answer, answer_document
from tokbench.report.sections.bits_per_byte import bits_per_byte_document
from tokbench.report.sections.definitions import definitions_document
from tokbench.report.sections.fairness import FairnessSection, fairness
from tokbench.report.sections.key_numbers import KeyNumber, key_numbers, overrides, subtitle
from tokbench.report.sections.losses import LossSection, losses, losses_document
from tokbench.report.sections.matrices import MatrixSection, matrices_document, matrix_sections
from tokbench.report.sections.metric_curves import metric_curves_documents
from tokbench.report.sections.overview import Overview, all_metrics, main_metrics
from tokbench.report.sections.pairs import PairSection, pairs, pairs_document
from tokbench.report.sections.partial import durations, partial_note
from tokbench.report.sections.probes import probes_document
from tokbench.report.sections.problems import ProblemSection, problems, problems_document, short_vocabularies
from tokbench.report.sections.provenance import provenance_document
from tokbench.report.sections.same_ids import SameIdsSection, same_ids, same_ids_document
from tokbench.report.sections.size_lines import SizeLines
from tokbench.report.sections.speed import SpeedTable, speed_tables
from tokbench.report.sections.tokens import tokens_document
from tokbench.report.sections.validity import validity_document
from tokbench.report.sections.vocabulary_size import vocabulary_size_document
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
    def partial(self) -> Note | None:
        """The mark of a stopped run, which stands above everything else; ``None`` if the run came to its end."""
        return partial_note(self.results)

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
        return answer(self.tables)

    @cached_property
    def key_numbers(self) -> list[KeyNumber]:
        """The few numbers that stand above everything else."""
        return key_numbers(self.tables)

    @cached_property
    def best_legend(self) -> str:
        """The meaning of bold numbers, or the reason why there are none."""
        return BEST_LEGEND if self.tables.losses_checked else NOT_CHECKED_LEGEND

    @cached_property
    def overview(self) -> Overview:
        """The headline metrics of all corpora side by side."""
        return main_metrics(self.tables)

    @cached_property
    def overviews(self) -> list[list[Overview]]:
        """By corpus, tables with every metric; corpora without any number are left out."""
        return [views for corpus in self.tables.corpora if (views := all_metrics(self.tables, corpus))]

    @cached_property
    def heat_maps(self) -> dict[str, list[HeatMap]]:
        """By corpus, a heat map for each metric, compression first; corpora without any are left out."""
        return {corpus: maps for corpus in self.tables.corpora if (maps := heat_maps(self.tables, corpus))}

    def heat_map(self, metric: str, corpus: str) -> HeatMap | None:
        """Return the heat map of one metric, or ``None`` if no group has numbers that tell tokenizers apart."""
        return heat_map(self.tables, corpus, metric)

    @cached_property
    def fairness(self) -> list[FairnessSection]:
        """Premiums, by parallel corpus."""
        return [found for corpus in self.tables.corpora if (found := fairness(self.tables, corpus))]

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
            "answer": answer_document(self.tables),
            "pairs": pairs_document(self.pairs),
            "matrices": matrices_document(self.matrices),
            "bits_per_byte": bits_per_byte_document(self.tables),
            "validity": validity_document(self.tables),
            "vocabulary_size": vocabulary_size_document(self.tables),
            "same_ids": same_ids_document(self.same_ids),
            "tokens": tokens_document(self.tables),
            "probes": probes_document(self.tables),
            "losses": losses_document(self.losses),
            "problems": problems_document(self.problems),
            "definitions": definitions_document(self.tables),
            "provenance": provenance_document(self.tables),
        }

    @cached_property
    def curves(self) -> list[Section]:
        """The sections on curves over a few metrics, such as tokens over the strength of a change, by family."""
        return metric_curves_documents(self.tables)

    @cached_property
    def size_lines(self) -> SizeLines:
        """Lines over vocabulary sizes, by name, corpus and group."""
        return SizeLines(self.results)

    @cached_property
    def timed(self) -> bool:
        """Tell whether speed is among the metrics of the run, measured or not."""
        return any(metric.timed for metric in self.results.metrics.values())

    @cached_property
    def scatters(self) -> list[Scatter]:
        """Charts of compression against speed, by corpus."""
        return [found for corpus in self.tables.corpora if (found := scatter(self.tables, corpus))]

    @cached_property
    def speeds(self) -> list[SpeedTable]:
        """Tables of speeds, by corpus and family."""
        return list(speed_tables(self.tables))

    @cached_property
    def speed_notes(self) -> list[str]:
        """The notes of the run that are about speeds: they begin with the name of a timed family."""
        families = tuple(metric.family for metric in self.results.metrics.values() if metric.timed)
        return [note for note in self.results.notes if note.startswith(families)]

    @cached_property
    def notes(self) -> list[str]:
        """The other notes of the run."""
        return [note for note in self.results.notes if note not in self.speed_notes]

    @cached_property
    def same_ids(self) -> SameIdsSection:
        """Tokenizers that are declared to give the ids of another."""
        return same_ids(self.tables)

    @cached_property
    def losses(self) -> LossSection:
        """Texts that did not come back, by cause."""
        return losses(self.tables)

    @cached_property
    def short_vocabularies(self) -> list[str]:
        """A sentence for each trained tokenizer that got fewer tokens than were asked for."""
        return short_vocabularies(self.results)

    @cached_property
    def problems(self) -> ProblemSection:
        """Tokenizers, cells and plugins that did not run, and the reasons."""
        return problems(self.results)
