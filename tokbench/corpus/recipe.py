"""Instructions for reading a corpus from files in any process."""

from __future__ import annotations

from dataclasses import dataclass

from tokbench.corpus.contract import CorpusSpec
from tokbench.corpus.corpus import Corpus
from tokbench.tokenizers.options import Options


@dataclass(frozen=True)
class CorpusRecipe:
    """The arguments of a corpus, for any worker."""

    name: str
    source: str
    options: Options
    holdout: float
    """These four: see :class:`~tokbench.corpus.corpus.Corpus`."""
    parallel: bool
    limit: int | None
    document_limit: int

    def open(self, spec: CorpusSpec) -> Corpus:
        """Open the corpus with its source, or raise InputError if its files are not here."""
        source = spec.open(self.options)
        return Corpus(
            self.name,
            source,
            holdout=self.holdout,
            parallel=self.parallel,
            limit=self.limit,
            document_limit=self.document_limit,
        )
