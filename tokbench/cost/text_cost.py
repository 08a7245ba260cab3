"""The cost of texts: the tokens that each of many vocabularies needs for them, all counted and none sampled."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tokbench.cost.sample import CorpusSample, Estimate
from tokbench.foundation.display import progress_shown
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.foundation.failures import Failure
from tokbench.measuring.encoded_shard import LoadedTokenizer
from tokbench.measuring.round_trip import Loss, RoundTrip
from tokbench.registry.local_names import LocalNames, local_names
from tokbench.registry.plugins import Registry
from tokbench.registry.tokenizer_names import unverified
from tokbench.results.blocks import MARGIN
from tokbench.segmentation.segment import encoded_texts, text_sums
from tokbench.statistics.sample_units import SampleUnits
from tokbench.statistics.standings import GroupNumber, Standing, StandingSums, standings
from tokbench.terminal.session import session
from tokbench.tokenizers.batch import count_batch, vocab_size_of
from tokbench.tokenizers.contract import Tokenizer, only_counts
from tokbench.tokenizers.facts import cautions

_LONG: Final = 2_000_000
"""Bytes of text of which the progress is shown."""


@dataclass(frozen=True, kw_only=True)
class TextCost:
    """The tokens that a tokenizer needs for some texts."""

    tokenizer: str
    vocab_size: int = 0
    tokens: tuple[int, ...] = ()
    """The tokens of each file."""
    loss: Loss | RoundTrip = RoundTrip.UNKNOWN
    """The loss over all texts; ``UNKNOWN`` for a tokenizer that gives no ids."""
    reason: str = ""
    """Why nothing could be counted; else empty."""
    cautions: tuple[str, ...] = ()
    ids: str = ""
    """A digest of the ids; empty if unknown."""
    also: tuple[str, ...] = ()
    """Other tokenizers with the same ids."""
    estimate: Estimate | None = None
    """Of the tokens of the corpus, if ``tokens`` are those of a sample of its blocks."""

    @property
    def total(self) -> int:
        return round(self.estimate.tokens) if self.estimate else sum(self.tokens)

    @property
    def round_trip(self) -> RoundTrip:
        """The round trip of all texts, by the rule of loss."""
        return self.loss.round_trip() if isinstance(self.loss, Loss) else self.loss

    @property
    def lost_characters(self) -> float | None:
        """The share of the characters; ``None`` if it is not known."""
        return self.loss.lost if isinstance(self.loss, Loss) else None


def count_tokens(tokenizer: Tokenizer, texts: Sequence[str], ends: Sequence[int]) -> TextCost:
    """Return the tokens that a tokenizer needs for some texts, without its name, or raise ContractError.

    ``ends`` is behind the last text of each file.

    >>> import tokbench
    >>> cost = count_tokens(tokbench.load("utf8_bytes"), ["né", "ab"], [1, 2])
    >>> cost.tokens, cost.loss.exact, cost.vocab_size
    ((3, 2), True, 256)
    """
    known = tuple(cautions(getattr(tokenizer, "notes", ())))
    cost = TextCost(tokenizer="", vocab_size=vocab_size_of(tokenizer), cautions=known)
    if only_counts(tokenizer):
        return replace(cost, tokens=_summed(count_batch(tokenizer, texts), ends))
    shard = encoded_texts(LoadedTokenizer("", tokenizer), texts)
    digest = hashlib.sha256(shard.ids.tobytes()).hexdigest()
    return replace(cost, tokens=_summed(shard.tokens, ends), loss=Loss.of(text_sums(shard)), ids=digest)


def _summed(tokens: NDArray[np.int64], ends: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(part.sum()) for part in np.split(tokens, ends[:-1]))


def _merged(costs: Sequence[TextCost]) -> list[TextCost]:
    """Return one entry for tokenizers with the same ids."""
    rows: list[TextCost] = []
    for cost in costs:
        twin = next((place for place, row in enumerate(rows) if _are_same(row, cost)), None)
        if twin is None:
            rows.append(cost)
        else:
            cautions = (*rows[twin].cautions, *(f"{cost.tokenizer}: {line}" for line in cost.cautions))
            rows[twin] = replace(rows[twin], also=(*rows[twin].also, cost.tokenizer), cautions=cautions)
    return rows


def _are_same(one: TextCost, other: TextCost) -> bool:
    """Tell whether ids and losses are the same; padding and special tokens may add 1% to the vocabulary."""
    near = abs(one.vocab_size - other.vocab_size) <= one.vocab_size / 100
    return bool(one.ids) and near and (one.ids, one.loss) == (other.ids, other.loss)


@dataclass(frozen=True, kw_only=True)
class CostTable:
    """The cost of some texts under many vocabularies."""

    sizes: tuple[int, ...]
    """The UTF-8 bytes of each file's texts."""
    costs: list[TextCost]
    """The cheapest first, tokenizers with the same ids as one; behind them those that the rule of loss leaves out, and
    those that could not be counted."""
    ties: frozenset[str] = frozenset()
    """The cheapest that is ranked, and all that tie with it by :mod:`tokbench.statistics.standings`."""
    reference: str = ""
    """The tokenizer to compare with, if one was named."""
    left_out: dict[str, list[str]] = field(default_factory=dict)
    """The published names that are missing here, by reason."""
    unverified: frozenset[str] = frozenset()
    """The published names whose ids were compared with no other source."""

    @property
    def base(self) -> TextCost | None:
        """The reference, or the cheapest that is ranked; ``None`` if it could not be counted."""
        wanted = (cost for cost in self.costs if cost.tokenizer == self.reference or not self.reference)
        first = next(wanted, None)
        return first if first and first.total and (self.reference or first.round_trip.ranked) else None

    def relative(self, cost: TextCost) -> float | None:
        """Return the tokens of a tokenizer for each of the base; ``None`` if there is none.

        >>> a = TextCost(tokenizer="a", tokens=(4,), loss=Loss(exact=True))
        >>> CostTable(sizes=(9,), costs=[a]).relative(TextCost(tokenizer="b", tokens=(6,)))
        1.5
        """
        return cost.total / self.base.total if self.base and not cost.reason else None

    def bytes_per_token(self, cost: TextCost) -> float | None:
        return sum(self.sizes) / sum(cost.tokens) if cost.total else None


def _standings(costs: Sequence[TextCost], sizes: Sequence[int]) -> list[Standing[str]]:
    """Rank costs, a text being one unit."""
    units, n_bytes = SampleUnits.numbered(len(sizes)), np.array(sizes, dtype=np.float64)
    rows = {
        cost.tokenizer: StandingSums(above=n_bytes, below=np.array(cost.tokens, float), units=units) for cost in costs
    }
    numbers = {name: [GroupNumber(float(n_bytes.sum() / sums.below.sum()), sums=sums)] for name, sums in rows.items()}
    return standings(numbers, margin=MARGIN)


def cost_of(
    files: Sequence[Sequence[str]],
    registry: Registry,
    names: Sequence[str] = (),
    *,
    reference: str = "",
    workers: int = 1,
    sample: CorpusSample | None = None,
) -> CostTable:
    """Return what texts cost under many vocabularies.

    Args:
        files: the texts of each file, each encoded as a whole.
        registry: the plugins.
        names: names as :func:`tokbench.load` takes them; empty for all published ones that can be used here.
        reference: the name to compare with; empty for the cheapest that is ranked.
        workers: the number of processes; 0 for none but this one.
        sample: whose blocks the files are, if all tokens are to be estimated from them.

    Raises:
        InputError: a name is not known or cannot be had, or none is published.

    >>> from tokbench.registry.plugins import load_registry
    >>> table = cost_of([["née"]], load_registry(), ["utf8_bytes", "utf16_units"], workers=0)
    >>> [(cost.tokenizer, cost.total, table.relative(cost)) for cost in table.costs]
    [('utf16_units', 3, 1.0), ('utf8_bytes', 4, 1.3333333333333333)]
    """
    local = LocalNames(list(names), {}) if names else local_names(registry)
    if not local.usable:
        reasons = "; ".join(f"{reason} ({', '.join(names)})" for reason, names in local.left_out.items())
        raise InputError(f"no published vocabulary is installed: {reasons}")
    if reference and reference not in local.usable:
        raise InputError(
            [Problem("--reference", f"no tokenizer {reference!r}; {did_you_mean(reference, local.usable)}")]
        )
    order = {name: number for number, name in enumerate(local.usable)} | {reference: -1}
    texts, ends = [text for file in files for text in file], [*accumulate(map(len, files))]
    n_bytes = sum(len(text.encode()) for text in texts)
    with (
        progress_shown("auto" if n_bytes > _LONG else "none") as progress,
        session(local.usable, n_bytes=n_bytes, workers=workers, progress=progress, named=bool(names)) as ready,
    ):
        answers = ready.ask(partial(count_tokens, texts=texts, ends=ends))
    costs = [
        TextCost(tokenizer=name, reason=cost.reason) if isinstance(cost, Failure) else replace(cost, tokenizer=name)
        for name, cost in answers.items()
    ]
    if sample:
        costs = [cost if cost.reason else replace(cost, estimate=sample.estimate(cost.tokens)) for cost in costs]
    sizes = tuple(sum(len(text.encode()) for text in file) for file in files)
    costs.sort(key=lambda cost: (bool(cost.reason), cost.total, order[cost.tokenizer]))
    found = _standings([cost for cost in costs if cost.round_trip.ranked and cost.total], sizes)
    places = {each.contender: place for place, each in enumerate(found)}
    return CostTable(
        sizes=sizes,
        costs=_merged(sorted(costs, key=lambda cost: places.get(cost.tokenizer, len(places)))),
        ties=frozenset(each.contender for each in found if each.verdict.ties),
        reference=reference,
        left_out=local.left_out,
        unverified=unverified(registry),
    )
