"""The family ``roundtrip``: a tokenizer for every cause, counts that add up, white space that comes back."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_views import metric, values, view

from tokbench.measuring.metric import LossSummary, NotApplicable
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
    found = m.finish(state)
    lossy = loss.documents
    assert {name: found[name].value for name in LOSSES if found[name].value} == {cell: lossy}
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
    assert all(each.documents <= each.taking_part <= lost for each in loss.causes)
