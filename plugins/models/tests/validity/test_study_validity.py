"""The study of validity in a run: classes, hypotheses, messages, and the reports."""

from __future__ import annotations

import csv
import random

import numpy as np
import pytest
from shared_fixtures import problems

import tokbench
from tokbench.formats import markdown
from tokbench.results.model import Results
from tokbench.statistics.jackknife import holm
from tokbench_models.language_models.block import BITS_PER_BYTE, BitsComparison, BitsPerByte, TrainedIds
from tokbench_models.language_models.scored_bits import ScoredBits
from tokbench_models.validity.block import VALIDITY
from tokbench_models.validity.correlate import _Study
from tokbench_models.validity.csv import VALIDITY_COLUMNS, validity_csv
from tokbench_models.validity.options import ValidityStudy
from tokbench_models.validity.targets import bits_target

SIZES = (260, 270, 280, 300, 320)


def prose(seed, size):
    rng = random.Random(f"prose {seed}")
    words = [f"{chr(97 + k % 26)}{'aeiou'[k % 5]}{chr(97 + k * 7 % 26)}" for k in range(200)]
    return "".join(words[min(199, int(rng.paretovariate(0.7)))] + rng.choice([" ", " ", "  "]) for _ in range(size))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The configuration of a run over forty documents: sizes of one BPE, bytes, and a published vocabulary."""
    folder = tmp_path_factory.mktemp("validity")
    for k in range(40):
        (folder / f"{k:03}.txt").write_text(prose(k, 60), encoding="utf-8")
    path = folder / "run.yaml"
    path.write_text(
        f"""
schema: tokbench/1
name: validity
corpora: {{c: {{source: text, path: "*.txt", holdout: 0.5}}}}
tokenizers:
  bytes: {{backend: utf8_bytes}}
  size: {{backend: regex_bpe, train: {{corpus: c, vocab_size: {list(SIZES)}}}}}
  published: {{backend: splintr, vocabulary: whisper_v1}}
metrics: [compression, fertility, bits_per_byte]
study:
  validity:
    least_tokens_per_id: 0
    classes: {{sizes: ["size-*"], few: ["size-26?", "bytes", "published"]}}
    hypotheses:
      - {{metric: compression_ratio, predicts: bits_per_byte_1, at_least: -0.5, source: A 2020}}
      - {{metric: bits_per_byte_1, predicts: bits_per_byte, class: sizes, at_most: 0.9}}
      - {{metric: fertility, predicts: bits_per_byte_2, better_than: compression_ratio}}
      - {{metric: bytes, predicts: bits_per_byte_2, at_least: 0}}
      - {{metric: fertility, predicts: bits_per_byte_2, class: few, at_least: 0}}
report: {{formats: [csv]}}
""",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def results(path):
    return tokbench.run(path, workers=0, store=False)


@pytest.mark.slow
def test_two_workers_give_the_same(path, results):
    assert tokbench.run(path, workers=2, store=False).studies.get(VALIDITY) == results.studies.get(VALIDITY)


def test_classes_hold_tokenizers_that_may_be_compared(results):
    [study] = results.studies.get(VALIDITY)
    sizes = [f"size-{size}" for size in SIZES]
    assert {each.name: each.tokenizers for each in study.classes} == {
        "all": ["bytes", *sizes],
        "sizes": sizes,
        "few": ["bytes", "size-260"],
    }
    assert study.classes[-1].reason.startswith("too few: 2 tokenizers")
    assert study.classes[-1].correlations == []


def test_correlations_are_those_of_the_cells(results):
    """Compression and fertility order sizes of one BPE alike; less of one is more of the other."""
    [study] = results.studies.get(VALIDITY)
    of_class = {(each.metric, each.model): each for each in study.classes[1].correlations}
    ratio, cost = (of_class[name, "bits_per_byte_1"] for name in ("compression_ratio", "fertility"))
    assert ratio.rho == cost.rho
    values = results.frame[results.frame.group.eq("*")].pivot_table(index="tokenizer", columns="metric", values="value")
    values = values.loc[study.classes[1].tokenizers]
    expected = values["fertility"].rank().corr(values["bits_per_byte_1"].rank())
    assert ratio.rho == pytest.approx(expected)
    assert ratio.ci_low <= ratio.rho <= ratio.ci_high
    assert of_class["bytes", "bits_per_byte_1"].reason == "the same for all of these tokenizers"
    assert ("bits_per_byte_1", "bits_per_byte_1") not in of_class


def test_hypotheses_are_decided_and_corrected_together(results):
    [study] = results.studies.get(VALIDITY)
    claims = [(each.metric, each.model, each.claim) for each in study.hypotheses]
    assert claims == [
        ("compression_ratio", "bits_per_byte_1", "> -0.5"),
        *(("bits_per_byte_1", f"bits_per_byte_{order}", "< 0.9") for order in range(3, 7)),
        ("fertility", "bits_per_byte_2", "larger than that of compression_ratio"),
        ("bytes", "bits_per_byte_2", "> 0"),
        ("fertility", "bits_per_byte_2", "> 0"),
    ]
    first, *_, versus, constant, few = study.hypotheses
    assert (first.verdict, first.source) == ("held", "A 2020")
    assert (versus.value, versus.verdict) == (0.0, "undecided")
    assert (constant.verdict, constant.value) == ("undecided", None)
    assert few.reason.startswith("too few: 2 tokenizers")
    tested = [each for each in study.hypotheses if each.p is not None]
    assert [each.p_holm for each in tested] == holm([each.p for each in tested])


def test_reports_have_sentences_and_tables(results):
    text = markdown.render(results)
    assert "Over 6 tokenizers (all), " in text
    assert "| rho larger than for compression |" in text
    said = [line for line in text.splitlines() if line.startswith("- Over 5 tokenizers (sizes), compression ")]
    assert said[0].endswith("(exploratory).")


def test_the_table_has_every_correlation(results):
    rows = list(csv.DictReader(validity_csv(results).splitlines()))
    [study] = results.studies.get(VALIDITY)
    assert tuple(rows[0]) == VALIDITY_COLUMNS
    assert len(rows) == sum(len(each.correlations) for each in study.classes)
    claimed = [row for row in rows if row["hypothesis"] == "true"]
    assert {(row["class"], row["metric"]) for row in claimed} >= {
        ("all", "compression_ratio"),
        ("sizes", "bits_per_byte_1"),
    }


def test_mistakes_are_told_with_their_places(write_config):
    extra = (
        "study:\n  validity:\n    classes: {sizes: [bites]}\n    hypotheses:\n"
        "      - {metric: compresion_ratio, predicts: bits_per_bite, class: size, at_least: 0}\n"
        "      - {metric: tokens, predicts: bits_per_byte, better_than: token}\n"
    )
    assert problems(write_config(metrics="[compression, bits_per_byte]", extra=extra)) == [
        "run.yaml:11:23: no tokenizer is called 'bites'; did you mean 'bytes'?",
        "run.yaml:13:18: unknown metric 'compresion_ratio'; did you mean 'compression_ratio'?",
        "run.yaml:13:46: unknown metric 'bits_per_bite'; did you mean 'bits_per_byte'?",
        "run.yaml:13:68: unknown class 'size'; did you mean 'sizes'?",
        "run.yaml:14:64: unknown metric 'token'; did you mean 'tokens'?",
    ]


def test_a_study_needs_models_and_a_hypothesis_one_claim(write_config):
    [found] = problems(write_config(extra="study: {validity: {}}\n"))
    assert found.startswith("run.yaml:9:19: ")
    assert "bits_per_byte" in found
    extra = "study:\n  validity:\n    hypotheses: [{metric: tokens, predicts: bits_per_byte}]\n"
    [found] = problems(write_config(metrics="[compression, bits_per_byte]", extra=extra))
    assert "at_least, at_most and better_than" in found


def test_tokenizers_of_other_texts_stand_in_classes_of_their_own():
    names = {
        name: block for block in ("trained on a", "trained on b") for name in (f"{block[-1]}{k}" for k in range(5))
    }
    pairs = [(one, other) for one in names for other in names if one < other and names[one] == names[other]]
    pairs += [(name, "zero") for name in names]
    found = BitsPerByte(
        corpus="c", train="c", family="f", metrics=["m"], models=["order 1"], deciding=["m"], least=0.02,
        blocks={**names, "zero": "no training text"},
        comparisons=[
            BitsComparison(tokenizer=one, other=other, differences=[], errors=[], verdict="level") for one, other in pairs
        ],
    )  # fmt: skip
    every = [*names, "zero"]
    scored = {name: ScoredBits.of(np.array([[8.0 * k + 8.0] * 40]), [], np.full(40, 8)) for k, name in enumerate(every)}
    values = {"m": {name: 1.0 + k for k, name in enumerate(every)}}
    study = _Study(ValidityStudy(classes={"some": ("a*", "b1")}), bits_target(found, scored), values).outcome()
    assert [(each.name, "".join(each.tokenizers)) for each in study.classes] == [
        ("all", "a0a1a2a3a4zero"),
        ("all (trained on b)", "b0b1b2b3b4zero"),
        ("some", "a0a1a2a3a4"),
        ("some (trained on b)", "b1"),
    ]
    assert not study.trained


def starved(tokens_per_id):
    """Return the study of seven tokenizers with as many training tokens an id as given; less of ``cost`` is better.

    The bits per byte of the first five rise with ``cost``; those of the last two fall far below.
    """
    names = [f"t{k}" for k in range(7)]
    bits = dict(zip(names, [3.0, 3.1, 3.2, 3.3, 3.4, 2.0, 1.0], strict=True))
    block = BitsPerByte(
        corpus="c", train="c", family="f", metrics=["m"], models=["order 1"], deciding=["m"], least=0.02,
        blocks=dict.fromkeys(names, "trained on c"),
        comparisons=[
            BitsComparison(tokenizer=one, other=other, differences=[], errors=[], verdict="level")
            for one in names for other in names if one < other
        ],
        trained_ids={
            name: TrainedIds(
                ids=10, training_tokens=int(10 * number), tokens_per_id=number, never_trained=0.25,
                training_bytes_per_token=4.0, scored_bytes_per_token=3.0,
            )
            for name, number in zip(names, tokens_per_id, strict=False)
        },
    )  # fmt: skip
    scored = {name: ScoredBits.of(np.array([[8 * bits[name]] * 40]), [], np.full(40, 8)) for name in names}
    values = {"cost": {name: float(k) for k, name in enumerate(names)}, "m": bits}
    return bits_target(block, scored), values


def rho_of(study):
    return {row.metric: row.rho for row in study.classes[0].correlations}["cost"]


def test_tokenizers_with_too_few_training_tokens_an_id_do_not_count():
    target, values = starved([139, 50, 80, 90, 100, 49.9, 1.2])
    study = _Study(ValidityStudy(classes={"ends": ("t0", "t6")}), target, values).outcome()
    assert (study.least_tokens_per_id, study.left_out) == (50, ["t5", "t6"])
    assert [(row.tokenizers, row.left_out) for row in study.classes] == [
        (["t0", "t1", "t2", "t3", "t4"], ["t5", "t6"]),
        (["t0"], ["t6"]),
    ]
    assert rho_of(study) == 1.0
    assert study.classes[1].reason.startswith("too few: 1 tokenizers")
    assert study.classes[1].correlations == []
    assert study.trained_ids["t6"].tokens_per_id == 1.2


def test_an_option_lets_all_count():
    """Ranks of bits are 3 4 5 6 7 2 1, those of the cost 1 to 7: rho = 1 - 6 * (5 * 4 + 16 + 36) / (7 * 48) = -2/7."""
    target, values = starved([139, 50, 80, 90, 100, 49.9, 1.2])
    study = _Study(ValidityStudy(least_tokens_per_id=0), target, values).outcome()
    assert (study.left_out, len(study.classes[0].tokenizers)) == ([], 7)
    assert rho_of(study) == pytest.approx(-2 / 7)


def test_the_reports_show_who_is_left_out(results, tmp_path):
    path = tmp_path / "results.json"
    path.write_text(results.to_json(), encoding="utf-8")
    shown = Results.read(path)
    for block in (BITS_PER_BYTE, VALIDITY):
        assert shown.studies.get(block) == results.studies.get(block)
    target, values = starved([139, 50, 80, 90, 100, 49.9, 1.2])
    shown.studies.put(VALIDITY, [_Study(ValidityStudy(), target, values).outcome()])
    text = markdown.render(shown)
    assert "t5 and t6 have fewer than 50 training tokens an id" in text
    rows = list(csv.DictReader(validity_csv(shown).splitlines()))
    assert {(row["tokens_per_id"], row["left_out"]) for row in rows} == {("50.0", "t5 t6")}
