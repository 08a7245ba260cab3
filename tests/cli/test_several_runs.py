"""Several configurations in one command, suites by name, and the options that change a configuration."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tokbench.cli.main import tokbench as command
from tokbench.config.suites import shipped_suites
from tokbench.foundation.errors import BackendError, InputError
from tokbench.terminal.several import PlannedRun, run_each


def config(name, tokenizers="  bytes: {backend: utf8_bytes}", metrics="[compression]"):
    return (
        f"schema: tokbench/1\nname: {name}\ncorpora:\n  sample: {{source: sample, part: hostile}}\n"
        f"tokenizers:\n{tokenizers}\nmetrics: {metrics}\nreport: {{formats: [csv]}}\n"
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that commands run in, with a function that writes files into it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name, text):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def files():
    return sorted(path.as_posix() for path in Path().rglob("results.csv"))


def test_each_is_written_to_a_folder_of_its_own(folder):
    write("a.yaml", config("one"))
    write("many/b.yaml", config("two"))
    write("many/_base.yaml", "tokenizers: {}\n")
    done = CliRunner().invoke(command, ["run", "a.yaml", "many", "-w", "0"])
    assert done.exit_code == 0, done.output
    assert files() == ["reports/one/results.csv", "reports/two/results.csv"]
    assert "1 of 2: a.yaml" in done.output
    assert "2 of 2: many/b.yaml" in done.output
    assert done.output.index("reports/one/results.json") < done.output.index("2 of 2")
    facts = CliRunner().invoke(command, ["run", "a.yaml", "many", "-w", "0", "--json", "-v"]).stdout
    one, end = json.JSONDecoder().raw_decode(facts)
    two, rest = json.JSONDecoder().raw_decode(facts[end:].strip())
    assert (one["name"], two["name"], len(facts[end:].strip()) - rest) == ("one", "two", 0)


def test_every_problem_of_every_file_is_told_before_anything_is_measured(folder):
    write("good.yaml", config("good"))
    write("one.yaml", config("one", metrics="[compresion]"))
    write("two.yaml", config("two", tokenizers="  t: {backend: tiktokn}\n  s: {backend: splintr, vocabulary: gpt9}"))
    write("bad.yaml", "a: [1")
    given = ["good.yaml", "one.yaml", "two.yaml", "bad.yaml", "nothing.yaml", "quikstart"]
    done = CliRunner().invoke(command, ["run", *given, "-w", "0"])
    assert isinstance(done.exception, InputError)
    lines = [str(problem) for problem in done.exception.problems]
    starts = [
        "one.yaml:7:11: unknown metric 'compresion'",
        "two.yaml:6:16: unknown backend 'tiktokn'",
        "two.yaml:7:37: vocabulary: ",
        "bad.yaml:1:6: not YAML: ",
        "nothing.yaml: cannot be read: ",
        "no such file, and no ",
    ]
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == starts
    assert files() == []
    assert "good" not in done.output


@pytest.mark.slow
def test_check_tells_the_problems_of_all_and_what_the_others_would_do(folder):
    write("a.yaml", config("same"))
    write("b.yaml", config("same", metrics="[compresion]"))
    done = CliRunner().invoke(command, ["check", "a.yaml", "b.yaml"])
    assert "a.yaml: nothing wrong" in done.output
    assert [str(problem) for problem in done.exception.problems] == [
        "b.yaml:2:7: a.yaml is called 'same', too; give each configuration a name of its own",
        "b.yaml:7:11: unknown metric 'compresion'; did you mean 'compression'?",
    ]


def test_two_of_the_same_name_are_refused(folder):
    write("a.yaml", config("same"))
    write("b.yaml", config("same"))
    outcome = CliRunner().invoke(command, ["run", "a.yaml", "b.yaml", "-w", "0"])
    assert [problem.where for problem in outcome.exception.problems] == ["b.yaml:2:7"]
    assert files() == []


def test_the_worst_exit_code_counts_and_the_others_are_run(folder, faulty):
    tokenizers = "  f: {backend: DecodeRaises}\n  bytes: {backend: utf8_bytes}"
    write("a.yaml", config("fails", tokenizers, "[compression, roundtrip]"))
    write("b.yaml", config("works"))
    done = CliRunner().invoke(command, ["run", "a.yaml", "b.yaml", "-w", "0"])
    assert done.exit_code == 1, done.output
    assert files() == ["reports/fails/results.csv", "reports/works/results.csv"]


def test_an_error_costs_one_run_and_an_interruption_all_that_follow(capsys):
    runs = [PlannedRun(Path(name), Path(name)) for name in ("a.yaml", "b.yaml", "c.yaml", "d.yaml")]
    begun = []

    def execute(outcomes):
        def one(run):
            begun.append(run.config.name)
            outcome = outcomes[len(begun) - 1]
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        begun.clear()
        return one

    assert run_each(runs, execute([1, InputError("the text changed"), 0, 0])) == 2
    assert len(begun) == 4
    assert capsys.readouterr().err == "error: the text changed\n"
    assert run_each(runs, execute([BackendError("gone"), 0, 0, 0])) == 1
    assert run_each(runs, execute([0, 143, 0, 0])) == 143
    assert begun == ["a.yaml", "b.yaml"]
    with pytest.raises(KeyboardInterrupt):
        run_each(runs, execute([0, 0, KeyboardInterrupt(), 0]))
    assert capsys.readouterr().err.endswith("not run: c.yaml, d.yaml\nnot run: d.yaml\n")
    with pytest.raises(BackendError):
        run_each(runs[:1], execute([BackendError("gone")]))


@pytest.mark.packages
def test_new_writes_a_suite_and_never_over_a_file(folder):
    outcome = CliRunner().invoke(command, ["new", "probes"])
    assert outcome.output == "written: probes.yaml; run it with: tokbench run probes.yaml\n"
    assert Path("probes.yaml").read_bytes() == shipped_suites()["probes"].path.read_bytes()
    write("mine.yaml", "mine")
    Path("link.yaml").symlink_to("nowhere.yaml")
    assert CliRunner().invoke(command, ["new", "probes"]).output.startswith("unchanged: probes.yaml")
    for arguments in (["code", "-o", "mine.yaml"], ["code", "-o", "link.yaml"], ["code", "-o", "."]):
        refused = CliRunner().invoke(command, ["new", *arguments])
        assert isinstance(refused.exception, InputError)
        assert "exists already and is left alone; choose another file with -o" in str(refused.exception)
    assert Path("mine.yaml").read_text(encoding="utf-8") == "mine"
    assert not Path("nowhere.yaml").exists()
    assert "cannot be written: No such file" in str(CliRunner().invoke(command, ["new", "code", "-o", "x/y"]).exception)


def test_options_of_the_command_are_in_the_results_and_in_the_summary(folder):
    write("a.yaml", config("a", metrics="[compression, fertility]"))
    options = ["--limit", "3", "--only", "bytes", "--set", "metrics.fertility.unit=whitespace"]
    outcome = CliRunner().invoke(command, ["run", "a.yaml", "-w", "0", *options])
    assert outcome.exit_code == 0, outcome.output
    assert "set by the command: metrics.fertility.unit=whitespace" in outcome.output
    results = json.loads(Path("reports/a/results.json").read_text(encoding="utf-8"))
    assert (results["config"]["limit"], results["config"]["only"]) == (3, ["bytes"])
    assert CliRunner().invoke(command, ["run", "a.yaml", "--limit", "0"]).exit_code == 2
