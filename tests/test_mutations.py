"""Twelve deliberate breaks of behaviour that matters: a fast test fails for each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
COPIED = ("tokbench", "plugins", "tests", "pyproject.toml")
NOT_COPIED = shutil.ignore_patterns(".git", "*-pytest-*.pyc", "*.pyc.*", "*.tmp.*")
"""Files that pytest has rewritten, or that another process is about to write."""
SECONDS = 120
"""Longest time for the tests of one mutation, which take a second or two."""


class Mutation(NamedTuple):
    """A break, and the fast test that fails because of it.

    Attributes:
        name: what is broken.
        file: the file, from the root of the repository.
        text: the text that is replaced; the file has it once.
        replacement: the text that stands there instead.
        killer: the node id of the test, from the root of the repository.
    """

    name: str
    file: str
    text: str
    replacement: str
    killer: str


MUTATIONS = (
    Mutation(
        "ids off by one",
        "plugins/tokbench_plugins/bpe/fast/encode.py",
        "return [made for _, _, made in self._vocabulary.merges]",
        "return [made + 1 for _, _, made in self._vocabulary.merges]",
        "tests/plugins/bpe/fast/test_bpe_encode.py::test_any_merges_encode_as_the_literal_loop",
    ),
    Mutation(
        "the premium upside down",
        "tokbench/metrics/fairness/premium.py",
        "Premium(group.by_unit(both), reference.by_unit(both), ",
        "Premium(reference.by_unit(both), group.by_unit(both), ",
        "tests/metrics/test_fairness.py::test_premiums_by_hand",
    ),
    Mutation(
        "a dropped document",
        "tokbench/corpus/shards.py",
        "batch = open_.pop(group)",
        "batch = open_.pop(group)[1:]",
        "tests/corpus/test_corpus.py::test_shards_keep_order_and_lose_nothing",
    ),
    Mutation(
        "a shard that fails unseen",
        "tokbench/engine/evaluate.py",
        "        if known is None or isinstance(state, Failure):\n",
        "        if isinstance(state, Failure):\n            return\n        if known is None:\n",
        "tests/engine/test_run.py::test_a_shard_that_fails_costs_its_whole_group",
    ),
    Mutation(
        "writing that is not atomic",
        "tokbench/foundation/files.py",
        """\
        with open(unfinished, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
            file.flush()
            if survive_power_cut:
                os.fsync(file.fileno())  # or a power cut could leave the new name with no content
        unfinished.replace(path)
""",
        """\
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
""",
        "tests/foundation/test_files.py::test_a_full_disk_leaves_the_old_file_and_no_other",
    ),
    Mutation(
        "workers that outlive the parent",
        "tokbench/engine/workers/worker.py",
        "        attempt(lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL))  # 1: PR_SET_PDEATHSIG\n",
        "",
        "tests/engine/test_isolation.py::test_workers_end_when_the_run_is_killed",
    ),
    Mutation(
        "Holm's correction left out",
        "tokbench/metrics/pairs.py",
        "holm(list(tested.values()))",
        "list(tested.values())",
        "tests/metrics/test_pairs.py::test_many_comparisons_ask_more_of_each",
    ),
    Mutation(
        "intervals at 90 %",
        "tokbench/statistics/jackknife.py",
        "NormalDist().inv_cdf(0.975)",
        "NormalDist().inv_cdf(0.95)",
        "tests/statistics/test_jackknife.py::test_student_t_equals_the_tables",
    ),
    Mutation(
        "holdout inverted",
        "tokbench/corpus/corpus.py",
        "document.text) < share * 2**64",
        "document.text) >= share * 2**64",
        "tests/corpus/test_corpus.py::test_holdout_parts_are_disjoint_and_complete",
    ),
    Mutation(
        "a lossy winner",
        "tokbench/report/tables.py",
        "return self.comparable(cell) and self.round_trip(cell).ranked",
        "return self.comparable(cell)",
        "tests/report/test_report_tables.py::test_who_does_not_compete",
    ),
    Mutation(
        "failed cells with exit code 0",
        "tokbench/cli/run.py",
        "else int(results.failed)",
        "else 0",
        "tests/engine/test_in_process.py::test_a_metric_that_raises_shows_its_line",
    ),
    Mutation(
        "the in-sample share of the wrong text",
        "tokbench/engine/trained_shares.py",
        "np.isin(np.concatenate(list(evaluated.values())), trained)",
        "np.isin(np.concatenate(list(evaluated.values())), trained[1:])",
        "tests/engine/test_run.py::test_in_sample_is_a_share",
    ),
)


@pytest.fixture(scope="session")
def copy(tmp_path_factory) -> Path:
    """Copy the packages, their tests and what is compiled of them to a folder where they can be broken."""
    folder = tmp_path_factory.mktemp("mutated")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=NOT_COPIED)
        else:
            shutil.copy(ROOT / name, folder)
    return folder


def run_tests(copy: Path, *nodes: str) -> subprocess.CompletedProcess[str]:
    """Run some of the fast tests of the copy, on the code of the copy."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = os.pathsep.join([str(copy), str(copy / "plugins")])
    environment.pop("PYTHONPYCACHEPREFIX", None)  # the bytecode is beside the code
    # Plain asserts: to rewrite those of plugins takes longer than the tests.
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--assert=plain", "-p", "no:cacheprovider", *nodes]
    return subprocess.run(
        command,
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS * (1 + len(nodes) // 4),
        check=False,
    )


def test_the_tests_pass_on_code_that_is_not_broken(copy):
    done = run_tests(copy, *(mutation.killer for mutation in MUTATIONS))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(MUTATIONS)} passed" in done.stdout
    assert "skipped" not in done.stdout
    assert "deselected" not in done.stdout


@pytest.mark.parametrize("mutation", MUTATIONS, ids=[mutation.name for mutation in MUTATIONS])
def test_a_fast_test_fails_for_each_break(copy, mutation):
    if "PDEATHSIG" in mutation.text and sys.platform != "linux":
        pytest.skip("workers end with a parent that is killed on Linux only")
    path = copy / mutation.file
    whole = path.read_text(encoding="utf-8")
    assert whole.count(mutation.text) == 1
    before = path.stat()
    try:
        path.write_text(whole.replace(mutation.text, mutation.replacement), encoding="utf-8")
        # Python tells bytecode from changed code by the seconds of its time and by its size.
        os.utime(path, (before.st_mtime + 10, before.st_mtime + 10))
        done = run_tests(copy, mutation.killer)
    finally:
        path.write_text(whole, encoding="utf-8")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"\nFAILED {mutation.killer}" in done.stdout, done.stdout
    assert "AssertionError" in done.stdout, "the code ran, and gave something else"
