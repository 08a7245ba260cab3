"""The plugin for pytest: ``pytest --tokbench SUITE`` times every tokenizer on every corpus with pytest-benchmark.

It also has the fixture ``tokbench_tokenizer``. tokbench is imported when one of these is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tokbench.testing.suite import BenchmarkSuite, SuiteCase
    from tokbench.tokenizers.contract import Tokenizer

_FIXTURE = "tokbench_tokenizer"
_SUITE = pytest.StashKey["BenchmarkSuite"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--tokbench``."""
    group = parser.getgroup("tokbench", "tokenizers of a tokbench suite")
    group.addoption(
        "--tokbench",
        metavar="SUITE",
        help="A YAML file, or the name of a suite that ships with tokbench: time encoding with pytest-benchmark, a "
        "case for each tokenizer and corpus, and run tests with the fixture tokbench_tokenizer for each tokenizer.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Open the suite.

    Raises:
        pytest.UsageError: pytest-benchmark is not there, or something is wrong with the suite.
    """
    name = config.getoption("--tokbench")
    if not name:
        return
    if not config.pluginmanager.hasplugin("benchmark"):
        raise pytest.UsageError("--tokbench needs pytest-benchmark: pip install pytest-benchmark")
    from tokbench.foundation.errors import TokbenchError
    from tokbench.testing.suite import BenchmarkSuite

    try:
        config.stash[_SUITE] = BenchmarkSuite(name)
    except TokbenchError as error:
        raise pytest.UsageError(f"--tokbench {name}: {error}") from error


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the suite."""
    if suite := config.stash.get(_SUITE, None):
        suite.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with the fixture for each tokenizer of the suite, unless the test names tokenizers."""
    suite = metafunc.config.stash.get(_SUITE, None)
    if suite is None or _FIXTURE not in metafunc.fixturenames:
        return
    named = (name for mark in metafunc.definition.iter_markers("parametrize") for name in _names(mark))
    if _FIXTURE not in named:
        metafunc.parametrize(_FIXTURE, suite.tokenizers, indirect=True, scope="session")


def _names(mark: pytest.Mark) -> list[str]:
    given = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
    return [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)


@pytest.fixture(scope="session")
def tokbench_tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    """A tokenizer: each of the suite of ``--tokbench`` in turn, or what the test names.

    A test names one of the suite, or any as ``tokbench.load`` takes it, or a backend with its options::

        @pytest.mark.parametrize("tokbench_tokenizer", ["gpt-4o", {"backend": "utf8_bytes"}], indirect=True)
    """
    given: str | dict[str, Any] | None = getattr(request, "param", None)
    if given is None:
        pytest.fail(
            "tokbench_tokenizer has no tokenizer; run pytest --tokbench SUITE, or name one: "
            "@pytest.mark.parametrize('tokbench_tokenizer', [{'backend': 'utf8_bytes'}], indirect=True)",
            pytrace=False,
        )
    suite = request.config.stash.get(_SUITE, None)
    if isinstance(given, str) and suite is not None and given in suite.tokenizers:
        return _tokenizer(suite, given)
    import tokbench

    options = dict(given) if isinstance(given, dict) else {"backend": given}
    return tokbench.load(options.pop("backend"), **options)


def _tokenizer(suite: BenchmarkSuite, name: str) -> Tokenizer:
    """Return a tokenizer of the suite; skip the test if it is optional and unavailable."""
    from tokbench.foundation.errors import BackendError, BackendUnavailable

    try:
        return suite.tokenizer(name)
    except BackendUnavailable as error:
        pytest.skip(str(error))
    except BackendError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the cases of the suite, so that ``-k`` and ``--benchmark-only`` choose among them, too."""
    if suite := config.stash.get(_SUITE, None):
        collector = _SuiteCollector.from_parent(session, name=suite.name, nodeid=suite.name)
        items.extend(collector.collect())


class _SuiteCollector(pytest.Collector):
    def collect(self) -> Iterable[pytest.Item]:
        suite = self.config.stash[_SUITE]
        for case in suite.cases:
            yield pytest.Function.from_parent(
                self, name=f"encode[{case.tokenizer}-{case.corpus}]", callobj=_case(suite, case)
            )


def _case(suite: BenchmarkSuite, case: SuiteCase) -> Any:
    def encode(benchmark: Any) -> None:
        _time(benchmark, suite, case)

    return encode


def _time(benchmark: Any, suite: BenchmarkSuite, case: SuiteCase) -> None:
    """Time a tokenizer on a corpus, with a fresh copy in each round, so that no engine remembers the text."""
    from tokbench.tokenizers.batch import encode_batch, fresh_copies
    from tokbench.tokenizers.contract import WarmsUp

    tokenizer, texts = _tokenizer(suite, case.tokenizer), suite.texts(case.corpus)
    copies = fresh_copies(tokenizer)

    def fresh() -> tuple[tuple[Tokenizer, list[str]], dict[str, Any]]:
        copy = next(copies)
        if isinstance(copy, WarmsUp):
            copy.warm_up()
        copy.encode("the first call may load something")
        return (copy, texts), {}

    rounds = benchmark._min_rounds  # noqa: SLF001 - what --benchmark-min-rounds says, which pedantic() does not read
    benchmark.group = f"encode {case.corpus}"
    encoded = benchmark.pedantic(encode_batch, setup=fresh, rounds=rounds)
    n_bytes, facts = sum(len(text.encode()) for text in texts), suite.facts(case.tokenizer)
    benchmark.extra_info |= {
        "tokenizer": case.tokenizer,
        "backend": facts.info.backend,
        "corpus": case.corpus,
        "documents": len(texts),
        "bytes": n_bytes,
        "tokens": len(encoded.ids),
    }
    if benchmark.stats is not None:  # --benchmark-disable encodes once, and times nothing
        median = benchmark.stats.stats.median
        benchmark.extra_info |= {"mb_per_s": n_bytes / median / 1e6, "tokens_per_s": len(encoded.ids) / median}
