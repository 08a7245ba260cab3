"""The size to train: where a byte costs least, how far equally good sizes reach, and whether the text decides it."""

import re

import numpy as np
import pytest

import tokbench
from tokbench.config.read import read_config
from tokbench.corpus.shards import BUCKETS
from tokbench.engine.planning import make_plan, outlook
from tokbench.foundation.progress import silent
from tokbench.registry.plugins import load_registry
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.advice import advise, confidence, enough_text, rounded_range, supported
from tokbench.studies.vocabulary_size.answer import size_lines
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeAdvice, VocabularySizes
from tokbench.studies.vocabulary_size.lines import Line, TextTotals
from tokbench.studies.vocabulary_size.mixture import MixedLine, Mixture, mix, shares, training_bytes
from tokbench.studies.vocabulary_size.options import MODELS, Model

BYTES = np.random.default_rng(16).integers(2250, 2750, BUCKETS) * 4.0
MODEL = Model(width=512, layers=6, context=512, tied=True)
LARGER = Model(width=1024, layers=16, context=1024, tied=True)


def text(n_bytes=BYTES):
    return TextTotals(400, n_bytes, None, "")


def line_of(ratios):
    """A line on one corpus, from its bytes per token by size."""
    return Line(np.array(list(ratios)), np.array([np.round(BYTES / ratio) for ratio in ratios.values()]))


def advised(lines, weights=(), model=MODEL):
    """The advice for a model, from the line of each vocabulary on each corpus, the cheapest first."""
    weights = dict(weights) or {"prose": 1.0}
    shares = {corpus: weight / sum(weights.values()) for corpus, weight in weights.items()}
    mixture = Mixture(shares, {(corpus, WHOLE): text() for corpus in shares})
    return advise(
        {
            name: mix({(corpus, WHOLE): line for corpus, line in of_corpora.items()}, mixture)
            for name, of_corpora in lines.items()
        },
        {"own": model},
    )


def test_languages_of_a_corpus_count_alike():
    texts = {
        ("prose", WHOLE): text(np.array([1_000_000])),
        ("prose", "en"): text(np.array([900_000])),
        ("prose", "hi"): text(np.array([100_000])),
    }
    tokens = {"en": 225_000, "hi": 50_000, WHOLE: 275_000}  # 4 and 2 bytes per token
    lines = {("prose", group): Line(np.array([4000]), np.array([[number]])) for group, number in tokens.items()}
    mixed = mix(lines, Mixture({"prose": 1.0}, texts)).mixed
    assert mixed == pytest.approx([(1 / 4 + 1 / 2) / 2])


@pytest.mark.parametrize(
    ("weights", "taken"),
    [({"prose": 3, "code": 1}, "prosaic"), ({"prose": 1, "code": 3}, "coder"), ({"code": 1}, "coder")],
)
def test_weights_turn_the_advice(weights, taken):
    good, bad = line_of({4000: 4.0, 8000: 4.4}), line_of({4000: 2.5, 8000: 2.7})
    best, _ = advised({"prosaic": {"prose": good, "code": bad}, "coder": {"prose": bad, "code": good}}, weights)
    assert (best.line, best.pick, best.low, best.high) == (taken, 8000, 4000, 8000)


CORPORA = (
    "  talk: {source: sample, part: languages, groups: [en, de, th], parallel: true, holdout: 0.3}\n"
    "  code: {source: sample, part: code, groups: [python], holdout: 0.3}\n"
    "  traps: {source: sample, part: hostile, designed: true}"
)
TOKENIZERS = "  mine: {backend: regex_bpe, train: {corpus: [talk, code, traps], vocab_size: [300, 400]}}"


@pytest.mark.parametrize(("weights", "talk"), [("", 0.75), ("weights: {talk: 1, code: 1, traps: 2}", 0.5)])
def test_designed_texts_have_no_share(write_config, weights, talk):
    """Three languages and one programming language; the stress tests are neither."""
    config = read_config(write_config(CORPORA, TOKENIZERS, extra=f"study: {{vocabulary: {{}}}}\n{weights}"))
    registry = load_registry()
    plan = make_plan(config, registry, silent)
    assert not plan.problems
    assert shares(plan, plan.corpora) == {"talk": talk, "code": 1 - talk}
    [line] = outlook(plan, registry)
    known = training_bytes(plan, ["talk", "code", "traps"], shares(plan, plan.corpora))
    learned = {
        name: sum(len(document.text.encode()) for document in plan.corpora[name].training())
        for name in ("talk", "code")
    }
    assert known == learned
    assert line.endswith(confidence(400, shares(plan, plan.corpora), known))


def test_the_answer_and_the_outlook_agree(write_config):
    path = write_config(CORPORA, TOKENIZERS, extra="study: {vocabulary: {model: 8b}}")
    results = tokbench.run(path, workers=0, store=False)
    study = results.studies.get(VOCABULARY_SIZES)
    plan = make_plan(read_config(path), load_registry(), silent)
    assert study.weights == shares(plan, plan.corpora)
    assert study.training["mine"] == training_bytes(plan, ["talk", "code", "traps"], study.weights)


def test_the_cost_of_a_byte_by_hand():
    [advice] = advised({"mine": {"prose": line_of({2000: 3.0, 4000: 3.6, 8000: 4.2, 16000: 5.0})}})
    # 2 FLOPs for each weight: 40,894,464 without the output layer, and 1,024 for each row of it
    costs = [
        (40_894_464 + 1024 * size) / ratio for size, ratio in ((2000, 3.0), (4000, 3.6), (8000, 4.2), (16000, 5.0))
    ]
    assert advice.costs == pytest.approx(costs, rel=1e-3)
    assert (advice.pick, advice.tokens_per_byte) == (16000, pytest.approx(1 / 5, rel=1e-3))


def test_the_range_is_near_the_least_cost():
    smooth = {round(2 ** (k / 2)): 2.0 + 2.6 * (1 - 0.9 ** (k - 16)) for k in range(16, 33)}
    [advice] = advised({"mine": {"prose": line_of(smooth)}}, model=LARGER)
    costs = dict(zip(advice.sizes, advice.costs, strict=True))
    near = [size for size, cost in costs.items() if cost <= 1.02 * min(costs.values())]
    assert (advice.low, advice.high) == (near[0], near[-1]) == (8192, 23170)
    assert costs[advice.pick] == advice.cost == min(costs.values())


@pytest.mark.parametrize("whole", [True, False])
def test_the_pick_is_in_its_range_whatever_the_curve(whole):
    for seed in range(200):
        rng = np.random.default_rng(seed)
        sizes = 256 + np.arange(rng.integers(1, 60_000))
        saved = rng.pareto(rng.uniform(0.3, 3), len(sizes))
        saved = np.sort(saved)[::-1] if seed % 2 else saved
        curve = MixedLine(sizes, 1 - rng.uniform(0.1, 0.9) * saved.cumsum() / saved.sum(), whole)
        advice = advise({"mine": curve}, MODELS)
        assert [each.model for each in advice] == ["125m", "1b", "8b"]
        for each in advice:
            low, high = rounded_range(each.pick, each.low, each.high)
            assert each.low <= low <= each.pick <= high <= each.high <= each.largest == sizes[-1]
            costs = dict(zip(each.sizes, each.costs, strict=True))
            assert max(costs[each.low], costs[each.high]) <= 1.02 * min(costs.values())


def said(advice, weights=(("prose", 1.0),), trained=()):
    """What the run's answer says of sizes, and the sentence on confidence."""
    results = Results(name="sizes")
    models = {each.model: {} for each in advice}
    study = VocabularySizes(models=models, weights=dict(weights), advice=advice, training={"mine": dict(trained)})
    results.studies.put(VOCABULARY_SIZES, study)
    sizes, confidence = size_lines(CellTables(results))
    return sizes.sentences, confidence.sentences[0]


def of_model(model, pick, low, high, largest=100_000):
    return SizeAdvice(model=model, line="mine", pick=pick, low=low, high=high, largest=largest)


def test_the_largest_size_tried_calls_for_a_larger_one():
    sizes = np.arange(256, 4_001)
    [advice] = advise({"mine": MixedLine(sizes, 1 / sizes, whole=True)}, {"8b": MODELS["8b"]})
    assert (advice.pick, advice.high) == (4000, 4000)
    assert "try 8,000 next" in said([advice])[0][-1]
    inside = of_model("8b", 4000, 3000, 5000)
    assert not any("next" in sentence for sentence in said([inside])[0])


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
        advice = [of_model("1b", 30_000, 20_000, high)]
        sizes, confidence = said(advice, WEIGHTS, trained)
        added = re.findall(r"([\d.]+) ([kM])B of (\w+)", confidence)
        after = trained | {c: trained[c] + float(n) * {"k": 1e3, "M": 1e6}[unit] for n, unit, c in added}
        assert enough_text(high, WEIGHTS, after) == {}
        firm, sure = said(advice, WEIGHTS, after)
        assert ("provisionally" in sizes[0], "provisionally" in firm[0]) == (True, False)
        assert (confidence.startswith("Firm"), sure.startswith("Firm")) == (False, True)


@pytest.mark.parametrize(("trained", "degree"), [(7.9e6, "Medium"), (2e6, "Medium"), (1.9e6, "Low"), (0, "Low")])
def test_confidence_falls_with_the_training_text(trained, degree):
    assert said([of_model("1b", 30_000, 20_000, 80_000)], trained={"prose": trained})[1].startswith(degree)


@pytest.mark.parametrize(
    ("of_8b", "rows"),
    [
        ((32_000, 25_000, 60_000), ["125m", "1b and 8b 30,000 (25,000 to 48,000)"]),
        ((30_000, 24_000, 40_000), ["125m", "1b and 8b 30,000 (24,000 to 40,000)"]),
        ((32_000, 31_000, 60_000), ["125m", "1b 30,000 (24,000 to 48,000)", "8b 32,000 (31,000 to 60,000)"]),
        ((40_000, 25_000, 90_000), ["125m", "1b 30,000 (24,000 to 48,000)", "8b 40,000 (25,000 to 90,000)"]),
    ],
)
def test_models_with_nearly_equal_sizes_are_one_row(of_8b, rows):
    """One size that is good for both, with the sizes that are."""
    advice = [of_model("125m", 12_000, 8000, 20_000), of_model("1b", 30_000, 24_000, 48_000), of_model("8b", *of_8b)]
    [sentence] = said(advice)[0]
    first, *others = sentence.partition(": ")[2].removesuffix(".").split(" · ")
    assert [first.split()[0], *others] == rows
