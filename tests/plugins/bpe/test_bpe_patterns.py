"""Splits as regex cuts; special tokens; the lesson and the published worked examples."""

import doctest
import json
import pickle
import re
from itertools import permutations
from pathlib import Path

import pytest
import regex
import tiktoken
import tiktoken_ext.openai_public
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

import tokbench
import tokbench_plugins.bpe
from tokbench.registry.plugins import load_registry
from tokbench_plugins.bpe import PATTERNS, BPETokenizer, Splitter, patterns, resolve_pattern, train
from tokbench_plugins.bpe.formats.tiktoken_ranks import _PUBLISHED
from tokbench_plugins.bpe.patterns import NAMED
from tokbench_plugins.bpe.special import NO_SPECIAL, SPECIAL_SETS, SpecialTokens

TEXT = st.one_of(st.text(alphabet="aZs'tlL 1٣٤²\r\n\t\u00a0éЖ中.!/_\u0301🙂", max_size=80), st.text(max_size=40))


@given(name=st.sampled_from([*PATTERNS]), text=TEXT)
def test_named_patterns_cut_as_regex_does(name, text):
    chunks = Splitter(name)(text)
    assert chunks == regex.findall(PATTERNS[name], text)
    assert "".join(chunks) == text


@pytest.mark.parametrize("name", ["r50k_base", "p50k_base", "cl100k_base", "o200k_base"])
def test_hashes_and_splits_are_those_of_openai(monkeypatch, name):
    monkeypatch.setattr(tiktoken_ext.openai_public, "load_tiktoken_bpe", lambda _, expected_hash: expected_hash)
    facts = getattr(tiktoken_ext.openai_public, name)()
    assert PATTERNS[_PUBLISHED[facts["mergeable_ranks"]]] == patterns.as_named(facts["pat_str"])


MIXED = "WHO'S 12345 myVar's 漢字a!\n/"
CHUNKS = {
    "gpt2": ["WHO", "'", "S", " 12345", " myVar", "'s", " 漢字a", "!", "\n", "/"],
    "gpt4": ["WHO", "'S", " ", "123", "45", " myVar", "'s", " 漢字a", "!\n", "/"],
    "o200k": ["WHO'S", " ", "123", "45", " my", "Var's", " 漢字a", "!\n/"],
    "kimi": ["WHO'S", " ", "123", "45", " my", "Var's", " ", "漢字", "a", "!\n", "/"],
    "tekken": ["WHO", "'S", " ", *"12345", " my", "Var", "'s", " 漢字a", "!\n/"],
    "deepseek": ["WHO", "'S", " ", "123", "45", " myVar", "'s", " ", "漢字", "a", "!\n", "/"],
    "gemma": ["WHO'S", " 12345", " myVar's", " 漢字a!", "\n", "/"],
}


@pytest.mark.parametrize(
    ("begin", "split"),
    [
        ("306cd27f03c1", "gpt2"),  # r50k_base
        ("94b5ca7dff4d", "gpt2"),  # p50k_base
        ("223921b76ee9", "gpt4"),  # cl100k_base
        ("446a9538cb6c", "o200k"),  # o200k_base
        ("82e9d31979e9", "gpt4"),  # Llama 3
        ("b6c497a7469b", "kimi"),
        ("d0bdbaf59b07", "o200k"),  # Llama 4
    ],
)
def test_published_files_have_their_split(begin, split):
    [pattern] = [pattern for sha256, pattern in _PUBLISHED.items() if sha256.startswith(begin)]
    assert Splitter(pattern)(MIXED) == CHUNKS[split]
    assert len(_PUBLISHED) == 7


@pytest.mark.parametrize(
    ("names", "split"),
    [
        ("whisper_v1 whisper_v2 whisper_v3", "gpt2"),
        ("cl100k_base llama3 phi4", "gpt4"),
        ("gpt-oss o200k_base", "o200k"),
        ("kimi_k2 kimi_k3", "kimi"),
        ("deepseek_v3", "deepseek"),
        ("gemma3", "gemma"),
        ("qwen3 glm4 olmo2 modernbert", None),  # pieces are looked for before
        ("mistral_v3", "tekken"),
        ("llama2", None),
    ],
)
def test_vocabularies_of_splintr_have_their_split(names, split):
    pytest.importorskip("splintr")
    for name in names.split():
        pattern = tokbench.load("splintr", vocabulary=name).split
        assert pattern is None if split is None else Splitter(pattern)(MIXED) == CHUNKS[split]


@given(pattern=st.sampled_from([*patterns._AS_NAMED]), text=TEXT)
def test_other_spellings_cut_as_the_named_split(pattern, text):
    """White space at the end aside: tiktoken does not cut it behind a line end, where no token of it would reach."""
    assert Splitter(pattern)(text + "a") == Splitter(patterns.as_named(pattern))(text + "a")


@pytest.mark.usefixtures("tiktoken_files")
def test_no_token_reaches_over_a_last_line_end():
    for encoding in map(tiktoken.get_encoding, ("gpt2", "cl100k_base")):
        blank = [token for token in encoding.token_byte_values() if token.isspace()]
        assert b"\n" in blank
        assert not [token for token in blank if token[-1:] in b" \t" and token.rstrip(b" \t")[-1:] in {b"\r", b"\n"}]


KANA = st.text(
    alphabet="aZ 1\u0663\n\u00a0.-_[\u0001\u200b|\uff5c$\u3000\u0301\u3040\u3099\u309b\u30a0日ーア龥龦🙂", max_size=12
)


@given(text=KANA)
def test_deepseek_cuts_three_times(text):
    """With the expressions of its tokenizer.json, by the library."""
    words = (
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    steps = [pre_tokenizers.Split(Regex(step), "isolated") for step in (r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+", words)]
    assert Splitter("deepseek")(text) == [chunk for chunk, _ in pre_tokenizers.Sequence(steps).pre_tokenize_str(text)]


@given(name=st.sampled_from([*NAMED]), before=KANA, after=KANA)
def test_published_splits_cut_where_files_are_cut(name, before, after):
    for left, right in ((f"{before}a", f" b{after}"), (f"{before}日", f" 日{after}"), (f"{before}.\n", f"b{after}")):
        assert Splitter(name)(left + right) == Splitter(name)(left) + Splitter(name)(right)


PARTIAL = st.sampled_from(["a+", "(a)(b)?", "x*", "(?<=a)b", "a|", r"\d\K\w", "$"])


@given(pattern=PARTIAL, text=st.text(alphabet="abx1 ", max_size=30))
def test_what_a_pattern_does_not_match_is_kept(pattern, text):
    chunks = Splitter(pattern)(text)
    assert "".join(chunks) == text
    assert all(chunks)


@pytest.mark.parametrize(
    ("name", "text", "chunks"),
    [
        ("gpt2", "who's WHO'S", ["who", "'s", " WHO", "'", "S"]),
        ("gpt4", "WHO'S 12345", ["WHO", "'S", " ", "123", "45"]),
        ("o200k", "myVar isn't", ["my", "Var", " isn't"]),
        ("[0-9]+", "a1b22c", ["a", "1", "b", "22", "c"]),
        ("(?:x(y))", "axyxyb", ["a", "xy", "xy", "b"]),
        ("gpt4", "a\ud83d \ude00b", Splitter("gpt4")("a\ufffd \ufffdb")),
        (None, "\ud83d\ude00", ["😀"]),
    ],
)
def test_cuts_by_hand(name, text, chunks):
    assert Splitter(name)(text) == chunks


@pytest.mark.parametrize(("wrong", "meant"), [("gpt-4", "gpt4"), ("o200", "o200k")])
def test_misspelled_names(wrong, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        resolve_pattern(wrong)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("whitespace", "known: deepseek, gemma, gpt2, gpt4, kimi"),
        ("", "known: "),
        ("(", "is not a regular expression"),
        (r"\p{Nothing}+", "is not a regular expression"),
        ("(?a)(?u)x", "is not a regular expression"),
        ("(" * 5000, "is not a regular expression"),
        (r"(?r)\w+", "backwards"),
    ],
)
def test_expressions_that_cannot_split(wrong, reason):
    with pytest.raises(ValueError, match=reason):
        resolve_pattern(wrong)


def test_a_name_alone_is_a_split_that_regex_runs(monkeypatch):
    """One entry makes a split known; who has no scanner for it leaves it to ``regex``."""
    expression = r"\p{Lu}?\p{Ll}+|\P{L}+|\p{L}"
    load_registry()  # a plugin that is imported first now would list this split for all tests that follow
    monkeypatch.setitem(patterns.NAMED, "camel", expression)
    texts = ["parseHttpHeader and readFile, writeFile: 12 + 345", "getUserName setUserName getUserId ÄrgerÜber"] * 3
    named, plain = (tokbench.train("regex_bpe", texts, 300, pattern=pattern) for pattern in ("camel", expression))
    assert named.merges == plain.merges
    for text in texts:
        assert list(named.encode(text)) == list(plain.encode(text))


MERGES = train(["a<b> ab<a>", "<|im_start|>system ab ab"], 270, "gpt4")
ORDINARY = BPETokenizer(MERGES, "gpt4")
RANKS = {ORDINARY.token_bytes(i): i for i in range(ORDINARY.vocab_size)}

# Few letters, so that names overlap, begin and contain each other, and occur in the text.
NAMES = st.lists(st.text("ab<é", min_size=1, max_size=4), min_size=1, max_size=4, unique=True)
TEXTS = st.lists(st.one_of(st.text("ab< é\n", max_size=8), st.text(max_size=3))).map("".join)


def encoding(ids):
    return tiktoken.Encoding("x", pat_str=PATTERNS["gpt4"], mergeable_ranks=RANKS, special_tokens=ids)


def longest_first(special):
    """A tiktoken that prefers the longest of the names at one place: it depends on the order they are given in."""
    names = list(special.ids)
    for order in permutations(names):
        found = encoding({name: special.ids[name] for name in order})
        if all(found.encode(name, allowed_special="all") == [special.ids[name]] for name in names):
            return found
    return None


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(names=NAMES, text=TEXTS, data=st.data())
def test_the_ids_are_those_of_tiktoken(names, text, data):
    special = NO_SPECIAL.with_more(names, ORDINARY.vocab_size)
    oracle = longest_first(special)
    assume(oracle is not None)
    text += "".join(data.draw(st.lists(st.sampled_from(names))))
    allowed = data.draw(st.one_of(st.just("all"), st.sets(st.sampled_from(names))))
    expected = oracle.encode(text, allowed_special=allowed, disallowed_special=())
    assert special.encode(text, ORDINARY.encode, allowed_special=allowed) == expected


@given(text=TEXTS)
def test_with_nothing_allowed_all_text_is_ordinary(text):
    special = NO_SPECIAL.with_more(["a", "<", "ab"], ORDINARY.vocab_size)
    assert special.encode(text, ORDINARY.encode, allowed_special=()) == ORDINARY.encode(text)
    assert SpecialTokens({}).encode(text, ORDINARY.encode, allowed_special="all") == ORDINARY.encode(text)


def test_the_longest_name_stands_whether_it_is_allowed_or_not():
    special = SpecialTokens({"<a": 300, "<a>": 301, ">x": 302})

    def encode(text, *allowed):
        return special.encode(text, str.encode, allowed_special=set(allowed))

    assert encode("<a><a", "<a", "<a>") == [301, 300]
    assert encode("<a><a", "<a") == [*b"<a>", 300]
    assert encode("<a>x", ">x") == [*b"<a", 302]


def test_misspelled_names_are_refused():
    special = NO_SPECIAL.with_more(SPECIAL_SETS["chat"], 300)
    with pytest.raises(ValueError, match=r"did you mean '<\|im_start\|>'"):
        special.encode("", str.encode, allowed_special={"<|im_strat|>"})
    # A single string is a collection of letters: tiktoken takes it for that.
    with pytest.raises(ValueError, match="give 'all' or a set"):
        special.encode("", str.encode, allowed_special="<|im_end|>")


def test_surrogates_that_spell_a_name_are_the_name():
    special = SpecialTokens({"<🙂>": 300})
    assert special.encode("<\ud83d\ude42>\ud83d", str.encode, allowed_special="all") == [300, *"\ufffd".encode()]


def test_named_sets_are_added_to_a_loaded_vocabulary():
    special = SpecialTokens({"<|endoftext|>": 100257, "<|endofprompt|>": 100276})
    names = [name for chosen in SPECIAL_SETS.values() for name in chosen]
    more = special.with_more(names, 100277)
    assert special.ids == {"<|endoftext|>": 100257, "<|endofprompt|>": 100276}
    assert more.ids["<|endoftext|>"] == 100257
    assert sorted(more.ids[name] for name in names[1:]) == list(range(100277, 100283))
    assert more.with_more(names, 0) == more


@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        ({"": 300}, "must be text, and not empty"),
        ({"<a>": -1}, "'<a>' has id -1, not between 0 and 9999999"),
        ({"<a>": 300, "<b>": 300}, "'<b>' has the id of '<a>': 300"),
        ({"<a>": 1}, "'<a>' has id 1, the id of b'x'"),
    ],
)
def test_impossible_sets_are_refused(ids, reason):
    with pytest.raises(ValueError, match=reason):
        SpecialTokens(ids, ordinary=[b"", b"x"])


def test_copies_are_equal_and_gaps_are_free():
    special = SpecialTokens({"<a>": 300, "<b>": 301})
    assert SpecialTokens({"<a>": 0}, ordinary=[b"", b"x"]).ids  # a gap is free
    copy = pickle.loads(pickle.dumps(special))
    assert copy == special
    assert hash(copy) == hash(special)
    assert copy.names[301] == "<b>"
    assert special != SpecialTokens({"<a>": 300})


README = Path(tokbench_plugins.bpe.__file__).with_name("README.md")


def test_the_examples_of_the_lesson():
    failed, tried = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert (failed, tried > 25) == (0, True)


def test_each_of_seven_steps_is_a_file():
    steps = re.findall(r"^## (\d)\. .*: `(.+)`$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert [number for number, _ in steps] == list("1234567")
    assert all((README.parent / path).is_file() for _, path in steps)


@pytest.fixture(scope="module")
def examples(data):
    path = data.parent / "goldens" / "worked_examples.json"
    if not path.exists():
        pytest.skip("the worked examples are not beside the test data")
    return json.loads(path.read_text(encoding="utf-8"))


def train_worked(backend, text, vocab_size, **options):
    spec = load_registry().backends.get(backend)
    return spec.train([text], vocab_size, spec.train_options(**options), lambda done, total: None)


def listed(tokenizer):
    return [[list(pair), 256 + rank] for rank, pair in enumerate(tokenizer.merges)]


def test_wikipedia(examples):
    case = examples["naive_bpe"]["wikipedia"]
    assert train_worked("naive_bpe", case["text"], case["vocab_size"]).encode(case["text"]) == case["encoded"]


@pytest.mark.parametrize("name", ["unicode_article_oneline", "unicode_article_short", "computers_en_ja"])
def test_naive_bpe(examples, name):
    case, text = examples["naive_bpe"][name], examples["texts"][name]
    tokenizer = train_worked("naive_bpe", text, case["vocab_size"])
    assert listed(tokenizer) == case["merges"]
    assert len(text.encode()) == case["n_bytes"]
    assert len(tokenizer.encode(text)) == case["n_tokens"]
    assert case["n_bytes"] / case["n_tokens"] == case["compression_ratio"]
    for example, ids in case.get("encode", {}).items():
        assert tokenizer.encode(example) == ids


def spelled(piece):
    """The bytes that a published piece stands for."""
    if piece.startswith("<0x"):
        return bytes([int(piece[3:5], 16)])
    return " ⁇ ".encode() if piece == "<unk>" else piece.replace("▁", " ").encode()


@pytest.mark.parametrize("byte_fallback", [True, False])
def test_sentencepiece(examples, byte_fallback):
    case = examples["sentencepiece"]
    options = {name: value for name, value in case["options"].items() if name not in {"vocab_size", "input_format"}}
    tokenizer = train_worked(
        "sentencepiece", examples["texts"]["sentencepiece_toy"], case["options"]["vocab_size"],
        byte_fallback=byte_fallback, **options,
    )  # fmt: skip
    expected = case["byte_fallback_true" if byte_fallback else "byte_fallback_false"]
    ids = tokenizer.encode(case["text"])
    assert list(ids) == expected["ids"]
    assert [tokenizer.token_bytes(i) for i in ids] == [spelled(piece) for piece in expected["pieces"]]
    assert (tokenizer.decode(ids) == case["text"]) == expected["round_trip"]
    assert (tokenizer.unk_id in list(ids)) != byte_fallback
