"""Bills made of known tokenizers, with planted constants, changes and vocabularies: every cause is found."""

import json
import unicodedata
from functools import partial

import pandas as pd
import pytest
from click.testing import CliRunner

import tokbench
from tokbench.command import texts_by_group
from tokbench_questions.bills import BillRow, bills, read_rows, write_rows
from tokbench_questions.commands.bills import bills as command

NFKC = partial(unicodedata.normalize, "NFKC")
NAMES = ["gpt-4", "gpt-4o", "qwen-3", "llama-2"]
TEXTS = {
    group: texts[0] if "\n" in texts[0] else "\n".join(texts[:5])
    for group, texts in texts_by_group("sample").items()
    if group not in {"hostile-controls", "hostile-markers"}
}


def rows(name, constant, change=lambda text: text, model="m"):
    """Return the bill of a tokenizer for changed texts; the constant may depend on the text."""
    add = constant if callable(constant) else lambda _: constant
    encode = tokbench.load(name).encode
    return [BillRow(model, key, text, len(encode(change(text))) + add(key)) for key, text in TEXTS.items()]


def test_vocabulary_and_constant_are_found():
    planted = [(name, constant) for name in NAMES for constant in (0, 7, -1)]
    found = bills([row for each in planted for row in rows(*each, model=repr(each))], candidates=NAMES)
    assert [(bill.tokenizer, bill.constant) for bill in found] == planted
    assert {(bill.change, bill.misfits, bill.fitting, *bill.others) for bill in found} == {("", (), 49)}


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.usefixtures("faulty")
def test_a_crash_ends_no_bill():
    cells = [BillRow("m", text, text, len(text)) for text in ("bone", "abc", "twelve")]
    [bill] = bills(cells, candidates=["CrashesInEncode", "utf8_bytes"])
    assert (bill.tokenizer, bill.constant, bill.others) == ("utf8_bytes", 0, {})
    with pytest.raises(tokbench.InputError, match="died with SIGSEGV"):
        bills(cells, {"m": "CrashesInEncode"}, candidates=[])


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("change", "applied"),
    [
        ("NFC", partial(unicodedata.normalize, "NFC")),
        ("NFKC", NFKC),
        ("white space at the ends removed", str.strip),
        ("a space before the text", lambda text: f" {text}"),
    ],
)
@pytest.mark.slow
def test_change_of_all_texts_is_found(change, applied):
    [bill] = bills(rows("gpt-4o", 7, applied), {"m": "gpt-4o"}, candidates=NAMES)
    assert (bill.change, bill.constant, bill.misfits, bill.others) == (change, 7, (), {})


def test_another_vocabulary_fits_better():
    [bill] = bills(rows("qwen-3", 11), {"m": "gpt-4o"}, candidates=NAMES)
    assert (bill.tokenizer, next(iter(bill.others.items())), 2 * bill.fitting < 49) == ("gpt-4o", ("qwen-3", 49), True)


def test_two_constants_are_found():
    longer = {"de", "en", "th", "python", "sql"}
    [bill] = bills(rows("gpt-4o", lambda key: 11 if key in longer else 7), candidates=NAMES)
    assert (bill.constant, {misfit.id for misfit in bill.misfits}) == (7, longer)
    assert {misfit.cause for misfit in bill.misfits} == {"11 more instead of 7, as 5 texts have"}


@pytest.mark.slow
def test_causes_of_single_cells_are_found():
    bill_rows = {row.id: row for row in rows("gpt-4o", 7)}
    encode = tokbench.load("gpt-4o").encode
    bill_rows["ko"] = bill_rows["ko"]._replace(tokens=999)
    bill_rows["x"] = BillRow("m", "x", "ends in lines\n \n", len(encode("ends in lines")) + 7)
    [bill] = bills(bill_rows.values(), {"m": "gpt-4o"}, candidates=NAMES)
    causes = {misfit.id: misfit.cause for misfit in bill.misfits}
    assert causes == {"ko": "", "x": "white space at the ends removed"}


def test_vocabularies_that_texts_do_not_distinguish_are_named():
    few = [BillRow("m", "a", "aa", 2 + 4), BillRow("m", "b", "bcd", 3 + 4)]
    [bill] = bills(few, candidates=["utf8_bytes", "utf16_units"])
    assert (bill.tokenizer, bill.others, bill.constant) == ("utf8_bytes", {"utf16_units": 2}, 4)


def test_file_is_written_filled_in_and_read(tmp_path):
    path = tmp_path / "mine.csv"
    assert CliRunner().invoke(command, [str(path), "--new"]).exit_code == 0
    with pytest.raises(tokbench.InputError, match="another name"):
        write_rows(path)
    with pytest.raises(tokbench.InputError, match="no row has tokens"):
        read_rows(path)
    rows_to_fill = pd.read_csv(path)
    assert dict(zip(rows_to_fill["id"], rows_to_fill["text"], strict=True)) == TEXTS
    rows_to_fill.assign(tokens=[len(text.encode()) + 3 for text in rows_to_fill["text"]]).to_csv(path)
    shown = CliRunner().invoke(command, [str(path), "-t", "my-model=utf8_bytes"])
    assert (shown.exit_code, "my-model bills 3 tokens more than utf8_bytes on each of 49 texts" in shown.stdout) == (
        0,
        True,
    )


def test_rows_with_tokens_are_read(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text('model,id,text,tokens\nm,a,"née\nÉ",7\nm,,née,4\nm,en,x,\n', "utf-8-sig")
    assert read_rows(path) == [BillRow("m", "a", "née\nÉ", 7), BillRow("m", "née", "née", 4)]
    facts = json.loads(CliRunner().invoke(command, [str(path), "-t", "m=utf8_bytes", "--json"]).stdout)
    assert (facts["bills"][0]["tokenizer"], facts["bills"][0]["constant"]) == ("utf8_bytes", 0)


def test_faults_of_a_file_have_their_place(tmp_path):
    path = tmp_path / "mine.csv"
    for text, place in (
        ("model,text,tokens\nm,a,1.0\nm,a,many\n", "mine.csv:3"),
        ("model;text;tokens\n", ":1: no column"),
    ):
        path.write_text(text)
        with pytest.raises(tokbench.InputError, match=place):
            read_rows(path)
    with pytest.raises(tokbench.InputError, match="name one of m"):
        bills([BillRow("m", "a", "a", 1)], {"n": "utf8_bytes"})
    assert CliRunner().invoke(command, [str(path), "-t", "m"]).exit_code == 2


@pytest.mark.nightly
@pytest.mark.slow
def test_published_names_are_tried():
    found = bills([*rows("gpt-4o", 7, model="a"), *rows("gemma-3", 5, NFKC, model="b")])
    assert [(bill.tokenizer, bill.constant, bill.change) for bill in found] == [
        ("gpt-4o", 7, ""),
        ("gemma-3", 5, "NFKC"),
    ]
    assert found[0].others == {"gpt-oss": 49}
