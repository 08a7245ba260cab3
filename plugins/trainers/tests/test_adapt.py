"""A published vocabulary fitted to texts: what is written is what was measured."""

import csv
from json import loads

import pytest
import tokenizers
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.command import texts_by_group
from tokbench.foundation.errors import InputError
from tokbench_plugins.bpe import BPETokenizer, train
from tokbench_trainers.adaptation.job import Adaptation, adapt_to_texts

TEXT = "low lower lowest, slow slower slowest\nthe newest news of the new newspaper\n" * 3


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "base.tokenizer.json"
    BPETokenizer(train(["low lowest zebras and quaggas"], 300, "gpt2"), "gpt2", {"<end>": 300}).export(
        "huggingface", path
    )
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text(TEXT, encoding="utf-8")
    return path


def adapted(base, folder, **given):
    [texts] = texts_by_group(str(base.parent / "texts" / "*.txt"), "file").values()
    return adapt_to_texts(f"tokbench_bpe:{base}", texts, folder, Adaptation(**{"add": 8, "remove": None, **given}))


def test_every_step_is_that_of_the_tokenizer_that_is_written(base, tmp_path):
    found = adapted(base, tmp_path / "out")
    before = tokbench.load("tokbench_bpe", path=str(base))
    json, rows, table = found.files
    library = tokenizers.Tokenizer.from_file(str(json))
    after = tokbench.load("tokbench_bpe", path=str(json))
    assert after.encode(TEXT) == library.encode(TEXT, add_special_tokens=False).ids
    assert found.n_bytes == len(TEXT.encode())
    assert found.tokens_removing[0] == found.tokens_removing[-1] == len(before.encode(TEXT))
    assert found.tokens_adding[-1] == len(after.encode(TEXT))
    assert found.added == 8
    assert found.removed
    assert not any(after.token_bytes(each) for each in found.removed)
    was = loads(rows.read_text(encoding="utf-8"))
    assert len(was) == 8
    assert all(after.token_bytes(int(new)) == b"".join(map(before.token_bytes, ids)) for new, ids in was.items())
    with table.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["step"] for row in rows] == ["before", *["remove"] * len(found.removed), *["add"] * 8]
    assert int(rows[-1]["rows"]) == 8 - len(found.removed)
    assert float(rows[-1]["bytes_per_token"]) == pytest.approx(len(TEXT) / len(after.encode(TEXT)), abs=1e-6)


def test_every_fifth_document_is_held_out(base, tmp_path):
    for number, words in enumerate([*["low lower"] * 4, "zebras new zebras"], 1):
        (tmp_path / "texts" / f"{number}.txt").write_text(words, encoding="utf-8")
    found = adapted(base, tmp_path / "out", add=3)
    assert found.held_out_bytes == len("zebras new zebras")
    assert found.same_ids == 5


def test_what_cannot_be_adapted(base, tmp_path):
    with pytest.raises(InputError, match=r"^utf8_bytes cannot be adapted"):
        adapt_to_texts("utf8_bytes", [TEXT], tmp_path / "out", Adaptation(1, 0))
    with pytest.raises(InputError, match="did you mean 'huggingface'"):
        adapted(base, tmp_path / "out", formats=["hugingface"])
    assert not (tmp_path / "out").exists()
    arguments = ["adapt", "utf8_bytes", "--text", str(tmp_path / "x*"), "-o", str(tmp_path / "out"), "--log", "none"]
    refused = CliRunner().invoke(command, arguments)
    assert isinstance(refused.exception, InputError)
    assert "no file matches" in str(refused.exception)


@pytest.mark.slow
def test_the_command(base, tmp_path):
    arguments = ["adapt", f"tokbench_bpe:{base}", "--text", str(tmp_path / "texts" / "*.txt"), "--log", "none"]
    outcome = CliRunner().invoke(command, [*arguments, "--add", "999", "-o", str(tmp_path / "out")])
    assert outcome.exit_code == 0, outcome.output
    assert "no pair is left" in outcome.output
    assert outcome.output.count("written: ") == 3
    assert "; --document line" in outcome.output
    held = CliRunner().invoke(command, [*arguments, "--document", "line", "-o", str(tmp_path / "out")])
    assert "held out, as" not in held.output
    refused = CliRunner().invoke(command, [*arguments, "--remove", "all"])
    assert refused.exit_code == 2
    assert "'all'" in refused.output
