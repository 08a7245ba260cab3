"""Numbers, morphology and the tables of documents, by hand."""

import csv
import io
import random

import numpy as np
import pytest
from cutting import ByPattern
from metric_views import Lossy, gold, look, metric, values, view

import tokbench
from tokbench.corpus.contract import Gold
from tokbench.measuring.metric import NotApplicable
from tokbench.measuring.word_units import NO_GOLD
from tokbench.results.cells import WHOLE
from tokbench.statistics.jackknife import jackknife
from tokbench_research.metrics.documents import COLUMNS
from tokbench_research.metrics.numbers import LONGEST

PER_LENGTH = 30


def found(tokenizer, *texts):
    kept = values("numbers", view(tokenizer, *texts))
    return {k: v.reason if isinstance(v, NotApplicable) else v.value for k, v in kept.items()}


@pytest.fixture(scope="module")
def figures():
    """Numbers of every length, the first digit no zero."""
    rng = random.Random(3)
    return [
        str(rng.randrange(10 ** (length - 1), 10**length))
        for length in range(1, LONGEST + 1)
        for _ in range(PER_LENGTH)
    ]


@pytest.fixture(scope="module")
def text(figures):
    return "\n".join(f"a {figure}" for figure in figures)


def test_by_hand():
    # 12  12  12|34  123|4567  1|234|567; 13 digits are left out.
    tokenizer = ByPattern(r"12(?=34c)|123(?=4567e)|1(?=234567d)|234(?=567d)|\d+|\D+")
    got = found(tokenizer, "a12b 12 1234c 1234567e 1234567d 1234567890123")
    assert got["digits_3_tokens"] == "there are no runs of 3 digits"
    assert got["digits_4_tokens"] == 2
    assert got["digits_consistency"] == (2 + 1 + 1) / 5
    assert got["digits_right_triples"] == 1 / 3
    assert got["digits_left_triples"] == 0
    # 12|34 has a cut too many and lacks one, 123|4567 has one too many and lacks two: of 3, 6 and 6 places.
    assert got["digits_triples_distance"] == (2 + 3 + 0) / (3 + 6 + 6)
    assert got["digits_single"] == 0


def test_threes_from_the_right(text):
    got = found(ByPattern(r"\d{1,3}(?=(?:\d{3})*(?!\d))|\D"), text)
    assert got["digits_right_triples"] == 1
    # Six, nine and twelve digits are the same from either side.
    assert got["digits_left_triples"] == 3 / 9
    assert (got["digits_3_tokens"], got["digits_4_tokens"]) == (1, 2)


def test_single_digits(text):
    got = found(tokbench.load("utf8_bytes"), text)
    assert (got["digits_single"], got["digits_right_triples"], got["digits_consistency"]) == (1, 0, 1)
    assert (got["digits_3_tokens"], got["digits_4_tokens"]) == (3, 4)


def written(length, cut):
    """Write a pattern as the lengths of its parts."""
    ends = [k for k in range(1, length) if cut >> (k - 1) & 1]
    return " ".join(str(b - a) for a, b in zip([0, *ends], [*ends, length], strict=True))


def test_gpt2_splits_as_its_own_engine_says(data, figures, text):
    """GPT-2's pattern takes a whole number, so only the merges say how it is cut."""
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.get_encoding("gpt2")
    expected = {}
    for figure in figures:
        pieces = [encoding.decode([token]).strip() for token in encoding.encode_ordinary(f" {figure}")]
        way = " ".join(str(len(piece)) for piece in pieces)
        ways = expected.setdefault(str(len(figure)), {})
        ways[way] = ways.get(way, 0) + 1
    tokenizer = tokbench.load("tiktoken", encoding="gpt2")
    numbers = metric("numbers")
    state = numbers.map(view(tokenizer, text))
    for length, ways in expected.items():
        assert {written(int(length), cut): runs.sum() for cut, runs in state.counts(int(length)).items()} == ways
    got = found(tokenizer, text)
    most = sum(max(ways.values()) for length, ways in expected.items() if length != "1")
    assert got["digits_consistency"] == most / (PER_LENGTH * (LONGEST - 1))


def test_boundaries_of_digits_by_hand():
    """12|34|5 should be 12|345, 6|78 should be 678 and 9012 should be 9|012."""
    got = found(ByPattern(r"12|34|5|6|78|9012| "), "12345 678 9012")
    # Cuts: 2, 1, 0; places: 1, 0, 1; both: 1.
    assert got["digits_triples_f1"] == pytest.approx(2 * 1 / (3 + 2))


def test_consistency_has_the_interval_of_a_ratio():
    # Two digits are one token, but for 13.
    documents = ["12 13", "14 15 16", "17", *("12 " * (k % 3) + f"{k} {k + 1} 13" for k in range(20, 80))]
    counted = view(ByPattern(r"1(?=3)|\d{1,2}|\D"), *documents)
    numbers = metric("numbers")
    got = numbers.finish(numbers.map(counted))["digits_consistency"]
    runs = np.array([len(document.split()) for document in documents])
    alike = runs - np.array([document.count("13") for document in documents])
    buckets = counted.shard.buckets
    assert got.value == alike.sum() / runs.sum()
    ends = jackknife(*(np.bincount(buckets, column, 32) for column in (alike, runs)))
    assert (got.ci_low, got.ci_high, got.no_interval) == ends
    assert got.ci_low < got.value < got.ci_high


def test_boundaries_by_hand():
    text = "The unkind dogs bark."
    golds = [gold(text, "The", "un-kind", "dog-s", "bark", ".")]
    measured = values("morphology", look(b"The| unk|ind do|gs| bark.", golds=golds))
    # Tokens meet after 'The', in 'unk|ind', in 'do|gs' and after 'dogs'; words meet in four places.
    assert {name: value.value for name, value in measured.items()} == {
        "word_boundary_precision": 2 / 4,
        "word_boundary_recall": 2 / 4,
        "word_boundary_f1": 4 / 8,
        "morpheme_boundary_precision": 0 / 2,
        "morpheme_boundary_recall": 0 / 2,
        "morpheme_boundary_f1": 0 / 4,
        "morph_score": 0 / 2,
    }
    measured = values("morphology", look(b"The |un|k|ind| dog|s bark.", b"a", golds=[*golds, gold("a", "a")]))
    assert {name: value.value for name, value in measured.items()} == {
        "word_boundary_precision": 2 / 5,
        "word_boundary_recall": 2 / 4,
        "word_boundary_f1": 4 / 9,
        "morpheme_boundary_precision": 2 / 3,
        "morpheme_boundary_recall": 2 / 2,
        "morpheme_boundary_f1": 4 / 5,
        "morph_score": 2 / 2,
    }
    assert measured["word_boundary_f1"].n == 2


def test_the_morphscore_is_that_of_its_authors():
    """Their rule on each word: left out if it is one token; 1 if the tokens before some cut spell the first part."""
    words = ["un-do", "dog-s", "walk-ed", "re-run", "bark-ing"]
    cuts = [b"un|do", b"dogs", b"wal|k|ed", b"rer|un", b"b|a|rking"]
    scores = []
    for word, cut in zip(words, cuts, strict=True):
        tokens, (first, _) = cut.decode().split("|"), word.split("-")
        if len(tokens) > 1:
            scores.append(any("".join(tokens[:k]) == first for k in range(1, len(tokens))))
    golds = [gold(word.replace("-", ""), word) for word in words]
    measured = values("morphology", look(*cuts, golds=golds))
    assert measured["morph_score"].value == sum(scores) / len(scores) == 2 / 4
    assert measured["morpheme_boundary_recall"].value == 2 / 5


def test_the_unknown_token_finds_no_boundary():
    golds = [gold("ab", "a", "b"), gold("az", "a", "z")]
    measured = values("morphology", look(b"ab", b"az", tokenizer=Lossy(), golds=golds))["word_boundary_recall"]
    assert (measured.value, measured.n) == (1, 1)
    measured = values("morphology", look(b"az", tokenizer=Lossy(), golds=golds[1:]))
    assert isinstance(measured["word_boundary_f1"], NotApplicable)


def test_without_gold_there_is_a_reason():
    measured = values("morphology", look(b"a| b"))
    assert set(measured.values()) == {NotApplicable(NO_GOLD)}
    words_only = Gold(((0, 1), (2, 3)), (False, False))
    measured = values("morphology", look(b"a| b", golds=[words_only]))
    assert measured["word_boundary_f1"].value == 1
    assert isinstance(measured["morpheme_boundary_f1"], NotApplicable)


CORPORA = "  sample: {source: sample, part: languages, parallel: true}"
TOKENIZERS = "  bytes: {backend: utf8_bytes}\n  mine: {backend: naive_bpe, train: {corpus: sample, vocab_size: 300}}"


def run(write_config, folder=None):
    config = write_config(CORPORA, TOKENIZERS, "[compression, fertility, roundtrip, documents]")
    return tokbench.run(config, folder, workers=0, limit=4)


def test_the_sums_of_the_rows_are_the_cells(write_config, tmp_path):
    results = run(write_config, tmp_path / "out")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "documents.csv").read_text(encoding="utf-8"))))
    assert tuple(rows[0]) == COLUMNS
    cells = {(cell.tokenizer, cell.group, cell.metric): cell for cell in results.cells}
    groups = dict(results.corpora["sample"].groups)
    assert len(rows) == 2 * sum(groups.values())
    for name in ("bytes", "mine"):
        for group in [*groups, WHOLE]:
            mine = [row for row in rows if row["tokenizer"] == name and group in (WHOLE, row["group"])]
            totals = {column: sum(int(row[column]) for row in mine) for column in ("bytes", "words", "tokens")}
            assert totals["tokens"] == cells[name, group, "tokens"].value
            assert totals["bytes"] / totals["tokens"] == cells[name, group, "compression_ratio"].value
            back = sum(row["exact"] == "true" for row in mine) / len(mine)
            assert back == cells[name, group, "roundtrip_exact"].value
            if group != WHOLE and cells[name, group, "words"].value is not None:
                assert totals["words"] == cells[name, group, "words"].value
    assert [int(row["document"]) for row in rows[: groups["en"]]] == list(range(1, groups["en"] + 1))


def test_the_median_document_by_hand(write_config, tmp_path):
    (tmp_path / "t.txt").write_text("".join("x" * k + "\n" for k in range(1, 22)), encoding="utf-8")
    config = write_config(
        "  c: {source: text, path: t.txt, document: line}", "  bytes: {backend: utf8_bytes}", "[documents]"
    )
    [cell] = [cell for cell in tokbench.run(config, workers=0).cells if cell.group == WHOLE]
    assert (cell.metric, cell.value, cell.n, cell.ci_low) == ("median_compression", 1.0, 21, None)
