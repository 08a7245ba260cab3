"""The family roundtrip: a tokenizer and a text for every cause, counts that add up, white space that comes back."""

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from metric_views import metric, values, view

from tokbench.measuring import align
from tokbench.measuring.align import edits, hunks, lost_text
from tokbench.measuring.metric import LossSummary, NotApplicable
from tokbench.metrics.roundtrip.causes import LossContext, LossKind
from tokbench.metrics.roundtrip.compare import compare
from tokbench.metrics.roundtrip.roundtrip import LOSSES

NONE = LossSummary(0, None, [])  # nothing is lost


class Rewrites:
    """Code points as ids, after a rewriting of the text."""

    vocab_size = 0x110000

    def __init__(self, rewrite) -> None:
        self.rewrite = rewrite

    def encode(self, text, /):
        return list(map(ord, self.rewrite(text)))

    def decode(self, ids, /):
        return "".join(map(chr, ids))


class Unknown(Rewrites):
    """Knows ASCII alone."""

    unk_id = 0

    def __init__(self) -> None:
        super().__init__(lambda text: "".join(c if c.isascii() else "\0" for c in text))

    def decode(self, ids, /):
        return super().decode(ids).replace("\0", "[UNK]")


class CutsBytes(Rewrites):
    """Bytes as ids, of which those above 0xBF are lost."""

    def __init__(self) -> None:
        super().__init__(lambda text: bytes(b for b in text.encode() if b < 0xC0).decode("latin-1"))

    def decode(self, ids, /):
        return bytes(ids).decode(errors="replace")


class Swallows(Rewrites):
    """Takes its own special token for an instruction, wherever it is spelled."""

    special_ids = {"<turn>": 0x110000 - 1}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__(lambda text: text.replace("<turn>", ""))


class CleansUp(Rewrites):
    """Its ids are right, and it decodes as some libraries do."""

    def __init__(self) -> None:
        super().__init__(lambda text: text)

    def token_bytes(self, token_id, /):
        return chr(token_id).encode()

    def decode(self, ids, /):
        return super().decode(ids).replace(" ,", ",")


def stripped(text):
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


@pytest.mark.parametrize(
    ("tokenizer", "text", "cell", "cause"),
    [
        (Unknown(), "東京 is a city", "loss_unknown", "unknown"),
        (Rewrites(lambda text: unicodedata.normalize("NFC", text)), "cafe\u0301", "loss_normalization", "nfc"),
        (Rewrites(lambda text: unicodedata.normalize("NFD", text)), "café", "loss_normalization", "nfd"),
        (Rewrites(lambda text: unicodedata.normalize("NFKC", text)), "ﬁve ²", "loss_normalization", "nfkc"),
        (Rewrites(lambda text: unicodedata.normalize("NFKD", text)), "ﬁve é", "loss_normalization", "nfkd"),
        (Rewrites(lambda text: " ".join(text.split())), "two  spaces\n", "loss_whitespace", "whitespace"),
        (Rewrites(lambda text: " " + text), "a dummy prefix", "loss_whitespace", "whitespace"),
        (Rewrites(str.lower), "The NATO", "loss_casing", "casing"),
        (Rewrites(stripped), "Où est-il", "loss_accents", "accents"),
        (Rewrites(lambda text: text.replace("\0", "").replace("\ufeff", "")), "\ufeffa\0", "loss_control", "control"),
        (CutsBytes(), "an é", "loss_invalid_bytes", "invalid_bytes"),
        (Swallows(), "a <turn> b", "loss_special_token", "special_token"),
        (CleansUp(), "wait , what", "loss_decoder", "decoder"),
        (Rewrites(lambda text: text[::-1]), "backwards", "loss_other", "other"),
    ],
)
def test_a_lossy_tokenizer_for_every_cause(tokenizer, text, cell, cause):
    m = metric("roundtrip")
    state = m.map(view(tokenizer, "o", text))
    loss = m.loss(state)
    outcome = m.finish(state)
    lossy = loss.documents
    assert {name: outcome[name].value for name in LOSSES if outcome[name].value} == {cell: lossy}
    [told] = loss.causes
    assert (told.cause, told.documents, told.taking_part) == (cause, lossy, lossy)


def test_white_space_by_hand():
    collapse = Rewrites(lambda text: " ".join(text.split()))
    # Of ' a', '\tb\n' and 'c d' five code points are white space; one space stays where it was.
    assert values("roundtrip", view(collapse, " a", "\tb\n", "c d"))["whitespace_fidelity"].value == pytest.approx(
        1 / 4
    )
    doubled = Rewrites(lambda text: text.replace(" ", "  "))
    assert values("roundtrip", view(doubled, "a b c"))["whitespace_fidelity"].value == 1
    no_break = Rewrites(lambda text: text.replace("\u00a0", " "))
    assert values("roundtrip", view(no_break, "a\u00a0b c"))["whitespace_fidelity"].value == 1 / 2
    assert isinstance(values("roundtrip", view(collapse, "abc"))["whitespace_fidelity"], NotApplicable)


@given(st.lists(st.text("aÉ \u3000\u0301<s>²\n", max_size=12), min_size=1, max_size=8))
def test_counts_add_up(documents):
    m = metric("roundtrip")
    state = m.map(view(Rewrites(lambda text: stripped(text).lower().replace("<s>", "").strip()), *documents))
    found, loss = m.finish(state), m.loss(state) or NONE
    lost = sum(found[name].value for name in LOSSES)
    assert lost == loss.documents == sum(each.documents for each in loss.causes)
    assert lost == round(len(documents) * (1 - found["roundtrip_exact"].value))
    assert all(cause.documents <= cause.taking_part <= lost for cause in loss.causes)


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
    assert sorted(cause for causes, _, _ in LOSSES.values() for cause in causes) == sorted(LossKind)


@given(texts, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
@example("Å \u212b", "NFC")
@example("e\u0302\u0323 x", "NFC")
@example("\u1112\u1161\u11ab", "NFC")
@example("두", "NFD")
def test_a_normal_form_is_told(text, form):
    back = unicodedata.normalize(form, text)
    assume(back != text)
    comparison = compare(text, back)
    # Where two forms give the same, it is named after the first; spaces of several kinds are white space before all.
    same = [each for each in ("NFC", "NFD", "NFKC", "NFKD") if unicodedata.normalize(each, text) == back]
    expected = {LossKind(same[0].lower())}
    if same[0] in {"NFKC", "NFKD"} and "".join(text.split()) == "".join(back.split()):
        expected = {LossKind.WHITESPACE}
    assert comparison.causes == expected
    assert comparison.cause in comparison.causes


@given(texts, st.sampled_from(["  ", " \n", "\t", "\u3000", "\u00a0 "]), texts)
def test_collapsed_white_space_is_told(before, space, after):
    text = "".join(c for c in f"{before}{space}{after}." if c.isspace() or unicodedata.category(c)[0] != "C")
    text = "".join(c for c in text if not "\x1c" <= c <= "\x1f")  # white space to Python, but not to Unicode
    assert compare(text, " ".join(text.split())).cause == LossKind.WHITESPACE


@given(texts, surrogates, with_surrogates)
def test_lone_surrogates_are_invalid_bytes(before, surrogate, after):
    text = before + surrogate + after
    back = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert compare(text, back).causes == {LossKind.INVALID_BYTES}


@given(texts, texts, st.sampled_from(["<|endoftext|>", "<s>", "[CLS]", "<extra_id_0>"]))
def test_swallowed_special_tokens_are_told(before, after, name):
    context = LossContext(special=("<extra_id_0>",))
    for each in ("<|endoftext|>", "<s>", "[CLS]"):
        before, after = before.replace(each, ""), after.replace(each, "")
    text, back = before + name + after, before + after
    assume(name not in back)
    assert compare(text, back, context).causes == {LossKind.SPECIAL_TOKEN}


@given(texts, texts, st.sampled_from([" ⁇ ", "[UNK]", "\ufffd", "<unk>", "?"]))
def test_unknown_tokens_are_told(before, after, unknown):
    assume(unknown.strip() not in before + after)
    comparison = compare(f"{before}鬱{after}", f"{before}{unknown}{after}", LossContext(unknown=unknown))
    assert comparison.causes == {LossKind.UNKNOWN}


def test_an_unknown_token_that_leaves_no_trace():
    assert compare("a鬱b", "ab", LossContext(unknown="")).cause == LossKind.UNKNOWN
    assert compare("a鬱b", "ab").cause == LossKind.OTHER


@given(with_surrogates, with_surrogates)
def test_anything_that_differs_has_a_cause(text, back):
    assume(text != back)
    comparison = compare(text, back, LossContext(unknown="<unk>"))
    assert comparison.cause in comparison.causes
    assert text[: comparison.position] == back[: comparison.position]
    assert text[comparison.position : comparison.position + 1] != back[comparison.position : comparison.position + 1]
    assert 0 <= comparison.lost_spaces <= sum(map(str.isspace, text))


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
    comparison = compare(text, back, LossContext(unknown="[UNK]"))
    assert (comparison.cause, comparison.position, comparison.lost_spaces) == (LossKind.ACCENTS, 4, 1)
    assert comparison.causes == {
        LossKind.ACCENTS,
        LossKind.CASING,
        LossKind.WHITESPACE,
        LossKind.NFKC,
        LossKind.UNKNOWN,
    }


def test_marks_that_were_decomposed_among_other_changes():
    # Jamo in what came back show that it was decomposed; letter by letter they would be laid beside anything.
    comparison = compare("한국어 鬱 É", "한국어 [UNK] e", LossContext("[UNK]"))
    assert comparison.causes == {LossKind.UNKNOWN, LossKind.ACCENTS, LossKind.CASING}
    jamo = unicodedata.normalize("NFD", "한국어")
    comparison = compare("한국어 鬱", f"{jamo} [UNK]", LossContext("[UNK]"))
    assert (comparison.cause, comparison.causes) == (LossKind.NFD, {LossKind.NFD, LossKind.UNKNOWN})


@given(st.text("aéｅ\u0301▁ 가", max_size=60), st.text("aéｅ\u0301▁ 가", max_size=60))
def test_lost_text_is_that_of_a_shortest_edit(text, back):
    one, other = (unicodedata.normalize("NFC", side) for side in (text, back))
    lost = lost_text(text, back)
    assert lost.edits == edits(one, other)
    assert len(one) - len(other) <= lost.characters <= min(lost.edits, len(one))
