"""``tokbench train``: what it writes loads again, and its summary is true."""

import json
import re

import pytest
from click.testing import CliRunner
from shared_fixtures import cell

import tokbench
from tokbench.cli.main import tokbench as command

pytestmark = pytest.mark.usefixtures("no_process")


@pytest.fixture
def text(tmp_path):
    lines = (f"the {word} number {k} of the list" for k in range(40) for word in ("low", "lower", "lowest"))
    (tmp_path / "t.txt").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "t.txt"


def invoke(*args):
    return CliRunner().invoke(command, ["train", *map(str, args)], standalone_mode=False)


@pytest.mark.slow
def test_from_options(text, tmp_path):
    outcome = invoke(
        *("--backend", "regex_bpe", "--text", text, "--vocab-size", 300, "-O", "pattern=gpt2"),
        *("--holdout", 0.3, "--name", "mine", "--format", "tokbench", "-o", tmp_path / "out"),
    )
    assert outcome.exit_code in {0, None}, outcome.output
    tokenizer = tokbench.load("regex_bpe", path=tmp_path / "out" / "mine.bpe.json")
    assert tokenizer.vocab_size == 300
    assert tokenizer.decode(tokenizer.encode("the lowest ever")) == "the lowest ever"
    row = next(line.split() for line in outcome.output.splitlines() if line.startswith("mine"))
    assert row[1] == "300"
    assert float(row[-2]) > 2
    assert row[-1] == "0.00%"


@pytest.mark.slow
def test_a_folder_gives_its_text(text, tmp_path):
    (tmp_path / "in").mkdir()
    text.rename(tmp_path / "in" / "t.txt")
    (tmp_path / "in" / "picture.png").write_bytes(b"\x89PNG\0")
    options = ["--backend", "naive_bpe", "--vocab-size", 280, "--holdout", 0]
    invoke(*options, "--text", tmp_path / "in", "-o", tmp_path / "a.bpe.json")
    invoke(*options, "--text", tmp_path / "in" / "t.txt", "-o", tmp_path / "b.bpe.json")
    learned = [tokbench.load("naive_bpe", path=tmp_path / f"{name}.bpe.json").merges for name in "ab"]
    assert learned[0] == learned[1] != []


@pytest.mark.slow
def test_the_summary_s_compression_is_that_of_a_run(text, tmp_path):
    config = {
        "schema": "tokbench/1",
        "name": "x",
        "corpora": {"t": {"source": "text", "path": "t.txt", "document": "line", "holdout": 0.3}},
        "tokenizers": {
            "n": {"backend": "naive_bpe", "train": {"corpus": "t", "vocab_size": 280}},
            "b": {"backend": "utf8_bytes"},
        },
        "metrics": ["compression"],
    }
    (tmp_path / "run.yaml").write_text(json.dumps(config), encoding="utf-8")
    ratio = cell(tokbench.run(tmp_path / "run.yaml", workers=0), "n", "compression_ratio").value
    outcome = invoke(tmp_path / "run.yaml", "-o", tmp_path / "out")
    row = next(line.split() for line in outcome.output.splitlines() if re.match(r"n +280", line))
    assert row[-2:] == [f"{ratio:.3f}", "0.00%"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["n.bpe.json"], "b is not trained"


@pytest.mark.slow
def test_a_larger_vocabulary_than_the_text_gives(text, tmp_path):
    (tmp_path / "s.txt").write_text("ab\ncd\n", encoding="utf-8")
    sizes = ("--vocab-size", 900, "--holdout", 0)
    outcome = invoke("--backend", "naive_bpe", "--text", tmp_path / "s.txt", *sizes, "-o", tmp_path / "a.bpe.json")
    assert "asked for 900 tokens, but the text gave only 260" in outcome.output
    assert "no held-out text" in outcome.output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--vocab-size", 100], "vocab_size 100 is too small: regex_bpe needs at least 256"),
        (["--vocab-size", 300, "-O", "patern=gpt2"], "unknown key 'patern'; did you mean 'pattern'?"),
        (["--vocab-size", 300, "--text", "none.txt"], "no file matches"),
    ],
)
def test_bad_input(text, tmp_path, args, message):
    outcome = invoke("--backend", "regex_bpe", "--text", text, *args, "-o", tmp_path / "out")
    assert isinstance(outcome.exception, tokbench.InputError)
    assert message in str(outcome.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_an_unknown_format_and_an_unwritable_folder(text, tmp_path):
    given = ("--backend", "naive_bpe", "--text", text, "--vocab-size", 260)
    outcome = invoke(*given, "--format", "pdf", "-o", tmp_path / "out")
    assert "cannot be written as 'pdf'" in str(outcome.exception)
    assert not (tmp_path / "out").exists(), "it was refused before the training"
    (tmp_path / "file").write_text("", encoding="utf-8")
    outcome = invoke(*given, "-o", tmp_path / "file" / "out")
    assert isinstance(outcome.exception, tokbench.InputError)


def code_files(folder, number):
    folder.mkdir()
    for k in range(number):
        code = "".join(f"def low_{k}_{n}():\n    return {n}\n\n\n" for n in range(4))
        (folder / f"{k}.py").write_text(code, encoding="utf-8")
    return folder / "*.py"


def test_code_keeps_its_line_ends(tmp_path):
    pattern = code_files(tmp_path / "py", 20)
    outcome = invoke(
        *("--backend", "regex_bpe:gpt4", "--text", pattern, "--vocab-size", 300, "--json", "--format", "tokbench"),
        *("-o", tmp_path / "out"),
    )
    data = json.loads(outcome.stdout)
    assert data["document"] == "paragraph"
    [made] = data["tokenizers"]
    tokenizer = tokbench.load("regex_bpe", path=made["files"][0])
    assert any(tokenizer.token_bytes(number).endswith(b":\n") for number in range(tokenizer.vocab_size))
    assert any(tokenizer.token_bytes(number) == b"\n\n\n" for number in range(tokenizer.vocab_size))


def test_lost_text_is_marked_beside_its_compression(tmp_path):
    letters = "".join(map(chr, range(0x4E00, 0x4E60)))
    lines = (f"the word {letters[k % 96]}{letters[k * 7 % 96]} of {k}" for k in range(300))
    (tmp_path / "t.txt").write_text("\n".join(lines), encoding="utf-8")
    options = ("--backend", "huggingface", "-O", "model=bpe", "-O", "limit_alphabet=12", "--vocab-size", 200)
    given = (*options, "--text", tmp_path / "t.txt", "--holdout", 0.3, "-o", tmp_path / "a.tokenizer.json")
    [compression, lost] = re.findall(r"(\S+) +(\S+)%\n", invoke(*given).output)[0]
    assert compression.endswith("‡")
    assert float(lost) > 5


def test_an_unknown_end_of_text_ends_before_training(text, tmp_path):
    given = ("--backend", "regex_bpe", "--text", text, "--vocab-size", 300, "--special-tokens", "<|eos|>")
    outcome = invoke(*given, "--eos", "<|eot|>", "-o", tmp_path / "out")
    assert isinstance(outcome.exception, tokbench.InputError)
    assert "<|eos|>" in str(outcome.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_path_with_a_suffix_is_a_file(text, tmp_path):
    given = ("--backend", "regex_bpe", "--text", text, "--vocab-size", 300)
    for name in ("x.json", "x.bpe.json", "x.tiktoken"):
        made = json.loads(invoke(*given, "--json", "-o", tmp_path / name).stdout)["tokenizers"][0]
        assert made["files"] == [str(tmp_path / name)]
        assert (tmp_path / name).is_file()
