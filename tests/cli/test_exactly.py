"""Texts of exactly so many tokens, and conversations as they are billed."""

import gzip
import json
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.cost.chat import chat_cost, read_conversations
from tokbench.segmentation.conversations import prompt_tokens
from tokbench.segmentation.exactly import exactly

pytestmark = pytest.mark.usefixtures("no_process")
load = cache(tokbench.load)

TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is a ferry?"},
    {"role": "assistant", "content": "A boat."},
    {"role": "user", "content": "And a canoe?"},
]


def output(*arguments):
    return CliRunner().invoke(command, list(arguments))


@pytest.mark.parametrize("name", ["gpt-4o", "llama-3", "utf8_bytes"])
@pytest.mark.parametrize("text", ["The ferry leaves at 7.45. ", "日本語のテキスト。", "    x = 1\n\n", "👍🏽"])
def test_a_text_has_exactly_so_many_tokens(name, text):
    tokenizer = load(name)
    for wanted in (1, 2, 3, 64, 1000):
        made = exactly(lambda text: len(tokenizer.encode(text)), wanted, text)
        assert len(tokenizer.encode(made)) == wanted


def test_a_template_counts():
    told = output("show", "--exactly", "40", "-t", "gpt-4o", "--template", "own")
    message = [{"role": "user", "content": told.stdout}]
    assert len(prompt_tokens(load("gpt-4o"), "Phi-4", message, reply=True)) == 40
    assert told.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--exactly", "2", "-t", "gpt-4o", "--template", "own"], 1),  # the template alone has 7
        (["--template", "own", "-t", "gpt-4o", "a"], 2),
        (["--exactly", "9", "-t", "gpt-4o", "-t", "gpt-2"], 2),
        (["--exactly", "9", "-t", "gpt-4o", "   "], 1),
    ],
)
def test_what_cannot_be_made_is_refused(arguments, code):
    assert output("show", *arguments).exit_code == code


def test_an_unknown_template_is_refused():
    told = output("show", "--exactly", "2", "-t", "gpt-4o", "--template", "chatml")
    assert isinstance(told.exception, tokbench.InputError)
    assert "ChatML" in str(told.exception)


def test_openai_bills_three_tokens_and_a_role():
    """The formula of OpenAI's cookbook: 3 a message, its role and text, and 3 for the reply."""
    tokenizer = load("gpt-4o")
    cost = chat_cost(tokenizer, name="gpt-4o", conversations=[TALK])
    texts = [3 + 1 + len(tokenizer.encode(message["content"])) for message in TALK]
    assert [turn.sent for turn in cost.turns] == [sum(texts[:2]) + 3, sum(texts) + 3]
    assert cost.turns[0].new == cost.turns[0].sent
    assert cost.turns[1].new == texts[2] + texts[3] + 3 - 3  # the mark of the reply was sent before
    assert [turn.reply for turn in cost.turns] == [len(tokenizer.encode("A boat.")) + 1, 0]


HI = [{"role": role, "content": text} for role, text in [("user", "Hi"), ("assistant", "née"), ("user", "ab")]]
NO = {"role": "assistant", "content": "no"}


@pytest.fixture
def chats(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_text(f"{json.dumps([*HI, NO])}\n\n{json.dumps({'messages': HI[2:]})}\n")
    (tmp_path / "b.json").write_text(json.dumps([NO, *HI], indent=1))
    return ["cost", "a.jsonl", "b.json", "--chat", "-t"]


def test_conversations_by_hand(chats):
    """Mistral's marks are <s>, [INST], [/INST] and, behind a reply, </s>: each one token; é is two bytes and one unit."""
    facts = json.loads(output(*chats, "utf8_bytes,utf16_units", "--template", "Mistral", "--json").stdout)
    turns = [(5, 5, 5), (14, 9, 3), (5, 5, 0), (8, 8, 5), (17, 9, 0)]  # <s>[INST]Hi[/INST], née</s>[INST]ab[/INST]
    named = [dict(zip(("sent", "new", "reply"), turn, strict=True)) for turn in turns]
    shorter = [(5, 5, 4), (13, 8, 3), (5, 5, 0), (8, 8, 4), (16, 8, 0)]
    of_units = [dict(zip(("sent", "new", "reply"), turn, strict=True)) for turn in shorter]
    totals = {"template": "Mistral", "text": 22, "sent": 49, "new": 36, "replies": 13}
    units = {"template": "Mistral", "text": 20, "sent": 47, "new": 34, "replies": 11}
    assert facts == {
        "conversations": 3,
        "tokenizers": [
            {"tokenizer": "utf16_units", **units, "turns": of_units},
            {"tokenizer": "utf8_bytes", **totals, "turns": named},
        ],
        "failed": {},
    }
    shown = output(*chats, "utf8_bytes,utf16_units", "--template", "Mistral").stdout.splitlines()
    assert shown[0] == "tokens of 3 conversations with 5 replies"
    assert shown[1].split() == ["tokenizer", "(template)", "text", "sent", "new", "replies"]
    assert shown[2].split() == ["utf16_units", "(Mistral)", "20", "47", "34", "11"]
    assert [line.partition(":")[0] for line in shown[4:]] == ["text", "new"]


def test_a_model_decides_its_template(chats):
    one = output(*chats, "utf8_bytes,gpt-4o", "--json")
    facts = json.loads(one.stdout)
    assert (one.exit_code, list(facts["failed"])) == (1, ["utf8_bytes"])
    assert [(row["tokenizer"], row["template"]) for row in facts["tokenizers"]] == [("gpt-4o", "Phi-4")]
    none = output(*chats, "utf8_bytes")
    assert (none.exit_code, none.stdout) == (1, "")
    assert none.stderr.startswith("utf8_bytes: utf8_bytes has no chat template")
    with pytest.raises(tokbench.InputError, match="'Nope'"):
        raise output(*chats, "utf8_bytes", "--template", "Nope").exception


@pytest.mark.parametrize(
    ("text", "place"),
    [("[1]\n", "c.jsonl:1: "), (f"{json.dumps(HI)}\nHello", "c.jsonl:2: "), ("\n", "a.txt, c.jsonl: ")],
)
def test_what_is_no_conversation(chats, text, place):
    Path("c.jsonl").write_text(text)
    Path("a.txt").write_text("\n" if text == "\n" else json.dumps(HI))
    with pytest.raises(tokbench.InputError, match=f"^{place}") as caught:
        read_conversations(["a.txt", "c.jsonl"])
    assert json.dumps([{"role": "user", "content": "Hi"}]) in str(caught.value)


def test_conversations_are_read_as_rows_are(chats):
    odd = [{"role": "user", "content": "a\u2028b"}]
    lines = [json.dumps({"messages": HI, "text": "x"}), json.dumps({"messages": odd}, ensure_ascii=False)]
    data = "\n".join(lines).encode()
    forms = {
        "b.jsonl": b"\xef\xbb\xbf" + data,
        "crlf.jsonl": data.replace(b"\n", b"\r\n"),
        "z.jsonl.gz": gzip.compress(data),
    }
    for name, form in forms.items():
        Path(name).write_bytes(form)
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pa.table({"messages": [HI, odd], "id": [1, 2]}), "p.parquet")
    Path("one.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(HI, indent=1).encode())
    for name in [*forms, "p.parquet"]:
        assert [*map(list, read_conversations([name]).conversations)] == [HI, odd], name
    assert read_conversations(["one.json"]).conversations == [HI]


def test_what_is_left_out_is_named(chats):
    folder = Path("in")
    folder.mkdir()
    (folder / "good.jsonl").write_text(json.dumps(HI))
    (folder / "wide.jsonl").write_bytes(json.dumps(HI).encode("utf-16"))
    (folder / "prose.txt").write_text("Hello")
    (folder / "half.jsonl").write_text(json.dumps([{"role": "user", "content": "\ud800"}]))
    told = output("cost", "in", "--chat", "-t", "utf8_bytes", "--template", "Mistral", "--json")
    assert json.loads(told.stdout)["conversations"] == 1
    assert {name for name in ("wide", "prose", "half", "good") if f"{name}." in told.stderr} == {
        "wide",
        "prose",
        "half",
    }
    (folder / "good.jsonl").unlink()
    with pytest.raises(tokbench.InputError, match=r"wide\.jsonl"):
        read_conversations(["in"])
    with pytest.raises(tokbench.InputError, match=r"half.jsonl:1: .* lone surrogate"):
        read_conversations(["in/half.jsonl"])
