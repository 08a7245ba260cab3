"""The command ``tokbench new``: suites that are copied, and configurations of texts for each question."""

import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.config.read import read_config
from tokbench.foundation.errors import InputError
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES


@pytest.fixture
def new(tmp_path, monkeypatch):
    """Write a configuration for a folder; return what the command printed, and the file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    for number in range(3):
        lines = "\n".join(f"line {line} of text {number}" for line in range(20))
        (tmp_path / "folder" / "deep" / f"{number}.txt").write_text(lines, encoding="utf-8")
    (tmp_path / "folder" / "notes.md").write_text("of another kind", encoding="utf-8")

    def run(*arguments):
        purpose = arguments[arguments.index("--for") + 1] if "--for" in arguments else "size"
        return CliRunner().invoke(command, ["new", *arguments]), tmp_path / f"{purpose}.yaml"

    return run


@pytest.mark.parametrize("purpose", ["choose", "size", "languages", "code"])
def test_a_configuration_for_each_question_is_right(new, purpose):
    outcome, path = new("folder", "--for", purpose, "-t", "utf8_bytes, gpt-4")
    assert outcome.exit_code == 0, outcome.output
    config = read_config(path)
    assert not config.problems
    assert list(config.corpora) == ["prose"]
    assert {"utf8_bytes", "gpt-4"} <= set(config.tokenizers)
    assert config.name == purpose
    assert f"tokbench run {purpose}.yaml" in outcome.output


@pytest.mark.parametrize("model", ["125m", "1.5B", "405b", "4096X32"])
def test_what_is_written_for_a_model_is_accepted(new, model):
    outcome, path = new("folder", "--model", model, "-t", "utf8_bytes")
    assert outcome.exit_code == 0, outcome.output
    assert read_config(path).study == {"vocabulary": {"model": model}}
    [line] = [
        line
        for line in outcome.output.splitlines()
        if "your text supports" in line or "too little for any size" in line
    ]
    checked = CliRunner().invoke(command, ["check", str(path)])
    assert (checked.exit_code, line in checked.output.splitlines()) == (0, True)


@pytest.mark.parametrize("model", ["500b", "7", "0x2", "{width: 8}"])
def test_a_model_that_check_refuses_is_not_written(new, model):
    outcome, path = new("folder", "--model", model, "-t", "utf8_bytes")
    assert isinstance(outcome.exception, InputError)
    assert not path.exists()


def test_too_little_text_is_refused_before_the_file_is_written(new, tmp_path):
    outcome, path = new("folder/notes.md", "-t", "utf8_bytes")
    assert "no document fell into the held-out part" in str(outcome.exception)
    assert not path.exists()
    assert new("folder", "--for", "code", "--model", "8b")[0].exit_code == 2


STRAY = {
    "a.css": "body{}\n",
    "a.yml": "key: value\n",
    "p.json": '{"name":"x","version":"1.0.0"}\n',
    "i.html": "<html></html>\n",
}


@pytest.mark.parametrize(
    ("stray", "left_out"),
    [(["a.css"], True), (["a.yml"], True), (["empty.py"], True), (["i.html", "a.css"], False), (list(STRAY), False)],
)
def test_stray_files_do_not_keep_a_size_from_being_chosen(new, tmp_path, stray, left_out):
    """A corpus with nothing to train or to measure on is left out by name; one with both is too thin to count."""
    files = {"de": "ein zug von vielen nach berlin", "fi": "juna numero monta lahti helsinkiin"}
    for language, words in files.items():
        lines = [f"{words} {number * 7919 % 1000}" for number in range(400)]
        (tmp_path / "folder" / f"{language}.txt").write_text("\n".join(lines), encoding="utf-8")
    for name in stray:
        (tmp_path / "folder" / name).write_text(STRAY.get(name, ""), encoding="utf-8")
    outcome, path = new("folder", "-t", "utf8_bytes")
    assert outcome.exit_code == 0, outcome.output
    assert CliRunner().invoke(command, ["check", str(path)]).exit_code == 0
    assert set(read_config(path).corpora) == ({"prose"} if left_out else {"prose", "code"})
    _, _, named = outcome.output.partition("left out (")
    assert all(name in named for name in stray) == left_out
    study = tokbench.run(path, workers=0, store=False).studies.get(VOCABULARY_SIZES)
    assert study.weights == pytest.approx({"prose": 1.0})
    assert {advice.line for advice in study.advice} == {"mine"}


def test_the_size_is_chosen_by_the_run(new):
    """It trains until the text gives no more, and says nothing of a size that was asked for."""
    _, path = new("folder", "--model", "1b", "-t", "utf8_bytes")
    results = tokbench.run(path, workers=0, store=False)
    mine = results.tokenizers["mine"]
    assert 256 < mine.vocab_size == mine.train.vocab_size < 1000
    assert not mine.notes
    said = " ".join(results.answer.sentences)
    assert f"{mine.vocab_size:,} is the largest size: the text gives no more." in said


def test_a_configuration_of_texts_runs(new):
    outcome, path = new("folder", "--for", "languages", "-t", "utf8_bytes", "-t", "utf16_units")
    assert outcome.exit_code == 0, outcome.output
    results = tokbench.run(path, workers=0, store=False)
    assert not results.failed
    assert results.corpora["prose"].documents == 61


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("folder", "-t", "lama-3"), "unknown tokenizer 'lama-3'; did you mean 'llama-3'?"),
        (("empty", "-t", "utf8_bytes"), "empty: has no files"),
        (("folders",), "no shipped suite is called 'folders'"),
    ],
)
def test_what_cannot_be_used_is_refused(new, arguments, message):
    outcome, path = new(*arguments)
    assert str(outcome.exception).startswith(message)
    assert not path.exists()


def test_a_file_or_a_pattern_is_a_corpus(new):
    outcome, path = new("folder/deep/[01].txt", "-t", "utf8_bytes")
    assert "prose  1 group: prose; 2 files" in outcome.output
    assert read_config(path).corpora["prose"].options["path"] == "folder/deep/[01].txt"
    outcome, _ = new("folder/notes.md", "--for", "choose", "-t", "utf8_bytes", "-o", "notes.yaml")
    assert "1 group: notes; 1 file" in outcome.output


def test_a_tokenizer_file_is_named_from_the_configuration(new, tmp_path):
    tokbench.train("regex_bpe", ["some text"], vocab_size=260).save(tmp_path / "own.bpe.json")
    (tmp_path / "sub").mkdir()
    outcome, _ = new("folder", "--for", "choose", "-t", "own.bpe.json", "-o", "sub/mine.yaml")
    assert outcome.exit_code == 0, outcome.output
    assert CliRunner().invoke(command, ["check", "sub/mine.yaml"]).exit_code == 0
