"""Gold segmentation: aligns annotated words and morphemes with the text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from tokbench.corpus.contract import Gold


class AlignmentError(Exception):
    """The forms do not make up the text."""

    def __init__(self, index: int, message: str) -> None:
        self.index = index
        """The first form that is not in the text, or the number of forms."""
        super().__init__(message)


def align(text: str, forms: Sequence[str]) -> list[tuple[int, int]]:
    """Return the place of each form in a text of these forms and white space.

    Raises:
        AlignmentError: the text does not consist of the forms.

    >>> align("We don't, né?", ["We", "do", "n't", ",", "né", "?"])
    [(0, 2), (3, 5), (5, 8), (8, 9), (10, 12), (12, 13)]
    """
    spans, position = [], 0
    for index, form in enumerate(forms):
        start = _skip_space(text, position)
        if not form or not text.startswith(form, start):
            msg = f"{form!r} is not what follows in the text at character {start + 1}: {text[start : start + 20]!r}"
            raise AlignmentError(index, msg)
        position = start + len(form)
        spans.append((start, position))
    rest = _skip_space(text, position)
    if rest < len(text):
        raise AlignmentError(len(forms), f"the text goes on after the last of them with {text[rest : rest + 20]!r}")
    return spans


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def gold_segments(text: str, segments: Sequence[str] | Sequence[Sequence[str]]) -> Gold:
    """Return the gold words of a text from its written morphemes: a list of them, or a list for each word.

    In a plain list words end at white space. A word without letter or digit is punctuation. An AlignmentError if the
    text does not consist of the morphemes.

    >>> gold_segments("unkind words!", ["un", "kind", "word", "s", "!"])
    Gold(words=((0, 6), (7, 13)), punctuation=(False, False), morphemes=(2, 11, 12))
    """
    nested = not all(isinstance(segment, str) for segment in segments)
    pieces = [piece for segment in segments for piece in ([segment] if isinstance(segment, str) else segment)]
    spans = align(text, pieces)
    if nested:
        lasts = list(accumulate(len(segment) for segment in segments))
    else:
        lasts = [k for k, (_, end) in enumerate(spans, 1) if k == len(spans) or spans[k][0] > end]
    words = [(spans[first][0], spans[last - 1][1]) for first, last in pairwise([0, *lasts]) if first < last]
    outer = {end for _, end in words}
    inside = [end for (_, end), (start, _) in pairwise(spans) if end == start and end not in outer]
    punctuation = tuple(not any(map(str.isalnum, text[start:end])) for start, end in words)
    return Gold(tuple(words), punctuation, tuple(inside))
