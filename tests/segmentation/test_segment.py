"""Texts as tokens: how tokenizers cut them, and what the terminal, the page and the JSON show of it."""

import json
import re
from itertools import pairwise

import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.segmentation import token_view

FIZZBUZZ = """\
for number in range(1, 16):
    if number % 15 == 0:
        print("FizzBuzz")
    elif number % 5 == 0:
        print("Buzz")
"""
CLASSIC = f"127 + 677 = 804\n1275 + 6773 = 8041\nEgg.\nI have an Egg.\negg.\nEGG.\n만나서 반가워요.\n{FIZZBUZZ}"
HOSTILE = "<script>alert(1)</script> \u202e\x1b[31m {{ 7 * 7 }} &amp; \x00 👩‍👩‍👧 \u200b"


def lines(texts, *, colours=False):
    return [line.plain for line in token_view.terminal(texts, colours=colours)]


@pytest.fixture(scope="module")
def classic(data):
    """The classic sample under two vocabularies of OpenAI."""
    [text] = tokbench.show(CLASSIC, ["tiktoken:gpt2", "tiktoken:cl100k_base"], merges=True, workers=0)
    return text


@pytest.mark.slow
def test_the_tokens_are_those_of_tiktoken(classic):
    import tiktoken

    for segmentation, name in zip(classic.segmentations, ("gpt2", "cl100k_base"), strict=True):
        encoding = tiktoken.get_encoding(name)
        assert segmentation.ids == encoding.encode_ordinary(CLASSIC)
        assert [bytes.fromhex(piece) for piece in segmentation.pieces] == encoding.decode_tokens_bytes(segmentation.ids)
        assert b"".join(token.data for token in segmentation.tokens(CLASSIC)) == CLASSIC.encode()
        assert segmentation.round_trip


def test_the_merges_are_those_of_the_loop(data):
    ranks = tokbench.load("tiktoken", encoding="gpt2")
    [text] = tokbench.show(" return", "tiktoken:gpt2", merges=True, workers=0)
    parts, done = [bytes([byte]) for byte in b" return"], []
    rank = {ranks.token_bytes(token): token for token in range(50256)}
    while len(parts) > 1:
        pairs = [(rank.get(a + b, 1 << 30), k) for k, (a, b) in enumerate(pairwise(parts))]
        lowest, at = min(pairs)
        assert lowest < 1 << 30
        done.append([part.hex() for part in parts[at : at + 2]])
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    assert text.segmentations[0].merges == [done]


def test_without_colours_signs_tell_what_differs():
    texts = tokbench.show("é b\n", ["utf8_bytes", "utf32_units"], workers=0)
    assert lines(texts) == [
        "utf8_bytes  5 tokens, 1.00 bytes per token",
        "\\xc3┃\\xa9┃␣│b│⏎│\n",
        "195 169 32 98 10",
        "",
        "utf32_units  4 tokens, 1.25 bytes per token",
        "é┃␣│b│⏎│\n",
        "233 32 98 10",
        "",
    ]
    partial = [token.partial for token in texts[0].segmentations[0].tokens("é b\n")]
    assert partial == [True, True, False, False, False]


def test_a_loss_is_reported(write_config):
    path = write_config(
        tokenizers="  words: {backend: huggingface, model: wordpiece, normalizer: [lowercase], "
        "train: {corpus: sample, vocab_size: 400}}"
    )
    [text] = tokbench.show("A ☃", config=path, workers=0, store=False)
    [found] = text.segmentations
    assert not found.round_trip
    assert any("lossy" in line for line in lines([text]))
    assert any("bytes per token‡" in line for line in lines([text]))
    [row] = json.loads(token_view.as_json([text]))["texts"][0]["tokenizers"]
    assert (row["decoded"], row["round_trip"]) == (found.back, "lossy")


def test_the_round_trip_is_that_of_cost(tmp_path):
    path = tmp_path / "nfc.tokenizer.json"
    trained = tokbench.train("huggingface:byte_bpe", ["née"], 300, normalizer=["nfc"])
    trained.save(path)
    text = tmp_path / "a.txt"
    asked = ["-t", f"huggingface:{path}", "-t", "utf8_bytes", "--json"]
    for content, expected in (("née", ["exact", "exact"]), ("ne\u0301e", ["equal up to NFC", "exact"])):
        text.write_text(content, encoding="utf-8")
        [shown] = json.loads(CliRunner().invoke(command, ["show", "-f", str(text), *asked]).stdout)["texts"]
        costs = json.loads(CliRunner().invoke(command, ["cost", str(text), *asked]).stdout)["tokenizers"]
        assert [row["round_trip"] for row in shown["tokenizers"]] == expected
        assert {row["tokenizer"]: row["round_trip"] for row in costs} == {
            row["tokenizer"]: row["round_trip"] for row in shown["tokenizers"]
        }


@pytest.mark.slow
def test_hostile_text_is_inert():
    texts = tokbench.show([("<b>label</b>", HOSTILE)], ["utf8_bytes", "utf32_units"], merges=True, workers=0)
    page = token_view.html(texts)
    assert "<script" not in page
    assert "<b>label" not in page
    assert "\u202e" not in page
    shown = "".join(re.findall("<bdi>(.*?)</bdi></span>", page))
    assert "{{␣7␣*␣7␣}}" in shown, "a template is text"
    assert "\\u{202e}\\u{1b}[31m" in shown
    for line in lines(texts, colours=True):
        assert line.replace("\n", "").isprintable()
    assert json.loads(token_view.as_json(texts))["texts"][0]["text"] == HOSTILE
    assert token_view.html(texts) == page


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["tiktokn:gpt2"], "did you mean 'tiktoken'?"),
        (["lama-3"], "did you mean 'llama-3'?"),
        (["utf8_bytes:x"], "write utf8_bytes"),
        ([], "-t tiktoken:cl100k_base"),
        (["splintr:llama9"], "vocabulary: must be 'cl100k_base', "),
    ],
)
def test_an_unknown_name_is_refused(names, message):
    with pytest.raises(tokbench.InputError) as caught:
        tokbench.show("text", names, workers=0)
    assert message in str(caught.value)


def test_names_of_a_configuration(write_config):
    path = write_config(
        tokenizers="  n: {backend: naive_bpe, train: {corpus: sample, vocab_size: [260, 270]}}\n  b: {backend: utf8_bytes}",
        corpora="  sample: {source: sample, part: hostile}\n  missing: {source: text, path: nowhere.txt}",
    )
    found = tokbench.show("of", ["b", "n", "utf32_units"], config=path, workers=0, store=False)
    assert [segmentation.tokenizer for segmentation in found[0].segmentations] == ["b", "n-260", "n-270", "utf32_units"]
    with pytest.raises(tokbench.InputError, match=r"b, n, n-260, n-270"):
        tokbench.show("of", ["m"], config=path, workers=0)


@pytest.mark.slow
def test_a_tokenizer_that_dies_costs_its_own_line(faulty):
    outcome = CliRunner().invoke(command, ["show", "abc", "-t", "CrashesInEncode", "-t", "utf8_bytes"])
    assert outcome.exit_code == 1, outcome.output
    assert "the process died with SIGSEGV while encoding the texts" in outcome.output
    assert "a│b│c│" in outcome.output


@pytest.mark.nightly
@pytest.mark.slow
def test_inspect_outlives_a_tokenizer_that_dies(faulty):
    outcome = CliRunner().invoke(command, ["inspect", "CrashesInEncode"])
    assert "the process died with SIGSEGV while inspecting" in str(outcome.exception)


@pytest.mark.slow
def test_the_command_reads_files_and_standard_input(tmp_path):
    (tmp_path / "x.txt").write_text("hé", encoding="utf-8")
    (tmp_path / "bad.txt").write_bytes(b"ok \xff")
    runner = CliRunner()
    arguments = ["show", "-t", "utf8_bytes", "--json"]
    outcome = runner.invoke(command, [*arguments, "-f", str(tmp_path / "x.txt"), "first"])
    assert [(text["label"], text["text"]) for text in json.loads(outcome.output)["texts"]] == [
        ("", "first"),
        (str(tmp_path / "x.txt"), "hé"),
    ]
    outcome = runner.invoke(command, arguments, input="from a pipe")
    tokens = json.loads(outcome.output)["texts"][0]["tokenizers"][0]["tokens"]
    assert tokens[5] == {"id": 97, "text": "a", "bytes": "61", "start": 5, "end": 6}
    for name, message in (("bad.txt", "bad.txt:1:4: not UTF-8: byte"), ("none.txt", "no file matches")):
        outcome = runner.invoke(command, [*arguments, "-f", str(tmp_path / name)])
        assert message in str(outcome.exception)
