"""Chat templates of a model's files: the text and ids that transformers gives, and what is refused."""

import json
import pickle

import pytest

import tokbench
from tokbench.tokenizers.contract import EncodesChat
from tokbench_plugins.huggingface.chat import jinja_chat

TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How far is Zürich? 🙂"},
    {"role": "assistant", "content": "<think>\nFar from where?\n</think>\n\nFrom where?"},
    {"role": "user", "content": "Call it."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"type": "function", "function": {"name": "far", "arguments": {"to": "Zürich"}}}],
    },
    {"role": "tool", "content": '{"km": 3}'},
]
# Takes the thoughts out of all turns but the last, as Qwen 3 does, and writes calls as JSON.
THINKS = """\
{{ bos_token }}
{%- for message in messages %}
    {%- if loop.index > 9 %}{% break %}{% endif %}
    {{- '<|im_start|>' + message.role + '\\n' }}
    {%- if message.tool_calls %}
        {%- for call in message.tool_calls %}{{ call.function | tojson }}{% endfor %}
    {%- elif message.role == 'assistant' and not loop.last %}
        {{- message.content.split('</think>')[-1].lstrip('\\n') }}
    {%- else %}
        {{- message.content }}
    {%- endif %}
    {{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}
"""
# Roles must alternate, as Mistral's and Gemma's templates want it.
ALTERNATES = """\
{% for message in messages %}
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{% endif %}
[{{ message['role'] }}] {{ message['content'] | trim }}{{ eos_token }}
{% endfor %}
"""
CONFIG = {"chat_template": THINKS, "bos_token": {"content": "<|endoftext|>"}, "eos_token": "<|endoftext|>"}


SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """A small tokenizer.json."""
    path = tmp_path_factory.mktemp("pipeline") / "tokenizer.json"
    trained = tokbench.train(
        "huggingface", [json.dumps(TALK)], 300, store=False, model="byte_bpe", special_tokens=SPECIAL
    )
    trained.save(path)
    return path


@pytest.fixture
def files(tmp_path, pipeline):
    """A tokenizer.json and, beside it, the configuration with the template."""
    (tmp_path / "tokenizer.json").write_bytes(pipeline.read_bytes())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    return tmp_path


def loaded(folder):
    return tokbench.load("huggingface", path=folder / "tokenizer.json", chat_template=folder / "tokenizer_config.json")


def test_ids_are_those_of_transformers(files):
    transformers = pytest.importorskip("transformers")
    theirs = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(files / "tokenizer.json"), bos_token="<|endoftext|>", eos_token="<|endoftext|>"
    )
    theirs.chat_template = THINKS
    ours = loaded(files)
    for count in range(1, len(TALK) + 1):
        for reply in (False, True):
            expected = theirs.apply_chat_template(TALK[:count], add_generation_prompt=reply, return_dict=False)
            assert ours.encode_chat(TALK[:count], reply=reply) == expected


def test_a_tokenizer_has_the_capability_with_a_template_alone(files):
    tokenizer = loaded(files)
    assert isinstance(tokenizer, EncodesChat)
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy.encode_chat(TALK, reply=True) == tokenizer.encode_chat(TALK, reply=True)
    assert not isinstance(tokbench.load("huggingface", path=files / "tokenizer.json"), EncodesChat)


def test_what_a_template_refuses():
    chat = jinja_chat(json.dumps({"chat_template": [{"name": "default", "template": ALTERNATES}], "eos_token": "$"}))
    assert chat.render([{"role": "user", "content": " Hi "}], reply=False) == "[user] Hi$\n"
    with pytest.raises(ValueError, match="refuses the conversation: Conversation roles must alternate"):
        chat.render(TALK[:1], reply=False)
    with pytest.raises(ValueError, match="refuses the conversation"):
        jinja_chat("{{ messages.first.content }}").render(TALK, reply=False)


def test_a_template_cannot_reach_out():
    chat = jinja_chat("{{ messages.__class__.__mro__ }}")
    with pytest.raises(ValueError, match="unsafe"):
        chat.render([], reply=False)
    today = jinja_chat("{{ strftime_now('%d %b %Y') }}")
    assert today.render([], reply=False) == "01 Jan 2026"
