"""What a BPE vocabulary was trained on, from the order of its merges (Hayase et al. 2024, arXiv 2407.16607).

Each merge took the pair that was the most frequent one in the training text. The shares of candidates are those under
which this holds with the least slack.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench import InputError
from tokbench.command import load_named
from tokbench.plugin import HasMerges, HasStages, HasTokenBytes, Tokenizer
from tokbench_plugins.bpe import resolve_pattern
from tokbench_questions.mixture import Floats, Pair, PairCounts, fit

Texts = Mapping[str, Sequence[str]]

_STEPS: Final = 400
_PARTS: Final = 8  # of each candidate, of which random halves give the intervals
_COUNTS: Final = b"tokbench.counts"  # of the metadata of a table
_WIDTH, _LEAST = 3.0, 0.0025  # deviations to each end of an interval, as known mixtures need: docs/ate.md
_LITTLE: Final = 0.005  # a share that the sentence leaves out
_ENOUGH: Final = 100_000  # bytes of a candidate; with less its pairs are too few
_LATER, _OCCURRENCES, _RARE = 40, 40, 0.25  # a step is judged by so many later ones, if their pairs occur so often
_SPLITS: Final = {
    "whisper-1": "gpt2", "whisper-3": "gpt2", "phi-4": "gpt4", "olmo-2": "gpt4",
    "qwen-3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}  # fmt: skip
"""Of published vocabularies whose backend does not tell the split."""


@dataclass(frozen=True)
class Share:
    """A share of the bytes of the training text, its interval, and the bytes that were compared."""

    name: str
    share: float
    low: float
    high: float
    n_bytes: int
    halves: tuple[float, ...]
    """The share in random halves of the text and of the merges."""


def _share(name: str, n_bytes: float, share: float, halves: Floats) -> Share:
    width = _WIDTH * max(float(np.sqrt(((halves - share) ** 2).mean())), _LEAST)
    return Share(name, share, max(share - width, 0.0), min(share + width, 1.0), int(n_bytes), tuple(halves.tolist()))


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

    def total(self, names: Sequence[str]) -> Share:
        """Return the sum of some shares, such as all code, with an interval of its own."""
        by_name = {one.name: one for one in self.shares}
        if unknown := [name for name in names if name not in by_name]:
            raise InputError(f"{unknown[0]}: not a candidate; choose from {', '.join(by_name)}")
        some = [by_name[name] for name in names]
        n_bytes, share = (sum(numbers) for numbers in zip(*((one.n_bytes, one.share) for one in some), strict=True))
        return _share(" + ".join(names), n_bytes, share, np.sum([one.halves for one in some], axis=0))

    @property
    def sentence(self) -> str:
        """The answer."""
        top = [f"{one.share:.0%} [{100 * one.low:.0f}, {100 * one.high:.0f}] {one.name}" for one in self.shares[:3]]
        more = sum(one.share >= _LITTLE for one in self.shares[3:])
        others = f" and {more} others" if more else ""
        return f"{self.vocabulary} was trained on about {', '.join(top)}{others}, as far as the candidates can tell."

    @property
    def limits(self) -> list[str]:
        """What could not be said."""
        such = f", such as {', '.join(map(repr, self.examples))}" if self.examples else ""
        small = ", ".join(one.name for one in self.shares if one.n_bytes < _ENOUGH)
        return [
            f"{self.unexplained:.0%} of the first {self.merges:,} merges, which can be judged, took a rare pair{such}.",
            "A language or kind of text that is not among the candidates has no share here; the others share its part.",
            *([f"Too little text for reliable shares (less than {_ENOUGH // 1000} kB): {small}."] if small else []),
        ]


def ate(
    vocabulary: str | Tokenizer,
    candidates: Texts | Sequence[str | Path],
    *,
    split: str = "",
    steps: int = _STEPS,
    name: str = "",
) -> Ate:
    """Return the shares of candidates in the text that a byte-level BPE vocabulary was trained on.

    Args:
        vocabulary: the name, the file or the tokenizer.
        candidates: the documents of each, by name, or tables of ``tokbench count``, a candidate for each group.
        split: gpt2, gpt4, o200k or an expression; by default the vocabulary's own, which tables must have.
        name: of the vocabulary, by default as given.
        steps: the merges at which counts are compared, evenly spaced on a logarithmic scale.

    Raises:
        InputError: the vocabulary is not a byte-level BPE, its split is unknown, or a table has another split.

    >>> texts = {"cats": ["a cat sat on a mat, and that cat sat"] * 9, "dogs": ["dig, dog! do dig dodos"] * 9}
    >>> import tokbench
    >>> tokenizer = tokbench.train("regex_bpe:gpt4", texts["cats"] * 3 + texts["dogs"] * 2, 280)
    >>> [share.name for share in ate(tokenizer, texts).shares]
    ['cats', 'dogs']
    """
    name = name or (vocabulary if isinstance(vocabulary, str) else type(vocabulary).__name__)
    tokenizer = load_named(vocabulary)
    merges = _merges(tokenizer, name)
    split = split or getattr(tokenizer, "split", None) or _SPLITS.get(name, "") or _split_of(tokenizer)
    if not split:
        raise InputError(f"{name}: its split is unknown; give it (--split), such as gpt4")
    try:
        split = resolve_pattern(split)
    except ValueError as error:
        raise InputError(f"--split: {error}") from error
    text = candidates_of(candidates, split)
    ranks = np.unique(np.geomspace(1, len(merges), steps).astype(np.int64)) - 1
    counts = PairCounts(text.chunks, text.counts, merges, ranks.tolist())
    shares, *halves = fit(counts, text.n_bytes)
    columns = zip(text.names, text.n_bytes.sum(1), shares.tolist(), np.transpose(halves), strict=True)
    answer = tuple(sorted((_share(*column) for column in columns), key=lambda one: -one.share))
    rates = counts.merged @ np.repeat(shares / text.n_bytes.sum(1), _PARTS)
    return Ate(vocabulary=name, shares=answer, **_unexplained(rates, text.n_bytes.sum(), merges, ranks))


def _split_of(tokenizer: Tokenizer) -> str:
    """Return the expression of a split; nothing if it is unknown or more than one."""
    stage = tokenizer.stages.get("split", "") if isinstance(tokenizer, HasStages) else ""
    if not stage.startswith("{"):
        return "" if stage == "none" else stage
    steps = json.loads(stage)
    steps = [step for step in steps.get("pretokenizers", [steps]) if step.get("use_regex", True)]
    if len(steps) != 1:
        return ""
    return "gpt2" if steps[0]["type"] == "ByteLevel" else steps[0].get("pattern", {}).get("Regex", "")


def _merges(tokenizer: Tokenizer, name: str) -> list[Pair]:
    if not (isinstance(tokenizer, HasMerges) and isinstance(tokenizer, HasTokenBytes)):
        raise InputError(f"{name}: lists no merges; only BPE vocabularies can be asked")
    pairs = (parts for parts in tokenizer.merges if len(parts) == 2)  # noqa: PLR2004
    merges = [(tokenizer.token_bytes(left), tokenizer.token_bytes(right)) for left, right in pairs]
    made = {bytes([byte]) for byte in range(256)} | {left + right for left, right in merges}
    if not merges or any(part not in made for pair in merges for part in pair):
        raise InputError(f"{name}: its merges do not start from bytes; only byte-level BPE can be asked")
    return merges


def _unexplained(rates: Floats, n_bytes: float, merges: Sequence[Pair], ranks: Any) -> dict[str, Any]:
    later = np.lib.stride_tricks.sliding_window_view(np.pad(rates, (0, _LATER), mode="edge"), _LATER + 1)
    usual = np.quantile(later, 0.75, axis=1)
    enough = usual * n_bytes >= _OCCURRENCES
    rare = enough & (rates < _RARE * usual)
    gaps = np.diff(ranks, append=len(merges))
    tokens = [b"".join(merges[rank]).decode(errors="replace") for rank in ranks[rare]]
    readable = [token for token in dict.fromkeys(tokens) if token.strip() and "\ufffd" not in token]
    share = float(gaps[rare].sum() / max(gaps[enough].sum(), 1))
    return {"merges": int(gaps[enough].sum()), "unexplained": share, "examples": tuple(readable[:12])}


class Candidates(NamedTuple):
    """Different chunks and their counts: a sparse matrix with a column for each part of each candidate."""

    names: list[str]
    chunks: list[bytes]
    counts: Any
    n_bytes: NDArray[np.float64]
    """A row for each candidate, a column for each part."""


def candidates_of(candidates: Texts | Sequence[str | Path], split: str) -> Candidates:
    r"""Count the chunks of texts, by document, or by line if there are few; or of tables of ``tokbench count``.

    >>> some = candidates_of({"a": ["so so"] * 8, "b": ["no"] * 8}, r" ?\w+")
    >>> some.names, some.chunks, some.n_bytes[:, 0].tolist()
    (['a', 'b'], [b'so', b' so', b'no'], [5.0, 2.0])
    """
    from scipy.sparse import coo_array

    rows = _rows_of_texts(candidates, split) if isinstance(candidates, Mapping) else _rows_of_tables(candidates, split)
    names: dict[str, int] = {}
    chunks: dict[bytes, int] = {}
    entries = [
        (chunks.setdefault(chunk, len(chunks)), names.setdefault(name, len(names)) * _PARTS + part % _PARTS, count)
        for name, part, chunk, count in rows
    ]
    chunk, column, count = np.array(entries, dtype=np.int64).reshape(-1, 3).T
    counts = coo_array((count.astype(float), (chunk, column)), shape=(len(chunks), len(names) * _PARTS)).tocsr()
    n_bytes = (counts.T @ np.array([*map(len, chunks)], dtype=float)).reshape(-1, _PARTS)
    short = [name for name, parts in zip(names, n_bytes, strict=True) if not parts.all()]
    if short or len(names) < 2:  # noqa: PLR2004
        need = f"a candidate needs {_PARTS} documents or lines: {', '.join(short)}" if short else "give two or more"
        raise InputError(f"too little text to compare candidates; {need}")
    return Candidates([*names], [*chunks], counts, n_bytes)


def _rows_of_texts(texts: Texts, split: str) -> Iterable[tuple[str, int, bytes, int]]:
    import regex

    chunks = regex.compile(split).findall
    for name, some in texts.items():
        documents = some if len(some) >= _PARTS else "".join(some).splitlines(keepends=True)
        yield from ((name, part, chunk.encode(), 1) for part, text in enumerate(documents) for chunk in chunks(text))


def is_table(path: Path) -> bool:
    """Tell whether a file is a table of counts: by its metadata, or by the ending that tables have."""
    try:
        import pyarrow.parquet as pq

        return path.suffix == ".counts" or _COUNTS in (pq.read_schema(path).metadata or {})
    except (ImportError, OSError, ValueError):  # pyarrow's errors of what is no Parquet file are ValueErrors
        return path.suffix == ".counts"


def _rows_of_tables(paths: Sequence[str | Path], split: str) -> Iterable[tuple[str, int, bytes, int]]:
    """Yield the rows by group, or by file. One without all parts is parted at random, as if chunks were documents."""
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InputError("tables of counts need pyarrow: pip install 'tokbench[counts]'") from error
    rng = np.random.default_rng(0)
    for path in map(Path, paths):
        try:
            table = pq.read_table(path, columns=["group", "part", "chunk", "count"])
            pattern = json.loads(table.schema.metadata[_COUNTS])["pattern"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: not a table of counts; make one with tokbench count") from error
        if pattern != split:
            raise InputError(f"{path}: counted with another split than the vocabulary; count with --pattern {split!r}")
        some = table.to_pandas()
        has_parts = (some["part"] % _PARTS).groupby(some["group"]).nunique() == _PARTS
        for group, part, chunk, count in some.itertuples(index=False):
            parts = [(part, count)] if has_parts[group] else enumerate(rng.multinomial(count, [1 / _PARTS] * _PARTS))
            yield from ((group or path.stem, place, chunk, n) for place, n in parts if n)
