"""Shards x tokenizers -> states: everything is encoded once, and measured by every text metric."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from itertools import chain, islice
from typing import Any, Final

from tokbench.corpus.shards import Shard
from tokbench.engine.encode_shard import EncodeShard, ShardStates, for_family, in_document
from tokbench.engine.shares import Backlog, ShardPart
from tokbench.engine.stored import StoredWork
from tokbench.engine.workers.pool import InMemory, WorkerDied, WorkerPool
from tokbench.foundation.errors import STOPS
from tokbench.foundation.failures import Failure, attempt
from tokbench.measuring.encoded_shard import DECODING, ENCODING
from tokbench.measuring.job import Job
from tokbench.measuring.metric import CorpusMetric, TextMetric
from tokbench.measuring.plan import Plan
from tokbench.registry.foreign import distributions_of, state_of
from tokbench.results.cells import WHOLE

Key = tuple[str, str, str, str]
"""Tokenizer, corpus, group, metric family."""


_MUCH_TEXT: Final = 4_000_000
"""From so many bytes of a corpus on, tokenizers prepare for much text, which takes about a second."""


@dataclass
class Evaluation:
    """The states of the text metrics so far."""

    plan: Plan
    metrics: dict[str, TextMetric | CorpusMetric]
    states: dict[Key, Any | Failure] = field(default_factory=dict)
    """By key, the merged state of the shards so far, or the failure: a part of a group never passes for the whole."""
    documents: dict[Key, int] = field(default_factory=dict)
    to_measure: Counter[str] = field(default_factory=Counter)
    """By corpus, the documents, each counted for every tokenizer and process that encodes it."""
    unreadable: dict[str, Failure] = field(default_factory=dict)
    """By corpus, why its table of counts could not be read to the end."""
    crashed: dict[tuple[str, str], Failure] = field(default_factory=dict)
    """By tokenizer and family, how it ended a process; nothing is measured from then on."""
    foreign: frozenset[str] = frozenset()
    """The families of third parties, whose crashes end no tokenizer."""
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What is missing in the files of the run."""

    @cached_property
    def of_groups(self) -> dict[str, TextMetric]:
        """The metrics that finish the groups of a corpus one by one."""
        return {name: metric for name, metric in self.metrics.items() if not isinstance(metric, CorpusMetric)}

    @cached_property
    def of_corpora(self) -> dict[str, CorpusMetric]:
        return {name: metric for name, metric in self.metrics.items() if isinstance(metric, CorpusMetric)}

    def add(self, key: Key, state: Any | Failure, documents: int) -> None:
        known = self.states.get(key)
        if isinstance(known, Failure):
            return
        self.documents[key] = self.documents.get(key, 0) + documents
        if known is None or isinstance(state, Failure):
            self.states[key] = state
        else:
            metric = self.metrics[key[3]]
            self.states[key] = attempt(lambda: metric.merge(known, state), "merging states")

    def note(self, note: str) -> None:
        self.notes += [note] if note not in self.notes else []

    def state(self, key: Key, documents: int) -> Any | Failure:
        """Return the state of a group, if all its documents are in it, or the failure."""
        state = self.states.get(key)
        if isinstance(state, Failure) or self.documents.get(key) == documents:
            return state
        stopped = "the run was stopped before this was measured" if self.interrupted else "not measured"
        return self.crashed.get((key[0], key[3])) or self.unreadable.get(key[1]) or Failure(stopped)

    def group_state(self, key: Key, groups: Mapping[str, int]) -> Any | Failure:
        """Return the state of a group, or of the whole corpus; ``groups`` has the number of documents of each."""
        name, corpus, group, family = key
        if group != WHOLE:
            return self.state(key, groups[group])
        parts = [self.state((name, corpus, member, family), groups[member]) for member in groups]
        for part in parts:
            if isinstance(part, Failure):
                return part
        if family in self.of_corpora:
            return None  # it takes the groups one by one
        return attempt(lambda: reduce(self.metrics[family].merge, parts), "merging groups")

    @cached_property
    def planned_families(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """By corpus and tokenizer, the families that are to be measured; a pair with none is left out."""
        planned, only = {}, self.plan.only
        for corpus in self.plan.measured:
            families = [family.name for family in self.plan.families_on(corpus)]
            for name in self.plan.names_on(corpus):
                planned[corpus, name] = tuple(each for each in families if name in only.get(each, {name}))
        return {place: families for place, families in planned.items() if families}

    def open_families(self, name: str, shard: Shard) -> tuple[str, ...]:
        """Return the families that can still measure a shard with a tokenizer."""
        return tuple(
            family
            for family in self.planned_families.get((shard.corpus, name), ())
            if (name, family) not in self.crashed
            and not isinstance(self.states.get((name, shard.corpus, shard.group, family)), Failure)
        )


def evaluate(plan: Plan, names: list[str], pool: WorkerPool, stored: StoredWork) -> Evaluation:
    """Measure every tokenizer on every corpus. What was measured is kept if Ctrl-C or the loss of workers ends it."""
    made = {spec.name: attempt(partial(spec.text, options)) for spec, options in plan.metrics if spec.text}
    metrics = {name: metric for name, metric in made.items() if not isinstance(metric, Failure)}
    hosts = {spec.name: distributions_of(spec.text) for spec, _ in plan.metrics if spec.text}
    evaluation = Evaluation(plan, metrics, foreign=frozenset(name for name in hosts if hosts[name]))
    failed = {name: metric for name, metric in made.items() if isinstance(metric, Failure)}
    evaluation.crashed = {(name, family): failure for family, failure in failed.items() for name in names}
    try:
        evaluators = []
        for plugins in sorted(set(hosts.values())):  # tokbench's own first; each stranger's processes encode once more
            families = frozenset(name for name in hosts if hosts[name] == plugins)
            evaluators.append(_Evaluator(plan, evaluation, names, pool, stored, (plugins, families)))
        for evaluator in evaluators:
            for job, answer in pool.work(evaluator.next_job, evaluator.read_ahead):
                evaluator.take(job, answer)
    except STOPS:
        evaluation.interrupted = True
        pool.end()
    return evaluation


class _Evaluator:
    """Measures the families of tokbench's own plugins, or those of one distribution, ``hosted`` in its processes."""

    def __init__(
        self,
        plan: Plan,
        evaluation: Evaluation,
        names: list[str],
        pool: WorkerPool,
        stored: StoredWork,
        hosted: tuple[tuple[str, ...], frozenset[str]],
    ) -> None:
        self._plugins, self._families = hosted
        self._plan = plan
        self._pool = pool
        self._stored = stored
        self._evaluation = evaluation
        planned = evaluation.planned_families
        self._names = {
            corpus: [name for name in names if self._families.intersection(planned.get((corpus, name), ()))]
            for corpus in plan.measured
        }
        for corpus, some in self._names.items():
            evaluation.to_measure[corpus] += sum(plan.surveys[corpus].groups.values()) * len(some)
        self._options = {spec.name: options for spec, options in plan.metrics if spec.text}
        self._progress = pool.progress
        self._shards = chain.from_iterable(self._read(name) for name in plan.measured if self._names[name])
        self._prefetched: deque[Shard] = deque()
        self._retries: deque[EncodeShard] = deque()
        self._pending: dict[tuple[str, str, int], set[str]] = {}
        self._active: dict[tuple[tuple[str, str, int], tuple[str, ...]], str] = {}
        self._backlog = Backlog(strangers=pool.strangers)
        self._bytes_left = {
            name: sum(plan.surveys[c].evaluated_bytes for c in plan.measured if name in self._names[c])
            for name in names
        }

    def _read(self, name: str) -> Iterator[Shard]:
        """Yield the shards of a corpus; if a table of counts can no longer be read, note why, and end."""
        shards = self._plan.corpora[name].shards()
        while shard := attempt(lambda: next(shards, None)):
            if isinstance(shard, Failure):
                self._evaluation.unreadable[name] = shard
                return
            yield shard

    def next_job(self) -> Job | None:
        """Return a job that must be repeated, else a part of a shard; ``None`` if the worker has nothing to do."""
        while self._retries:
            again = self._retries.popleft()
            if job := self._encode_shard(again.shard, again.wanted):
                self._at_work(job)
                return replace(job, retry_of=again.retry_of)
        memory = self._pool.in_memory
        while part := self._next_part(memory):
            if job := self._encode_shard(*part):
                self._at_work(job)
                return job
        return None

    def _next_part(self, memory: InMemory | None) -> ShardPart | None:
        while not (part := self._backlog.take(memory)):
            if (memory and self._backlog.is_full(memory.workers)) or not self.read_ahead():
                return self._backlog.take_over() if memory else None
            shard = self._prefetched.popleft()
            names = self._names[shard.corpus]
            self._pending[shard.key] = set(names)
            asked = {name: self._families_not_stored(shard, name) for name in names}
            self._encode_shard(shard, {name: families for name, families in asked.items() if not families})
            self._backlog.add(shard, {name: families for name, families in asked.items() if families})
        return part

    def _families_not_stored(self, shard: Shard, name: str) -> tuple[str, ...]:
        """Take the states of a shard that the store has, and return the families that must be measured."""
        wanted = tuple(each for each in self._evaluation.open_families(name, shard) if each in self._families)
        known = self._stored.states(name, shard, wanted) if wanted else {}
        for family, state in known.items():
            self._add(shard, name, family, state_of(self._evaluation.metrics[family], state))
        return tuple(family for family in wanted if family not in known)

    def read_ahead(self) -> bool:
        """Read the next shard, so that no worker waits for it; return whether there is one."""
        if not self._prefetched:
            self._prefetched.extend(islice(self._shards, 1))
        return bool(self._prefetched)

    def _encode_shard(self, shard: Shard, asked: Mapping[str, tuple[str, ...]]) -> EncodeShard | None:
        wanted = {}
        for name, families in asked.items():
            left = self._evaluation.open_families(name, shard)
            if still := tuple(family for family in families if family in left):
                wanted[name] = still
            else:
                self._close(shard, name, from_store=bool(left) and not families)
        much_text = self._plan.surveys[shard.corpus].evaluated_bytes >= _MUCH_TEXT
        options = {name: self._options[name] for name in sorted(self._families)}
        return EncodeShard(shard, wanted, options, much_text, plugins=self._plugins) if wanted else None

    def take(self, job: Job, answer: Any) -> None:
        if isinstance(job, EncodeShard):
            if isinstance(answer, WorkerDied):
                self._worker_died(job, answer)
            else:
                self._at_work(job, after=answer.name)
                self._add_states(job.shard, answer)

    def _add_states(self, shard: Shard, measured: ShardStates) -> None:
        readable = {}
        for family, state in measured.states.items():
            metric = self._evaluation.metrics[family]
            known = state if isinstance(state, Failure) else attempt(partial(state_of, metric, state))
            readable[family] = known if isinstance(known, Failure) else state
            self._add(shard, measured.name, family, known)
        self._stored.keep_states(shard, measured._replace(states=readable))
        self._bytes_left[measured.name] -= shard.total_bytes
        seconds_per_byte = measured.seconds / max(shard.total_bytes, 1)
        self._backlog.seconds_left[measured.name] = seconds_per_byte * self._bytes_left[measured.name]
        self._close(shard, measured.name)

    def _add(self, shard: Shard, name: str, family: str, state: Any | Failure) -> None:
        self._evaluation.add((name, shard.corpus, shard.group, family), state, shard.documents)

    def _at_work(self, job: EncodeShard, after: str = "") -> None:
        """Show which tokenizers are at work on the open shards."""
        place = job.shard.key, tuple(job.wanted)
        self._active[place] = _next_after(list(job.wanted), after)
        if not self._active[place]:
            del self._active[place]
        self._progress.tokenizers_at_work(*dict.fromkeys(self._active.values()))
        self._progress.measuring(job.shard.corpus, self._evaluation.to_measure[job.shard.corpus])

    def _close(self, shard: Shard, name: str, *, from_store: bool = False) -> None:
        left = self._pending[shard.key]
        left.discard(name)
        if not left:
            del self._pending[shard.key]
        self._progress.measured(
            shard.corpus,
            documents=shard.documents,
            n_bytes=shard.total_bytes,
            total=self._evaluation.to_measure[shard.corpus],
            from_store=from_store,
        )

    def _worker_died(self, job: EncodeShard, died: WorkerDied) -> None:
        """Let the tokenizer at work be tried once more in a fresh process, or end it; repeat the rest of the job."""
        name = died.heartbeat.tokenizer
        open_ = self._pending.get(job.shard.key, set())
        left = [tokenizer for tokenizer in job.wanted if tokenizer in open_]
        if name not in left and left == list(job.wanted):
            name = left[0]  # or the same could happen again and again
        if name in left:
            left.remove(name)
            # A hang is repeated only if that can find its document.
            if job.retry_of or (died.failure.timed_out and died.heartbeat.verb not in {ENCODING, DECODING}):
                self._end(job, name, died)
                left.append(name)  # the families that go on measure it
            else:
                self._retries.append(replace(job, wanted={name: job.wanted[name]}, retry_of=died))
        self._retries.append(
            replace(job, wanted={tokenizer: job.wanted[tokenizer] for tokenizer in left}, retry_of=None)
        )

    def _end(self, job: EncodeShard, name: str, died: WorkerDied) -> None:
        """Measure nothing more with a tokenizer, or by the one family that was at work with it."""
        failure, first = died.failure, job.retry_of or died
        if job.retry_of and not in_document(died) and died.heartbeat.verb in {ENCODING, DECODING}:
            failure = failure._replace(reason=f"{failure.reason} (no single document reproduces it)")
        families = tuple(family for family in job.wanted[name] if first.heartbeat.place.endswith(for_family(family)))
        for family in families or self._families:
            self._evaluation.crashed.setdefault((name, family), failure)


def _next_after(names: Sequence[str], done: str) -> str:
    """Return the name behind ``done``, the first if that is not among them, or an empty string."""
    return next(iter(names[names.index(done) + 1 if done in names else 0 :]), "")
