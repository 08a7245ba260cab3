"""What a BPE vocabulary was trained on, from the order of its merges (Hayase et al. 2024, arXiv 2407.16607).

Each merge took the pair that was the most frequent one in the training text. The shares of candidates are those under
which this holds with the least slack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

import tokbench
from tokbench import InputError
from tokbench.plugin import HasMerges, HasTokenBytes, Tokenizer
from tokbench_questions.ate.candidates import Candidates, Texts, from_tables, from_texts, table_split
from tokbench_questions.ate.pair_counts import Pair, PairCounts
from tokbench_questions.ate.programme import Fit, Text, first_rivals, fit, half

_STEPS: Final = 400
_HALVES: Final = 20
_WIDTH, _LEAST = 3.0, 0.0025  # deviations to each end of an interval, as known mixtures need: docs/ate.md
_ENOUGH: Final = 100_000  # bytes of a candidate; with less its pairs are too few
_LATER, _OCCURRENCES, _RARE = 40, 40, 0.25  # a step is judged by so many later ones, if their pairs occur so often
_SPLITS: Final = {
    "gpt-2": "gpt2", "whisper-1": "gpt2", "whisper-3": "gpt2", "gpt-4": "gpt4", "phi-4": "gpt4", "olmo-2": "gpt4",
    "llama-3": "gpt4", "gpt-4o": "o200k", "gpt-oss": "o200k",
    "qwen-3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}  # fmt: skip
"""Of published vocabularies whose backend does not tell the split."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """The share of a candidate in the bytes of the training text, its interval, and the bytes that were compared."""

    name: str
    share: float
    low: float
    high: float
    n_bytes: int


@dataclass(frozen=True, kw_only=True)
class Ate:
    """What a vocabulary was trained on, as far as the candidates can tell."""

    vocabulary: str
    shares: tuple[Share, ...]
    """The largest first."""
    merges: int
    """How many merges, from the first, the candidates have text enough to judge."""
    unexplained: float
    """The share of these whose pair is far rarer in the mixture than later ones: it is from another text."""
    examples: tuple[str, ...]
    """Tokens that such merges made."""

    @property
    def sentence(self) -> str:
        """The answer."""
        top = [f"{one.share:.0%} [{100 * one.low:.0f}, {100 * one.high:.0f}] {one.name}" for one in self.shares[:3]]
        others = f" and {len(self.shares) - 3} others" if len(self.shares) > 3 else ""  # noqa: PLR2004
        return f"{self.vocabulary} was trained on about {', '.join(top)}{others}, as far as the candidates can tell."

    @property
    def limits(self) -> list[str]:
        """What could not be said."""
        such = f", such as {', '.join(map(repr, self.examples))}" if self.examples else ""
        small = ", ".join(one.name for one in self.shares if one.n_bytes < _ENOUGH)
        return [
            f"{self.unexplained:.0%} of the first {self.merges:,} merges took a pair that is rare in this mix{such}.",
            "A language or kind of text that is not among the candidates has no share here; the others share its part.",
            *([f"Too little text for reliable shares (less than {_ENOUGH // 1000} kB): {small}."] if small else []),
        ]


def ate(
    vocabulary: str | Tokenizer, candidates: Texts | Sequence[str | Path], *, split: str = "", steps: int = _STEPS
) -> Ate:
    """Return the shares of candidates in the text that a byte-level BPE vocabulary was trained on.

    Args:
        vocabulary: the name, the file or the tokenizer.
        candidates: the documents of each, by name, or tables of ``tokbench count``, a candidate for each group.
        split: gpt2, gpt4, o200k or an expression; by default the vocabulary's own, which tables must have.
        steps: the merges at which counts are compared, evenly spaced on a logarithmic scale.

    Raises:
        InputError: the vocabulary is not a byte-level BPE, its split is unknown, or a table has another split.

    >>> texts = {"cats": ["a cat sat on a mat, and that cat sat"] * 9, "dogs": ["dig, dog! do dig dodos"] * 9}
    >>> tokenizer = tokbench.train("regex_bpe:gpt4", texts["cats"] * 3 + texts["dogs"] * 2, 280)
    >>> [share.name for share in ate(tokenizer, texts).shares]
    ['cats', 'dogs']
    """
    name = vocabulary if isinstance(vocabulary, str) else type(vocabulary).__name__
    tokenizer = tokbench.load(vocabulary)
    merges = _merges(tokenizer, name)
    text = _candidates(candidates, split or getattr(tokenizer, "split", None) or _SPLITS.get(name, ""), name)
    ranks = np.unique(np.geomspace(1, len(merges), steps).astype(np.int64)) - 1
    counts = PairCounts(text.chunks, text.counts, merges, ranks.tolist())
    parts = Text(counts, text.n_bytes, np.ones_like(text.n_bytes), counts.chosen >= 0)
    best = fit(parts, first_rivals(parts))
    rng = np.random.default_rng(0)
    halves = np.array([fit(half(parts, rng), best.rivals, rounds=1).shares for _ in range(_HALVES)])
    width = _WIDTH * np.maximum(np.sqrt(((halves - best.shares) ** 2).mean(0)), _LEAST)
    low, high = np.maximum(best.shares - width, 0), np.minimum(best.shares + width, 1)
    columns = (text.names, best.shares.tolist(), low.tolist(), high.tolist(), map(int, text.n_bytes.sum(1)))
    rows = sorted(zip(*columns, strict=True), key=lambda row: -row[1])
    shares = tuple(Share(**dict(zip(("name", "share", "low", "high", "n_bytes"), row, strict=True))) for row in rows)
    return Ate(vocabulary=name, shares=shares, **_unexplained(parts, best, merges, ranks))


def _merges(tokenizer: Tokenizer, name: str) -> list[Pair]:
    if not (isinstance(tokenizer, HasMerges) and isinstance(tokenizer, HasTokenBytes)):
        raise InputError(f"{name}: lists no merges; only BPE vocabularies can be asked")
    pairs = (parts for parts in tokenizer.merges if len(parts) == 2)  # noqa: PLR2004
    merges = [(tokenizer.token_bytes(left), tokenizer.token_bytes(right)) for left, right in pairs]
    if not merges or len(merges[0][0] + merges[0][1]) > 2:  # noqa: PLR2004
        raise InputError(f"{name}: its merges do not start from bytes; only byte-level BPE can be asked")
    return merges


def _candidates(candidates: Texts | Sequence[str | Path], split: str, name: str) -> Candidates:
    if split:  # a name becomes its expression
        split = str(getattr(tokbench.train("regex_bpe", ["a"], 256, store=False, pattern=split), "split", split))
    if not isinstance(candidates, Sequence):
        if not split:
            raise InputError(f"{name}: its split is unknown; give it (--split), such as gpt4")
        return from_texts(candidates, split)
    paths = [Path(path) for path in candidates]
    if split and table_split(paths) != split:
        raise InputError(f"{paths[0]}: counted with another split than {name} has; count with --pattern {split!r}")
    return from_tables(paths)


def _unexplained(text: Text, best: Fit, merges: Sequence[Pair], ranks: Any) -> dict[str, Any]:
    merged = text.merged() @ best.shares
    later = np.lib.stride_tricks.sliding_window_view(np.pad(merged, (0, _LATER), mode="edge"), _LATER + 1)
    usual = np.quantile(later, 0.75, axis=1)
    enough = usual * text.n_bytes.sum() >= _OCCURRENCES
    rare = enough & (merged < _RARE * usual)
    gaps = np.diff(ranks, append=len(merges))
    tokens = [b"".join(merges[rank]).decode(errors="replace") for rank in ranks[rare]]
    readable = [token for token in dict.fromkeys(tokens) if token.strip() and "\ufffd" not in token]
    share = float(gaps[rare].sum() / max(gaps[enough].sum(), 1))
    return {"merges": int(gaps[enough].sum()), "unexplained": share, "examples": tuple(readable[:12])}
