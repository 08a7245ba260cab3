"""The sentences that one would repeat to a colleague, of ten made-up runs."""

from dataclasses import replace

import pytest
from made_up_results import METRICS, TOKENS, made_up, more

from tokbench.report.sections.headline import headline_sentences
from tokbench.report.tables import CellTables
from tokbench.results.blocks import CorpusInfo

LANGUAGES = {"en": 100, "de": 100, "hi": 100, "th": 100}


def sentences(results):
    return headline_sentences(CellTables(results))


def corpus(results, **changes):
    return replace(results, corpora={"prose": replace(results.corpora["prose"], **changes)})


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (
            made_up({"a": TOKENS, "b": more(0.1, 5), "c": more(0.5, 5)}),
            ["a needs the fewest tokens on prose (4 bytes a token); b needs 10 % more."],
        ),
        (
            made_up({"a": TOKENS, "b": more(0.001, 60), "c": more(0.5, 5)}),
            ["On prose a and b are level and need the fewest tokens (4 bytes a token)."],
        ),
        (
            made_up({"a": TOKENS, "b": more(0.001, 60)}),
            ["On prose the 2 tokenizers are level: these documents do not tell them apart (4 bytes a token)."],
        ),
        (
            made_up({"a": TOKENS, "b": TOKENS, "c": TOKENS}),
            ["On prose all 3 tokenizers need equally many tokens (4 bytes a token)."],
        ),
        (
            made_up({"a": TOKENS[:9], "b": more(0.1)[:9]}, documents=9),
            [
                "On prose the texts are too few to rank tokenizers; a needs the fewest tokens for them (4 bytes a token)."
            ],
        ),
        (made_up({"a": TOKENS}), ["a alone competes on prose (4 bytes a token)."]),
        (
            made_up({"a": TOKENS, "b": more(0.1, 5)}, exact={"a": 0.9}),
            ["b alone competes on prose (3.64 bytes a token).", "1 of 2 tokenizers loses text."],
        ),
        (
            made_up({"a": TOKENS, "b": more(0.1, 5)}, exact={"a": 0.9, "b": 0.5}),
            [
                "On prose every tokenizer is lossy, and none is ranked.",
                "2 of 2 tokenizers lose text.",
            ],
        ),
        (corpus(made_up({"a": TOKENS, "b": more(0.1, 5)}), designed=True), []),
        (
            made_up({"{a}": TOKENS, "b": more(0.004, 5)}),
            ["{a} needs the fewest tokens on prose (4 bytes a token); b needs 0.4 % more."],
        ),
    ],
)
def test_each_run_has_its_sentence(results, expected):
    assert sentences(results) == expected


def test_languages_are_counted_and_corpora_with_the_same_answer_are_said_together():
    results = made_up({"a": TOKENS, "b": more(0.1, 5)})
    languages = replace(results, corpora={"prose": CorpusInfo(groups=LANGUAGES)})
    states = [replace(state, group=group) for state in results.states for group in LANGUAGES]
    several = replace(languages, states=type(results.states)(states))
    assert sentences(several) == ["a needs the fewest tokens over 4 languages (4 bytes a token); b needs 10 % more."]
    twice = replace(
        results,
        corpora=dict.fromkeys(("prose", "code"), results.corpora["prose"]),
        cells=[replace(cell, corpus=name) for name in ("prose", "code") for cell in results.cells],
        states=type(results.states)(
            [replace(state, corpus=name) for name in ("prose", "code") for state in results.states]
        ),
    )
    assert sentences(twice) == ["a needs the fewest tokens on prose and on code (4 bytes a token); b needs 10 % more."]


def test_a_run_without_compression_has_no_sentence():
    results = made_up({"a": TOKENS})
    kept = [cell for cell in results.cells if cell.metric != "density"]
    assert sentences(replace(results, cells=kept, metrics={"exact": METRICS["exact"]})) == []
