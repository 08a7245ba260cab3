"""Model files of llama.cpp: the ids of the original, the contract, and every refusal."""

import json
import random
from dataclasses import replace

import pytest
import regex
import sentencepiece
import tiktoken
from difficult_texts import TEXTS, hostile
from shared_check import check_in_shared_process

import tokbench
from tokbench.testing.rules import RULES
from tokbench.testing.under_test import CheckRequest
from tokbench.tokenizers.contract import HasMerges
from tokbench_plugins.bpe import BPETokenizer, Splitter, train
from tokbench_plugins.bpe.formats import Parts
from tokbench_plugins.bpe.formats.tokenizer_json import tokenizer_json
from tokbench_plugins.bpe.patterns import PATTERNS

gguf = pytest.importorskip("gguf", reason="gguf is not installed")
gguf_files = pytest.importorskip("gguf_files")
backend = pytest.importorskip("tokbench_engines.gguf.backend")
splits = pytest.importorskip("tokbench_engines.gguf.splits")

DOCUMENTS = [
    "some words, somewhat worded, aren't WORDS in 1234567 places\n\n  indented  ",
    "été ÉTÉ Étés, 日本語 日本, हिन्दी हिन्दी, ОТ от Отто",
    "low lower lowest new newer newest wide wider widest",
]


def load(path, **options):
    return backend.SPEC.load(backend.SPEC.load_options(path=path, **options))


def ours(pattern="gpt2", size=340):
    return BPETokenizer(train(DOCUMENTS, size, pattern), pattern)


def ranks_of(tokenizer):
    return {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size)}


@pytest.mark.usefixtures("tiktoken_files")
def test_the_ids_are_those_of_tiktoken(tmp_path):
    gpt2, special = tiktoken.get_encoding("gpt2"), {"<|endoftext|>": 3000}
    ranks = {token: rank for token, rank in gpt2._mergeable_ranks.items() if rank < 3000}
    oracle = tiktoken.Encoding("first", pat_str=gpt2._pat_str, mergeable_ranks=ranks, special_tokens=special)
    path = gguf_files.of_ranks(tmp_path / "model.gguf", ranks, "gpt-2", special)
    tokenizer = load(path)
    assert tokenizer.vocab_size == oracle.n_vocab
    assert dict(tokenizer.special_tokens.ids) == special
    texts = TEXTS + hostile()
    ids, offsets = tokenizer.encode_batch(texts)
    for k, text in enumerate(texts):
        assert ids[offsets[k] : offsets[k + 1]].tolist() == oracle.encode_ordinary(text), text


def test_byte_level_bpe_has_our_ids(tmp_path):
    path = gguf_files.of_ranks(tmp_path / "model.gguf", ranks_of(ours()), "gpt-2", {"<end>": 430})
    tokenizer = load(path, special_tokens=["<more>"])
    texts = TEXTS + DOCUMENTS
    assert [tokenizer.encode(text) for text in texts] == [ours().encode(text) for text in texts]
    assert dict(tokenizer.special_tokens.ids) == {"<end>": 430, "<more>": 431}
    assert tokenizer.encode("<end>") == ours().encode("<end>")
    assert tokbench.load(str(path)).encode(texts[0]) == ours().encode(texts[0])
    tokenizer.save(tmp_path / "again.gguf")
    again = load(tmp_path / "again.gguf")
    assert dict(again.special_tokens.ids) == dict(tokenizer.special_tokens.ids)
    assert again.vocabulary == replace(tokenizer.vocabulary, tokens=(*tokenizer.vocabulary.tokens, b""))


def one_after_the_other(text, expressions):
    """Split as llama.cpp: by each expression in turn, what no match takes is a piece of its own."""
    pieces = [text]
    for expression in expressions:
        cut = []
        for piece in pieces:
            at = 0
            for match in regex.finditer(expression, piece):
                cut += [piece[at : match.start()], match.group()]
                at = match.end()
            cut.append(piece[at:])
        pieces = [piece for piece in cut if piece]
    return pieces


STEPS = {
    "starcoder": [r"\p{N}", PATTERNS["gpt2"]],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", PATTERNS["gpt2"], r"\p{N}+", "[0-9][0-9][0-9]"],
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_of_llama_cpp_are_one_expression(name):
    source = random.Random(7)
    expressions = STEPS[name]
    split = Splitter(splits.split_of(name).pattern)
    for _ in range(500):
        text = "".join(source.choices("ab1٣23 \n\t.,'sS½€`$+~^|", k=source.randint(1, 14)))
        assert split(text) == one_after_the_other(text, expressions), text


def test_tokens_that_no_merge_builds_are_whole_chunks_where_llama_cpp_ignores_merges(tmp_path):
    ranks = ranks_of(ours(size=300))
    tokens = [gguf_files.name_of_bytes(token) for token in ranks] + ["qzqz"]
    merges = [" ".join(pair) for pair in gguf_files.named_merges(ours(size=300).vocabulary)]
    given = {"token_merges": merges, "token_types": [1] * len(tokens)}
    for pre, expected in (("llama-bpe", [300]), ("dbrx", list(b"qzqz"))):
        path = gguf_files.write(tmp_path / f"{pre}.gguf", "gpt2", tokens, tokenizer_pre=pre, **given)
        assert load(path).encode("qzqz") == expected
    assert load(path, pre="llama-bpe").encode("qzqz") == [300]


def with_defined(path, names):
    """Write our vocabulary with user-defined tokens after all others, and one id that is not used."""
    ranks = ranks_of(ours())
    types = [1] * len(ranks) + [gguf_files.USER_DEFINED] * len(names) + [gguf_files.UNUSED]
    merges = [" ".join(pair) for pair in gguf_files.named_merges(ours().vocabulary)]
    tokens = [*map(gguf_files.name_of_bytes, ranks), *names, "[PAD]"]
    given = {"tokenizer_pre": "gpt-2", "token_merges": merges, "token_types": types}
    return gguf_files.write(path, "gpt2", tokens, **given)


def test_user_defined_tokens_are_ordinary_text(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    names = ["<think>", "</think>", "    ", "        ", "été"]
    tokenizer = load(with_defined(tmp_path / "m.gguf", names))
    oracle = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json(Parts(ours().vocabulary, "gpt2"))))
    oracle.add_tokens([tokenizers.AddedToken(name, normalized=False) for name in names])
    assert tokenizer.encode("<think>") == [340]
    texts = [
        *TEXTS,
        *DOCUMENTS,
        "<think>low</think>lower\n\n            x",
        "a<think",
        " été <think> ",
        "low " * 2000 + "<think>",
    ]
    assert [tokenizer.encode(text) for text in texts] == [oracle.encode(text).ids for text in texts]
    assert dict(tokenizer.special_ids) == {}
    assert [tokenizer.decode(tokenizer.encode(text)) for text in texts] == texts
    with pytest.raises(tokbench.BackendError):
        tokenizer.export("huggingface", tmp_path / "lost.json")


def test_user_defined_token_asked_for_is_special(tmp_path):
    tokenizer = load(with_defined(tmp_path / "m.gguf", ["<tool>"]), special_tokens=["<tool>"])
    assert 340 not in tokenizer.encode("<tool>")
    assert tokenizer.encode_with_special("a<tool>", allowed_special="all") == [97, 340]
    tokenizer.save(tmp_path / "again.gguf")
    assert load(tmp_path / "again.gguf").special_ids == {"<tool>": 340}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """SentencePiece models of both kinds, which change no text."""
    folder = tmp_path_factory.mktemp("models")
    for kind in ("bpe", "unigram"):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(DOCUMENTS * 20),
            model_prefix=str(folder / kind),
            model_type=kind,
            vocab_size=360 if kind == "bpe" else 330,
            byte_fallback=True,
            character_coverage=0.99,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            hard_vocab_limit=False,
            minloglevel=2,
        )
    return folder


@pytest.mark.parametrize(
    ("kind", "model", "prefix"), [("bpe", "llama", True), ("bpe", "llama", False), ("unigram", "t5", True)]
)
def test_the_ids_are_those_of_sentencepiece(kind, model, prefix, models, tmp_path):
    oracle = sentencepiece.SentencePieceProcessor(model_file=str(models / f"{kind}.model"))
    path = gguf_files.of_sentencepiece(
        tmp_path / "model.gguf", models / f"{kind}.model", model, add_space_prefix=prefix
    )
    tokenizer = load(path)
    assert tokenizer.vocab_size == oracle.get_piece_size()
    texts = [text for text in TEXTS + DOCUMENTS if text.isprintable()]
    if prefix:
        assert [tokenizer.encode(text) for text in texts] == [oracle.encode(text) for text in texts]
    else:
        assert [tokenizer.decode(tokenizer.encode(text)) for text in texts] == [
            text.replace("\u2581", " ") for text in texts
        ]
        assert tokenizer.encode("lower") != oracle.encode("lower")
    assert isinstance(tokenizer, HasMerges) == (kind == "bpe")


@pytest.mark.parametrize("unknown", ["by type", "by key"])
def test_user_defined_pieces_hold_spaces(unknown, tmp_path):
    """As in the files of Gemma: runs of spaces, tags, and an unknown piece of the type of control pieces."""
    names = ["\u2581\u2581", "\u2581\u2581\u2581\u2581", "<td>", "\n\n"]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(DOCUMENTS * 20),
        model_prefix=str(tmp_path / "m"),
        model_type="bpe",
        vocab_size=360,
        byte_fallback=True,
        user_defined_symbols=names,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        add_dummy_prefix=False,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    oracle = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    path = gguf_files.of_sentencepiece(tmp_path / "m.gguf", tmp_path / "m.model", add_space_prefix=False)
    if unknown == "by key":
        types = [gguf_files.CONTROL, *gguf_files.types_of(tmp_path / "m.model")[1:]]
        given = {"add_space_prefix": False, "token_types": types, "unk_token_id": 0}
        path = gguf_files.of_sentencepiece(tmp_path / "m.gguf", tmp_path / "m.model", **given)
    tokenizer = load(path)
    texts = [*TEXTS, *DOCUMENTS, "low\n      lower  <td>  x\n\n\n", " x", "       "]
    assert [tokenizer.encode(text) for text in texts] == [oracle.encode(text) for text in texts]
    assert {3, 4, 5, 6} <= set(tokenizer.encode(texts[-3]))
    assert tokenizer.unk_id == 0
    tokenizer.save(tmp_path / "again.gguf")
    assert load(tmp_path / "again.gguf").encode(texts[-3]) == oracle.encode(texts[-3])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["defined", "unigram"])
def test_every_sentence_of_the_contract(kind, models, tmp_path):
    if kind == "defined":
        path = with_defined(tmp_path / "m.gguf", ["<think>", "    "])
    else:
        path = gguf_files.of_sentencepiece(tmp_path / "m.gguf", models / "unigram.model", "t5")
    rules = [rule for rule in RULES if rule not in {"long_text", "other_process", "threads"}]
    report = check_in_shared_process(CheckRequest("gguf", {"path": str(path)}, examples=0), rules)
    assert report.ok, str(report)


def test_what_is_refused(tmp_path, models):
    write, ranks = gguf_files.of_ranks, ranks_of(ours())
    good = write(tmp_path / "good.gguf", ranks, "gpt-2")
    (tmp_path / "text.gguf").write_text("GGUX")
    (tmp_path / "cut.gguf").write_bytes(good.read_bytes()[:5000])
    writer = gguf.GGUFWriter(tmp_path / "bare.gguf", "llama")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    gguf_files.write(tmp_path / "bert.gguf", "bert", ["a"])
    wrong = write(tmp_path / "wrong.gguf", ranks, "llama3-bpe")
    write(tmp_path / "silent.gguf", ranks, None)
    write(tmp_path / "short.gguf", ranks, "gpt-2", token_types=[1, 1])
    write(tmp_path / "merges.gguf", ranks, "gpt-2", token_merges=["q z"])
    gguf_files.of_sentencepiece(tmp_path / "spm.gguf", models / "bpe.model")
    gguf_files.write(tmp_path / "lacking.gguf", "llama", ["<unk>", "a"])
    for name, options, reason in (
        ("none", {}, "No such file"),
        ("text", {}, "a damaged GGUF file"),
        ("cut", {}, "damaged"),
        ("bare", {}, "tokenizer.ggml.tokens"),
        ("bert", {}, "'bert'; only gpt2, llama, t5"),
        ("wrong", {}, "did you mean 'llama-bpe'"),
        ("silent", {}, "it names no split"),
        ("short", {}, "tokenizer.ggml.token_type has 2 entries, tokenizer.ggml.tokens 340"),
        ("merges", {}, r"merges\[0\] merges 'q' and 'z'"),
        ("spm", {"pre": "gpt-2"}, "pre belongs to byte-level BPE"),
        ("lacking", {}, "tokenizer.ggml.scores"),
    ):
        with pytest.raises(tokbench.BackendError, match=rf"{name}\.gguf: .*{reason}"):
            load(tmp_path / f"{name}.gguf", **options)
    assert load(wrong, pre="gpt-2").encode("low") == ours().encode("low")
