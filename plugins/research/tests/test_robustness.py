"""Perturbed texts: what is changed, the growth in tokens and the boundaries that stay, by hand and by other means."""

import re
import unicodedata
from typing import get_args

import pytest

import tokbench
from tokbench.corpus.shards import Shard
from tokbench.measuring.encoded_shard import LoadedTokenizer
from tokbench.plugin import Document, encode_batch
from tokbench.plugin.metrics import EncodedShard, NotApplicable
from tokbench.report.report import Report
from tokbench_plugins.bpe import BPETokenizer
from tokbench_research.metrics.robustness import (
    _MISREAD,
    PERTURBATIONS,
    SPEC,
    STRENGTHS,
    Kind,
    Robustness,
    RobustnessOptions,
    perturbed,
)
from tokbench_research.sections.curves import metric_curves

TEXT = (
    "The caf\u00e9 opens at nine.\nLes \u00e9l\u00e8ves sont ravis \u2014 Stra\u00dfe, \u65e5\u672c \u0434\u0430 \u03c6\u03c9\u03c2\n"
    * 5
)


def values(tokenizer, texts, **options):
    metric = Robustness(RobustnessOptions(**options))
    shard = Shard("c", "g", 0, [Document(text, "g", str(k), "") for k, text in enumerate(texts)], by_key=False)
    return metric.finish(
        metric.map(EncodedShard(LoadedTokenizer("t", tokenizer), shard, encode_batch(tokenizer, texts)))
    )


def changed(kind, percent=100, text=TEXT, seed=1):
    return "".join(perturbed(text, kind, percent, seed))


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
def test_a_higher_strength_keeps_the_changes_of_a_lower_one(kind):
    before = list(TEXT)
    assert perturbed(TEXT, kind, 0, 1) == before
    shares = []
    for percent in (*STRENGTHS, 100):
        after = perturbed(TEXT, kind, percent, 1)
        lower = perturbed(TEXT, kind, percent // 2, 1)
        assert all(low in (original, high) for original, low, high in zip(TEXT, lower, after, strict=True))
        shares.append(sum(a != b for a, b in zip(TEXT, after, strict=True)))
    assert shares == sorted(shares)
    assert shares[-1] > 0
    if shares[-1] > 50:
        assert 0.3 < shares[-2] / shares[-1] < 0.7
        assert perturbed(TEXT, kind, 50, 2) != perturbed(TEXT, kind, 50, 1)


def test_bytes_by_hand():
    # A space is a byte of twelve, and a doubled one is a byte more.
    text = "one two six." * 40
    found = values(tokbench.load("utf8_bytes"), [text], kinds=["spaces", "case"])
    spaces = changed("spaces", 50, text).count(" ") - text.count(" ")
    assert spaces > 20
    assert found["robust_spaces_50"].value == (len(text) + spaces) / len(text)
    # Every place between bytes is a boundary, whatever is changed.
    assert found["robust_spaces_kept_10"].value == found["robust_case_kept_10"].value == 1
    assert found["robust_case_10"].value == 1
    assert isinstance(found["robust_typos_2"], NotApplicable)
    assert set(found) == {metric.id for metric in SPEC.values}


def test_boundaries_by_hand():
    # ab is one token: of "ab ab ..." boundaries lie around each space. A capital in ab adds one, and takes none away.
    pairs = BPETokenizer([(97, 98)])
    found = values(pairs, ["ab " * 30], kinds=["case", "zero_width"])
    assert found["robust_case_kept_10"].value == 1
    assert found["robust_case_50"].value > 1.1
    whole = BPETokenizer([(97, 65)])  # aA: where the second a of aa is swapped, the boundary between both goes
    text = "aa" * 200
    after = changed("case", 10, text)
    lost = sum(1 for m in re.finditer("aA", after))
    kept = values(whole, [text], kinds=["case"])["robust_case_kept_10"].value
    assert lost > 10
    assert kept == (len(text) - 1 - lost) / (len(text) - 1)


def test_every_kind_has_its_numbers_in_a_run(tmp_path):
    path = tmp_path / "robust.yaml"
    path.write_text(
        "schema: tokbench/1\nname: robust\ncorpora: {sample: {source: sample, part: languages, groups: [en, ru, vi]}}\n"
        "tokenizers: {bytes: {backend: utf8_bytes}}\nmetrics: [robustness: {kinds: [nfd, spaces, transliteration]}]\n",
        encoding="utf-8",
    )
    results = tokbench.run(path, workers=0, output=tmp_path / "out", store=False, limit=20)
    cells = {(cell.group, cell.metric): cell for cell in results.cells}
    whole = cells["*", "robust_spaces_10"]
    assert whole.value > 1.005
    assert whole.ci_low < whole.value < whole.ci_high
    assert cells["vi", "robust_nfd_50"].value > cells["en", "robust_nfd_50"].value == 1
    assert len(PERTURBATIONS) * len(STRENGTHS) * 2 == len(SPEC.values)
    assert cells["ru", "robust_transliteration_50"].value < 0.9
    assert cells["en", "robust_transliteration_50"].reason == PERTURBATIONS["transliteration"].without
    [section] = metric_curves(Report(results).tables)
    [shown] = section.corpora
    assert [group.quantity for group in shown.groups] == ["tokens needed", "boundaries kept"]
    charts = shown.groups[0].charts
    assert list(charts) == ["spaces", "nfd", "transliteration"]
    [line] = [each for each in charts["spaces"].lines if "trace" in each]
    assert line.count("L") == sum("whisker" in each for each in charts["spaces"].lines) == len(STRENGTHS)


def test_print_is_misread_by_hand():
    assert changed("ocr", text="modern") in {"rnoclcm", "inoclcm"}
    assert {changed("ocr", text="1 0", seed=seed) for seed in range(20)} == {"l O", "I O"}
    assert changed("ocr", text="\u65e5\u672c \u0434\u0430 x\n") == "\u65e5\u672c \u0434\u0430 x\n"
    assert all(one in _MISREAD[other] for one, others in _MISREAD.items() for other in others)


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        # The beginning of the hymn of Russia, the usual example of ISO 9.
        ("\u0420\u043e\u0441\u0441\u0438\u044f \u2014 \u043d\u0430\u0448\u0430", "Rossi\u00e2 \u2014 na\u0161a"),
        ("\u0408\u0443\u0436\u043d\u0438 \u0407\u0436\u0430\u043a", "J\u030cu\u017eni \u00cf\u017eak"),
        ("\u0391\u03b8\u03ae\u03bd\u03b1 \u03a8\u03c5\u03c7\u03ae", "Ath\u012b\u0301na Psych\u012b\u0301"),
        ("\u65e5\u672c caf\u00e9", "\u65e5\u672c caf\u00e9"),
    ],
)
def test_letters_are_transliterated_by_hand(text, latin):
    assert changed("transliteration", text=text) == latin


def test_documents_without_a_letter_to_transliterate_do_not_count():
    russian = "\u043e\u043d\u0430 \u0438 \u043e\u043d " * 20  # each letter is two bytes, and one when it is Latin
    found = values(tokbench.load("utf8_bytes"), [russian, "English, and longer" * 9], kinds=["transliteration"])
    after = changed("transliteration", 50, russian)
    assert 30 < sum(char.isascii() and char.isalpha() for char in after) < 90
    value = found["robust_transliteration_50"]
    assert (value.value, value.n) == (len(after.encode()) / len(russian.encode()), 1)
    nothing = values(tokbench.load("utf8_bytes"), ["English"], kinds=["transliteration"])
    assert isinstance(nothing["robust_transliteration_kept_2"], NotApplicable)


def test_a_boundary_between_two_letters_that_become_one_is_lost():
    text = "rn" * 200
    found = values(tokbench.load("utf8_bytes"), [text], kinds=["ocr"])
    for percent in STRENGTHS:
        merged = changed("ocr", percent, text).count("m")
        assert found[f"robust_ocr_kept_{percent}"].value == (len(text) - 1 - merged) / (len(text) - 1)
    assert merged > 60
