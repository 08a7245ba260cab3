"""The instructions by which any process reads a corpus whose text is in files."""

from __future__ import annotations

from dataclasses import dataclass

from tokbench.corpus.contract import CorpusSpec
from tokbench.corpus.corpus import Corpus
from tokbench.tokenizers.options import Options


@dataclass(frozen=True)
class CorpusRecipe:
    """The instructions by which any worker reads a corpus whose text is in files."""

    name: str
    """The corpus."""
    source: str
    """The name of the source that opens it."""
    options: Options
    """The options of the source."""
    holdout: float
    """See :class:`~tokbench.corpus.corpus.Corpus`, as for the three that follow."""
    parallel: bool
    limit: int | None
    document_limit: int

    def open(self, spec: CorpusSpec) -> Corpus:
        """Open the corpus with its source.

        Raises:
            InputError: its files are not here.
        """
        source = spec.open(self.options)
        return Corpus(
            self.name,
            source,
            holdout=self.holdout,
            parallel=self.parallel,
            limit=self.limit,
            document_limit=self.document_limit,
        )
