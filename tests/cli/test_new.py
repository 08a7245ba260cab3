"""The command ``tokbench new``: suites that are copied, and drafts that are made of answers and of folders."""

import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.cli.purposes import PURPOSES
from tokbench.config.read import read_config


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Answer the questions; return what the command printed, and the file."""
    monkeypatch.chdir(tmp_path)

    def answer(*answers):
        outcome = CliRunner().invoke(command, ["new"], input="\n".join([*answers, ""]))
        return outcome, tmp_path / "mine.yaml"

    return answer


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_draft_of_the_sample_has_nothing_wrong(ask, purpose):
    outcome, path = ask(purpose, "", "utf8_bytes, gpt-4")
    assert outcome.exit_code == 0, outcome.output
    config = read_config(path)
    assert not config.problems
    assert list(config.corpora) == ["sample"]
    assert {"utf8_bytes", "gpt-4"} <= set(config.tokenizers)
    assert config.name == "mine"
    assert "tokbench run mine.yaml" in outcome.output


def test_a_draft_runs(ask, tmp_path):
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    for number in range(3):
        (tmp_path / "folder" / "deep" / f"{number}.txt").write_text("some text\nmore of it\n", encoding="utf-8")
    (tmp_path / "folder" / "notes.md").write_text("of another kind", encoding="utf-8")
    outcome, path = ask("languages", "folder", "utf8_bytes, utf16_units")
    assert outcome.exit_code == 0, outcome.output
    results = tokbench.run(path, workers=0, store=False)
    assert not results.failed
    assert results.corpora["prose"].documents == 7


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (("choose", "", "gpt-44"), "gpt-44: unknown tokenizer 'gpt-44'; did you mean 'gpt-4'?"),
        (("choose", "", "splintr:llama9"), "splintr:llama9: vocabulary: must be"),
        (("choose", "empty", "utf8_bytes"), "empty: the folder has no files"),
    ],
)
def test_an_answer_that_cannot_be_used_is_refused_and_nothing_is_written(ask, tmp_path, answers, message):
    (tmp_path / "empty").mkdir()
    outcome, path = ask(*answers)
    assert str(outcome.exception).startswith(message)
    assert not path.exists()


def test_a_file_that_exists_is_left_alone(ask, tmp_path):
    (tmp_path / "mine.yaml").write_text("of yesterday", encoding="utf-8")
    outcome, path = ask("choose", "", "utf8_bytes")
    assert "exists already and is left alone" in str(outcome.exception)
    assert path.read_text(encoding="utf-8") == "of yesterday"


def test_the_command_alone_says_where_to_begin():
    assert "Begin with one of these:" in CliRunner().invoke(command, []).output


def test_code_is_read_by_file(ask, tmp_path):
    for number in range(50):
        (tmp_path / f"{number}.py").write_text("a = 1\n", encoding="utf-8")
    outcome, path = ask("size", "*.py", "utf8_bytes")
    assert outcome.exit_code == 0, outcome.output
    assert read_config(path).corpora["texts"].options["document"] == "file"
