"""The plugin for pytest and the assertions: cases of a suite, the fixture, and messages that say what to do."""

import json
import sys
from importlib.metadata import entry_points

import pytest

import tokbench
from tokbench.testing import assert_not_worse, assert_same_ids

SUITE = """
schema: tokbench/1
name: suite
corpora:
  text: {source: text, path: "*.txt", document: line}
tokenizers:
  bytes: {backend: utf8_bytes}
  mine: {backend: naive_bpe, train: {corpus: text, vocab_size: 270}}
  absent: {backend: tiktoken, path: nowhere.tiktoken, pattern: gpt2, optional: true}
metrics: [compression]
"""


QUICK = ["--benchmark-min-rounds=2", "--benchmark-max-time=0.01", "--benchmark-min-time=0.0001"]


class Reports:
    """Keeps the outcome of every test of a session."""

    def __init__(self):
        self.found = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.found[report.nodeid] = report.outcome


@pytest.fixture
def session(tmp_path, monkeypatch):
    """Run pytest in this process, in a folder with a suite and a test file."""
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    (tmp_path / "a.txt").write_text("one line of text\nand another line\n" * 50, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider -p no:xdist\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # else pytest-benchmark times nothing
    installed = any(point.name == "tokbench" for point in entry_points(group="pytest11"))

    def run(test="", *options):
        (tmp_path / "test_own.py").write_text(test, encoding="utf-8")
        sys.modules.pop("test_own", None)
        reports = Reports()
        plugin = [] if installed else ["-p", "tokbench.pytest_plugin"]
        code = pytest.main([*plugin, *map(str, options)], plugins=[reports])
        return code, reports.found

    return run


@pytest.mark.slow
def test_each_tokenizer_on_each_corpus_is_a_benchmark_with_its_throughput(session, tmp_path):
    code, found = session("", "--tokbench", "suite.yaml", "--benchmark-json=b.json", *QUICK)
    assert code == 0
    assert found == {
        "suite.yaml::encode[bytes-text]": "passed",
        "suite.yaml::encode[mine-text]": "passed",
        "suite.yaml::encode[absent-text]": "skipped",
    }
    one, two = json.loads((tmp_path / "b.json").read_text("utf-8"))["benchmarks"]
    assert (one["fullname"], one["group"]) == ("suite.yaml::encode[bytes-text]", "encode text")
    n_bytes = 50 * len("one line of textand another line")
    assert (one["extra_info"]["bytes"], one["extra_info"]["tokens"]) == (n_bytes, n_bytes)
    assert one["extra_info"]["mb_per_s"] == pytest.approx(n_bytes / one["stats"]["median"] / 1e6)
    assert (two["extra_info"]["tokenizer"], two["extra_info"]["backend"]) == ("mine", "naive_bpe")
    assert two["extra_info"]["tokens"] < n_bytes


TESTS = """
import pytest

def test_of_the_suite(tokbench_tokenizer):
    assert tokbench_tokenizer.decode(tokbench_tokenizer.encode("a line")) == "a line"

@pytest.mark.parametrize("tokbench_tokenizer", [{"backend": "utf16_units"}, "utf16_units"], indirect=True)
def test_of_its_own(tokbench_tokenizer):
    assert tokbench_tokenizer.vocab_size == 65536
"""


def test_the_fixture_is_each_tokenizer_of_the_suite_or_what_the_test_names(session):
    code, found = session(TESTS, "--tokbench=suite.yaml", "--benchmark-skip", "-k", "test_of")
    assert code == 0
    assert found == {
        "test_own.py::test_of_the_suite[bytes]": "passed",
        "test_own.py::test_of_the_suite[mine]": "passed",
        "test_own.py::test_of_the_suite[absent]": "skipped",
        "test_own.py::test_of_its_own[tokbench_tokenizer0]": "passed",
        "test_own.py::test_of_its_own[utf16_units]": "passed",
    }


def test_a_wrong_suite_is_told_with_its_place(session, tmp_path, capsys):
    (tmp_path / "wrong.yaml").write_text(SUITE.replace("vocab_size", "vocab_sise"), encoding="utf-8")
    assert session("", "--tokbench", "wrong.yaml")[0] == pytest.ExitCode.USAGE_ERROR
    assert "wrong.yaml:8:" in capsys.readouterr().err


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run, and one with a smaller vocabulary."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "a.txt").write_text("".join(f"line {k} of the text\n" for k in range(100)), encoding="utf-8")
    found = []
    for size in (290, 270):
        path = folder / f"{size}.yaml"
        path.write_text(SUITE.replace("270", str(size)).replace("name: suite", f'name: "{size}"'), encoding="utf-8")
        found.append(tokbench.run(path, folder / str(size), workers=0))
    return folder, found


def test_a_run_that_is_not_worse_passes(runs):
    folder, (one, two) = runs
    assert_not_worse(one, one, "+0%")
    assert_not_worse(one, two, "+0%")
    assert_not_worse(two, one, "+90%")
    assert_not_worse(folder / "290", folder / "270", "0.001", metrics=["compression_ratio"], each_group=True)


def test_a_run_that_is_worse_fails_with_the_numbers(runs):
    _, (one, two) = runs
    with pytest.raises(AssertionError) as caught:
        assert_not_worse(two, one, "+1%", significantly=True)
    _, *rows = str(caught.value).splitlines()
    assert {row.split(" | ")[3] for row in rows} >= {"compression_ratio", "tokens"}
    assert all(row.startswith("  mine | text | whole corpus | ") for row in rows)


@pytest.mark.parametrize(("limit", "metrics"), [("a bit", ()), ("+1%", ["compresion_ratio"])])
def test_an_assertion_that_compares_nothing_is_refused(runs, limit, metrics):
    with pytest.raises(tokbench.InputError):
        assert_not_worse(runs[1][0], runs[1][1], limit, metrics=metrics)


def test_other_ids_are_shown_with_document_position_and_the_smallest_text():
    texts = ["the the the", "plain", "x" * 40 + " the \N{SNOWMAN} end"]
    one = tokbench.train("naive_bpe", texts[:2], 260)
    two = tokbench.train("naive_bpe", texts[:1], 258)
    assert_same_ids(two, two, texts)
    with pytest.raises(AssertionError) as caught:
        assert_same_ids(one, tokbench.load("utf8_bytes"), texts[1:])
    message = str(caught.value)
    assert "document 1 " in message
    smallest = message.split("tokenizer.encode(")[1].removesuffix(")")
    assert len(eval(smallest)) == 2
