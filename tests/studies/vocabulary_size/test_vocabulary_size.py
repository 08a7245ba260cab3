"""A study of vocabulary sizes from its YAML to its report: exact at every size, refused where it makes no sense."""

import csv
import dataclasses
import io

import numpy as np
import pytest
from shared_fixtures import problems

import tokbench
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeLoss
from tokbench.studies.vocabulary_size.csv import CURVE_COLUMNS
from tokbench.studies.vocabulary_size.size_lines import SizeLines, SizesOnCorpus
from tokbench_plugins.bpe import BPETokenizer

CORPORA = (
    "  talk: {source: sample, part: languages, groups: [en, th], parallel: true, holdout: 0.3}\n"
    "  code: {source: sample, part: code, groups: [python], evaluate: false}"
)
TOKENIZERS = (
    "  english: {backend: regex_bpe, pattern: gpt4, train: {corpus: code, vocab_size: 700}}\n"
    "  both: {backend: regex_bpe, pattern: gpt4, train: {corpus: [talk, code], vocab_size: 900}}\n"
    "  pieces: {backend: sentencepiece, model_type: unigram, character_coverage: 1.0, "
    "train: {corpus: talk, vocab_size: [300, 400, 420]}}\n"
    "  words: {backend: whitespace_words, train: {corpus: talk, vocab_size: [300, 600, 900]}}\n"
    "  bytes: {backend: utf8_bytes}"
)
ELSEWHERE = "  away: {source: sample, part: code, groups: [python], evaluate: false}"
STUDY = (
    "study:\n  vocabulary:\n    sizes: [300, 400, 600]\n"
    "    model: {width: 64, layers: 2, context: 128, tied: true, training_bytes: 1e7}\n"
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    path = folder / "run.yaml"
    path.write_text(
        f"schema: tokbench/1\nname: test\ncorpora:\n{CORPORA}\ntokenizers:\n{TOKENIZERS}\nmetrics: [compression]\n{STUDY}",
        encoding="utf-8",
    )
    return tokbench.run(path, folder / "out", workers=0), folder / "out"


def held_out(results, group):
    """The texts of a group that were evaluated."""
    from tokbench.corpus.corpus import Corpus
    from tokbench.sources.sample import SampleOptions, SampleSource

    source = SampleSource(SampleOptions(part="languages", groups=("en", "th")))
    corpus = Corpus("talk", source, holdout=0.3, parallel=True)
    return [document.text for document in corpus.evaluation() if group in {WHOLE, document.group}]


@pytest.mark.parametrize(("name", "group"), [("english", "en"), ("both", "th"), ("both", WHOLE)])
def test_every_size_equals_encoding_with_fewer_merges(ran, name, group):
    results, folder = ran
    texts = held_out(results, group)
    largest = tokbench.load("regex_bpe", path=folder / "artefacts" / f"{name}.bpe.json")
    sizes = SizeLines(results)
    [line] = [line for line in sizes.lines if line.line == name]
    trace = sizes.trace(line, "talk", group)
    assert (trace.sizes[0], trace.sizes[-1]) == (256, largest.vocab_size)
    for size in [256, 257, 523, largest.vocab_size]:
        smaller = BPETokenizer(largest.merges[: size - 256], "gpt4")
        tokens = sum(len(smaller.encode(text)) for text in texts)
        assert trace.tokens[trace.sizes == size].item() == tokens
        assert trace.ratio[trace.sizes == size].item() == sum(len(t.encode()) for t in texts) / tokens
    assert (trace.tokens[:-1] >= trace.tokens[1:]).all()


@pytest.mark.slow
def test_two_workers_train_and_measure_the_same(ran):
    results, folder = ran
    again = tokbench.run(folder.parent / "run.yaml", workers=2)
    assert again.studies.get(VOCABULARY_SIZES) == results.studies.get(VOCABULARY_SIZES)
    assert list(again.tokenizers) == list(results.tokenizers)
    assert {t.state for t in again.tokenizers.values()} == {t.state for t in results.tokenizers.values()}


def test_rows_agree_with_the_cells_at_the_own_size(ran):
    results, _ = ran
    cells = {(c.tokenizer, c.group, c.metric): c for c in results.cells}
    for row in results.studies.get(VOCABULARY_SIZES).rows:
        names = {"english": 700, "both": 900, "bytes": 256}
        if row.vocab_size == names.get(row.line):
            ratio = cells[row.line, row.group, "compression_ratio"]
            assert row.compression_ratio == ratio.value
            # Rows rest on 32 groups of documents, cells on single documents.
            assert (row.ci_low is None) == (ratio.ci_low is None)
            if row.ci_low is not None:
                assert (row.ci_low, row.ci_high) == pytest.approx((ratio.ci_low, ratio.ci_high), rel=0.03)
            fertility = cells[row.line, row.group, "fertility"]
            assert row.fertility == fertility.value
            assert row.unit == (fertility.unit.removeprefix("tokens/") if fertility.value else "")
    first, *rows = [r for r in results.studies.get(VOCABULARY_SIZES).rows if (r.line, r.group) == ("both", WHOLE)]
    assert first.gain is None
    gained = rows[0].compression_ratio - first.compression_ratio
    assert rows[0].gain == pytest.approx(1000 * gained / (rows[0].vocab_size - first.vocab_size))


def test_what_cannot_be_cut_is_trained_at_each_size_and_says_so(ran):
    results, _ = ran
    lines = {line.line: line for line in results.studies.get(VOCABULARY_SIZES).lines}
    assert {name: line.kind for name, line in lines.items()} == {
        "english": "curve",
        "both": "curve",
        "pieces": "ladder",
        "words": "ladder",
        "bytes": "point",
    }
    assert lines["pieces"].tokenizers == ["pieces-300", "pieces-400", "pieces-420"]
    assert "not built by merges in order of rank" in lines["pieces"].reason
    assert not results.failed
    rows = [r for r in results.studies.get(VOCABULARY_SIZES).rows if r.line == "pieces" and r.group == "en"]
    cells = {c.tokenizer: c.value for c in results.cells if (c.group, c.metric) == ("en", "tokens")}
    assert [row.tokens for row in rows] == [cells[f"pieces-{size}"] for size in (300, 400, 420)]


def test_costs_and_advice(ran):
    study = ran[0].studies.get(VOCABULARY_SIZES)
    row = next(r for r in study.rows if (r.line, r.vocab_size, r.group) == ("both", 600, WHOLE))
    assert study.weights == {"talk": 1.0}
    own = {each.line: each for each in study.advice}
    both = own["both"]
    line = next(line for line in study.lines if line.line == "both")
    trace = SizeLines(ran[0]).trace(line, "talk", WHOLE)
    # 2 FLOPs for each of 12 x 64 x 64 weights of two layers and 64 of each id, and 2 x 2 x 128 x 64 of attention
    flops = 2 * (2 * 12 * 64 * 64 + 64 * trace.sizes) + 2 * 2 * 128 * 64
    of_groups = [SizeLines(ran[0]).trace(line, "talk", group).ratio for group in ("en", "th")]
    tokens = np.exp(np.mean([-np.log(ratio) for ratio in of_groups], axis=0))  # equal weights
    costs = flops * tokens
    assert row.compression_ratio == trace.ratio[trace.sizes == 600].item()
    assert both.costs == pytest.approx(costs[np.searchsorted(trace.sizes, both.sizes)])
    near = trace.sizes[costs <= 1.02 * costs.min()]
    assert (both.pick.low, both.pick.high, both.largest) == (near[0], near[-1], 900)
    pick = both.pick
    assert pick.low <= pick.vocab_size <= pick.high
    assert trace.sizes[costs.argmin()] == both.best
    assert (pick.cost, pick.tokens_per_byte) == pytest.approx(
        (costs[trace.sizes == pick.vocab_size].item(), tokens[trace.sizes == pick.vocab_size].item())
    )
    assert [each.pick.cost for each in study.advice] == sorted(each.pick.cost for each in study.advice)
    assert study.best is study.advice[0]
    assert study.whole == {"own": {}}, "a baseline is no tokenizer to take"
    assert (study.ends["both"], study.ends["words"]) == ("file", "text")
    worst = {r.group: r.tokens for r in study.rows if (r.line, r.vocab_size) == ("english", 700)}
    assert worst["th"] > worst["en"]


def test_what_loses_text_is_neither_advised_nor_drawn(ran):
    """Words that were met in training are long tokens; those that were not are one unknown token each."""
    results, _ = ran
    study = results.studies.get(VOCABULARY_SIZES)
    last = {r.line: r.compression_ratio for r in study.rows if r.group == WHOLE}
    assert last["words"] > last["both"]
    assert "words" not in {each.line for each in study.advice}
    assert study.left_out["words"] == "text of talk is lost"
    [lost] = [loss for loss in study.losses if loss.line == "words"]
    assert lost.lost > 0.1
    [line] = [line for line in study.lines if line.line == "words"]
    assert line.tokenizers == ["words-300", "words-600"], "the text gives no 900 words"
    assert "words" not in {trace.line for trace in SizeLines(results).traces("talk", WHOLE)}


def test_curve_csv_has_the_sizes(ran):
    _, folder = ran
    rows = list(csv.DictReader(io.StringIO((folder / "curve.csv").read_text(encoding="utf-8"))))
    assert list(rows[0]) == list(CURVE_COLUMNS)
    both = [r for r in rows if (r["tokenizer"], r["group"]) == ("both", "th")]
    assert [int(r["vocab_size"]) for r in both] == [300, 400, 600, 900]
    assert {r["in_sample"] for r in both} == {"0.0"}
    sizes = Results.read(folder / "results.json").studies.get(VOCABULARY_SIZES).best.pick
    inside = [int(r["vocab_size"]) for r in both if r["in_range"] == "True"]
    assert inside == [size for size in (300, 400, 600, 900) if sizes.low <= size <= sizes.high]


@pytest.mark.parametrize(
    ("parts", "place", "names"),
    [
        ({"metrics": "[curve]"}, "run.yaml:7:11", ["'curve'", "'study.vocabulary'"]),
        ({"extra": "study: {vocabulry: {}}\n"}, "run.yaml:9:9", ["'vocabulry'", "'vocabulary'"]),
        ({"extra": "weights: {smple: 1}\n"}, "run.yaml:9:18", ["'smple'", "'sample'"]),
    ],
)
def test_what_makes_no_sense_is_refused(write_config, parts, place, names):
    [line] = problems(write_config(**parts))
    assert line.startswith(f"{place}: ")
    assert all(name in line for name in names)


def test_sizes_that_no_vocabulary_has(write_config):
    """Then there is the own size alone."""
    results = tokbench.run(
        write_config(
            "  talk: {source: sample, part: languages, groups: [en], parallel: true}",
            "  b: {backend: naive_bpe, train: {corpus: talk, vocab_size: 300}}",
            extra="study: {vocabulary: {sizes: [5, 100000], model: {width: 8, layers: 1, context: 8}}}\n",
        ),
        workers=0,
    )
    assert not results.failed
    assert {(row.vocab_size, row.group) for row in results.studies.get(VOCABULARY_SIZES).rows} == {
        (300, "en"),
        (300, WHOLE),
    }


def test_a_group_that_fails_is_told(write_config, corpus, faulty):
    results = tokbench.run(
        write_config(
            corpus, "  bad: {backend: Panics}\n  good: {backend: utf8_bytes}", extra="study: {vocabulary: {}}\n"
        ),
        workers=0,
    )
    rows = results.studies.get(VOCABULARY_SIZES).rows
    assert {(row.line, row.group) for row in rows} == {
        ("bad", "x"),
        ("good", "x"),
        ("good", "y"),
        ("good", WHOLE),
    }
    [note] = results.notes
    assert note.startswith("the study of vocabulary sizes: bad on c, group y: encode: Panic: index out of bounds")
    study = results.studies.get(VOCABULARY_SIZES)
    assert (study.advice, study.best, study.left_out) == ([], None, {"bad": "its ids are not known for every text"})


@pytest.mark.parametrize(("share", "mark"), [(0.0099, ""), (0.01, "†")])
def test_a_line_counts_as_trained_from_one_percent(ran, share, mark):
    cells = [dataclasses.replace(c, in_sample=share if c.tokenizer == "english" else 0.0) for c in ran[0].cells]
    lines = SizeLines(dataclasses.replace(ran[0], cells=cells))
    [corpus] = [SizesOnCorpus(lines, name) for name in lines.corpora]
    assert corpus.marks["english"] == mark
    assert bool(corpus.in_sample) == bool(mark)


def test_what_may_lose_text_is_not_advised(write_config, corpus, faulty):
    extra = "study: {vocabulary: {model: {width: 8, layers: 1, context: 8}}}\n"
    results = tokbench.run(
        write_config(
            f"{corpus}\n{ELSEWHERE}",
            "  bad: {backend: DecodeRaises}\n  good: {backend: naive_bpe, train: {corpus: away, vocab_size: 300}}",
            extra=extra,
        ),
        workers=0,
    )
    study = results.studies.get(VOCABULARY_SIZES)
    assert study.losses == [SizeLoss(line="bad", corpus="c", lost=None)]
    assert study.best.line == "good"
    assert study.left_out == {"bad": "text of c may be lost"}


@pytest.mark.parametrize("most", [0.001, 1])
def test_the_configuration_says_how_much_may_be_lost(write_config, most):
    corpora = "  talk: {source: sample, part: languages, groups: [en], holdout: 0.3}"
    words = "  words: {backend: whitespace_words, train: {corpus: talk, vocab_size: 300}}"
    extra = f"most_lost: {most}\nstudy: {{vocabulary: {{model: 1b}}}}\n"
    study = tokbench.run(write_config(corpora, words, extra=extra), workers=0).studies.get(VOCABULARY_SIZES)
    assert [each.line for each in study.advice] == (["words"] if most == 1 else [])
    assert bool(study.losses) == bool(study.left_out) == (most != 1)
