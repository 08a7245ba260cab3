"""Syllables and morae, where a language is counted in them."""

import pytest
from shared_fixtures import cell

import tokbench
from tokbench.corpus.words.find import find_words
from tokbench.corpus.words.morae import morae, morae_work

needs_readings = pytest.mark.skipif(
    not morae_work(), reason="SudachiPy is not installed: pip install 'tokbench[morae]'"
)


@pytest.mark.parametrize(
    ("text", "syllables"),
    [
        ("한국어를 배워요", "한 국 어 를 배 워 요"),
        ("\u1112\u1161\u11ab글", "\u1112\u1161\u11ab 글"),  # a block of three code points, and one of one
        ("我在北京，第3章。", "我 在 北 京 第 3 章"),
        ("བཀྲ་ཤིས་བདེ་ལེགས།", "བཀྲ ཤིས བདེ ལེགས"),
        ("Việt Nam có 1.234 làng", "Việt Nam có 1.234 làng"),
        ("မြန်မာနိုင်ငံ", "မြန် မာ နိုင် ငံ"),
        ("မင်္ဂလာပါ", "မင် ဂ လာ ပါ"),  # the nasal stands above what it comes before
        ("မန္တလေး", "မန တ လေး"),  # one consonant below another
    ],
)
def test_syllables_as_the_writing_shows_them(text, syllables):
    starts, ends, _ = find_words([text], "syllable")
    found = [text.encode()[start:end].decode() for start, end in zip(starts, ends, strict=True)]
    assert found == syllables.split()


@pytest.mark.parametrize(
    ("reading", "count"),
    [("トーキョー", 4), ("にっぽん", 4), ("キャッチボール", 6), ("ｶﾞｯｺｳ", 4), ("か\u3099", 1)],
)
def test_a_kana_is_a_mora_but_for_small_vowels_and_glides(reading, count):
    assert morae(reading) == count


@needs_readings
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("東京都に行った。", 9),
        ("キャッチボール 😀", 6),
        ("2025年", 7),
        ("、。", 0),
    ],
)
def test_kanji_have_the_morae_of_their_reading(text, count):
    assert len(find_words([text], "mora").starts) == count


@needs_readings
def test_units_are_named_and_foreign_languages_refused(write_config, tmp_path):
    for group, text in {"ja": "東京に行った", "ko": "한국어 배워", "en": "to be"}.items():
        (tmp_path / f"{group}.txt").write_text(text)
    config = write_config(
        corpora='  c: {source: text, path: "*.txt", group: "{stem}"}',
        metrics="[{fertility: {unit: syllable, units: {ja: mora}}}, {strr: {units: {ja: mora}}}]",
    )
    results = tokbench.run(config, workers=0)
    counted = {group: cell(results, "bytes", "fertility", group) for group in ("ja", "ko", "en")}
    assert (counted["ja"].value, counted["ja"].unit) == (18 / 8, "tokens/mora")
    assert (counted["ko"].value, counted["ko"].unit) == (16 / 5, "tokens/syllable")
    assert counted["en"].status == "not_applicable"
    assert counted["en"].reason.startswith("'en' is not counted in syllables; groups that are: bo, bod, cmn")
    assert "morae are counted" in cell(results, "bytes", "strr", "ja").reason
