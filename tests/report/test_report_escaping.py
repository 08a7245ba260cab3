"""Harmful text made fit to be shown, and numbers that do not lie."""

from __future__ import annotations

import unicodedata

import pytest
from report_data import HOSTILE

from tokbench.report import escaping
from tokbench.report.number_format import Style, style_for


@pytest.mark.parametrize("clean", [escaping.visible, escaping.markdown_text, escaping.spreadsheet_text])
def test_nothing_invisible_is_left(clean):
    for hostile in HOSTILE:
        shown = clean(hostile)
        assert not [char for char in shown if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}]
        shown.encode()  # no half of a surrogate pair


def test_letters_stay_and_hidden_characters_are_written_out():
    hidden = "\x00\u200d\ud800\ue000\u0378\u2028\u2029"
    assert escaping.visible(hidden) == "".join(f"\\u{{{ord(char):x}}}" for char in hidden)
    words = "naïve 日本語 हिन्दी עברית 🙂 a\u00a0c"
    assert escaping.visible(words) == words
    assert escaping.visible("a b\u00a0c\t\n", spaces=True) == "a␣b\\u{a0}c⇥⏎"
    assert escaping.visible("a\nb\x1b", keep="\n") == "a\nb\\u{1b}"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", " =", "＝"])
def test_no_formula_in_a_spreadsheet(start):
    assert escaping.spreadsheet_text(f"{start}1+1")[0] in "'\\"


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        ("<b>", "&lt;b&gt;"),
        ("[x](javascript:1)", "\\[x\\](javascript:1)"),
        ("# head", "\\# head"),
        ("1. item", "1\\. item"),
        ("a*b*", "a\\*b\\*"),
        ("encode_mb_per_s", "encode_mb_per_s"),
        ("&amp;", "&amp;amp;"),
    ],
)
def test_markdown_is_read_as_it_is(raw, escaped):
    assert escaping.markdown_text(raw) == escaped


@pytest.mark.parametrize(
    ("value", "shown"), [(1.0, "100.0"), (0.9999, "99.99"), (0.9999999999, "<100"), (0.0, "0.0"), (0.00001, "0.001")]
)
def test_a_share_is_never_rounded_to_all_or_none(value, shown):
    assert Style("share", 1).show(value) == shown


def test_digits_of_numbers_and_columns():
    assert [Style("number", 3).show(value) for value in (0.0001, 0.0)] == ["0.0001", "0"]
    assert Style("number", 2).show(1e-9) not in {"0", "0.00"}
    assert style_for([1.0, 4.2], "bytes/token") == Style("number", 3)
    assert style_for([0.01, 200.0], "MB/s") == Style("number")
    assert style_for([1200.0, 3.0], "tokens") == Style("count")
    assert style_for([1.0, 2.0], "bytes/token").show(1.0) == "1.000"
    assert style_for([], "MB/s").show(2.0) == "2.000"
