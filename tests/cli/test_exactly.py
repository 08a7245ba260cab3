"""Texts of exactly so many tokens, and conversations as they are billed."""

import json

import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.cost.chat import chat_cost
from tokbench.segmentation.conversations import prompt_tokens
from tokbench.segmentation.exactly import exactly

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
    tokenizer = tokbench.load(name)
    for wanted in (1, 2, 3, 64, 1000):
        made = exactly(lambda text: len(tokenizer.encode(text)), wanted, text)
        assert len(tokenizer.encode(made)) == wanted


def test_a_template_counts():
    told = output("show", "--exactly", "40", "-t", "gpt-4o", "--template", "own")
    message = [{"role": "user", "content": told.stdout}]
    assert len(prompt_tokens(tokbench.load("gpt-4o"), "Phi-4", message, reply=True)) == 40
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
    tokenizer = tokbench.load("gpt-4o")
    cost = chat_cost(tokenizer, name="gpt-4o", conversations=[TALK])
    texts = [3 + 1 + len(tokenizer.encode(message["content"])) for message in TALK]
    assert [turn.sent for turn in cost.turns] == [sum(texts[:2]) + 3, sum(texts) + 3]
    assert cost.turns[0].new == cost.turns[0].sent
    assert cost.turns[1].new == texts[2] + texts[3] + 3 - 3  # the mark of the reply was sent before
    assert [turn.reply for turn in cost.turns] == [len(tokenizer.encode("A boat.")) + 1, 0]


def test_conversations_of_files(tmp_path):
    lines = tmp_path / "chats.jsonl"
    lines.write_text(f"{json.dumps(TALK)}\n\n{json.dumps({'messages': TALK})}\n")
    told = output("cost", str(lines), "--chat", "-t", "gpt-4o,qwen-3", "--json")
    facts = json.loads(told.stdout)
    assert (told.exit_code, facts["conversations"]) == (0, 2)
    assert [(row["tokenizer"], row["template"], len(row["turns"])) for row in facts["tokenizers"]] == [
        ("gpt-4o", "Phi-4", 4),
        ("qwen-3", "ChatML", 4),
    ]
    lines.write_text(f"{json.dumps(TALK)}\nHello\n")
    told = output("cost", str(lines), "--chat", "-t", "gpt-4o")
    assert isinstance(told.exception, tokbench.InputError)
    assert "chats.jsonl:2:" in str(told.exception)
