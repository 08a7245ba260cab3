"""The scores of a trained Unigram model, with the library's randomness taken out."""

from __future__ import annotations

from collections.abc import Sequence

_STEP = 1e-4  # by which the library tells characters apart that no piece of the model needs
_DECIMALS = 6  # sums that are added up in another order differ from the eleventh on


def settled(vocab: Sequence[Sequence[str | float]], first: int) -> list[list[str | float]]:
    """Return the same pieces with scores that do not depend on the order of a hash map.

    Characters that training left without a score get the lowest score, one step more, two steps more, and so
    on, in an order that differs from run to run; here in order of code point. All scores are rounded.

    Args:
        vocab: pieces and scores (natural logarithms of probabilities).
        first: how many pieces at the beginning are special and keep their place.

    >>> settled([["<unk>", 0.0], ["a", -1.0], ["c", -3.0], ["b", -2.9999]], 1)
    [['<unk>', 0.0], ['a', -1.0], ['c', -2.9999], ['b', -3.0]]
    """
    pieces = {str(piece): round(float(score), _DECIMALS) for piece, score in vocab[first:]}
    lowest = min(pieces.values(), default=0.0)
    letters: dict[int, list[str]] = {}
    for piece, score in pieces.items():
        steps = round((score - lowest) / _STEP)
        if len(piece) == 1 and abs(lowest + steps * _STEP - score) < _STEP / 50:
            letters.setdefault(steps, []).append(piece)
    count = next(k for k in range(len(letters) + 1) if k not in letters)
    scoreless = sorted(piece for k in range(count) for piece in letters[k])
    scores = sorted(pieces[piece] for piece in scoreless)
    pieces.update(zip(scoreless, scores, strict=True))
    ranked: list[list[str | float]] = [[piece, score] for piece, score in pieces.items()]
    ranked.sort(key=lambda entry: (-pieces[str(entry[0])], entry[0]))
    return [*map(list, vocab[:first]), *ranked]
