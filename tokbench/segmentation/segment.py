"""Texts that a user wants to see as tokens: the tokenizers that are named, and how each cuts the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from tokbench.config.model import Config, Limits, expand
from tokbench.config.overrides import Overrides
from tokbench.config.read import read_config
from tokbench.config.validate import validate_options
from tokbench.corpus.contract import Document
from tokbench.corpus.shards import Shard
from tokbench.engine.check import check
from tokbench.engine.prepare import train_all
from tokbench.engine.workers.pool import WorkerPool
from tokbench.engine.workers.worker import LoadRecipe
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.store import Store
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.measuring.sums import Sums
from tokbench.registry.plugins import load_registry, missing
from tokbench.registry.tokenizer_names import Grammar
from tokbench.segmentation.segmented_text import Segmentation
from tokbench.tokenizers.batch import check_encoded, encode_batch, vocab_size_of
from tokbench.tokenizers.contract import HasTokenBytes, Tokenizer
from tokbench.tokenizers.merges import merge_order, ordinary_tokens

_S_PER_MB: Final = 10.0
_UNKNOWN: Final = "unknown tokenizer"


def cut_texts(
    tokenizer: Tokenizer, texts: Sequence[str], *, merges: bool = False, notes: bool = False
) -> list[Segmentation]:
    """Return how a tokenizer cuts some texts, each alone if they fail together; the caller adds its name.

    ``merges`` are added if they are asked for, and so are the ``notes`` of the tokenizer.
    """
    loaded = LoadedTokenizer("", tokenizer)
    together = attempt(lambda: segment(loaded, texts))
    segmentations = together if not isinstance(together, Failure) else [_cut_alone(loaded, text) for text in texts]
    known = list(getattr(tokenizer, "notes", ())) if notes else []
    steps = attempt(lambda: MergeSteps(tokenizer), "no merges") if merges else None
    for segmentation in segmentations:
        segmentation.reason = "; ".join(filter(None, [segmentation.reason, *known]))
        if isinstance(steps, Failure):
            segmentation.reason = segmentation.reason or steps.reason
        elif steps:
            segmentation.merges = [steps.of(token) for token in segmentation.ids]
    return segmentations


def _cut_alone(loaded: LoadedTokenizer, text: str) -> Segmentation:
    outcome = attempt(lambda: segment(loaded, [text]))
    return without_tokens(loaded.name, outcome) if isinstance(outcome, Failure) else outcome[0]


def without_tokens(name: str, failure: Failure) -> Segmentation:
    """Return the entry of a text that a tokenizer could not cut."""
    return Segmentation(tokenizer=name, round_trip=False, reason=failure.reason)


def segment(loaded: LoadedTokenizer, texts: Sequence[str]) -> list[Segmentation]:
    """Return how a tokenizer cuts some texts, in their order, or raise ContractError.

    >>> import tokbench
    >>> [cut] = segment(LoadedTokenizer("bytes", tokbench.load("utf8_bytes")), ["né"])
    >>> cut.ids, cut.pieces, cut.ends, cut.round_trip
    ([110, 195, 169], ['6e', 'c3', 'a9'], [1, 2, 3], True)
    """
    tokenizer, shard = loaded.tokenizer, encoded_texts(loaded, texts)
    ends, aligned = shard.token_ends
    last = np.cumsum(np.where(aligned, shard.tokens, 0))  # aligned texts alone have ends
    hexes = {token: own_bytes(tokenizer, token).hex() for token in np.unique(shard.ids).tolist()}
    segmentations = []
    for k in range(len(texts)):
        ids = shard.ids[shard.offsets[k] : shard.offsets[k + 1]].tolist()
        own_ends = ends[last[k] - len(ids) : last[k]] - shard.shard.byte_offsets[k] if aligned[k] else ends[:0]
        segmentations.append(
            Segmentation(
                tokenizer=loaded.name,
                ids=ids,
                pieces=[hexes[token] for token in ids],
                ends=own_ends.tolist(),
                round_trip=bool(shard.exact[k]),
                back="" if shard.exact[k] else shard.decoded[k],
            )
        )
    return segmentations


def encoded_texts(loaded: LoadedTokenizer, texts: Sequence[str]) -> EncodedShard:
    """Return some texts encoded, each as a document, or raise ContractError."""
    arrays = encode_batch(loaded.tokenizer, list(texts))
    check_encoded(arrays, len(texts), vocab_size_of(loaded.tokenizer))
    documents = [Document(text, "texts", str(k), "texts") for k, text in enumerate(texts)]
    return EncodedShard(loaded, Shard("texts", "texts", 0, documents, by_key=False), arrays)


def text_sums(encoded: EncodedShard) -> Sums:
    """Return what the rule of loss needs of some texts."""
    shard = encoded.shard
    return Sums.of(shard, tokens=encoded.tokens, bytes=shard.n_bytes, characters=shard.n_chars, **encoded.losses)


def own_bytes(tokenizer: Tokenizer, token: int) -> bytes:
    r"""Return the bytes of an id; what it decodes to if the tokenizer does not give them.

    >>> import tokbench
    >>> own_bytes(tokbench.load("utf8_bytes"), 0xE2)
    b'\xe2'
    """
    if isinstance(tokenizer, HasTokenBytes):
        return tokenizer.token_bytes(token)
    return tokenizer.decode([token]).encode("utf-8", "replace")


class MergeSteps:
    """The merges by which BPE makes each token, or ContractError. No merge is ever taken back, so these are all."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._data = ordinary_tokens(tokenizer)
        self._order = merge_order(tokenizer, self._data)

    def of(self, token: int) -> list[list[str]]:
        """Return the parts of each merge, in the order in which BPE does them: by rank, then from left to right."""
        done: list[tuple[int, int]] = []
        waiting = [(token, 0)]
        while waiting:
            whole, at = waiting.pop()
            rank = int(self._order.rank_of[whole])
            if rank >= 0:
                done.append((rank, at))
                for part in self._order.parts_of(rank):
                    waiting.append((part, at))
                    at += len(self._data[part])
        return [[self._data[part].hex() for part in self._order.parts_of(rank)] for rank, _ in sorted(done)]


def brief_limits(n_bytes: int = 0, step_s: float = 60.0) -> Limits:
    """Return the limits of a command that a person waits for: a minute a step, 10 s for each MB of text, and 4 GB."""
    seconds = step_s + _S_PER_MB * n_bytes / 10**6
    return Limits.model_validate({"step": seconds, "train": seconds, "memory": "4GB"})


class NamedTokenizers:
    """The tokenizers that a user names: of a configuration, or any in the grammar of names.

    Args:
        names: empty for all tokenizers of the configuration, whose names go before all others.
        config: the configuration's path, or the name of a suite, if there is one.
        prefer: the backends that may load a published name or a file; empty for all.
        options: further ones of each, if there can be no configuration.

    Raises:
        InputError: with all names that are not known, or there is none.
    """

    def __init__(
        self,
        names: Sequence[str],
        config: Path | None,
        prefer: Sequence[str] = (),
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._names = tuple(dict.fromkeys(names))
        if config is None and not self._names:
            raise InputError("name a tokenizer, such as -t tiktoken:cl100k_base, or a configuration (-c CONFIG)")
        self._registry = registry = load_registry()
        in_config = _names_of(config) if config else frozenset()
        grammar = Grammar(registry, known=in_config)
        if prefer:
            grammar = replace(grammar, wanted=lambda spec: spec.name in prefer)
        problems: list[Problem] = []
        self._recipes: dict[str, LoadRecipe] = {}
        for name in self._names:
            if name not in in_config:
                try:
                    self._recipes[name] = recipe_of(name, grammar, options or {})
                except InputError as error:
                    problems += error.problems
        if problems:
            raise InputError(
                problems if config or options is not None else [_with_advice(problem) for problem in problems]
            )
        configured = [name for name in self._names if name in in_config]
        self._config = _only(config, configured) if config and (configured or not self._names) else None

    @property
    def limits(self) -> Limits | None:
        """Those of the configuration, if there is one."""
        return self._config.limits if self._config else None

    def open(self, pool: WorkerPool, store: Store | None) -> list[str]:
        """Let a pool know the tokenizers, trained if they are to be, and return their names; raise InputError."""
        for name, recipe in self._recipes.items():
            pool.keep(name, recipe)
        backends = self._registry.backends
        pool.isolate(self._registry, {name: backends.get(recipe.backend) for name, recipe in self._recipes.items()})
        if self._config is None:
            return list(self._names)
        run = check(self._config, pool, store)
        train_all(run)
        ready = run.plan.tokenizers
        if lacking := [tokenizer for tokenizer in ready if tokenizer.failure]:
            raise InputError(
                [Problem(each.location, f"tokenizer {each.name!r}: {each.info.reason}") for each in lacking]
            )
        made = {name: [each.name for each in ready if name in {each.name, each.entry}] for name in self._names}
        chosen = [variant for name, variants in made.items() for variant in variants or [name]]
        return chosen or [tokenizer.name for tokenizer in ready]


def recipe_of(name: str, grammar: Grammar, further: Mapping[str, Any] = MappingProxyType({})) -> LoadRecipe:
    """Return what loads the tokenizer of a name with further options, or raise InputError.

    >>> recipe_of("utf8_bytes", Grammar(load_registry())).backend
    'utf8_bytes'
    """
    backend, options = grammar.resolve(name).with_options(dict(further), name)
    spec = grammar.registry.backends.get(backend)
    if spec.load is None:
        raise InputError([Problem(name, f"backend {backend!r} must be trained; name it in a configuration")])
    if absent := missing(spec):
        raise InputError([Problem(name, f"backend {backend!r} {absent}")])
    return LoadRecipe(backend, validate_options(spec.load_options, options, name))


def _names_of(path: Path) -> frozenset[str]:
    """Return the names of the tokenizers of a configuration, and of the entries that make several."""
    config = read_config(path)
    variants = (variant.name for name, entry in config.tokenizers.items() for variant in expand(name, entry))
    written = config.located.data.get("tokenizers")  # with malformed entries, which have problems of their own
    return frozenset([*variants, *(written if isinstance(written, dict) else ())])


def _with_advice(problem: Problem) -> Problem:
    if not problem.message.startswith(_UNKNOWN) or problem.message.endswith("?"):
        return problem
    return Problem(problem.where, f"{problem.message}; or give the configuration that has it (-c CONFIG)")


def _only(path: Path, names: Sequence[str]) -> Config:
    """Read a configuration, and keep of it only what makes some tokenizers, or all if none is named."""
    config = read_config(path, Overrides(limit=1, only=tuple(names)))
    trained_on = {corpus for entry in config.tokenizers.values() if entry.train for corpus in entry.train.corpus}
    config.corpora = {name: entry for name, entry in config.corpora.items() if name in trained_on}
    config.metrics, config.formats, config.study, config.further = [], (), {}, {}
    return config
