"""Causes of losses: each by hand, normal forms by property, and hostile text."""

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tokbench.measuring import align
from tokbench.measuring.align import edits, hunks, lost_text
from tokbench.metrics.roundtrip.causes import Cause, LossContext
from tokbench.metrics.roundtrip.compare import compare
from tokbench.metrics.roundtrip.roundtrip import LOSSES

anything = st.text(st.characters(codec="utf-8"), max_size=40)
surrogates = st.sampled_from(["\ud800", "\udbff", "\udc00", "\udfff"])
with_surrogates = st.lists(st.one_of(st.text(max_size=9), surrogates), max_size=6).map("".join)
# Letters, marks, jamo, ligatures, white space of several kinds, and what spells special tokens.
tricky = st.lists(
    st.sampled_from([
        *"aAzZéÉñ ", "e\u0301", "o\u0302\u0323", "ﬁ", "²", "한", "\u1112\u1161\u11ab", "\u3000", "\u00a0", "\t", "\n",
        "\0", "\ufeff", "\u200b", "\ufffd", "▁", "Ġ", "<|endoftext|>", "<s>", "[CLS]", "🎉", "ß", "İ", "\u212b",
    ]),
    max_size=12,
).map("".join)  # fmt: skip
texts = st.one_of(anything, tricky)


def test_each_cause_is_counted_in_one_cell():
    assert sorted(cause for causes, _, _ in LOSSES.values() for cause in causes) == sorted(Cause)


@given(texts, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
@example("Å \u212b", "NFC")
@example("e\u0302\u0323 x", "NFC")
@example("\u1112\u1161\u11ab", "NFC")
@example("두", "NFD")
def test_a_normal_form_is_told(text, form):
    back = unicodedata.normalize(form, text)
    assume(back != text)
    found = compare(text, back)
    # Where two forms give the same, it is named after the first; spaces of several kinds are white space before all.
    same = [each for each in ("NFC", "NFD", "NFKC", "NFKD") if unicodedata.normalize(each, text) == back]
    expected = {Cause(same[0].lower())}
    if same[0] in {"NFKC", "NFKD"} and "".join(text.split()) == "".join(back.split()):
        expected = {Cause.WHITESPACE}
    assert found.causes == expected
    assert found.cause in found.causes


@given(texts, st.sampled_from(["  ", " \n", "\t", "\u3000", "\u00a0 "]), texts)
def test_collapsed_white_space_is_told(before, space, after):
    text = "".join(c for c in f"{before}{space}{after}." if c.isspace() or unicodedata.category(c)[0] != "C")
    text = "".join(c for c in text if not "\x1c" <= c <= "\x1f")  # white space to Python, but not to Unicode
    assert compare(text, " ".join(text.split())).cause == Cause.WHITESPACE


@given(texts, surrogates, with_surrogates)
def test_lone_surrogates_are_invalid_bytes(before, surrogate, after):
    text = before + surrogate + after
    back = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert compare(text, back).causes == {Cause.INVALID_BYTES}


@given(texts, texts, st.sampled_from(["<|endoftext|>", "<s>", "[CLS]", "<extra_id_0>"]))
def test_swallowed_special_tokens_are_told(before, after, name):
    context = LossContext(special=("<extra_id_0>",))
    for each in ("<|endoftext|>", "<s>", "[CLS]"):
        before, after = before.replace(each, ""), after.replace(each, "")
    text, back = before + name + after, before + after
    assume(name not in back)
    assert compare(text, back, context).causes == {Cause.SPECIAL_TOKEN}


@given(texts, texts, st.sampled_from([" ⁇ ", "[UNK]", "\ufffd", "<unk>", "?"]))
def test_unknown_tokens_are_told(before, after, unknown):
    assume(unknown.strip() not in before + after)
    found = compare(f"{before}鬱{after}", f"{before}{unknown}{after}", LossContext(unknown=unknown))
    assert found.causes == {Cause.UNKNOWN}


def test_an_unknown_token_that_leaves_no_trace():
    assert compare("a鬱b", "ab", LossContext(unknown="")).cause == Cause.UNKNOWN
    assert compare("a鬱b", "ab").cause == Cause.OTHER


@pytest.mark.parametrize(
    ("text", "back", "cause"),
    [
        ("café", "cafe\u0301", "nfd"), ("ﬁve²", "five2", "nfkc"), ("ﬁancé", "fiance\u0301", "nfkd"), ("▁a", "a", "whitespace"),
        ("soft\u00adhyphen\0", "softhyphen", "control"), ("déjà vu", "deja vu", "accents"), ("NASA", "nasa", "casing"),
        ("🎉", "\ufffd\ufffd", "invalid_bytes"), ("wait , what", "wait, what", "decoder"), ("one", "two", "other"),
    ],
)  # fmt: skip
def test_causes_by_hand(text, back, cause):
    context = LossContext(data=text.encode()) if cause == "decoder" else LossContext()
    assert compare(text, back, context).cause == cause


@given(with_surrogates, with_surrogates)
def test_anything_that_differs_has_a_cause(text, back):
    assume(text != back)
    found = compare(text, back, LossContext(unknown="<unk>"))
    assert found.cause in found.causes
    assert text[: found.position] == back[: found.position]
    assert text[found.position : found.position + 1] != back[found.position : found.position + 1]
    assert 0 <= found.lost_spaces <= sum(map(str.isspace, text))


@given(st.text("ab \u0301", max_size=30), st.text("ab \u0301", max_size=30))
def test_outside_the_hunks_all_is_the_same(text, back):
    rebuilt, at = "", 0
    for start, end, back_start, back_end in hunks(text, back):
        assert at <= start <= end
        rebuilt += text[at:start] + back[back_start:back_end]
        at = end
    assert rebuilt + text[at:] == back


@given(st.text("ab ", max_size=30), st.text("ab ", max_size=30))
def test_the_distance_of_long_texts_is_never_too_small(text, back):
    from rapidfuzz.distance import Levenshtein

    exact = Levenshtein.distance(text, back)
    assert edits(text, back) == exact
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(align, "_EXACT", -1)
        assert edits(text, back) == exact  # in one window nothing is lost
        patch.setattr(align, "_WINDOW", 8)
        assert exact <= edits(text, back) <= max(len(text), len(back)) + exact


def test_the_first_difference_decides_and_all_take_part():
    text, back = "see Élise  at 5², 東京", "see elise at 52, [UNK]"
    found = compare(text, back, LossContext(unknown="[UNK]"))
    assert (found.cause, found.position, found.lost_spaces) == (Cause.ACCENTS, 4, 1)
    assert found.causes == {
        Cause.ACCENTS,
        Cause.CASING,
        Cause.WHITESPACE,
        Cause.NFKC,
        Cause.UNKNOWN,
    }


def test_marks_that_were_decomposed_among_other_changes():
    # Jamo in what came back show that it was decomposed; letter by letter they would be laid beside anything.
    found = compare("한국어 鬱 É", "한국어 [UNK] e", LossContext("[UNK]"))
    assert found.causes == {Cause.UNKNOWN, Cause.ACCENTS, Cause.CASING}
    jamo = unicodedata.normalize("NFD", "한국어")
    found = compare("한국어 鬱", f"{jamo} [UNK]", LossContext("[UNK]"))
    assert (found.cause, found.causes) == (Cause.NFD, {Cause.NFD, Cause.UNKNOWN})


@given(st.text("aéｅ\u0301▁ 가", max_size=60), st.text("aéｅ\u0301▁ 가", max_size=60))
def test_lost_text_is_that_of_a_shortest_edit(text, back):
    one, other = (unicodedata.normalize("NFC", side) for side in (text, back))
    lost = lost_text(text, back)
    assert lost.edits == edits(one, other)
    assert len(one) - len(other) <= lost.characters <= min(lost.edits, len(one))
