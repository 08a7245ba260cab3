"""Readers of other libraries' files by hand: what each part says, and the words of each refusal."""

import base64
import json
import pickle
import struct

import pytest

import tokbench
from tokbench_plugins.bpe import PATTERNS
from tokbench_plugins.bpe.formats import Parts
from tokbench_plugins.bpe.formats.conditions import check_format, check_pieces
from tokbench_plugins.bpe.formats.dialect import check_shared_dialect, check_tiktoken_dialect
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.bpe.vocabulary import Vocabulary
from tokbench_plugins.huggingface import json as content_of
from tokbench_plugins.sentencepiece import proto
from tokbench_plugins.sentencepiece.proto import ModelKind, ModelPiece, PieceType
from tokbench_plugins.tiktoken.tekken import TekkenTokenizer

LETTERS = tuple(bytes([byte]) for byte in range(256))
LEVEL = {"type": "ByteLevel", "add_prefix_space": False}
SPLIT = {"type": "Split", "pattern": {"Regex": "[a-z]+"}, "behavior": "Isolated", "invert": False}
BPE = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}


def test_a_vocab_txt_by_hand():
    made = json.loads(content_of.bert_json("[PAD]\r\n[UNK]\nlow\n##er\n", lowercase=False))
    switches = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    normalizer = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": False}
    assert made == {
        **dict.fromkeys(("truncation", "padding", "post_processor")),
        "version": "1.0",
        "added_tokens": [{"id": k, "content": name, **switches} for k, name in enumerate(("[PAD]", "[UNK]"))],
        "normalizer": {"type": "BertNormalizer", **normalizer},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": {"[PAD]": 0, "[UNK]": 1, "low": 2, "##er": 3},
        },
    }  # fmt: skip
    for text, reason in (
        ("[UNK]\na\nb\na\n", "the piece 'a' of line 2 is there again in line 4"),
        ("a\nb", r"it has no piece \[UNK\]"),
    ):
        with pytest.raises(ValueError, match=reason):
            content_of.bert_json(text, lowercase=True)


def replaced(*pairs):
    steps = [{"type": "Replace", "pattern": {kind: old}, "content": new} for kind, old, new in pairs]
    return {"type": "Sequence", "normalizers": [{"type": "NFC"}, *steps]}


@pytest.mark.parametrize(
    ("pairs", "times"),
    [
        ([("String", "a", "b" * 64)], 0),
        ([("String", "a", "b" * 65)], 65),
        ([("String", "ab", "b" * 128)], 0),
        ([("String", "a", "b" * 8), ("String", "b", "c" * 9)], 72),
        ([("String", "a", "b" * 65), ("String", "bbbb", "")], 65),
        ([("Regex", "aaaa", "b" * 66)], 66),
        ([], 0),
    ],
)
def test_how_much_longer_a_text_may_become(pairs, times):
    if times:
        with pytest.raises(ValueError, match=f"up to {times} times as long, and 64 are allowed"):
            content_of.check_growth(replaced(*pairs))
    else:
        content_of.check_growth(replaced(*pairs))


@pytest.mark.parametrize(
    ("model", "kind", "has_merges"),
    [
        ({"type": "Unigram"}, "Unigram", False),
        (BPE, "BPE", True),
        ({"vocab": {}, "merges": []}, "BPE", True),
        (BPE | {"continuing_subword_prefix": "##"}, "BPE", False),
        (BPE | {"end_of_word_suffix": "</w>"}, "BPE", False),
        ({"vocab": [["a", 0]]}, "Unigram", False),
        ({"vocab": {}, "max_input_chars_per_word": 1}, "WordPiece", False),
        ({"vocab": {}}, "WordLevel", False),
    ],
)
def test_kinds_of_models(model, kind, has_merges):
    assert content_of.model_kind({"model": model}) == kind
    assert content_of.has_merges({"model": model}) == has_merges


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"pre_tokenizer": LEVEL}, (PATTERNS["gpt2"], None, "")),
        ({"pre_tokenizer": LEVEL, "normalizer": {"type": "NFKC"}}, (PATTERNS["gpt2"], "NFKC", "")),
        ({"pre_tokenizer": LEVEL | {"use_regex": True}}, (PATTERNS["gpt2"], None, "")),
        ({"pre_tokenizer": LEVEL | {"use_regex": False}}, "its pre-tokenizer is not a single expression"),
        ({"pre_tokenizer": LEVEL | {"add_prefix_space": True}}, "its pre-tokenizer is not a single expression"),
        ({"pre_tokenizer": [SPLIT, LEVEL | {"use_regex": False}]}, ("[a-z]+", None, "")),
        ({"pre_tokenizer": [SPLIT, LEVEL]}, "its pre-tokenizer is not a single expression"),
        ({"pre_tokenizer": [SPLIT | {"invert": True}, LEVEL | {"use_regex": False}]}, "its pre-tokenizer is not a"),
        ({"pre_tokenizer": None}, "its pre-tokenizer is not a single expression"),
        ({"model": {"type": "WordPiece"}}, "its model is WordPiece and not BPE"),
        ({"normalizer": replaced(("String", "a", "b"))}, "its normalizer changes text in more than its Unicode form"),
        ({"normalizer": {"type": "Lowercase"}}, "its normalizer changes text in more than its Unicode form"),
        ({"added_tokens": [{"content": "<x>"}]}, "it looks for added tokens such as '<x>' before it splits"),
        ({"added_tokens": [{"content": "<x>", "special": True}], "pre_tokenizer": LEVEL}, (PATTERNS["gpt2"], None, "")),
    ],
)
def test_the_split_of_a_pipeline(changes, expected):
    if isinstance(changes.get("pre_tokenizer"), list):
        changes = changes | {"pre_tokenizer": {"type": "Sequence", "pretokenizers": changes["pre_tokenizer"]}}
    split = content_of.split_of({"model": BPE, **changes})
    assert (
        (split.why_not.startswith(expected) and not split.expression)
        if isinstance(expected, str)
        else split == expected
    )


@pytest.mark.parametrize(
    ("vocab", "added", "ids", "faults"),
    [
        ({"a": 0, "b": 1}, [], {"a": 0, "b": 1}, {}),
        ({"a": 0, "b": 5}, [], {"a": 0, "b": 1}, {1: "the file has id 5 for 'b'"}),
        ({"a": 0, "b": 5}, [], {"a": 0}, {5: "the file has id 5 for 'b'"}),
        ({"a": 0, "b": 0}, [], {"a": 0, "b": 0}, {0: "the file has this id for 'a' and 'b'"}),
        ([["a", 0], ["b", 0]], [], {"a": 0, "b": 2}, {2: "the file has id 1 for 'b'"}),
        ({"a": 0}, [{"content": "<x>", "id": 9}], {"a": 0, "<x>": 1}, {1: "the file has id 9 for '<x>'"}),
        ({"a": 0}, [{"content": "<x>"}], {"a": 0, "<x>": 1}, {}),
        ({"a": 0}, [{"content": "a", "id": 0}], {"a": 0}, {}),
    ],
)
def test_ids_that_a_file_gives_otherwise(vocab, added, ids, faults):
    assert content_of.file_faults({"model": {"vocab": vocab}, "added_tokens": added}, ids) == faults


def test_whole_chunks_have_their_place_among_merges():
    vocab = {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4, "<s>": 5}
    model = {"vocab": vocab, "merges": ["a b"], "ignore_merges": True}
    names = {token_id: name.encode() for name, token_id in vocab.items()}
    content = content_of.merges_of_content({"model": model, "added_tokens": [{"content": "<s>"}]}, names.__getitem__)
    assert content == ((0, 1), (3, 2))
    assert content_of.merges_of_content({"model": model | {"ignore_merges": False}}, names.__getitem__) == ((0, 1),)


def field(number, value):
    """A field of protobuf: an integer, or bytes with their length."""
    if isinstance(value, int):
        return bytes([number << 3, value]) if number < 16 else bytes([number << 3 & 0x7F | 0x80, number >> 4, value])
    return bytes([number << 3 | 2, len(value)]) + value


def test_a_model_by_hand():
    score = bytes([2 << 3 | 5]) + struct.pack("<f", -1.5)
    pieces = field(1, field(1, b"<unk>") + field(3, 2)) + field(1, field(1, "▁a".encode()) + score)
    trainer = field(2, field(3, 2) + field(24, 1)) + field(2, field(35, 1))
    eight = bytes([9 << 3 | 1]) + bytes(8)
    model = pieces + eight + trainer + field(3, field(1, b"nfkc") + field(2, b"xy") + field(3, 0))
    assert proto.read_pieces(model) == [("<unk>", 0.0, PieceType.UNKNOWN), ("▁a", -1.5, PieceType.NORMAL)]
    assert proto.kind_of(model) == ModelKind.BPE
    assert proto.read_trainer(model) == (True, True)
    assert proto.read_trainer(pieces) == (False, False)
    assert proto.kind_of(pieces) == ModelKind.UNIGRAM
    assert proto.read_normalizer(model) == ("nfkc", b"xy", False, True)
    assert proto.read_normalizer(pieces) == ("", b"", True, True)
    assert proto.read_normalizer(field(3, field(4, 0)) + proto.NO_DUMMY_PREFIX) == ("", b"", False, False)
    long = field(1, b"x" * 3)[:1] + bytes([0x83, 0x00]) + b"\x0a\x01y"  # a length of two bytes
    assert proto.read_pieces(long)[0].text == "y"


def tekken(first=3, names=(), **changes):
    tokens = [*LETTERS, b"ab", b"abc"]
    rows = [{"rank": k, "token_bytes": base64.b64encode(token).decode()} for k, token in enumerate(tokens)]
    config = {"default_num_special_tokens": first, "default_vocab_size": len(tokens) + first, "pattern": r"\w+|\W"}
    special = [{"rank": k, "token_str": name} for k, name in enumerate(names)]
    return json.dumps({"config": config, "vocab": rows, "special_tokens": special} | changes).encode()


def test_a_tekken_file_by_hand(tmp_path):
    made = TekkenTokenizer(tekken())
    assert (made.vocab_size, made.special_ids) == (261, {"<unk>": 0, "<s>": 1, "</s>": 2})
    assert made.encode("abc a") == [260, 3 + 32, 3 + 97]
    assert made.decode([1, 260, 2, 3 + 97]) == "abca"
    assert [made.token_bytes(k) for k in (0, 2, 3, 260)] == [b"", b"", b"\0", b"abc"]
    made.save(tmp_path / "x.tekken.json")
    assert (tmp_path / "x.tekken.json").read_bytes() == tekken()
    assert pickle.loads(pickle.dumps(made)).encode("abc") == [260]
    with pytest.raises(ValueError, match="261"):
        made.decode([261])
    named = TekkenTokenizer(tekken(names=["<a>"])).special_ids
    assert named == {"<a>": 0, "<SPECIAL_1>": 1, "<SPECIAL_2>": 2}
    assert TekkenTokenizer(tekken(22)).special_ids["<SPECIAL_21>"] == 21
    assert TekkenTokenizer(tekken(vocab=[*json.loads(tekken())["vocab"], {"rank": 999}])).vocab_size == 261


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"config": {}}, "not a Tekken file: KeyError"),
        ({"vocab": None}, "not a Tekken file: TypeError"),
        ({"vocab": [{"rank": 0, "token_bytes": "Y!Q=="}]}, "base64"),
        ({"vocab": [{"rank": 0, "token_bytes": "YQ=="}]}, "a damaged Tekken file: not every rank below 258 is there"),
    ],
)
def test_damaged_tekken_files_are_refused(changes, reason):
    with pytest.raises(ValueError, match=reason):
        TekkenTokenizer(tekken(**changes))


def parts(tokens, merges, pattern="gpt2", special=(), whole=()):
    vocabulary = Vocabulary((*LETTERS, *tokens), tuple(range(256)), tuple(merges), frozenset(whole))
    return Parts(vocabulary, pattern, SpecialTokens(dict(special)))


@pytest.mark.parametrize(
    ("form", "made", "reason"),
    [
        ("gpt2", parts([b"ab", b"ab"], [(97, 98, 256)]), "ids 256 and 257 both have the bytes b'ab', and a file has"),
        (
            "gpt2",
            parts([b"ab"], [(97, 98, 256)], special={"ab": 257}),
            r"special token 'ab' \(id 257\) is spelled like",
        ),
        ("gpt2", parts([b"ab"], []), r"no merge makes b'ab' \(id 256\), so it would be read as a special token"),
        ("huggingface", parts([b"ab", b"cd"], [], whole=[256]), r"b'cd' \(id 257\) would be given to a chunk"),
        (
            "tiktoken",
            parts([b"abc", b"ab"], [(97, 98, 257), (257, 99, 256)]),
            "a .tiktoken file merges in order of ids",
        ),
        ("tiktoken", parts([b"xyz"], []), "tiktoken would encode b'xyz' as id 256, which no merge makes here"),
        ("gguf", parts([], [], "o200k"), "llama.cpp knows no such split; train with pattern gpt2 or gpt4"),
        ("gguf", parts([], [], None), "llama.cpp knows no such split"),
        ("gguf", parts([b"ab"], [], whole=[256]), "llama.cpp knows no such split"),
    ],
)
def test_why_a_format_cannot_hold_a_vocabulary(form, made, reason):
    with pytest.raises(ValueError, match=reason):
        check_format(form, made)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?i:ska)|.", "engines differ in the other cases of 'ska'; write out both cases"),
        ("(?i)ska|.", r"engines differ in the other cases of 'ska\|.'"),
        ("a*", r"it matches no text, from which engines go on differently or not at all; write \+ for \*"),
    ],
)
def test_what_no_two_engines_read_alike(pattern, reason):
    for check in (check_shared_dialect, check_tiktoken_dialect):
        with pytest.raises(ValueError, match=reason.replace("ska", "sti")):
            check(pattern.replace("ska", "sti"))


def test_pieces_that_cannot_be_listed():
    def pieces(*rows):
        return [ModelPiece(text, score, kind) for text, score, kind in rows]

    normal, unused = PieceType.NORMAL, PieceType.UNUSED
    with pytest.raises(ValueError, match=r"2 pieces are unused, but built and split again; keep the \.model file"):
        check_pieces("merges", pieces(("a", 0, unused), ("b", 0, unused)))
    with pytest.raises(ValueError, match=r"'abc' has 'c' in it, which is not a piece; keep the \.model file"):
        check_pieces("merges", pieces(("a", 0, normal), ("b", 0, normal), ("abc", -1, normal)))
    check_pieces("tokenizer.json without merges", pieces(("abc", -1, normal)))


def test_ids_of_a_class_of_transformers_need_its_file(tmp_path):
    """Ranks of another split than GPT-4's: their folder's own code may know it, AutoTokenizer does not."""
    tokbench.train("regex_bpe:o200k", ["low lower"], 260).export("tiktoken", tmp_path / "tokenizer.model")
    (tmp_path / "added_tokens.json").write_text('{"<x>": 900}')
    with pytest.raises(
        tokbench.BackendError, match=r"AutoTokenizer would split it as gpt4; name the file itself: .*model"
    ):
        tokbench.load(str(tmp_path))
