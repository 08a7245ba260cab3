"""Perturbed texts: what is changed, the growth in tokens and the boundaries that stay, by hand and by other means."""

import re
import unicodedata
from typing import get_args

import pytest

import tokbench
from tokbench.corpus.shards import Shard
from tokbench.measuring.encoded_shard import LoadedTokenizer
from tokbench.plugin import Document, Options, encode_batch
from tokbench.plugin.metrics import EncodedShard, NotApplicable
from tokbench_plugins.bpe import BPETokenizer
from tokbench_research.metrics.robustness import (
    _MISREAD,
    PERTURBATIONS,
    SPEC,
    Kind,
    perturbed,
)

TEXT = (
    "The caf\u00e9 opens at nine.\nLes \u00e9l\u00e8ves sont ravis \u2014 Stra\u00dfe, \u65e5\u672c \u0434\u0430 \u03c6\u03c9\u03c2\n"
    * 5
)


def values(tokenizer, texts):
    metric = SPEC.text(Options())
    shard = Shard("c", "g", 0, [Document(text, "g", str(k), "") for k, text in enumerate(texts)], by_key=False)
    return metric.finish(
        metric.map(EncodedShard(LoadedTokenizer("t", tokenizer), shard, encode_batch(tokenizer, texts)))
    )


def changed(kind, percent=100, text=TEXT):
    return "".join(perturbed(text, kind, percent) or text)


def test_everything_that_can_be_changed_is_changed_at_full_strength():
    assert changed("nfd") == unicodedata.normalize("NFD", TEXT)
    assert changed("line_ends") == TEXT.replace("\n", "\r\n")
    assert changed("spaces") == TEXT.replace(" ", "  ")
    assert changed("trailing") == TEXT.replace("\n", " \n")
    assert changed("case").replace("\u00df", "") == TEXT.replace("\u00df", "").swapcase()
    assert changed("diacritics") == TEXT.replace("\u00e9", "e").replace("\u00e8", "e")
    assert changed("zero_width") == re.sub(r"([^\W\d_])", "\\1\u200b", TEXT)
    assert set(changed("homoglyphs")) & set("aceopxy") == set()
    assert changed("homoglyphs").encode("utf-8") != TEXT.encode()
    typed = changed("typos")
    assert all((a == b) != (a.isascii() and a.isalpha()) for a, b in zip(TEXT, typed, strict=True))


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_tenth_of_the_places_is_changed(kind):
    text = TEXT * 20
    assert perturbed(text, kind, 0) == list(text)
    some, all_ = (perturbed(text, kind, percent) for percent in (10, 100))
    assert all(one in (original, other) for original, one, other in zip(text, some, all_, strict=True))
    shares = [sum(a != b for a, b in zip(text, after, strict=True)) for after in (some, all_)]
    assert 0.05 < shares[0] / shares[1] < 0.2


def test_bytes_by_hand():
    # A space is a byte of twelve, and a doubled one is a byte more.
    text = "one two six." * 40
    measured = values(tokbench.load("utf8_bytes"), [text])
    spaces = changed("spaces", 10, text).count(" ") - text.count(" ")
    assert spaces > 5
    assert measured["robust_spaces_10"].value == (len(text) + spaces) / len(text)
    # Every place between bytes is a boundary, whatever is changed.
    assert measured["robust_spaces_kept_10"].value == measured["robust_case_kept_10"].value == 1
    assert measured["robust_case_10"].value == 1
    assert set(measured) == {metric.id for metric in SPEC.values}


def test_boundaries_by_hand():
    # ab is one token: of "ab ab ..." boundaries lie around each space. A capital in ab adds one, and takes none away.
    measured = values(BPETokenizer([(97, 98)]), ["ab " * 30])
    assert measured["robust_case_kept_10"].value == 1
    assert measured["robust_case_10"].value > 1
    whole = BPETokenizer([(97, 65)])  # aA: where the second a of aa is swapped, the boundary between both goes
    text = "aa" * 200
    lost = changed("case", 10, text).count("aA")
    assert lost > 10
    assert values(whole, [text])["robust_case_kept_10"].value == (len(text) - 1 - lost) / (len(text) - 1)


def test_every_kind_has_its_numbers_in_a_run(tmp_path):
    path = tmp_path / "robust.yaml"
    path.write_text(
        "schema: tokbench/1\nname: robust\ncorpora: {sample: {source: sample, part: languages, groups: [en, ru, vi]}}\n"
        "tokenizers: {bytes: {backend: utf8_bytes}}\nmetrics: [robustness]\n",
        encoding="utf-8",
    )
    results = tokbench.run(path, workers=0, output=tmp_path / "out", store=False, limit=20)
    cells = {(cell.group, cell.metric): cell for cell in results.cells}
    whole = cells["*", "robust_spaces_10"]
    assert whole.ci_low < whole.value < whole.ci_high
    assert cells["vi", "robust_nfd_10"].value > cells["en", "robust_nfd_10"].value == 1
    assert len(PERTURBATIONS) * 2 == len(SPEC.values) == 22
    assert cells["ru", "robust_transliteration_10"].value < 0.99
    assert cells["en", "robust_transliteration_10"].reason == PERTURBATIONS["transliteration"].without


def test_print_is_misread_by_hand():
    assert changed("ocr", text="modern") in {"rnoclcm", "inoclcm"}
    assert changed("ocr", text="\u65e5\u672c \u0434\u0430 x\n") == "\u65e5\u672c \u0434\u0430 x\n"
    assert all(one in _MISREAD[other] for one, others in _MISREAD.items() for other in others)


def test_documents_without_a_letter_to_transliterate_do_not_count():
    russian = "\u043e\u043d\u0430 \u0438 \u043e\u043d " * 20  # each letter is two bytes, and one when it is Latin
    measured = values(tokbench.load("utf8_bytes"), [russian, "English, and longer" * 9])
    after = changed("transliteration", 10, russian)
    assert 5 < sum(char.isascii() and char.isalpha() for char in after) < 30
    value = measured["robust_transliteration_10"]
    assert (value.value, value.n) == (len(after.encode()) / len(russian.encode()), 1)
    nothing = values(tokbench.load("utf8_bytes"), ["English"])
    assert isinstance(nothing["robust_transliteration_kept_10"], NotApplicable)


def test_a_boundary_between_two_letters_that_become_one_is_lost():
    text = "rn" * 200
    merged = changed("ocr", 10, text).count("m")
    assert merged > 10
    measured = values(tokbench.load("utf8_bytes"), [text])
    assert measured["robust_ocr_kept_10"].value == (len(text) - 1 - merged) / (len(text) - 1)
