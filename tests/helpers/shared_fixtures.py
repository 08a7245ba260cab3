"""Fixtures, hooks and settings of all tests, in tests/ and in the packages of plugins/."""

from __future__ import annotations

import gc
import os
import signal
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import tiktoken_cache
from hypothesis import HealthCheck, settings

import tokbench
from tokbench.engine.workers.executor import Executor
from tokbench.foundation.packages import packages
from tokbench.results.cells import WHOLE

# The time that an example takes depends on who else uses the machine, so there is no deadline, and none is too slow.
_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", **_PATIENT)
settings.register_profile("quick", **_PATIENT, max_examples=25)
settings.register_profile("thorough", **_PATIENT, max_examples=1000)


def pytest_configure(config):
    """Generate fewer examples where the slow tests are left out; ``pytest --hypothesis-profile thorough`` more."""
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile("quick" if config.option.markexpr == "not slow" else "ci")
    if "PYTEST_XDIST_WORKER" not in os.environ and "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        _share_what_jax_compiles(config)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(_CacheGuard(), "tiktoken cache")
    links = TemporaryDirectory(prefix="tiktoken-", ignore_cleanup_errors=True)
    config.add_cleanup(links.cleanup)
    tiktoken_cache.link_files(Path(links.name))
    os.environ[tiktoken_cache.VARIABLE] = links.name


def pytest_collection_modifyitems(items):
    """Skip the tests of tokbench with its packages where a package is not installed."""
    absent = [name for name in packages() if not find_spec(name.replace("-", "_"))]
    skipped = pytest.mark.skip(reason=f"needs {', '.join(absent)}: pip install -r plugins/all.txt")
    for item in items if absent else ():
        if item.get_closest_marker("packages"):
            item.add_marker(skipped)


class _CacheGuard:
    """Fails the session if the given folder of tiktoken's files has changed: made-up encodings would pass for real ones."""

    def __init__(self):
        self._before = tiktoken_cache.listing(tiktoken_cache.GIVEN)
        self._changed = []

    def pytest_sessionfinish(self, session):
        after = tiktoken_cache.listing(tiktoken_cache.GIVEN)
        self._changed = sorted({name for name, *_ in set(self._before) ^ set(after)})
        if self._changed and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self._changed:
            names = ", ".join(self._changed)
            terminalreporter.write_line(
                f"ERROR: files have changed in {tiktoken_cache.GIVEN} while the tests ran: {names}", red=True
            )


@pytest.fixture(autouse=True)
def own_tiktoken_cache():
    """Take away what a test has written among the links to tiktoken's files, and put back what it has deleted.

    The folder stays the same: processes that are started in one test and used in another know it by its name.
    """
    folder = Path(os.environ[tiktoken_cache.VARIABLE])
    yield
    tiktoken_cache.link_files(folder)


def _share_what_jax_compiles(config):
    """Let all processes of these tests use what one of them has compiled; models train in less time than they compile.

    JAX locks its folder only if that has a largest size, and needs a further package for it.
    """
    if find_spec("jax") and find_spec("filelock"):
        folder = TemporaryDirectory(prefix="jax-", ignore_cleanup_errors=True)
        config.add_cleanup(folder.cleanup)
        os.environ["JAX_COMPILATION_CACHE_DIR"] = folder.name
        os.environ["JAX_COMPILATION_CACHE_MAX_SIZE"] = str(10**9)
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"


# Every test computes what it looks at; tests of the store give it a folder of their own.
os.environ["TOKBENCH_NO_STORE"] = "1"
# The tests start hundreds of processes that import tokbench: the first one keeps what it compiles.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Engines in Rust panic on purpose in hundreds of tests, and looking up the names of a backtrace takes longer than the test.
os.environ["RUST_BACKTRACE"] = "0"
# No test multiplies large matrices: no process needs the threads for it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# A worker keeps dozens of vocabularies with millions of objects. To look through them for garbage as often as Python does
# takes longer than what most tests compute.
gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real vocabularies and corpora."""
    folder = os.environ.get("TOKBENCH_TEST_DATA")
    if not folder:
        pytest.skip("TOKBENCH_TEST_DATA names no folder with real vocabularies and corpora")
    return Path(folder)


@pytest.fixture(scope="session")
def tiktoken_files() -> None:
    """Skip a test that needs tiktoken's own files where no folder has them: nothing is downloaded."""
    if not os.environ.get("TIKTOKEN_CACHE_DIR"):
        pytest.skip("TIKTOKEN_CACHE_DIR names no folder with tiktoken's files")


@pytest.fixture
def write_config(tmp_path):
    """Write a configuration from its parts; what is not given is small and right."""

    def write(
        corpora: str = "  sample: {source: sample, part: hostile}",
        tokenizers: str = "  bytes: {backend: utf8_bytes}",
        metrics: str = "[compression]",
        formats: str = "[csv]",
        extra: str = "",
    ) -> Path:
        path = tmp_path / "run.yaml"
        path.write_text(
            f"schema: tokbench/1\nname: test\ncorpora:\n{corpora}\ntokenizers:\n{tokenizers}\n"
            f"metrics: {metrics}\nreport: {{formats: {formats}}}\n{extra}",
            encoding="utf-8",
        )
        return path

    return write


def problems(path: Path, workers: int = 0) -> list[str]:
    """Return what is wrong with a configuration, without the folder's name."""
    with pytest.raises(tokbench.InputError) as caught:
        tokbench.run(path, workers=workers)
    return [str(problem).replace(str(path), path.name) for problem in caught.value.problems]


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install modules of ``tests/helpers`` as plugins of a distribution of their own, here and in subprocesses."""

    def install_plugins(*modules: str) -> None:
        info = tmp_path / "site" / "own-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n", encoding="utf-8")
        lines = "".join(f"{module} = {module}\n" for module in modules)
        (info / "entry_points.txt").write_text(f"[tokbench]\n{lines}", encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path / "site")
        folders = [str(tmp_path / "site"), str(Path(__file__).parent)]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")]))

    return install_plugins


@pytest.fixture
def faulty(install):
    """Install ``faulty_backends``."""
    install("faulty_backends")


@pytest.fixture
def few_plugins(monkeypatch):
    """Load no engine that a test of crashes does not need: its processes start a sixth faster."""
    monkeypatch.setenv(
        "TOKBENCH_PLUGINS", "baselines,corpora,faulty_backends,metrics,naive_bpe,regex_bpe,reports,speed"
    )


@pytest.fixture
def no_process(monkeypatch):
    """Let commands work in this process, which does not take seconds to start."""
    pool = Executor.pool
    monkeypatch.setattr(Executor, "pool", lambda _, limits, progress: pool(Executor(0), limits, progress))


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Give runs a store of their own, and return its folder."""
    monkeypatch.delenv("TOKBENCH_NO_STORE")
    monkeypatch.setenv("TOKBENCH_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


@contextmanager
def sharing_store(tmp_path_factory):
    """Use the store that some tests share, in all processes of the tests.

    It is for tests of large vocabularies: their merges and digests are computed once for all of these tests, and those of
    the recovery itself compute them anew.
    """
    session = tmp_path_factory.getbasetemp()
    session = session.parent if "PYTEST_XDIST_WORKER" in os.environ else session
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TOKBENCH_NO_STORE")
        patch.setenv("TOKBENCH_STORE", str(session / "store"))
        yield


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """Let all tests of a module use the store that some tests share."""
    with sharing_store(tmp_path_factory):
        yield


@pytest.fixture
def clock(monkeypatch):
    """Put a clock of the test in the place of the one by which speeds are measured: it goes on while an engine sleeps."""
    import sleeping_backends

    from tokbench.measuring.timing import clock as timing

    clock = sleeping_backends.Clock()
    patched = [sleeping_backends, timing]
    if find_spec("tokbench_engines"):
        names = ("tokbench_engines.speed.latency", "tokbench_engines.speed.isolated.growth")
        patched += [import_module(name) for name in names if find_spec(name.rpartition(".")[0])]
    for module in patched:
        monkeypatch.setattr(module, "time", clock)
    return clock


def interruptible():
    """Let a child process hear Ctrl-C, even if the tests run in the background, where shells have it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "x.txt").write_text("aaa\naca\n", encoding="utf-8")
    (tmp_path / "y.txt").write_text("aa\nabc\n", encoding="utf-8")
    return "  c: {source: text, path: '?.txt', document: line, group: '{stem}'}"


def cell(results, tokenizer, metric, group=WHOLE):
    [found] = [c for c in results.cells if (c.tokenizer, c.metric, c.group) == (tokenizer, metric, group)]
    return found


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker a whole stretch of tests, so that the fixtures of a module are made once and not in every worker."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)
