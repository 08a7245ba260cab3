"""The work that a run takes from the store, and what it keeps there.

The parent of the workers alone reads and writes the store. It keeps every training and every shard as soon as it is
finished, so that a run that dies loses only what was being computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tokbench.corpus.shards import Shard
from tokbench.engine.encode_shard import ShardStates
from tokbench.engine.identity import Identities, options_identity
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.store import Key, Store, digest_of
from tokbench.measuring.plan import VOCABULARY, Plan, RunTokenizer
from tokbench.registry.plugins import Registry
from tokbench.results.blocks import TrainingInfo
from tokbench.tokenizers.backend import BackendSpec
from tokbench.tokenizers.facts import TokenizerFacts
from tokbench.tokenizers.options import Options

if TYPE_CHECKING:
    from tokbench.measuring.study import Kept

_TRAINING, _STATES = "training", "states"

_MOST_RECORDS: Final = 64
"""Of one shard and tokenizer; other options and versions of the families have states, too."""

States = dict[str, bytes]


class Training(NamedTuple):
    """The answer to a training: the facts, the tokenizer as a pickle, and what it cost."""

    outcome: TokenizerFacts | Failure
    pickled: bytes
    info: TrainingInfo
    compiled: bool = False
    """``True`` if functions were compiled for this machine meanwhile, which the cost includes."""


def _made_from(identities: Identities, registry: Registry, spec: BackendSpec, options: Options) -> Key:
    backend = identities.backend(spec, registry.backends.entries[spec.name].plugin)
    return {**backend, "options": options_identity(options)}


def training_key(
    identities: Identities, registry: Registry, spec: BackendSpec, options: Options, vocab_size: int, text: Key
) -> Key:
    """Return all that a training is made from: its backend with its options, its size, and its text.

    It raises what :class:`Identities` raises.
    """
    return {**_made_from(identities, registry, spec, options), "vocab_size": vocab_size, **text}


class StoredWork:
    """The finished work that a run can take from a store.

    Args:
        store: ``None`` if nothing is taken and kept.
        registry, plan: of the run.
    """

    def __init__(self, store: Store | None, registry: Registry, plan: Plan) -> None:
        self._store = store
        self._registry = registry
        self._plan = plan
        self._identities = Identities()
        self._refused: dict[str, str] = {}
        self._trainings: dict[str, Key | None] = {}
        self._tokenizers: dict[str, str] = {}
        self._families: dict[str, str] = {}
        self._surroundings = ""
        self.trained: list[str] = []
        """The tokenizers whose training came from the store."""
        self.shards: Counter[str] = Counter()
        """By corpus, how many shards were asked for, counted for each tokenizer."""
        self.hits: Counter[str] = Counter()
        """By corpus, how many of these came from the store whole."""
        self.answers: Counter[str] = Counter()
        """By the words for them, how many answers to studies came from the store, see :class:`Kept`."""
        self._studies: dict[str, str] = {}

    def _key_of_training(self, tokenizer: RunTokenizer) -> Key | None:
        if tokenizer.name not in self._trainings:
            corpora = [(self._plan.surveys[name], self._plan.corpora[name]) for name in tokenizer.train_on]
            text: Key = {
                "training text": [
                    [survey.sha256, survey.trained_bytes, corpus.holdout, corpus.parallel] for survey, corpus in corpora
                ]
            }
            of_backend = self._identities, self._registry, tokenizer.spec, tokenizer.options
            made = attempt(lambda: training_key(*of_backend, tokenizer.vocab_size, text))
            if isinstance(made, Failure):
                self._refused[tokenizer.name] = made.reason
                self._trainings[tokenizer.name] = None
            else:
                self._trainings[tokenizer.name] = made
        return self._trainings[tokenizer.name]

    def training(self, tokenizer: RunTokenizer) -> Training | None:
        key = self._key_of_training(tokenizer) if self._store else None
        return self._store.value(_TRAINING, key, Training) if self._store and key is not None else None

    def keep_training(self, tokenizer: RunTokenizer, done: Training) -> None:
        key = self._key_of_training(tokenizer) if self._store else None
        if self._store and key is not None:
            self._store.put_value(_TRAINING, key, done)

    def forget_training(self, tokenizer: RunTokenizer) -> None:
        key = self._key_of_training(tokenizer) if self._store else None
        if self._store and key is not None:
            self._store.remove(_TRAINING, key)

    def identify(self) -> None:
        """Identify the tokenizers and metric families; the work of one without an identity is not taken or kept."""
        if not self._store:
            return
        self._surroundings = digest_of(self._identities.surroundings())
        for tokenizer in self._plan.tokenizers:
            if tokenizer.ready:
                self._note(self._tokenizers, tokenizer.name, tokenizer.name, partial(self._key_of, tokenizer))
        for family, options in self._plan.metrics:
            entry = self._registry.metrics.entries.get(family.name)
            identity = partial(self._identities.family, family, options, entry.plugin if entry else None)
            self._note(self._families, family.name, f"metric {family.name}", identity)
        for name in self._plan.studies:
            study = self._registry.studies.entries[name]
            self._note(self._studies, name, f"study {name}", partial(self._identities.study, study.spec, study.plugin))

    def _note(self, digests: dict[str, str], name: str, who: str, identity: Callable[[], Key | Failure]) -> None:
        key = attempt(identity)
        digest = key if isinstance(key, Failure) else attempt(partial(digest_of, key))
        if isinstance(digest, Failure):
            self._refused[who] = digest.reason
        else:
            digests[name] = digest

    def _key_of(self, tokenizer: RunTokenizer) -> Key | Failure:
        if tokenizer.identity == "":
            return Failure("its backend does not identify its contents")
        if tokenizer.train_on:
            training = self._key_of_training(tokenizer)
            if training is None:
                return Failure(self._refused[tokenizer.name])
            return {"training": digest_of(training), "artefact": tokenizer.pickled_sha256}
        made = _made_from(self._identities, self._registry, tokenizer.spec, tokenizer.options)
        return {**made, "identity": tokenizer.identity, "vocabulary": tokenizer.info.sha256[VOCABULARY]}

    def _shard_key(self, name: str, shard: Shard) -> Key:
        return {"tokenizer": self._tokenizers[name], "shard": shard.digest, "surroundings": self._surroundings}

    def states(self, name: str, shard: Shard, families: Sequence[str]) -> dict[str, Any]:
        if not self._store:
            return {}
        records = self._records(self._shard_key(name, shard)) if name in self._tokenizers else {}
        digests = {family: self._families.get(family, "") for family in families}
        found = {family: records[digest] for family, digest in digests.items() if digest in records}
        self.shards[shard.corpus] += 1
        self.hits[shard.corpus] += len(found) == len(families)
        return found

    def _records(self, key: Key) -> dict[str, bytes]:
        return (self._store.value(_STATES, key, dict) if self._store else None) or {}

    def keep_states(self, shard: Shard, measured: ShardStates) -> None:
        if not self._store or measured.name not in self._tokenizers:
            return
        new: dict[str, bytes] = {
            self._families[family]: state
            for family, state in measured.states.items()
            if not isinstance(state, Failure) and family in self._families
        }
        if new:
            key = self._shard_key(measured.name, shard)
            records = {**self._records(key), **new}
            latest = dict(list(records.items())[-_MOST_RECORDS:])
            self._store.put_value(_STATES, key, latest)

    def answer_of(self, study: str, names: Sequence[str], kept: Kept) -> Any | None:
        """Return what a study computed of some tokenizers, or of none, if the store has it."""
        key = self.key_of(study, names, kept)
        value = self._store.value(kept.kind, key) if self._store and key is not None else None
        self.answers[kept.counted] += value is not None
        return value

    def keep_answer_of(self, study: str, names: Sequence[str], kept: Kept, value: object) -> None:
        key = self.key_of(study, names, kept)
        if self._store and key is not None:
            self._store.put_value(kept.kind, key, value)

    def key_of(self, study: str, names: Sequence[str], kept: Kept) -> Key | None:
        """Return the key of what a study computed; ``None`` if nothing of it is kept."""
        unknown = study not in self._studies or (kept.family and kept.family not in self._families)
        if not self._store or unknown or not set(names) <= self._tokenizers.keys():
            return None
        tokenizers = [self._tokenizers[name] for name in names]
        details = {"study": self._studies[study], "family": self._families.get(kept.family, ""), **kept.details}
        return {"tokenizers": tokenizers, "surroundings": self._surroundings, **details}

    def sentences(self) -> list[str]:
        if not self._store:
            return []
        said = [f"training {name}: from the store, with the time of the original training" for name in self.trained]
        for corpus, count in self.hits.items():
            if count:
                said.append(f"measuring {corpus}: {count:,} of {self.shards[corpus]:,} shards from the store")
        counts = {words: f"{count:,}" for words, count in self.answers.items() if words and count}
        said += [f"{words.format(count)} from the store" for words, count in counts.items()]
        said += [f"{name} is not kept in the store: {why}" for name, why in self._refused.items()]
        return said

    def end(self) -> None:
        """Keep the store within its size."""
        if self._store:
            self._store.prune()
