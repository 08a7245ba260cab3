"""The tokens of a text: how tokenizers cut it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tokbench.results.study_blocks import BlockType

if TYPE_CHECKING:
    from tokbench.results.model import Results


class TokenSpan(NamedTuple):
    """One token of a text."""

    id: int
    own: bytes
    """The bytes of the id."""
    span: tuple[int, int] | None
    """Where it begins and ends in the UTF-8 bytes of the text, if known."""
    data: bytes
    """The bytes of the text between these places; ``own`` if they are not known."""
    merges: list[list[str]]
    """The merges by which BPE makes it, each as its parts, in order, if asked for."""

    @property
    def partial(self) -> bool:
        """``True`` if its bytes are not whole characters."""
        try:
            self.data.decode()
        except UnicodeDecodeError:
            return True
        return False


@dataclass(kw_only=True)
class Segmentation:
    """One text, cut by one tokenizer."""

    tokenizer: str
    """Its name."""
    ids: list[int] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    """The bytes of each id in hexadecimal; empty in a run's results where they are the text between the ends."""
    ends: list[int] = field(default_factory=list)
    """For each id, where its token ends in the UTF-8 bytes of the text; empty if tokens cannot be aligned."""
    round_trip: bool = True
    """``True`` if the ids decode to the text."""
    back: str = ""
    """The decoded text, if it differs."""
    merges: list[list[list[str]]] = field(default_factory=list)
    """For each id, the merges by which BPE makes its token, each as its parts; empty if not asked for or unknown."""
    reason: str = ""
    """The reason why there are no tokens, or no merges that were asked for, and the notes of the tokenizer."""

    def spans(self) -> list[tuple[int, int]]:
        """Return where each token begins and ends in the bytes of the text; nothing if that is not known.

        >>> Segmentation(tokenizer="t", ids=[7, 8], pieces=["61", "6263"], ends=[1, 3]).spans()
        [(0, 1), (1, 3)]
        """
        return list(pairwise([0, *self.ends])) if self.ends else []

    def compact(self, text: str) -> Segmentation:
        """Return it without pieces, if they are the bytes of ``text`` between the ends.

        >>> Segmentation(tokenizer="t", ids=[7, 8], pieces=["61", "6263"], ends=[1, 3]).compact("abc").pieces
        []
        """
        data = text.encode()
        same = self.ends and self.pieces == [data[slice(*span)].hex() for span in self.spans()]
        return replace(self, pieces=[]) if same else self

    def tokens(self, text: str) -> list[TokenSpan]:
        """Return the tokens of ``text``, which is the text that was cut."""
        data, spans = text.encode(), self.spans()
        merges = self.merges or [[] for _ in self.ids]
        owns = map(bytes.fromhex, self.pieces) if self.pieces else [data[slice(*span)] for span in spans]
        if not spans:
            rows = zip(self.ids, owns, merges, strict=True)
            return [TokenSpan(token, own, None, own, steps) for token, own, steps in rows]
        return [
            TokenSpan(token, own, span, data[slice(*span)], steps)
            for token, own, span, steps in zip(self.ids, owns, spans, merges, strict=True)
        ]


@dataclass(kw_only=True)
class SegmentedText:
    """A text, and how each tokenizer cuts it."""

    label: str = ""
    """Its name, such as a file; empty for none."""
    text: str
    segmentations: list[Segmentation]
    """One for each tokenizer."""
    corpus: str = ""
    """Its corpus; empty for texts from the configuration."""
    group: str = ""
    """Its group, likewise."""
    mark: str = ""
    """The hash by which the document was chosen, in hexadecimal: the smallest of a group."""
    whole: bool = True
    """``False`` if it is a part of a document."""

    def shared_spans(self) -> set[tuple[int, int]]:
        """Return the tokens, by their place, that all tokenizers have whose tokens have places.

        >>> one = Segmentation(tokenizer="one", ids=[1, 2], pieces=["61", "6263"], ends=[1, 3])
        >>> two = Segmentation(tokenizer="two", ids=[1, 3, 4], pieces=["61", "62", "63"], ends=[1, 2, 3])
        >>> SegmentedText(text="abc", segmentations=[one, two]).shared_spans()
        {(0, 1)}
        """
        span_sets: Sequence[set[tuple[int, int]]] = [
            set(segmentation.spans()) for segmentation in self.segmentations if segmentation.ends
        ]
        return set.intersection(*span_sets) if span_sets else set()


@dataclass(kw_only=True)
class WorstDocument:
    """A document of which a tokenizer makes the most tokens by its size, of the documents of a corpus."""

    tokenizer: str
    number: int
    """The number of documents of the group before it."""
    tokens: int
    """The tokens of the whole document."""
    bytes: int
    """The UTF-8 bytes of the whole document."""
    shown: SegmentedText
    """The document, or the part of it with the most tokens; first as the tokenizer segments it, then as the tokenizer
    does that needs the fewest tokens for this text and round-trips it, unless it is the same tokenizer."""

    @property
    def times_the_fewest(self) -> float:
        """Its tokens for the text that is shown, divided by those of the tokenizer that needs the fewest.

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
    """For each tokenizer and corpus, its worst documents by their size."""


SHOWN_TEXTS: BlockType[ShownTexts] = BlockType(study="tokens", kind=ShownTexts)
"""The block of the study."""


def shown_texts(results: Results) -> ShownTexts:
    """Return the texts that a run shows; nothing if it shows none."""
    return results.studies.get(SHOWN_TEXTS) or ShownTexts(texts=[], worst=[])
