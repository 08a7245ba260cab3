"""The surveys of corpora that the store has, so that the text of unchanged files need not be read again.

A survey is found by the source with its options and its code, and by the path, size, time and inode of every file.
The store keeps marks of the shards, too. If all states of a shard are in the store, its text is not needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from tokbench.corpus.contract import CorpusSpec
from tokbench.corpus.corpus import Corpus, Survey
from tokbench.corpus.shards import ShardMark
from tokbench.engine.identity import FileStamp, Identities
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.store import Key, Store, digest_of
from tokbench.tokenizers.options import Options

if TYPE_CHECKING:
    from tokbench.registry.plugins import PluginStatus

_SURVEY, _SHARDS = "survey", "shards"

_GRANULARITY: Final = 2 * 10**9
"""Nanoseconds: a file that was written this shortly before it was read may change again and keep its time."""


class StoredSurveys:
    """The surveys that a run can take from a store, if there is one."""

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._identities: Identities | None = None
        self._keys: dict[str, Key] = {}

    def survey(
        self,
        corpus: Corpus,
        spec: CorpusSpec,
        plugin: PluginStatus,
        options: Options,
        progress: Callable[[int], object],
        room: int,
    ) -> Survey:
        """Return the survey of a corpus from the store, or else read all documents; see :meth:`Corpus.survey`."""
        began = time.time_ns()
        stamps = self._stamps(corpus)
        key = attempt(lambda: self._key(corpus, spec, plugin, options, stamps)) if stamps else None
        if self._store is None or key is None or isinstance(key, Failure):
            return corpus.survey(progress, room)
        known: Survey | None = self._store.value(_SURVEY, key)
        if known:
            corpus.resume(known)
            self._keys[corpus.name] = key
            return known
        survey = corpus.survey(progress, room)
        if all(stamp.changed < began - _GRANULARITY and stamp.holds(began) for stamp in stamps):
            self._keys[corpus.name] = key
            self._store.put_value(_SURVEY, key, survey)
        return survey

    def _stamps(self, corpus: Corpus) -> list[FileStamp]:
        if self._store is None:
            return []
        stamps = attempt(lambda: [FileStamp.of(path) for path in corpus.files])
        return [] if isinstance(stamps, Failure) else stamps

    def _key(
        self, corpus: Corpus, spec: CorpusSpec, plugin: PluginStatus, options: Options, stamps: Sequence[FileStamp]
    ) -> Key:
        if self._identities is None:
            self._identities = Identities()
        return {
            **self._identities.surroundings(),
            "name": spec.name,
            **self._identities.source(spec, plugin),
            "options": options.model_dump(mode="json"),
            "files": digest_of({"stamps": [list(stamp) for stamp in stamps]}),
            "corpus": [corpus.holdout, corpus.parallel, corpus.limit],
        }

    def _key_of_shards(self, name: str) -> Key:
        return {**self._keys[name], "corpus_name": name}

    def keeps(self, name: str) -> bool:
        """Return whether the store has the survey of a corpus, so that marks of its shards are of use."""
        return name in self._keys

    def shards(self, name: str) -> Sequence[ShardMark]:
        """Return the marks of all shards of a corpus, in their order, if the store has them."""
        if self._store is None or not self.keeps(name):
            return []
        return self._store.value(_SHARDS, self._key_of_shards(name)) or []

    def keep_shards(self, name: str, marks: Sequence[ShardMark]) -> None:
        if self._store is not None and self.keeps(name):
            self._store.put_value(_SHARDS, self._key_of_shards(name), list(marks))

    def forget(self, name: str) -> None:
        """Delete what the store has of a corpus whose text turned out to be another."""
        if self._store is not None and name in self._keys:
            self._store.remove(_SHARDS, self._key_of_shards(name))
            self._store.remove(_SURVEY, self._keys.pop(name))
