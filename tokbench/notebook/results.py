"""The results of a run as a notebook shows them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

from tokbench.results.model import Results

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

    from tokbench.notebook.plots import Plots
    from tokbench.report.answer.answer import Answer


@dataclass(kw_only=True, repr=False)
class NotebookResults(Results):
    """The whole of ``results.json``, with tables and charts: ``tokbench.Results``.

    Reports are imported when first drawn, which takes 0.2 s.
    """

    @classmethod
    def of(cls, results: Results) -> Self:
        """Return the same results as this class.

        >>> NotebookResults.of(Results(name="mine")).name
        'mine'
        """
        made = cls(**{field.name: getattr(results, field.name) for field in fields(results)})
        made.written = results.written
        return made

    def table(self, name: str, corpus: str = "") -> Styler:
        """Return one metric as a styled table: a row for each group, a column for each tokenizer.

        The best of a row and its ties are bold; lossy tokenizers are marked and pale. ``.data`` is a DataFrame, with
        NaN for missing numbers.

        Args:
            name: the id of a metric, or the name of a family, for its first headline metric.
            corpus: empty for all, whose rows are then named by corpus and group.

        Raises:
            InputError: the run has no such metric, family or corpus, or no number of it.

        >>> from tokbench.results.cells import Cell
        >>> cells = [Cell("a", "c", "*", "m", 1.5), Cell("a", "c", "en", "m", 1.5), Cell("b", "c", "en", "m", 2.0)]
        >>> NotebookResults(name="r", cells=cells).table("m").data.loc["en"].to_dict()
        {'a': 1.5, 'b': 2.0}
        """
        from tokbench.notebook.small_page import styled_table

        return styled_table(self, name, corpus)

    @property
    def answer(self) -> Answer:
        """The answer of the run: sentences, the ranking, and who wins where.

        >>> NotebookResults(name="mine").answer.ranking.best
        ''
        """
        from tokbench.engine.reports import report_of

        return report_of(self).answer

    @property
    def plot(self) -> Plots:
        """The charts of the report as pictures, such as ``.plot.bar()``."""
        from tokbench.notebook.plots import Plots

        return Plots(self)

    def __repr__(self) -> str:
        from tokbench.notebook.small_page import three_lines

        return three_lines(self)

    def _repr_html_(self) -> str:
        from tokbench.notebook.small_page import small_page

        return small_page(self)
