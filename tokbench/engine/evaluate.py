"""Shards x tokenizers -> states: everything is encoded once, and measured by every text metric."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from tokbench.corpus.shards import Shard
from tokbench.engine.encode_shard import EncodeShard, ShardStates, for_family, in_document
from tokbench.engine.run import Run
from tokbench.engine.workers.pool import InMemory, WorkerDied
from tokbench.foundation.failures import Failure, attempt
from tokbench.measuring.encoded_shard import DECODING, ENCODING
from tokbench.measuring.job import Job
from tokbench.registry.foreign import distributions_of, state_of

_MUCH_TEXT: Final = 4_000_000
"""From so many bytes of a corpus on, tokenizers prepare for much text, which takes about a second."""


def evaluate(run: Run) -> None:
    """Measure every ready tokenizer on every corpus; each stranger's processes encode once more."""
    run.states.fail_unmade()
    _judge_by_names(run)
    hosts = run.states.hosts
    families = {plugins: frozenset(name for name in hosts if hosts[name] == plugins) for plugins in hosts.values()}
    for evaluator in [_Evaluator(run, plugins, families[plugins]) for plugins in sorted(families)]:  # our own first
        for job, answer in run.pool.work(evaluator.next_job, evaluator.read_ahead):
            evaluator.take(job, answer)


def _judge_by_names(run: Run) -> None:
    """Add the metrics of other packages that tokenizers cannot be measured by; only their processes have the types."""
    families = (family for family, _ in run.plan.metrics if distributions_of(family.text, family.make))
    needs = {metric.id: {need.__name__ for need in metric.needs} for family in families for metric in family.values}
    for tokenizer in run.plan.tokenizers:
        missing = {metric for metric, names in needs.items() if names and not names & tokenizer.has}
        if tokenizer.ready:
            tokenizer.info.lacks = sorted({*tokenizer.info.lacks, *missing})


class _Evaluator:
    """Measures the families of tokbench's own plugins, or those of one distribution in its processes."""

    def __init__(self, run: Run, plugins: tuple[str, ...], families: frozenset[str]) -> None:
        plan, pool = run.plan, run.pool
        names = [tokenizer.name for tokenizer in plan.tokenizers if tokenizer.ready]
        self._plugins, self._families = plugins, families
        self._plan = plan
        self._pool = pool
        self._stored = run.stored
        self._states = run.states
        self._notes = run.results.notes
        planned = run.states.planned_families
        self._names = {
            corpus: [name for name in names if families.intersection(planned.get((corpus, name), ()))]
            for corpus in plan.measured
        }
        for corpus, some in self._names.items():
            run.states.to_measure[corpus] += sum(plan.surveys[corpus].groups.values()) * len(some)
        self._options = {spec.name: options for spec, options in plan.metrics if spec.text}
        self._progress = pool.progress
        self._shards = chain.from_iterable(self._read(name) for name in plan.measured if self._names[name])
        self._prefetched: deque[Shard] = deque()
        self._retries: deque[EncodeShard] = deque()
        self._pending: dict[tuple[str, str, int], set[str]] = {}
        self._active: dict[tuple[tuple[str, str, int], tuple[str, ...]], str] = {}
        self._backlog = Backlog(strangers=pool.strangers.tokenizers)
        self._bytes_left = {
            name: sum(plan.surveys[c].evaluated_bytes for c in plan.measured if name in self._names[c])
            for name in names
        }

    def _read(self, name: str) -> Iterator[Shard]:
        """Yield the shards of a corpus; if a table of counts can no longer be read, note why, and end."""
        shards = self._plan.corpora[name].shards()
        while shard := attempt(lambda: next(shards, None)):
            if isinstance(shard, Failure):
                self._states.unreadable[name] = shard
                self._notes.append(shard.reason)
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
        wanted = tuple(each for each in self._states.open_families(name, shard) if each in self._families)
        known = self._stored.states(name, shard, wanted) if wanted else {}
        for family, state in known.items():
            self._add(shard, name, family, state_of(self._states.metrics[family], state))
        return tuple(family for family in wanted if family not in known)

    def read_ahead(self) -> bool:
        """Read the next shard, so that no worker waits for it; return whether there is one."""
        if not self._prefetched:
            self._prefetched.extend(islice(self._shards, 1))
        return bool(self._prefetched)

    def _encode_shard(self, shard: Shard, asked: Mapping[str, tuple[str, ...]]) -> EncodeShard | None:
        wanted = {}
        for name, families in asked.items():
            left = self._states.open_families(name, shard)
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
            metric = self._states.metrics[family]
            known = state if isinstance(state, Failure) else attempt(partial(state_of, metric, state))
            readable[family] = known if isinstance(known, Failure) else state
            self._add(shard, measured.name, family, known)
        self._stored.keep_states(shard, measured._replace(states=readable))
        self._bytes_left[measured.name] -= shard.total_bytes
        seconds_per_byte = measured.seconds / max(shard.total_bytes, 1)
        self._backlog.seconds_left[measured.name] = seconds_per_byte * self._bytes_left[measured.name]
        self._close(shard, measured.name)

    def _add(self, shard: Shard, name: str, family: str, state: Any | Failure) -> None:
        self._states.add((name, shard.corpus, shard.group, family), state, shard.documents)

    def _at_work(self, job: EncodeShard, after: str = "") -> None:
        """Show which tokenizers are at work on the open shards."""
        place = job.shard.key, tuple(job.wanted)
        self._active[place] = _next_after(list(job.wanted), after)
        if not self._active[place]:
            del self._active[place]
        self._progress.tokenizers_at_work(*dict.fromkeys(self._active.values()))
        self._progress.measuring(job.shard.corpus, self._states.to_measure[job.shard.corpus])

    def _close(self, shard: Shard, name: str, *, from_store: bool = False) -> None:
        left = self._pending[shard.key]
        left.discard(name)
        if not left:
            del self._pending[shard.key]
        self._progress.measured(
            shard.corpus,
            documents=shard.documents,
            n_bytes=shard.total_bytes,
            total=self._states.to_measure[shard.corpus],
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
            self._states.crashed.setdefault((name, family), failure)


def _next_after(names: Sequence[str], done: str) -> str:
    """Return the name behind ``done``, the first if that is not among them, or an empty string."""
    return next(iter(names[names.index(done) + 1 if done in names else 0 :]), "")


# Which worker gets which tokenizers of a shard. To load a large vocabulary takes as long as to encode twenty megabytes
# with it. So each worker keeps to a share of them, and takes over one of another only if enough work is left for it.

WORTH_LOADING: Final = 2.0
"""Seconds of work that must be left with a tokenizer for another worker to load it, too."""

_SHARDS_A_WORKER: Final = 8

Asked = Mapping[str, tuple[str, ...]]
"""By tokenizer, the metric families that are to be measured."""


class ShardPart(NamedTuple):
    """A shard, and the tokenizers by which one worker measures it."""

    shard: Shard
    asked: Asked


class _Waiting(NamedTuple):
    shard: Shard
    names: tuple[str, ...]
    left: dict[str, tuple[str, ...]]


@dataclass
class Backlog:
    """The shards that were read, each with the tokenizers that no worker has got yet, oldest first."""

    seconds_left: dict[str, float] = field(default_factory=dict)
    """By tokenizer, about how many seconds of work are left, if that is known."""
    strangers: Collection[str] = ()
    """The tokenizers that share no process with others."""
    _waiting: deque[_Waiting] = field(default_factory=deque)

    def add(self, shard: Shard, asked: Asked) -> None:
        if asked:
            self._waiting.append(_Waiting(shard, tuple(asked), dict(asked)))

    def is_full(self, workers: int) -> bool:
        return len(self._waiting) >= _SHARDS_A_WORKER * workers

    def take(self, memory: InMemory | None) -> ShardPart | None:
        """Return the next part for a worker; without ``memory`` shards are not divided.

        Nor are long ones: each worker would hold the text and the arrays made from it.
        """
        for entry in self._waiting:
            divided = memory if memory and not entry.shard.is_long else None
            names = _own(entry.left, entry.names, divided) if divided else list(entry.left)
            if names:
                return self._part(entry, [name for name in names if name not in self.strangers] or names[:1])
        return None

    def take_over(self) -> ShardPart | None:
        """Return a part with the tokenizer of another worker that has most work left, if it is worth loading."""
        for entry in self._waiting:
            seconds = {name: self.seconds_left.get(name, float("inf")) for name in entry.left}
            name = max(seconds, key=seconds.__getitem__)
            if seconds[name] >= WORTH_LOADING:
                return self._part(entry, [name])
        return None

    def _part(self, waiting: _Waiting, names: list[str]) -> ShardPart:
        part = ShardPart(waiting.shard, {name: waiting.left.pop(name) for name in names})
        self._waiting = deque(entry for entry in self._waiting if entry.left)
        return part


def _own(left: Collection[str], names: Collection[str], memory: InMemory) -> list[str]:
    """Return the tokenizers of the worker, and enough of those that no worker has to make up its share.

    >>> _own(["a", "b", "c", "d"], ["a", "b", "c", "d"], InMemory(["a"], ["b"], 2))
    ['a', 'c']
    """
    own = [name for name in left if name in memory.here]
    free = [name for name in left if name not in memory.here and name not in memory.elsewhere]
    room = -(-len(names) // memory.workers) - sum(name in memory.here for name in names)
    return [name for name in left if name in own or name in free[: max(room, 0 if own else 1)]]
