"""tokenizer.json files, published and made here: every kind of model and decoder, saving, and what is refused."""

import itertools
import json
import unicodedata
from functools import cache

import numpy as np
import pytest
from difficult_texts import TEXTS, pud

import tokbench
from tokbench.tokenizers.contract import HasDummyPrefix, HasTokenBytes
from tokbench_plugins.huggingface.backend import SPEC, HuggingFaceLoadOptions

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from tokbench_plugins.huggingface.tokenizer import make_tokenizer  # noqa: E402 - needs the library


@cache
def load(data, name):
    folder = data / "hf"
    if name.startswith("bert"):
        return SPEC.load(HuggingFaceLoadOptions(vocab_txt=folder / f"{name}.vocab.txt"))
    return SPEC.load(HuggingFaceLoadOptions(path=folder / f"{name}.tokenizer.json"))


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("gpt-neox-20b", (50277, None, b"", False, 2)),
        ("roberta-base", (50265, None, b"", True, 5)),
        ("t5-small", (32100, 2, b" ", False, 102)),
        ("bert-base-uncased", (30522, 100, b" ", False, 4)),
    ],
)
def test_facts_of_published_files(name, facts, data):
    tokenizer = load(data, name)
    found = (tokenizer.vocab_size, tokenizer.unk_id, tokenizer.dummy_prefix, tokenizer.lossless)
    assert (*found, len(tokenizer.special_ids)) == facts


@pytest.mark.slow
@pytest.mark.usefixtures("tiktoken_files")
def test_roberta_is_gpt2_under_other_ids(data):
    gpt2 = tokbench.load("tiktoken", encoding="gpt2")
    roberta, texts = load(data, "roberta-base"), pud(data)[::10]
    of_bytes = {gpt2.token_bytes(i): i for i in range(50256)}
    special = set(roberta.special_ids.values())
    ordinary = [i for i in range(roberta.vocab_size) if i not in special and roberta.token_bytes(i) in of_bytes]
    mapped = np.full(roberta.vocab_size, -1)
    mapped[ordinary] = [of_bytes[roberta.token_bytes(i)] for i in ordinary]
    encoded = roberta.encode_batch(texts)
    assert np.array_equal(mapped[encoded.ids], gpt2.encode_batch(texts).ids)
    assert roberta.decode_batch(encoded) == texts


def sentencepiece_t5(data):
    return tokbench.load("sentencepiece", path=data / "spm" / "t5_base.model")


@pytest.mark.slow
def test_t5_is_the_sentencepiece_model(data):
    texts = pud(data)[::10]
    ours, theirs = load(data, "t5-small").encode_batch(texts), sentencepiece_t5(data).encode_batch(texts)
    assert np.array_equal(ours.ids, theirs.ids)
    assert np.array_equal(ours.offsets, theirs.offsets)


@pytest.mark.slow
def test_neox_composes_and_has_runs_of_spaces(data):
    neox, texts = load(data, "gpt-neox-20b"), pud(data)[::10]
    assert neox.decode_batch(neox.encode_batch(texts)) == [unicodedata.normalize("NFC", text) for text in texts]
    ids = neox.encode("def f():\n    return  e\u0301")
    assert [neox.token_bytes(i) for i in ids] == [
        *(b"def", b" f", b"():", b"\n", b"    ", b"return", b"  ", "é".encode())
    ]
    # The library aligns what is composed with the letter alone; the mark's bytes go to the next token.
    assert neox.encode_with_offsets("    e\u0301x") == ([50274, 860, 89], [4, 5, 8])


@pytest.mark.slow
def test_bert_decodes_as_the_library_does(data, tmp_path):
    """On ten languages, with the library's own pipeline for such a file: one by one, in a batch, and from its file."""
    library = tokenizers.BertWordPieceTokenizer(str(data / "hf" / "bert-base-uncased.vocab.txt"), lowercase=True)
    library.save(str(tmp_path / "bert.json"))
    texts = pud(data)[::25]
    for bert in (load(data, "bert-base-uncased"), SPEC.load(HuggingFaceLoadOptions(path=tmp_path / "bert.json"))):
        encoded = bert.encode_batch(texts)
        documents = [encoded.ids[a:b].tolist() for a, b in itertools.pairwise(encoded.offsets)]
        assert documents == [each.ids for each in library.encode_batch(texts, add_special_tokens=False)]
        expected = library.decode_batch(documents, skip_special_tokens=False)
        assert bert.decode_batch(encoded) == expected
        assert [bert.decode(ids) for ids in documents[::10]] == expected[::10]
        parts = [b"".join(map(bert.token_bytes, ids)).removeprefix(bert.dummy_prefix) for ids in documents]
        assert [part.decode() for part in parts] == expected


def test_no_bytes_are_claimed_where_tidying_up_depends_on_the_place():
    """A first "' " stays, and a later one loses its spaces."""
    model = {"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "##", "max_input_chars_per_word": 9}
    decoder = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    for token, claimed in (("' ", False), ("a b", True), ("don't", True)):
        content = {"added_tokens": [], "decoder": decoder, "model": {**model, "vocab": {"?": 0, token: 1}}}
        tokenizer = make_tokenizer(json.dumps(content))
        assert isinstance(tokenizer, HasTokenBytes) == claimed
        assert tokenizer.decode([0, 1]) == tokenizers.Tokenizer.from_str(json.dumps(content)).decode([0, 1])


def pipeline(model, **parts):
    return json.dumps({"version": "1.0", "added_tokens": [], **parts, "model": model})


def special(name, token_id):
    switches = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token_id, "content": name, "special": True, **switches}


UNIGRAM = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["</s>", 0], ["a", -1], ["<", -2], ["/s>", -3]]}
WORDS = {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "[CLS]": 1, "a": 2}}
PIECES = {**WORDS, "type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 8}
MERGED = {
    "type": "BPE",
    "vocab": {"<": 0, "s": 1, ">": 2, "<s": 3, "<s>": 4, "<s>>": 5},
    "merges": ["< s", "<s >", "<s> >"],
}


@pytest.mark.parametrize(
    ("model", "name", "token_id", "text", "ids"),
    [
        (UNIGRAM, "</s>", 1, "</s>a", [3, 4, 2]),
        (UNIGRAM, "<unk>", 0, "a<unk>", [2, 3, 0]),
        (WORDS, "[CLS]", 1, "[CLS]", [0]),
        (PIECES, "[CLS]", 1, "[CLS]", [0]),
        (MERGED, "<s>", 4, "<s>s", [3, 2, 1]),
        (MERGED, "<s>", 4, "<s>>", [3, 2, 2]),
    ],
)
def test_no_model_gives_a_special_token(model, name, token_id, text, ids):
    source = pipeline(model, added_tokens=[special(name, token_id)])
    tokenizer = make_tokenizer(source)
    assert tokenizer.encode(text) == ids
    assert tokenizer.decode([token_id]) == name
    library = tokenizers.Tokenizer.from_str(source)
    library.encode_special_tokens = True
    found = library.encode(text, add_special_tokens=False).ids
    assert (found != ids) == (name in text), "left to itself the library's model finds it"


LETTERS = {"type": "BPE", "byte_fallback": True, "vocab": {"▁": 0, "a": 1, "b": 2, "▁a": 3}, "merges": ["▁ a"]}
BYTES = {**LETTERS, "vocab": {**LETTERS["vocab"], **{f"<0x{b:02X}>": 4 + b for b in range(256)}}, "unk_token": "b"}
SPACES = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
REPLACE = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
LLAMA = {"type": "Sequence", "decoders": [REPLACE, {"type": "ByteFallback"}, {"type": "Fuse"}, STRIP]}


def test_bytes_of_llama_s_decoder():
    tokenizer = make_tokenizer(pipeline(BYTES, pre_tokenizer=SPACES, decoder=LLAMA))
    assert tokenizer.dummy_prefix == b" "
    ids = tokenizer.encode("a é")
    assert [tokenizer.token_bytes(i) for i in ids] == [b" a", b" ", b"\xc3", b"\xa9"]
    assert tokenizer.encode_with_offsets("a é") == (ids, [1, 2, 2, 4])
    assert tokenizer.decode(ids) == "a é"


@pytest.mark.parametrize(
    "decoder",
    [
        {"type": "BPEDecoder", "suffix": "</w>"},
        {"type": "CTC", "pad_token": "a", "word_delimiter_token": "|", "cleanup": True},
        {"type": "Sequence", "decoders": [{**REPLACE, "pattern": {"Regex": "▁+"}}, {"type": "Fuse"}]},
        {"type": "Sequence", "decoders": [STRIP, {"type": "Fuse"}]},
    ],
)
def test_bytes_are_not_claimed_where_neighbours_matter(decoder):
    tokenizer = make_tokenizer(pipeline(LETTERS, decoder=decoder))
    assert not isinstance(tokenizer, HasTokenBytes)
    assert not isinstance(tokenizer, HasDummyPrefix)


def test_what_a_metaspace_decoder_takes_off_the_first_token():
    """All its spaces, so with such a token in the vocabulary nothing is claimed."""
    inside = {**LETTERS, "vocab": {**LETTERS["vocab"], "▁▁": 4}}
    assert isinstance(make_tokenizer(pipeline(LETTERS, decoder=SPACES)), HasTokenBytes)
    tokenizer = make_tokenizer(pipeline(inside, decoder=SPACES))
    assert tokenizer.decode([4]) == ""
    assert not isinstance(tokenizer, HasTokenBytes)


def test_without_a_decoder_there_is_a_space_between_tokens():
    tokenizer = make_tokenizer(pipeline(LETTERS))
    assert tokenizer.decode([1, 2]) == "a b"
    assert b"".join(map(tokenizer.token_bytes, [1, 2])).removeprefix(tokenizer.dummy_prefix) == b"a b"


def test_what_the_file_does_to_texts_is_told_and_left_out():
    truncation = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    padding = {
        "strategy": {"Fixed": 9},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 2,
        "pad_type_id": 0,
        "pad_token": "b",
    }
    source = pipeline({**LETTERS, "dropout": 0.5}, truncation=truncation, padding=padding)
    tokenizer = make_tokenizer(source, ("a remark",))
    assert {tuple(tokenizer.encode("▁a▁a▁a")) for _ in range(50)} == {(3, 3, 3)}
    assert tokenizer.notes == (
        "padding is left out",
        "the file cuts texts at 2 tokens; here they are whole",
        "dropout 0.5 of the file is off: ids are not random",
        "a remark",
    )


def byte_level(**parts):
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    model = {"type": "BPE", "vocab": {letter: k for k, letter in enumerate(alphabet)}, "merges": []}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return make_tokenizer(pipeline(model, **{"pre_tokenizer": level, "decoder": level, **parts}))


def test_lossless_is_claimed_of_byte_level_bpe_alone():
    assert byte_level().lossless
    ordinary = {**special("\t ", 256), "special": False}
    assert byte_level(added_tokens=[ordinary]).lossless
    assert byte_level(added_tokens=[{**special("<x>", 256), "lstrip": True}]).lossless
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "Removed", "invert": False}
    for parts in (
        {"normalizer": {"type": "NFC"}},
        {"pre_tokenizer": level},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, {**level, "add_prefix_space": False}]}},
        {"added_tokens": [{**ordinary, "rstrip": True}]},
        {"added_tokens": [{**ordinary, "content": "é"}]},
        {"decoder": None},
    ):
        tokenizer = byte_level(**parts)
        assert not tokenizer.lossless
        texts = ["a b", "\t  x", "e\u0301é"]
        assert [tokenizer.decode(tokenizer.encode(text)) for text in texts] != texts


@pytest.mark.parametrize("value", ["true", "false"])
def test_both_paths_of_a_batch_agree(value, monkeypatch):
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", value)
    tokenizer = byte_level()
    texts = [*TEXTS, "\ud800"]
    assert tokenizer.encode_batch(texts).ids.tolist() == [i for text in texts for i in tokenizer.encode(text)]
    assert tokenizer.decode_batch(tokenizer.encode_batch(TEXTS)) == TEXTS


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "1:1: not JSON: Expecting value"),
        (b"[]", "not a tokenizer.json: it has no 'model' with a 'vocab'"),
        (b'{"decoder": {}, "model": {"vocab": {}}}', "a damaged tokenizer.json: KeyError"),
        (b'{"model": {"type": "Soup", "vocab": {}}}', "tokenizers does not read it: "),
        (pipeline({**MERGED, "merges": ["s s"]}).encode(), "tokenizers does not read it: .*out of vocabulary"),
    ],
)
def test_damaged_files(content, reason, tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(tokbench.BackendError, match=rf"x\.json: ?{reason}") as caught:
        SPEC.load(HuggingFaceLoadOptions(path=path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a\nb\n", r"not a vocab.txt of a BERT: it has no piece \[UNK\]"),
        (b"[UNK]\na\nb\na\n", "the piece 'a' of line 2 is there again in line 4"),
    ],
)
def test_damaged_vocab_txt(content, reason, tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    with pytest.raises(tokbench.BackendError, match=rf"vocab\.txt: {reason}"):
        SPEC.load(HuggingFaceLoadOptions(vocab_txt=path))


def test_an_id_far_beyond_all_others_is_refused(tmp_path):
    path = tmp_path / "tokenizer.json"
    for last, refused in ((127, False), (128, True), (1 << 32, True)):
        path.write_text(
            json.dumps(
                {"model": {"type": "WordLevel", "vocab": {"a": 0, "b": min(last, (1 << 32) - 1)}, "unk_token": "a"}}
            )
        )
        if refused:
            with pytest.raises(tokbench.BackendError, match="beyond 64 times its 2 tokens"):
                SPEC.load(HuggingFaceLoadOptions(path=path))
        else:
            assert SPEC.load(HuggingFaceLoadOptions(path=path)).vocab_size == 128
