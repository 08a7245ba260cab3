"""The cost of texts: the tokens that each of many vocabularies needs for them, all counted and none sampled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from tokbench.corpus.contract import Document
from tokbench.corpus.shards import Shard
from tokbench.engine.segment import NamedTokenizers
from tokbench.engine.workers.executor import Executor
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.worker import WorkerContext
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.foundation.progress import silent
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.measuring.job import Job
from tokbench.registry.plugins import Registry, missing
from tokbench.registry.tokenizer_names import Grammar, unverified
from tokbench.tokenizers.batch import check_encoded, count_batch, encode_batch, vocab_size_of
from tokbench.tokenizers.engine_contract import CountsAlone


@dataclass(frozen=True, kw_only=True)
class TextCost:
    """The tokens that a tokenizer needs for some texts."""

    tokenizer: str
    """Its name."""
    vocab_size: int = 0
    """The number of its ids."""
    tokens: tuple[int, ...] = ()
    """The tokens of each text, in the order of the texts."""
    back: tuple[bool, ...] | None = None
    """``True`` for each text that decoding gives back as it was; ``None`` if that is not known, as without ids."""
    reason: str = ""
    """The reason why nothing could be counted; empty if all was."""

    @property
    def comes_back(self) -> bool:
        """``True`` if every text is known to come back."""
        return self.back is not None and all(self.back)

    @property
    def total(self) -> int:
        """The tokens of all texts.

        >>> TextCost(tokenizer="a", tokens=(3, 4), back=(True, True)).total
        7
        """
        return sum(self.tokens)


class LocalNames(NamedTuple):
    """The published names of tokenizers, apart by whether they can be had at once."""

    usable: list[str]
    """Those that need neither a further package nor the network."""
    left_out: dict[str, list[str]]
    """By the reason, which says what to do, the others."""


def local_names(registry: Registry) -> LocalNames:
    """Return the published names that can be used here and now, and why others cannot.

    >>> from tokbench.registry.plugins import load_registry
    >>> "qwen-3" in local_names(load_registry()).usable
    True
    """
    usable, left_out = [], dict[str, list[str]]()
    for name, candidates in Grammar(registry).published().items():
        first = registry.backends.get(candidates[0].backend)
        reason = missing(first)
        if reason is None:
            local = attempt(partial(first.local, first.load_options.model_validate(candidates[0].options)))
            reason = None if local is True else "it would be downloaded; name it with -t to do so"
        if reason is None:
            usable.append(name)
        else:
            left_out.setdefault(reason, []).append(name)
    return LocalNames(usable, dict(sorted(left_out.items(), key=lambda entry: -len(entry[1]))))


@dataclass(frozen=True)
class CountTokens(Job):
    """Count the tokens of some texts; the answer is a :class:`TextCost`."""

    name: str
    texts: tuple[str, ...]

    @property
    def tokenizers(self) -> tuple[str, ...]:
        """See :class:`tokbench.measuring.job.Job`."""
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[TextCost]:
        """See :class:`tokbench.measuring.job.Job`."""
        with doing("encoding", tokenizer=self.name, place="the texts"):
            cost = attempt(lambda: count_tokens(context.loaded(self.name), self.texts))
        yield TextCost(tokenizer=self.name, reason=cost.reason) if isinstance(cost, Failure) else cost


def count_tokens(loaded: LoadedTokenizer, texts: Sequence[str]) -> TextCost:
    """Return what a tokenizer needs for some texts.

    Raises:
        ContractError: the tokenizer breaks its contract.

    >>> import tokbench
    >>> cost = count_tokens(LoadedTokenizer("bytes", tokbench.load("utf8_bytes")), ["né", "ab"])
    >>> cost.tokens, cost.comes_back, cost.vocab_size
    ((3, 2), True, 256)
    """
    size = vocab_size_of(loaded.tokenizer)
    if isinstance(loaded.tokenizer, CountsAlone):
        counts = tuple(count_batch(loaded.tokenizer, texts).tolist())
        return TextCost(tokenizer=loaded.name, vocab_size=size, tokens=counts)
    arrays = encode_batch(loaded.tokenizer, list(texts))
    check_encoded(arrays, len(texts), size)
    documents = [Document(text, "texts", str(k), "texts") for k, text in enumerate(texts)]
    shard = EncodedShard(loaded, Shard("texts", "texts", 0, documents, by_key=False), arrays)
    return TextCost(
        tokenizer=loaded.name,
        vocab_size=size,
        tokens=tuple(shard.tokens.tolist()),
        back=tuple(shard.comes_back.tolist()),
    )


@dataclass(frozen=True, kw_only=True)
class CostTable:
    """The cost of some texts under many vocabularies."""

    sizes: tuple[int, ...]
    """The bytes of each text in UTF-8."""
    costs: list[TextCost]
    """The cheapest first; behind them those not known to give all text back, and those that could not be counted."""
    reference: str = ""
    """The tokenizer that others are compared with, if one was named; else the first one."""
    left_out: dict[str, list[str]] = field(default_factory=dict)
    """By the reason, the published names that are not here."""
    unverified: frozenset[str] = frozenset()
    """The published names whose ids were held against no other source."""

    @property
    def base(self) -> TextCost | None:
        """The one that others are compared with: the reference, or the cheapest that gives every text back.

        ``None`` if it could not be counted, or none gives the texts back.
        """
        wanted = (cost for cost in self.costs if cost.tokenizer == self.reference or not self.reference)
        first = next(wanted, None)
        return first if first and first.total and (self.reference or first.comes_back) else None

    def relative(self, cost: TextCost) -> float | None:
        """Return the tokens of a tokenizer for each of the base; ``None`` if there is none.

        >>> a = TextCost(tokenizer="a", tokens=(4,), back=(True,))
        >>> CostTable(sizes=(9,), costs=[a]).relative(TextCost(tokenizer="b", tokens=(6,), back=(True,)))
        1.5
        """
        return cost.total / self.base.total if self.base and not cost.reason else None

    def bytes_per_token(self, cost: TextCost) -> float | None:
        """Return the bytes of all texts for each token; ``None`` if there is no token.

        >>> a = TextCost(tokenizer="a", tokens=(4,), back=(True,))
        >>> CostTable(sizes=(9,), costs=[a]).bytes_per_token(a)
        2.25
        """
        return sum(self.sizes) / cost.total if cost.total else None


def cost_of(
    texts: Sequence[str], registry: Registry, names: Sequence[str] = (), *, reference: str = "", workers: int = 1
) -> CostTable:
    """Return what texts cost under many vocabularies.

    Args:
        texts: the texts, each encoded as a whole.
        registry: the plugins that are there.
        names: names of tokenizers as :func:`tokbench.load` takes them; empty for all published ones that are here.
        reference: the one of them that others are compared with; empty for the cheapest that gives every text back.
        workers: the number of processes that count side by side; 0 for none but this one.

    Raises:
        InputError: a name is not known or cannot be had, or there is no published one.

    >>> from tokbench.registry.plugins import load_registry
    >>> table = cost_of(["née"], load_registry(), ["utf8_bytes", "utf16_units"], workers=0)
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
    named = NamedTokenizers(local.usable, None)
    with Executor(workers).pool(named.limits, silent) as pool:
        waiting = iter([CountTokens(name, tuple(texts)) for name in named.open(pool, None)])
        costs: list[TextCost] = []
        for job, answer in pool.work(lambda: next(waiting, None)):
            assert isinstance(job, CountTokens)
            if isinstance(answer, WorkerDied):
                answer = TextCost(tokenizer=job.name, reason=answer.failure.reason)  # noqa: PLW2901
            costs.append(answer)
    order = {name: number for number, name in enumerate(local.usable)}
    costs.sort(key=lambda cost: (bool(cost.reason), not cost.comes_back, cost.total, order[cost.tokenizer]))
    return CostTable(
        sizes=tuple(len(text.encode()) for text in texts),
        costs=costs,
        reference=reference,
        left_out=local.left_out,
        unverified=unverified(registry),
    )
