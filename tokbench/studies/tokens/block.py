"""The block of the study: texts that a report shows as tokens, and the worst documents."""

from __future__ import annotations

from dataclasses import dataclass

from tokbench.results.model import Results
from tokbench.results.segmentation import SegmentedText
from tokbench.results.study_blocks import BlockType


@dataclass(kw_only=True)
class WorstDocument:
    """A document that is among the worst of its corpus for a tokenizer, by its size or beside another tokenizer."""

    tokenizer: str
    """The tokenizer."""
    number: int
    """The number of documents of the group before it."""
    tokens: int
    """The tokens of the whole document."""
    bytes: int
    """The UTF-8 bytes of the whole document."""
    shown: SegmentedText
    """The document, or the part of it with the most tokens; its first segmentation is that of the tokenizer. The second
    one is that of the tokenizer that needs the fewest tokens for this text and gives it back; it is missing if that is
    the same tokenizer."""
    by_size: bool = True
    """``True`` if the tokenizer makes the most tokens of it by its size, of the documents of the corpus."""
    beside_best: bool = False
    """``True`` if, of the documents that are worst by their size in a group, the tokenizer makes the most tokens of the
    text that is shown beside the tokenizer that needs the fewest, and a tenth more at least."""

    @property
    def times_the_fewest(self) -> float:
        """Its tokens for the text that is shown, divided by those of the tokenizer that needs the fewest.

        >>> from tokbench.results.segmentation import Segmentation
        >>> cut = [Segmentation(tokenizer=name, ids=ids) for name, ids in (("one", [1, 2, 3]), ("two", [9, 7]))]
        >>> shown = SegmentedText(text="abc", segmentations=cut)
        >>> WorstDocument(tokenizer="one", number=0, tokens=3, bytes=3, shown=shown).times_the_fewest
        1.5
        """
        own, *fewest = self.shown.segmentations
        return len(own.ids) / len(fewest[0].ids) if fewest else 1.0


@dataclass(frozen=True, kw_only=True)
class ShownTexts:
    """The texts that a report shows as tokens."""

    texts: list[SegmentedText]
    """Those that the configuration names, then excerpts of documents by corpus and group."""
    worst: list[WorstDocument]
    """For each tokenizer and corpus, its worst documents by their size and beside the best tokenizer."""


SHOWN_TEXTS: BlockType[ShownTexts] = BlockType(study="tokens", kind=ShownTexts)
"""The block of the study."""


def shown_texts(results: Results) -> ShownTexts:
    """Return the texts that a run shows; nothing if it shows none."""
    return results.studies.get(SHOWN_TEXTS) or ShownTexts(texts=[], worst=[])
