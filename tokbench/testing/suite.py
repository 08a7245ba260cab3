"""The tokenizers and texts of a configuration in this process, for tests."""

from __future__ import annotations

import zlib
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

from tokbench.config.read import read_config
from tokbench.engine.check import check, worker_pool
from tokbench.engine.prepare import train_one
from tokbench.engine.workers.executor import Executor
from tokbench.engine.workers.pool import WorkerDied, WorkerPool
from tokbench.foundation.errors import BackendError, BackendUnavailable
from tokbench.foundation.failures import Failure
from tokbench.foundation.progress import RunProgress
from tokbench.measuring.job import TokenizerJob
from tokbench.measuring.plan import RunTokenizer
from tokbench.tokenizers.contract import Tokenizer

MAX_BYTES: Final = 2_000_000


class SuiteCase(NamedTuple):
    """A tokenizer on a corpus."""

    tokenizer: str
    corpus: str


class BenchmarkSuite:
    r"""A configuration, or a shipped suite, whose tokenizers run in this process: a crash of one ends the process.

    >>> from pathlib import Path
    >>> import tempfile
    >>> text = "schema: tokbench/1\nname: s\ncorpora: {c: {source: sample, part: code}}\n"
    >>> path = Path(tempfile.mkdtemp(), "s.yaml")
    >>> _ = path.write_text(text + "tokenizers: {bytes: {backend: utf8_bytes}}\nmetrics: [compression]\n")
    >>> suite = BenchmarkSuite(str(path))
    >>> suite.cases, suite.tokenizer("bytes").encode("a"), len(suite.texts("c"))
    ([SuiteCase(tokenizer='bytes', corpus='c')], [97], 60)
    >>> suite.close()
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._open = ExitStack()
        config = read_config(Path(name))
        pool = self._open.enter_context(worker_pool(config, RunProgress(), Executor(0)))
        self._pool: WorkerPool = pool
        try:
            self._run = check(config, pool)
        except BaseException:
            self.close()
            raise
        plan = self._run.plan
        self._tokenizers = {tokenizer.name: tokenizer for tokenizer in plan.tokenizers}
        self.cases = [SuiteCase(name, corpus) for corpus in plan.measured for name in plan.names_on(corpus)]

    @property
    def tokenizers(self) -> list[str]:
        return list(self._tokenizers)

    def close(self) -> None:
        self._open.close()

    def tokenizer(self, name: str) -> Tokenizer:
        """Return a tokenizer, trained once if the configuration trains it.

        Raises:
            BackendUnavailable: it is optional and cannot be used here.
            BackendError: it cannot be trained.
        """
        known = self._tokenizers[name]
        if known.to_be_trained:
            train_one(self._run, known)
        if known.failure:
            raise (BackendUnavailable if known.info.optional else BackendError)(f"{name}: {known.failure.reason}")
        loaded = self._pool.ask(TokenizerJob((name,), "loading", "", lambda tokenizer: tokenizer))
        if isinstance(loaded, WorkerDied):
            loaded = loaded.failure
        if isinstance(loaded, Failure):
            raise BackendError(f"{name}: {loaded.reason}")
        ready: Tokenizer = loaded
        return ready

    def facts(self, name: str) -> RunTokenizer:
        return self._tokenizers[name]

    def texts(self, corpus: str) -> list[str]:
        """Return the evaluated documents of a corpus; of more than 2 MB a share, chosen by hash."""
        share = min(1.0, MAX_BYTES / max(1, self._run.plan.surveys[corpus].evaluated_bytes))
        texts = (document.text for document in self._run.plan.corpora[corpus].evaluation())
        return [text for text in texts if zlib.crc32(text.encode()) < share * 2**32]
