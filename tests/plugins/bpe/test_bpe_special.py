"""Special tokens: the ids that tiktoken gives, and no way into them for ordinary text."""

import pickle
from itertools import permutations

import pytest
import tiktoken
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tokbench_plugins.bpe import PATTERNS, BPETokenizer, train
from tokbench_plugins.bpe.special import NO_SPECIAL, SPECIAL_SETS, SpecialTokens

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
