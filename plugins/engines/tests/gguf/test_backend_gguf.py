"""Model files of llama.cpp: the ids of the original, the contract, and every refusal."""

import json
import pickle
import struct
from dataclasses import replace

import pytest
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


@pytest.mark.parametrize(
    ("name", "text", "chunks"),
    [
        ("default", "a 1234 b.. c", ["a", " ", "123", "4", " b", "..", " c"]),
        ("default", "\u0663123", ["\u0663", "123"]),
        ("falcon", "a 1234 12 `b`", ["a", " ", "123", "4", " 12", " ", "`", "b", "`"]),
        ("starcoder", "in 12 ab", ["in", " ", "1", "2", " ab"]),
        (
            "deepseek-coder",
            "a b\r\n 12, \u0e01\u0e32 \u4e00",
            ["a", " b", "\r", "\n", " ", "1", "2", ",", " ", "\u0e01\u0e32", " ", "\u4e00"],
        ),
        ("deepseek-llm", "\u4e00a 12  \n!", ["\u4e00", "a", " ", "12", "  ", "\n", "!"]),
        ("deepseek-v3", "1234\u4e00.a", ["123", "4", "\u4e00", ".a"]),
        ("qwen35", "1e\u0301te\u0301'Re", ["1", "e\u0301te\u0301", "'Re"]),
        ("qwen2", "e\u0301 'Re", ["e", "\u0301", " '", "Re"]),
        ("gpt-2", "O'S 123 myVar!\n/", ["O", "'", "S", " 123", " myVar", "!", "\n", "/"]),
        ("dbrx", "O'S 1234 myVar!\n/", ["O", "'S", " ", "123", "4", " myVar", "!\n", "/"]),
        ("llama-bpe", "O'S 1234 myVar!\n/", ["O", "'S", " ", "123", "4", " myVar", "!\n", "/"]),
        ("gpt-4o", "O'S 1234 myVar's!\n/", ["O'S", " ", "123", "4", " my", "Var's", "!\n/"]),
        ("llama4", "O'S 1234 myVar's!\n/", ["O'S", " ", "123", "4", " my", "Var's", "!\n/"]),
        ("tekken", "O'S 12 myVar's!\n/", ["O", "'S", " ", "1", "2", " my", "Var", "'s", "!\n/"]),
    ],
)
def test_chunks_of_a_split_are_those_of_llama_cpp(name, text, chunks):
    split = splits.split_of(name)
    last = Splitter(split.pattern)
    assert [chunk for piece in split.pieces(text) for chunk in last(piece)] == chunks
    assert split.whole_chunks == (name in {"llama-bpe", "tekken"})


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


def bytes_but(path, missing, more=()):
    """Write a vocabulary of the bytes, but for some, of ``more``, and of one merge, ``a b``."""
    tokens = [gguf_files.name_of_bytes(bytes([byte])) for byte in range(256) if byte not in missing]
    tokens += ["ab", *more]
    given = {"tokenizer_pre": "gpt-2", "token_merges": ["a b"], "token_types": [1] * len(tokens)}
    return gguf_files.write(path, "gpt2", tokens, **given)


def test_bytes_that_no_text_has_may_be_missing(tmp_path):
    missing = {0xC0, 0xC1, *range(0xF5, 0x100)}
    tokenizer = load(bytes_but(tmp_path / "m.gguf", missing))
    assert (tokenizer.vocab_size, tokenizer.lossless, tokenizer.notes) == (256 - 13 + 1, True, ())
    assert tokenizer.encode("ab\U0010ffff") == [243, 0xF4 - 2, 0x8F, 0xBF, 0xBF]
    assert all(tokenizer.decode(tokenizer.encode(text)) == text for text in TEXTS)


def test_bytes_that_a_text_may_have_are_dropped_as_by_llama_cpp(tmp_path):
    tokenizer = load(bytes_but(tmp_path / "m.gguf", {3, 0xF1}), special_tokens=["<end>"])
    assert tokenizer.encode("a\x03b ab") == [ord("a") - 1, ord("b") - 1, ord(" ") - 1, 254]
    assert tokenizer.encode_batch(["\x03", "a", "\x03ab"]).offsets.tolist() == [0, 0, 1, 2]
    assert not tokenizer.lossless
    assert "0x03, 0xf1" in tokenizer.notes[0]
    assert (dict(tokenizer.special_ids), tokenizer.vocab_size) == ({"<end>": 255}, 256)
    again = pickle.loads(pickle.dumps(tokenizer))
    assert (again.encode("a\x03b"), again.vocab_size) == (tokenizer.encode("a\x03b"), 256)
    with pytest.raises(tokbench.BackendError):
        tokenizer.export("huggingface", tmp_path / "lost.json")


def test_tokens_that_are_not_spelled_in_bytes_are_never_given(tmp_path):
    tokenizer = load(bytes_but(tmp_path / "m.gguf", (), ["\u200d", "\u2764"]))
    assert tokenizer.encode("\u200d") == list("\u200d".encode())
    assert tokenizer.token_bytes(257) == "\u200d".encode()


def pieces_file(path, rows, **entries):
    """Write pieces: text, score, type."""
    tokens, scores, types = zip(*rows, strict=True)
    return gguf_files.write(path, "llama", tokens, token_scores=scores, token_types=types, **entries)


CONTROL, DEFINED, UNKNOWN = gguf_files.CONTROL, gguf_files.USER_DEFINED, gguf_files.UNKNOWN
PIECES = [
    ("<unk>", 0.0, CONTROL),
    ("</s>", 0.0, DEFINED),
    *((f"<0x{byte:02X}>", 0.0, gguf_files.BYTE) for byte in range(256)),
    ("\u2581", -2.0, 1),
    ("a", -3.0, 1),
    ("\u2581a", -1.0, 1),
    ("[PAD1]", 0.0, UNKNOWN),
    ("[PAD2]", 0.0, UNKNOWN),
]


def test_any_number_of_pieces_may_be_unknown(tmp_path):
    tokenizer = load(pieces_file(tmp_path / "m.gguf", PIECES, unk_token_id=0))
    assert tokenizer.encode("a a[") == [260, 260, 2 + ord("[")]
    assert (tokenizer.unk_id, dict(tokenizer.special_ids)) == (0, {"[PAD1]": 261, "[PAD2]": 262})


@pytest.mark.parametrize(("name", "expected"), [("other", [260, 1, 258, 260]), ("Phi3 mini", [260, 1, 260])])
def test_a_space_follows_user_defined_pieces_but_in_phi_3(name, expected, tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama")
    writer.add_name(name)
    tokens, scores, types = zip(*PIECES, strict=True)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    tokenizer = load(tmp_path / "m.gguf")
    assert tokenizer.encode("a</s> a") == expected  # each part is a text of its own, with its own space before it
    spans = tokenizer.encode_with_spans("a</s> a")
    assert (list(spans.ids), spans.starts[1], spans.ends[1], spans.ends[-1]) == (expected, 1, 5, 7)


def test_the_longest_user_defined_tokens_are_cut_out_first(tmp_path):
    tokenizer = load(with_defined(tmp_path / "m.gguf", ["<a>", "a><bc>"]))
    assert tokenizer.encode("<a><bc>") == [ord("<"), 341]


BERT = ["[PAD]", "[UNK]", "\u2581low", "er", "\u2581,", "\u2581e", "\u2581\u4e00", "[unused0]"]


@pytest.mark.parametrize(
    ("entries", "text", "expected"),
    [
        ({}, "Lower, L\u00f3w\u0000er\u4e00 nope", [2, 3, 4, 2, 3, 6, 1]),
        ({}, "\u00c9\u0903", [5]),  # every mark goes, not only the non-spacing ones
        ({"lower": False}, "low Low \u00e9", [2, 1, 1]),
        ({"lower": False, "accents": True}, "\u00e9 Low", [5, 1]),
    ],
)
def test_words_of_bert_are_cut_into_the_longest_pieces(entries, text, expected, tmp_path):
    pytest.importorskip("tokenizers")
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "bert")
    writer.add_tokenizer_model("bert")
    writer.add_token_list(BERT)
    writer.add_token_types([3, 3, *[1] * (len(BERT) - 2)])
    writer.add_unk_token_id(1)
    for name, key in (("lower", "lowercase"), ("accents", "strip_accents")):
        if name in entries:
            writer.add_bool(f"tokenizer.ggml.normalizer.{key}", entries[name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    tokenizer = load(tmp_path / "m.gguf")
    assert tokenizer.encode(text) == expected
    assert (tokenizer.unk_id, tokenizer.token_bytes(2), tokenizer.token_bytes(3)) == (1, b" low", b"er")
    tokenizer.save(tmp_path / "again.gguf")
    assert load(tmp_path / "again.gguf").encode(text) == expected
    assert pickle.loads(pickle.dumps(tokenizer)).encode(text) == expected


def test_gemma_4_merges_lines_and_looks_runs_of_line_ends_up(tmp_path):
    pytest.importorskip("tokenizers")
    singles = [f"<0x{byte:02X}>" for byte in range(256)]
    tokens = [*singles, "\u2581", "a", "\n", "\n\n\n", "\u2581a", "<|x|>", "\n\n"]
    types = [*[gguf_files.BYTE] * 256, 1, 1, 1, 1, 1, DEFINED, 1]
    merges = ["\u2581 a", "\n \n"]
    path = gguf_files.write(tmp_path / "m.gguf", "gemma4", tokens, token_types=types, token_merges=merges)
    tokenizer = load(path)
    assert tokenizer.encode(" a\n\n\na<|x|> a\n\n\n\n") == [260, 259, 257, 261, 260, 262, 262]
    assert tokenizer.encode("\u00e9") == [0xC3, 0xA9]
    assert tokenizer.decode(tokenizer.encode(" a <|x|>\n")) == " a <|x|>\n"
    assert pickle.loads(pickle.dumps(tokenizer)).encode("\n\n\n") == [259]


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
    texts = [text for text in texts if "\u2581" not in text]
    assert [tokenizer.encode(text) for text in texts] == [oracle.encode(text) for text in texts]
    assert {3, 4, 5, 6} <= set(tokenizer.encode(texts[-3]))
    assert tokenizer.unk_id == 0
    assert oracle.encode("\u2581\u2581 x")[0] == oracle.encode("\u2581 ")[0] == 3
    assert not {3, 4} & set(
        tokenizer.encode("\u2581\u2581 x")
    )  # a literal U+2581 is not a space before tokens are cut out
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
    gguf_files.write(tmp_path / "rwkv.gguf", "rwkv", ["a"])
    wrong = write(tmp_path / "wrong.gguf", ranks, "llama3-bpe")
    write(tmp_path / "silent.gguf", ranks, None)
    write(tmp_path / "short.gguf", ranks, "gpt-2", token_types=[1, 1])
    write(tmp_path / "merges.gguf", ranks, "gpt-2", token_merges=["q z"])
    gguf_files.of_sentencepiece(tmp_path / "spm.gguf", models / "bpe.model")
    gguf_files.write(tmp_path / "lacking.gguf", "llama", ["<unk>", "a"])
    key = b"tokenizer.ggml.tokens"
    head = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, len(key)) + key
    (tmp_path / "long.gguf").write_bytes(head + struct.pack("<IIQ", 9, 4, 1 << 35))
    for name, options, reason in (
        ("none", {}, "No such file"),
        ("text", {}, "a damaged GGUF file"),
        ("cut", {}, "damaged"),
        ("bare", {}, "tokenizer.ggml.tokens"),
        ("rwkv", {}, "'rwkv', an algorithm that is not here"),
        ("wrong", {}, "did you mean 'llama-bpe'"),
        ("silent", {}, "it names no split"),
        ("short", {}, "tokenizer.ggml.token_type has 2 entries, tokenizer.ggml.tokens 340"),
        ("merges", {}, r"merges\[0\] merges 'q' and 'z'"),
        ("spm", {"pre": "gpt-2"}, "pre belongs to byte-level BPE"),
        ("lacking", {}, "tokenizer.ggml.scores"),
        ("long", {}, "longer than the file"),
    ):
        with pytest.raises(tokbench.BackendError, match=rf"{name}\.gguf: .*{reason}"):
            load(tmp_path / f"{name}.gguf", **options)
    assert load(wrong, pre="gpt-2").encode("low") == ours().encode("low")
