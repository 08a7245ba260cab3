"""Pin the tokenizers of a configuration: from the YAML to the content of a lock."""

from __future__ import annotations

import platform
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tokbench.config.overrides import Overrides
from tokbench.config.read import config_of, read_config
from tokbench.config.suites import SUFFIXES, find_config, shipped_suites
from tokbench.engine.check import check, worker_pool
from tokbench.engine.prepare import train_all
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.measuring.job import TokenizerJob
from tokbench.plugin import Failure, InputError, Problem, Progress, did_you_mean
from tokbench.registry.plugins import load_registry
from tokbench.registry.tokenizer_names import Grammar
from tokbench_identity.kit import shipped_names
from tokbench_identity.pins.encode import PlacedText, pin_texts, vocabulary_of
from tokbench_identity.pins.lock import Lock, PinnedCorpus, PinnedText, PinnedTokenizer, place_of

if TYPE_CHECKING:
    from tokbench.config.model import Config
    from tokbench.foundation.store import Store
    from tokbench.measuring.plan import Plan, RunTokenizer

_BATCH_CHARS: Final = 1 << 20

_READING: Final = "reading the vocabulary of"
_ENCODING: Final = "encoding"


class Request(NamedTuple):
    """What to pin."""

    config: Path
    """A file, the name of a suite, or a tokenizer, which is pinned on the texts of the kits."""
    limit: int | None = None
    """Per group; ``None`` for all."""
    only: tuple[str, ...] = ()
    """Empty for all tokenizers of the configuration."""

    def read(self) -> Config:
        """Read the configuration, without what pins do not need.

        Raises:
            InputError: no such file, or it is malformed.
        """
        overrides = Overrides(limit=self.limit, only=self.only)
        if is_tokenizer(self.config):
            config = config_of(_of_tokenizer(self.config), overrides)
        else:
            config = read_config(self.config, overrides)
        config.metrics, config.formats, config.study, config.further = [], (), {}, {}
        return config


def is_tokenizer(given: Path) -> bool:
    """Tell whether what is to be pinned is a tokenizer, not a configuration.

    >>> is_tokenizer(Path("gpt-4o")), is_tokenizer(Path("quickstart")), is_tokenizer(Path("mine.yaml"))
    (True, False, False)
    """
    return given.suffix not in SUFFIXES and str(given) not in shipped_suites()


def _of_tokenizer(given: Path) -> dict[str, Any]:
    name = str(given.absolute()) if given.exists() else str(given)
    if re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        name = f"hf:{name}"
    try:
        Grammar(load_registry()).resolve(name)
    except InputError as error:
        hint = did_you_mean(name, shipped_suites())
        if hint.endswith("?") and not str(error).endswith("?"):
            raise InputError(f"no tokenizer and no suite is called {name!r}; {hint}") from error
        raise
    kit = {"source": "kit", "of": name} if name in shipped_names() else {"source": "kit"}
    called = re.sub(r"[^\w.-]+", "-", given.stem if given.exists() else str(given))
    return {
        "schema": "tokbench/1",
        "name": "pinned",
        "corpora": {"kit": kit},
        "tokenizers": {called: name},
        "metrics": ["compression"],
    }


def _of_named(given: Path, message: str) -> Problem:
    """Return a problem of a configuration in words for whoever named a tokenizer, as other commands have it."""
    loading = re.fullmatch(r"tokenizer '.*?' \(backend \w+\): (.*)", message)
    return Problem("", loading[1]) if loading else Problem(str(given), message)


@dataclass
class Opened:
    """A configuration whose tokenizers are ready to encode its texts."""

    plan: Plan
    pool: WorkerPool
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def ready(self) -> list[RunTokenizer]:
        return [tokenizer for tokenizer in self.plan.tokenizers if tokenizer.name not in self.failures]

    def texts(self) -> Iterator[list[PlacedText]]:
        """Yield the evaluated documents of all corpora in batches; equal places get numbers.

        Raises:
            InputError: a file cannot be read, or its text changed.
        """
        batch: list[PlacedText] = []
        chars = 0
        for name in self.plan.measured:
            seen = Counter[str]()
            for document in self.plan.corpora[name].evaluation():
                place = place_of(name, document.group, document.key)
                seen[place] += 1
                again = f"#{seen[place]}" if seen[place] > 1 else ""
                batch.append(PlacedText(place + again, document.text))
                chars += len(document.text)
                if chars >= _BATCH_CHARS:
                    yield batch
                    batch, chars = [], 0
        if batch:
            yield batch

    def ask(self, jobs: Sequence[TokenizerJob], step: str) -> Iterator[tuple[str, Any]]:
        for name, answer in self.pool.ask_each(jobs, step):
            if isinstance(answer, WorkerDied):
                self.failures[name] = answer.failure.reason
            elif isinstance(answer, Failure):
                self.failures[name] = answer.reason
            else:
                yield name, answer

    def tokenizers(self) -> list[PinnedTokenizer]:
        """Pin all that can be pinned; ``failures`` tells of the others."""
        jobs = [TokenizerJob((tokenizer.name,), _READING, tokenizer.name, vocabulary_of) for tokenizer in self.ready]
        vocabularies = dict(self.ask(jobs, "reading vocabularies"))
        pins: dict[str, list[PinnedText]] = defaultdict(list)
        for texts in self.texts():
            place, step = f"{texts[0].place} to {texts[-1].place}", partial(pin_texts, texts)
            jobs = [TokenizerJob((tokenizer.name,), _ENCODING, place, step) for tokenizer in self.ready]
            for name, answer in self.ask(jobs, "encoding texts"):
                pins[name] += answer
        return [
            PinnedTokenizer(
                name=tokenizer.name,
                backend=tokenizer.info.backend,
                packages=tuple(f"{name} {version}" for name, version in tokenizer.info.libraries.items()),
                options=tokenizer.info.options,
                vocabulary=vocabularies[tokenizer.name],
                texts=tuple(sorted(pins[tokenizer.name], key=lambda text: text.place)),
            )
            for tokenizer in self.ready
        ]


@contextmanager
def opened(config: Config, progress: Progress, store: Store | None) -> Iterator[Opened]:
    """Yield a configuration with its tokenizers loaded, or trained where it says so.

    Raises:
        InputError: something is wrong with the configuration.
    """
    with worker_pool(config, progress) as pool:
        run = check(config, pool, store)
        train_all(run)
        failures = {tokenizer.name: tokenizer.info.reason for tokenizer in run.plan.tokenizers if tokenizer.failure}
        yield Opened(run.plan, pool, failures)


class Pins(NamedTuple):
    """The outcome of pinning."""

    lock: Lock
    failures: Mapping[str, str]


def pin(request: Request, folder: Path, progress: Progress, store: Store | None = None) -> Pins:
    """Encode all texts of a configuration with all its tokenizers, and pin the ids.

    The path of the configuration in the lock starts from ``folder``.

    Raises:
        InputError: something is wrong with the configuration.
    """
    config = request.read()
    try:
        with opened(config, progress, store) as run:
            tokenizers = run.tokenizers()
    except InputError as error:
        if is_tokenizer(request.config):  # the user has not seen the configuration that was made of it
            raise InputError([_of_named(request.config, problem.message) for problem in error.problems]) from error
        raise
    lock = Lock(
        configuration=_from_folder(request.config, folder),
        python=platform.python_version(),
        corpora=pinned_corpora(run.plan),
        tokenizers=tuple(tokenizers),
        limit=request.limit,
        only=request.only,
    )
    return Pins(lock, run.failures)


def pinned_corpora(plan: Plan) -> dict[str, PinnedCorpus]:
    """Return the number of documents and the hash of each corpus."""
    surveys = ((name, plan.surveys[name]) for name in plan.measured)
    return {name: PinnedCorpus(sum(survey.groups.values()), survey.sha256) for name, survey in surveys}


def _from_folder(config: Path, folder: Path) -> str:
    if not config.exists():
        if not is_tokenizer(config):
            find_config(config)
        return str(config)
    return Path(relpath(config, folder)).as_posix()
