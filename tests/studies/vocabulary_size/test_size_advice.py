"""The size to train: where a byte costs least, how far equally good sizes reach, and whether the text decides it."""

import re

import numpy as np
import pytest

import tokbench
from tokbench.config.read import read_config
from tokbench.corpus.shards import BUCKETS
from tokbench.engine.planning import make_plan
from tokbench.engine.restrictions import outlook
from tokbench.foundation.progress import silent
from tokbench.registry.plugins import load_registry
from tokbench.report.answer.answer import answer_of
from tokbench.report.answer.slices import SliceKind, TextGroup, TextSlice
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.advice import advise, enough_text, rounded_range, support, supported
from tokbench.studies.vocabulary_size.answer import size_lines
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeAdvice, SizePick, VocabularySizes
from tokbench.studies.vocabulary_size.lines import Line, MixedLine, Mixture, mix, mixture_of, training_bytes
from tokbench.studies.vocabulary_size.options import MODELS, Model

BYTES = np.random.default_rng(16).integers(2250, 2750, BUCKETS) * 4.0
MODEL = Model(width=512, layers=6, context=512, tied=True)


def counted(corpus, group, size, weight):
    return TextSlice(group, SliceKind.OTHER, weight, [TextGroup(corpus, group, group, SliceKind.OTHER, int(size), 400)])


def line_of(ratios):
    """A line on one corpus, from its bytes per token by size."""
    return Line(np.array(list(ratios)), np.array([np.round(BYTES / ratio) for ratio in ratios.values()]))


def advised(lines, weights=(), model=MODEL, reach=1 << 20):
    """The advice for a model, from the line of each vocabulary on each corpus, the cheapest first."""
    weights = dict(weights) or {"prose": 1.0}
    shares = {corpus: weight / sum(weights.values()) for corpus, weight in weights.items()}
    mixture = Mixture([counted(corpus, WHOLE, BYTES.sum(), share) for corpus, share in shares.items()])
    return advise(
        {
            name: mix({(corpus, WHOLE): line for corpus, line in of_corpora.items()}, mixture)
            for name, of_corpora in lines.items()
        },
        {"own": model},
        dict.fromkeys(lines, reach),
    )


def test_languages_of_a_corpus_have_equal_weights():
    slices = [counted("prose", "en", 900_000, 0.5), counted("prose", "hi", 100_000, 0.5)]
    tokens = {"en": 225_000, "hi": 50_000, WHOLE: 275_000}  # 4 and 2 bytes per token
    lines = {("prose", group): Line(np.array([4000]), np.array([[number]])) for group, number in tokens.items()}
    mixed = mix(lines, Mixture(slices)).mixed
    assert mixed == pytest.approx([(1 / 4 * 1 / 2) ** 0.5])


@pytest.mark.parametrize(
    ("weights", "taken"),
    [({"prose": 3, "code": 1}, "prosaic"), ({"prose": 1, "code": 3}, "coder"), ({"code": 1}, "coder")],
)
def test_weights_turn_the_advice(weights, taken):
    good, bad = line_of({4000: 4.0, 8000: 4.4}), line_of({4000: 2.5, 8000: 2.7})
    best, _ = advised({"prosaic": {"prose": good, "code": bad}, "coder": {"prose": bad, "code": good}}, weights)
    assert (best.line, best.pick.vocab_size, best.pick.low, best.pick.high) == (taken, 8000, 4000, 8000)


CORPORA = (
    "  talk: {source: sample, part: languages, groups: [en, de, th], parallel: true, holdout: 0.3}\n"
    "  code: {source: sample, part: code, groups: [python], holdout: 0.3}\n"
    "  traps: {source: sample, part: hostile, designed: true}"
)
TOKENIZERS = "  mine: {backend: regex_bpe, train: {corpus: [talk, code, traps], vocab_size: [300, 400]}}"


@pytest.mark.parametrize(
    ("weights", "talk"), [("least_documents: 1", 0.75), ("weights: {talk: 1, code: 1, traps: 2}", 0.5)]
)
def test_designed_texts_have_no_share(write_config, weights, talk):
    """Three languages and one programming language; the stress tests are neither."""
    config = read_config(write_config(CORPORA, TOKENIZERS, extra=f"study: {{vocabulary: {{}}}}\n{weights}"))
    registry = load_registry()
    plan = make_plan(config, registry, silent)
    assert not plan.problems
    assert mixture_of(plan, plan.corpora).weights == pytest.approx({"talk": talk, "code": 1 - talk})
    [line] = outlook(plan, registry)
    known = training_bytes(plan, ["talk", "code", "traps"], mixture_of(plan, plan.corpora).weights)
    learned = {
        name: sum(len(document.text.encode()) for document in plan.corpora[name].training())
        for name in ("talk", "code")
    }
    assert known == learned
    assert line.startswith(f"mine: {support(mixture_of(plan, plan.corpora).weights, known)};")


def test_the_answer_and_the_outlook_agree(write_config):
    path = write_config(CORPORA, TOKENIZERS, extra="study: {vocabulary: {model: 8b}}")
    results = tokbench.run(path, workers=0, store=False)
    study = results.studies.get(VOCABULARY_SIZES)
    plan = make_plan(read_config(path), load_registry(), silent)
    assert study.weights == mixture_of(plan, plan.corpora).weights
    assert study.training["mine"] == training_bytes(plan, ["talk", "code", "traps"], study.weights)


THIN = (
    "  talk: {source: sample, part: languages, groups: [en, de], holdout: 0.3}\n"
    "  code: {source: sample, part: code, groups: [python]}\n"
    "  stray: {source: text, path: %s, group: '{suffix}', document: line}"
)


@pytest.mark.parametrize(
    ("extra", "weights"),
    [
        ("least_documents: 2", {"talk": 2 / 3, "code": 1 / 3}),
        ("least_documents: 1\nleast_share: 0", {"talk": 2 / 5, "code": 1 / 5, "stray": 2 / 5}),
        ("weights: {talk: 1, code: 1, stray: 2}", {"talk": 1 / 4, "code": 1 / 4, "stray": 2 / 4}),
        ("weights: {talk: 3, code: 1}", {"talk": 3 / 4, "code": 1 / 4}),
    ],
)
def test_the_sizes_count_the_texts_that_the_answer_counts(write_config, tmp_path, extra, weights):
    """A stray line of two kinds neither decides a size nor keeps one from being advised."""
    (tmp_path / "s").mkdir()
    for name, line in {"a.css": "body{}", "p.json": '{"name": "x"}'}.items():
        (tmp_path / "s" / name).write_text(f"{line}\n")
    corpora = THIN % f"'{tmp_path}/s/*'"
    tokenizers = "  mine: {backend: regex_bpe, train: {corpus: [talk, code], vocab_size: 300}}"
    path = write_config(corpora, tokenizers, extra=f"study: {{vocabulary: {{model: 8b}}}}\n{extra}")
    results = tokbench.run(path, workers=0, store=False)
    study, answer = results.studies.get(VOCABULARY_SIZES), answer_of(CellTables(results))
    assert study.weights == pytest.approx(weights)
    by_answer = dict.fromkeys(weights, 0.0)
    for part in answer.slices:
        by_answer[part.groups[0].corpus] += part.weight
    assert study.weights == pytest.approx(by_answer)
    assert [group.label for group in answer.left_out] == (["CSS", "JSON"] if extra == "least_documents: 2" else [])
    least = min(study.training["mine"].get(corpus, 0.0) / weight for corpus, weight in weights.items())
    assert supported(study.weights, study.training["mine"]) == pytest.approx(least / 100, abs=1)
    assert (least == 0) == ("stray" in weights)


def test_the_cost_of_a_byte_by_hand():
    [advice] = advised({"mine": {"prose": line_of({2000: 3.0, 4000: 3.6, 8000: 4.2, 16000: 5.0})}})
    # 2 FLOPs for each weight: 40,894,464 without the output layer, and 1,024 for each row of it
    costs = [
        (40_894_464 + 1024 * size) / ratio for size, ratio in ((2000, 3.0), (4000, 3.6), (8000, 4.2), (16000, 5.0))
    ]
    assert advice.costs == pytest.approx(costs, rel=1e-3)
    assert (advice.pick.vocab_size, advice.pick.tokens_per_byte) == (16000, pytest.approx(1 / 5, rel=1e-3))
    assert advice.best == 16000


@pytest.mark.parametrize(("reach", "inside"), [(1999, None), (2000, 2000), (7999, 4000), (8000, 8000), (16000, 8000)])
def test_the_pick_inside_what_the_text_supports(reach, inside):
    """At these sizes a byte costs 14.3, 12.5, 11.7 and 14.3 MFLOPs."""
    line = line_of({2000: 3.0, 4000: 3.6, 8000: 4.2, 16000: 4.0})
    [advice] = advised({"mine": {"prose": line}}, reach=reach)
    assert advice.pick.vocab_size == 8000
    assert (advice.inside and advice.inside.vocab_size) == inside


@pytest.mark.parametrize("whole", [True, False])
def test_the_pick_is_in_its_range_whatever_the_curve(whole):
    for seed in range(200):
        rng = np.random.default_rng(seed)
        sizes = 256 + np.arange(rng.integers(1, 60_000))
        saved = rng.pareto(rng.uniform(0.3, 3), len(sizes))
        saved = np.sort(saved)[::-1] if seed % 2 else saved
        curve = MixedLine(sizes, 1 - rng.uniform(0.1, 0.9) * saved.cumsum() / saved.sum(), whole)
        reach = int(rng.integers(0, 60_000))
        advice = advise({"mine": curve}, MODELS, {"mine": reach})
        for each in advice:
            pick, least, most = each.pick.vocab_size, each.pick.low, each.pick.high
            low, high = rounded_range(pick, least, most)
            assert least <= low <= pick <= high <= most <= each.largest == sizes[-1]
            costs = dict(zip(each.sizes, each.costs, strict=True))
            assert max(costs[least], costs[most]) <= 1.02 * min(costs.values())
            assert costs[each.best] == min(costs.values()) <= each.pick.cost <= 1.02 * costs[each.best]
            assert (each.inside is None) == (reach < sizes[0])
            assert each.inside is None or each.pick.cost <= 1.02 * each.inside.cost
            assert each.inside is None or each.inside.low <= each.inside.vocab_size <= each.inside.high <= reach


def said(advice, weights=(("prose", 1.0),), trained=(("prose", 1e9),), end="file"):
    """What the run's answer says of sizes, and of confidence."""
    results = Results(name="sizes")
    models = {each.model: {"width": 64, "layers": 2, "context": 64} for each in advice}
    study = VocabularySizes(
        models=models,
        weights=dict(weights),
        advice=advice,
        whole={model: {} for model in models},
        training={"mine": dict(trained)},
        ends={"mine": end},
    )
    results.studies.put(VOCABULARY_SIZES, study)
    sizes, confidence = size_lines(CellTables(results))
    return sizes.sentences, confidence.sentences


def of_model(model, pick, low, high, largest=100_000, inside=None):
    picks = {
        size: SizePick(vocab_size=size, tokens_per_byte=0.25, cost=1e9, low=low, high=high)
        for size in (pick, inside)
        if size
    }
    return SizeAdvice(model=model, line="mine", pick=picks[pick], inside=picks.get(inside), best=pick, largest=largest)


@pytest.mark.parametrize(
    ("largest", "end", "words"),
    [
        (5001, "file", ""),
        (5000, "file", "5,000 is the largest size: the configuration asks for no more; 'vocab_size: auto' goes on."),
        (5000, "text", "5,000 is the largest size: the text gives no more."),
        (5000, "cap", "5,000 is the largest size: larger ones are not tried."),
    ],
)
def test_a_range_that_reaches_the_largest_size_says_why(largest, end, words):
    sentences, _ = said([of_model("8b", 4000, 3000, 5000, largest, inside=4000)], end=end)
    assert [sentence for sentence in sentences if "largest" in sentence] == ([words] if words else [])


WEIGHTS = {"prose": 0.75, "code": 0.25}


@pytest.mark.parametrize("high", [61_234, 80_000, 256_789])
def test_adding_what_is_missing_leaves_nothing_missing(high):
    """3.8 MB and 6.1 MB of text for the same sizes, three quarters of it prose."""
    few, many = ({corpus: size * weight for corpus, weight in WEIGHTS.items()} for size in (3.8e6, 6.1e6))
    missing, rest = enough_text(high, WEIGHTS, few), enough_text(high, WEIGHTS, many)
    for corpus, weight in WEIGHTS.items():
        needed = 100 * high * weight
        assert 0 <= missing[corpus] - (needed - few[corpus]) < 0.1 * missing[corpus], "two digits, rounded up"
        assert 0 <= rest[corpus] - (needed - many[corpus]) < 0.1 * rest[corpus] < 0.1 * missing[corpus]
    assert (supported(WEIGHTS, few), supported(WEIGHTS, many)) == (38_000, 61_000)
    for trained in (few, many):
        advice = [of_model("1b", 30_000, 20_000, high, inside=20_000)]
        low, add = said(advice, WEIGHTS, trained)[1]
        assert low == f"Low beyond {supported(WEIGHTS, trained):,}, which is what your text supports."
        added = re.findall(r"([\d.]+) ([kM])B of (\w+)", add)
        after = trained | {c: trained[c] + float(n) * {"k": 1e3, "M": 1e6}[unit] for n, unit, c in added}
        assert enough_text(high, WEIGHTS, after) == {}
        [firm] = said(advice, WEIGHTS, after)[1]
        assert firm.startswith("Firm")


@pytest.mark.parametrize(
    ("trained", "begins"),
    [(8e6, "Firm"), (7.9999e6, "Low beyond 79,999,"), (25_700, "Low beyond 257,"), (25_600, "Low: ")],
)
def test_confidence_falls_with_the_training_text(trained, begins):
    advice = of_model("1b", 30_000, 20_000, 80_000, inside=20_000)
    assert said([advice], trained={"prose": trained})[1][0].startswith(begins)
