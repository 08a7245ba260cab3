"""``tokenizer.json``: ``tokenizers`` loads what is written, and what is read gives its ids; the rest is refused."""

import json
import unicodedata

import pytest
from difficult_texts import TEXTS, hostile
from formats_data import engine, same, sentences, trained
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tokbench_plugins.bpe import PATTERNS as NAMED
from tokbench_plugins.bpe import Splitter
from tokbench_plugins.bpe.formats import Parts, read_tokenizer_json, write_tokenizer_json
from tokbench_plugins.bpe.formats.tokenizer_json import tokenizer_json
from tokbench_plugins.bpe.special import NO_SPECIAL, SpecialTokens
from tokbench_plugins.bpe.vocabulary import Vocabulary

tokenizers = pytest.importorskip("tokenizers")


def written(tmp_path, parts):
    path = tmp_path / "tokenizer.json"
    write_tokenizer_json(path, parts)
    return path


def ordinary(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("pattern", [None, "gpt2", r"\p{L}+|\p{N}{1,2}| ?[^\p{L}\p{N}]"])
def test_tokenizers_gives_the_same_ids(pattern, tmp_path, data):
    parts = trained(pattern)
    path = written(tmp_path, parts)
    oracle, ours = tokenizers.Tokenizer.from_file(str(path)), engine(parts)
    oracle.encode_special_tokens = True  # which is to say: as ordinary text
    for text in TEXTS + hostile() + sentences(data, 100):
        assert ordinary(oracle, text) == ours.encode(text), text
        assert oracle.decode(ours.encode(text), skip_special_tokens=False) == text
    assert oracle.get_vocab_size() == ours.vocab_size
    same(read_tokenizer_json(path), parts)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["gpt4", "o200k"])
def test_named_patterns_split_alike_around_every_character(pattern):
    """But for characters that one of the two engines' versions of Unicode does not know."""
    oracle = tokenizers.pre_tokenizers.Split(tokenizers.Regex(NAMED[pattern]), "isolated")
    ours = Splitter(pattern)
    for code in range(0, 0x20000, 3):
        character = chr(code)
        if unicodedata.category(character) in {"Cn", "Cs"}:
            continue
        text = f"a{character}b {character}{character} 1{character} '{character} 'l{character}\n{character}"
        assert [text[start:end] for _, (start, end) in oracle.pre_tokenize_str(text)] == ours(text), hex(code)


# tokenizers cannot be told which special tokens to allow: it allows all, the longest first.
@settings(deadline=None)
@given(
    names=st.lists(st.text("ab<>", min_size=2, max_size=4), min_size=1, max_size=5, unique=True),
    text=st.text("ab<> \n"),
    first=st.sampled_from([0, 1, 50]),
)
def test_special_tokens_are_recognised_alike(names, text, first):
    base = trained("gpt4")
    spelled = {token.decode("latin-1") for token in base.vocabulary.tokens}
    special = NO_SPECIAL.with_more([n for n in names if n not in spelled], len(base.vocabulary.tokens) + first)
    parts = Parts(base.vocabulary, "gpt4", special)
    oracle = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json(parts)))
    assert ordinary(oracle, text) == engine(parts).encode_with_special(text, allowed_special="all")
    oracle.encode_special_tokens = True
    assert ordinary(oracle, text) == engine(parts).encode(text)


def test_a_vocabulary_with_gaps_and_whole_chunks(tmp_path):
    letters = tuple(bytes([byte]) for byte in range(256))
    tokens = (*letters, b"", b"ab", b"", b"xyz")
    vocabulary = Vocabulary(tokens, tuple(range(256)), ((97, 98, 257),), frozenset({259}))
    parts = Parts(vocabulary, "gpt4", SpecialTokens({"<a>": 256, "<b>": 400}, tokens))
    path = written(tmp_path, parts)
    oracle = tokenizers.Tokenizer.from_file(str(path))
    text = "xyz xyz abxyz\nxyz <a><b>"
    assert ordinary(oracle, text) == engine(parts).encode_with_special(text, allowed_special="all")
    assert {256, 259, 400} <= set(ordinary(oracle, text))
    same(read_tokenizer_json(path), parts)


@pytest.mark.slow
def test_roberta(data, tmp_path):
    """The old format: no type of the model, merges as strings, ids that do not follow ranks."""
    path = data / "hf" / "roberta-base.tokenizer.json"
    parts = read_tokenizer_json(path)
    oracle, ours = tokenizers.Tokenizer.from_file(str(path)), engine(parts)
    for text in TEXTS[:-1] + sentences(data, 50):  # the last has '</s>' in it
        assert ordinary(oracle, text) == ours.encode(text), text
    assert parts.special.ids == {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 50264}
    assert parts.notes == (
        "the tokens that RobertaProcessing puts around a text are left out",
        "special token '<mask>' is recognised without its lstrip",
    )
    again = written(tmp_path, parts)
    same(read_tokenizer_json(again), parts)


@pytest.mark.parametrize(
    ("name", "reason"), [("t5-small", "its model is of an unnamed kind without merges"), ("gpt-neox-20b", "'NFC'")]
)
def test_other_models_are_refused(data, name, reason):
    with pytest.raises(tokbench.BackendError, match=reason):
        read_tokenizer_json(data / "hf" / f"{name}.tokenizer.json")


def changed(*path, to):
    """A change of one place of the content."""

    def change(content):
        *parents, last = path
        for key in parents:
            content = content[key]
        content[last] = to

    return change


SPLIT = ("pre_tokenizer", "pretokenizers", 0)
BYTE_LEVEL = ("pre_tokenizer", "pretokenizers", 1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (changed("model", to=None), "not a tokenizer.json: it has no 'model'"),
        (changed("model", "vocab", "a", to=98), "have the same id, 98"),
        (changed("model", "vocab", "a b", to=5000), "'a b' is not spelled in GPT-2's byte alphabet: it has ' '"),
        (lambda c: c["model"]["vocab"].pop("Ġ"), "no token for the byte 0x20"),
        (changed("model", "merges", 3, to=["a", "ĠĠĠa"]), r"model.merges\[3\] merges 'a' and 'ĠĠĠa', but no token is"),
        (lambda c: c["model"]["merges"].append(c["model"]["merges"][0]), "a merge is repeated"),
        (changed(*BYTE_LEVEL, "use_regex", to=True), "pre_tokenizer splits twice"),
        (changed(*SPLIT, "pattern", to={"Regex": r"\w+"}), r"differently from character 0 on: '\\\\w\+'"),
        (changed("added_tokens", 0, "special", to=False), r"added_tokens\[0\], '<\|im_start\|>', is cut out"),
        (changed("added_tokens", 0, "id", to=97), r"special token '<\|im_start\|>' has id 97, the id of b'a'"),
        (changed("added_tokens", 0, "content", to="a"), r"gives 'a' id \d+, model.vocab gives it 97"),
        (changed("added_tokens", 0, to={"content": 1, "id": 1}), r"added_tokens\[0\] is .*, not a token and its id"),
        (changed("model", "type", to="Unigram"), "its model is Unigram; only byte-level BPE is read"),
        (lambda c: (c["model"].pop("type"), c["model"].pop("merges")), "of an unnamed kind without merges"),
        (changed("model", "dropout", to=0.1), "dropout makes its ids random"),
        (changed("model", "continuing_subword_prefix", to="##"), "continuing_subword_prefix is '##'"),
        (changed("model", "end_of_word_suffix", to="</w>"), "end_of_word_suffix is '</w>'"),
        (changed("model", "vocab", to=[]), "model.vocab is not an object"),
        (changed("model", "vocab", "a", to=True), r"model.vocab\['a'\] is True, not an id"),
        (changed("model", "vocab", "a", to=-1), "the id of 'a' is -1, not between 0 and 9999999"),
        (changed("model", "vocab", "a", to=10**7), "is 10000000, not between"),
        (changed("model", "merges", to={}), "model.merges is not a list"),
        (changed("model", "merges", 3, to="a b c"), r"model.merges\[3\] is 'a b c', not two tokens"),
        (changed("model", "merges", 3, to=["a", 1]), r"model.merges\[3\] is \['a', 1\], not two tokens"),
        (changed("normalizer", to={"type": "NFC"}), "normalizer 'NFC' changes the text"),
        (changed("normalizer", to="x"), "normalizer 'x' changes the text"),
        (changed("decoder", to={"type": "Fuse"}), "decoder 'Fuse': its tokens"),
        (changed("decoder", to="x"), "decoder 'x': its tokens"),
        (changed("pre_tokenizer", to=None), "pre_tokenizer is nothing; only"),
        (changed("pre_tokenizer", to="x"), "pre_tokenizer is 'x'"),
        (changed("pre_tokenizer", to={"type": "Whitespace"}), "pre_tokenizer is Whitespace; only"),
        (changed("pre_tokenizer", to={"type": "ByteLevel"}), "puts a space before every text"),
        (changed(*BYTE_LEVEL, "add_prefix_space", to=True), "puts a space before every text"),
        (changed(*SPLIT, "behavior", to="Removed"), "behavior 'Removed', invert False"),
        (changed(*SPLIT, "invert", to=True), "behavior 'Isolated', invert True"),
        (changed(*SPLIT, "pattern", to={"String": " "}), "which is not a regular expression"),
    ],
)
def test_what_cannot_be_represented_is_refused_with_the_reason(change, reason, tmp_path):
    content = json.loads(json.dumps(tokenizer_json(trained("gpt4"))))
    change(content)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content))
    with pytest.raises(tokbench.BackendError, match=reason) as caught:
        read_tokenizer_json(path)
    assert str(caught.value).startswith(f"{path}: ")


def as_strings(content):
    content["model"]["merges"] = [" ".join(merge) for merge in content["model"]["merges"]]


@pytest.mark.parametrize(
    "change",
    [
        changed("normalizer", to={"type": "Sequence", "normalizers": []}),
        changed("decoder", to=None),
        changed("model", "ignore_merges", to=None),
        lambda content: content["model"].pop("type"),
        lambda content: content["pre_tokenizer"]["pretokenizers"][0].pop("invert"),
        lambda content: content.update(pre_tokenizer={"type": "Sequence", "pretokenizers": [content["pre_tokenizer"]]}),
        as_strings,
    ],
)
def test_other_spellings_are_the_same(change, tmp_path):
    content = json.loads(json.dumps(tokenizer_json(trained("gpt4"))))
    change(content)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content))
    same(read_tokenizer_json(path), trained("gpt4"))
    assert read_tokenizer_json(path).notes == ()


def test_what_is_left_out_is_noted(tmp_path):
    content = json.loads(json.dumps(tokenizer_json(trained("gpt4"))))
    content |= {"post_processor": {"type": "BertProcessing"}, "truncation": {"max_length": 9}, "padding": {"x": 1}}
    first, *_ = content["added_tokens"]
    first |= {"lstrip": True, "single_word": True}
    (tmp_path / "x.json").write_text(json.dumps(content))
    assert read_tokenizer_json(tmp_path / "x.json").notes == (
        "the tokens that BertProcessing puts around a text are left out",
        "padding is left out",
        "truncation is left out",
        f"special token {first['content']!r} is recognised without its lstrip and single_word",
    )


def test_a_file_by_hand():
    letters = tuple(bytes([byte]) for byte in range(256))
    vocabulary = Vocabulary((*letters, b"ab"), tuple(range(256)), ((97, 98, 256),))
    content = tokenizer_json(Parts(vocabulary, r"[a-z]+|[^a-z]", SpecialTokens({"<s>": 257})))
    vocab = content["model"].pop("vocab")
    assert (vocab["a"], vocab["ab"], vocab["Ġ"], len(vocab)) == (97, 256, 32, 257)
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": "[a-z]+|[^a-z]"}, "behavior": "Isolated", "invert": False}
    switches = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    assert content == {
        "version": "1.0",
        **dict.fromkeys(("truncation", "padding", "normalizer", "post_processor")),
        "added_tokens": [{"id": 257, "content": "<s>", **switches, "special": True}],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]},
        "decoder": level,
        "model": {
            "type": "BPE",
            **dict.fromkeys(("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")),
            **dict.fromkeys(("fuse_unk", "byte_fallback", "ignore_merges"), False),
            "merges": [("a", "b")],
        },
    }
    assert tokenizer_json(Parts(vocabulary, None))["pre_tokenizer"] == level
    assert tokenizer_json(Parts(vocabulary, "gpt2"))["pre_tokenizer"] == level | {"use_regex": True}
