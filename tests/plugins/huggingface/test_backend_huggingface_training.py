"""Training with Hugging Face's library; chat templates of a model's files."""

import json
import pickle
from functools import cache

import numpy as np
import pytest
from difficult_texts import TEXTS, pud
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import tokbench
from tokbench.plugin import silent
from tokbench.tokenizers.contract import EncodesChat, HasTokenBytes
from tokbench_plugins.huggingface.backend import SPEC, HuggingFaceLoadOptions, HuggingFaceTrainOptions
from tokbench_plugins.huggingface.chat import jinja_chat

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

BASE = ["low lower lowest\nslow slower, the slowest of 20 low flowers", "Été à Łódź: 1234 things, and more things"] * 5


def train(documents, vocab_size, **options):
    return SPEC.train(iter(documents), vocab_size, HuggingFaceTrainOptions(**options), silent)


# Settings that differ in what text becomes and in how it is decoded.
VARIANTS = {
    "bytes": {},
    "bytes gpt4": {"pre_tokenization": "gpt4", "special_tokens": ("<|end|>",)},
    "bytes own": {"pre_tokenization": r"\p{L}+", "split_digits": True},
    "bytes space": {"add_prefix_space": True},
    "bpe fallback": {"model": "bpe", "byte_fallback": True},
    "bpe limit": {"model": "bpe", "limit_alphabet": 12, "prepend_scheme": "first"},
    "bpe words": {"model": "bpe", "pre_tokenization": "whitespace"},
    "bpe gpt2": {"model": "bpe", "pre_tokenization": "gpt2", "byte_fallback": True},
    "wordpiece uncased": {"model": "wordpiece", "normalizer": ("bert_uncased",), "limit_alphabet": 12},
    "unigram fallback": {"model": "unigram", "byte_fallback": True, "max_piece_length": 4, "n_sub_iterations": 1},
    "unigram o200k": {"model": "unigram", "pre_tokenization": "o200k", "shrinking_factor": 0.5},
}


@cache
def variant(name):
    return train(BASE, 400, **VARIANTS[name])


@pytest.mark.parametrize("name", VARIANTS)
def test_training_again_gives_the_same_file(name, tmp_path):
    tokenizer = variant(name)
    assert isinstance(tokenizer, HasTokenBytes)
    tokenizer.save(tmp_path / "first")
    train(BASE, 400, **VARIANTS[name]).save(tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    loaded = SPEC.load(HuggingFaceLoadOptions(path=tmp_path / "first"))
    texts = TEXTS + BASE
    assert [loaded.encode(text) for text in texts] == [tokenizer.encode(text) for text in texts]


@pytest.mark.parametrize("name", ["bytes own", "bytes space"])
@settings(deadline=None, max_examples=25)
@given(text=st.text())
def test_byte_level_bpe_loses_nothing(name, text):
    tokenizer = variant(name)
    assert tokenizer.lossless == (name != "bytes space")
    # The space that is put before is not taken away.
    before = "" if tokenizer.lossless or text.startswith(" ") or not text else " "
    assert tokenizer.decode(tokenizer.encode(text)) == before + text


@settings(deadline=None, max_examples=25)
@given(text=st.text(st.characters(exclude_characters="\u2581", exclude_categories=["Cs"])))
def test_byte_fallback_loses_nothing_but_a_leading_space(text):
    tokenizer = variant("bpe fallback")
    assert tokenizer.decode(tokenizer.encode(text)) == text.removeprefix(" ")
    gpt2 = variant("bpe gpt2")
    assert gpt2.decode(gpt2.encode(text)) == text


def test_ids_are_those_of_the_merges_in_tiktoken_s_engine(tmp_path, data):
    """Byte-level BPE trained here, in another engine."""
    tiktoken = pytest.importorskip("tiktoken")
    texts = pud(data)[::50]
    tokenizer = train(texts, 1000, pre_tokenization="gpt4")
    tokenizer.save(tmp_path / "x.json")
    from tokbench_plugins.tiktoken.tokenizer import make_encoding

    ranks = {tokenizer.token_bytes(i): i for i in range(1000)}
    encoding = make_encoding("x", ranks, "gpt4", {})
    assert isinstance(encoding, tiktoken.Encoding)
    assert [encoding.encode_ordinary(text) for text in texts] == [tokenizer.encode(text) for text in texts]


def test_wordpiece_marks_what_is_inside_a_word():
    tokenizer = train(BASE, 75, model="wordpiece")
    ids = tokenizer.encode("slowest flows")
    assert tokenizer.decode(ids) == "slowest flows"
    assert [tokenizer.token_bytes(i) for i in ids] == [b" slowe", b"st", b" f", b"low", b"s"]
    assert tokenizer.encode("Ж") == [tokenizer.unk_id]


def test_the_alphabet_s_limit_keeps_the_most_frequent_characters():
    documents = ["aaaa bbb cc d e f"]
    tokenizer = train(documents, 60, model="bpe", limit_alphabet=4)
    known = [c for c in "abcdef" if tokenizer.unk_id not in tokenizer.encode(c)]
    assert known == ["a", "b", "c"]  # and the mark of a space


def test_byte_tokens_are_ordinary_tokens():
    tokenizer = train(BASE, 400, model="bpe", byte_fallback=True)
    assert tokenizer.special_ids == {}
    assert [tokenizer.token_bytes(i) for i in tokenizer.encode("Ж")] == [b" ", b"\xd0", b"\x96"]
    assert tokenizer.notes == ()
    unigram = variant("unigram fallback")
    assert unigram.decode(unigram.encode("<0x41>")) == "A"
    assert unigram.notes == ("the library takes the text <0x41> for the byte token of that name, and decodes it to A",)


@pytest.mark.parametrize(
    ("documents", "vocab_size", "options", "reason"),
    [
        ([], 300, {}, "tokenizers has nothing to train on: the training text is empty"),
        (BASE, 100, {}, "special tokens and alphabet alone are 256 tokens, more than 100; raise vocab_size$"),
        (BASE, 10, {"model": "unigram"}, "tokenizers does not train: .*not large enough to contain all chars"),
    ],
)
def test_refusals_are_one_readable_line(documents, vocab_size, options, reason):
    with pytest.raises(tokbench.BackendError, match=reason) as caught:
        train(documents, vocab_size, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"pre_tokenization": "gtp4"}, "unknown split 'gtp4'; did you mean 'gpt4'"),
        ({"model": "wordpiece", "pre_tokenization": "a+"}, "does not fit wordpiece; it takes whitespace, "),
        ({"model": "unigram", "limit_alphabet": 5}, "'limit_alphabet' is an option of bpe, wordpiece, not of unigram"),
        ({"prepend_scheme": "never"}, "'prepend_scheme' goes with pre_tokenization: metaspace"),
    ],
)
def test_options_that_do_not_go_together(options, reason):
    with pytest.raises(ValidationError, match=reason):
        HuggingFaceTrainOptions(**options)


def test_settled_scores_do_not_depend_on_the_library_s_order():
    from tokbench_plugins.huggingface.train import settled

    random = np.random.default_rng(7)
    letters = [chr(97 + k) for k in range(20)]
    files = set()
    for _ in range(20):
        random.shuffle(letters)
        noise = random.normal(scale=1e-12, size=23)
        pieces = [[letter, -9 + 1e-4 * k] for k, letter in enumerate(letters)] + [
            ["ab", -3.5],
            ["z", -2.0],
            ["ez", -9.0],
        ]
        pieces = [[piece, score + each] for (piece, score), each in zip(pieces, noise, strict=True)]
        files.add(json.dumps(settled([["<unk>", 0.0], *sorted(pieces, key=lambda piece: -piece[1])], 1)))
    [file] = files
    assert json.loads(file)[:3] == [["<unk>", 0.0], ["z", -2.0], ["ab", -3.5]]
    assert json.loads(file)[-2:] == [["a", -9.0], ["ez", -9.0]]


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
