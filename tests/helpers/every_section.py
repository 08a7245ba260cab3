"""A run that has something for every section of the report, and draws every kind of chart."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report_data import build, few, metric_info

from tokbench.results.blocks import MetricInfo, PairComparison
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import Results
from tokbench.studies.same_ids.block import DIFFERENCES
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeLine, SizeRow, VocabularySizes

METRICS = ("compression_ratio", "chars_per_token", "roundtrip_exact", "lost_characters", "unk_rate")
METRICS += ("renyi_efficiency", "encode_mb_per_s")
NAMES = ("cl100k", "o200k", "llama3")
LANGUAGES = ("en", "de", "ja")


def every_section() -> Results:
    """Return the results; a study or section that is added has to be added here, too."""
    pytest.importorskip("tokbench_models")
    pytest.importorskip("tokbench_trainers")
    results = few(build(hostile=False), ("pud", "code"), METRICS)
    _fairness(results)
    _comparisons(results)
    _bits_per_byte(results)
    put_sizes(results)
    put_mixtures(results)
    return results


def put_mixtures(results: Results) -> None:
    """Two mixtures, each the best of a language."""
    from tokbench_trainers.mixtures.block import MIXTURES, MixtureRow, Mixtures

    rows = [
        MixtureRow(mixture=name, pattern="gpt4", vocab_size=300, ids=300, tokens={"de": de, "ja": ja})
        for name, de, ja in (("alpha 1", 100, 300), ("alpha 0", 120, 250))
    ]
    text = {"de": 0.8, "ja": 0.2}
    block = Mixtures(
        shares={"alpha 1": text, "alpha 0": {"de": 0.5, "ja": 0.5}},
        text=text,
        bytes={"gpt4": {"de": 400, "ja": 100}},
        rows=rows,
    )
    results.studies.put(MIXTURES, block)


def _fairness(results: Results) -> None:
    """Premiums of languages and how unequal they are, of tokenizers that lose no text."""
    results.corpora["pud"] = replace(results.corpora["pud"], groups=dict.fromkeys(LANGUAGES, 66), reference="en")
    results.metrics |= {
        name: replace(metric_info(name, "fairness", "", "lower"), headline=True) for name in ("premium", "gini")
    }
    for place, name in enumerate(NAMES):
        premiums = {group: 1.0 + number * (place + 1) / 4 for number, group in enumerate(LANGUAGES)}
        results.cells += [Cell(name, "pud", group, "premium", value, n=66) for group, value in premiums.items()]
        results.cells += [Cell(name, "pud", WHOLE, "premium", 1.5), Cell(name, "pud", WHOLE, "gini", 0.1 + place / 10)]


def _comparisons(results: Results) -> None:
    """Two tokenizers on the same documents, and one whose ids should be those of another."""
    pair = {"tokenizer": NAMES[1], "other": NAMES[0], "tokens": (9, 10), "difference": -0.1}
    results.pairs.append(
        PairComparison(corpus="pud", group=WHOLE, **pair, ci_low=-0.2, ci_high=-0.05, n=66, p=0.01, differ=True)
    )
    results.metrics["same_ids"] = MetricInfo(family="same_ids")
    results.tokenizers[NAMES[2]] = replace(results.tokenizers[NAMES[2]], same_as=NAMES[0])
    results.cells.append(Cell(NAMES[2], "pud", WHOLE, "same_ids", 1.0, n=66))
    results.studies.put(DIFFERENCES, [])


def _bits_per_byte(results: Results) -> None:
    """Bits per byte under three models, of which two decide, at two sizes; and of models over amounts of text."""
    from tokbench_models.language_models.block import (
        BITS_PER_BYTE,
        BitsComparison,
        BitsPerByte,
        ModelTraining,
        TrainedAmount,
    )

    for size, name in zip((256, 512), NAMES, strict=False):
        results.tokenizers[name] = replace(results.tokenizers[name], backend="b", options={}, vocab_size=size)
    metrics = [f"bits_{order}" for order in (1, 2, 3)]
    for number, metric in enumerate(metrics):
        results.metrics[metric] = MetricInfo(family="models", direction="lower", loss_cannot_help="none where it is")
        values = {name: 3 - number / 2 + place / 10 for place, name in enumerate(NAMES)}
        results.cells += [Cell(name, "code", WHOLE, metric, value, n=66) for name, value in values.items()]
    common = {
        "corpus": "code", "train": "code", "family": "models", "metrics": metrics, "deciding": metrics[1:],
        "models": ["order 1", "order 2", "order 3"], "least": 0.02, "blocks": dict.fromkeys(NAMES, "code"),
    }  # fmt: skip
    amounts = [TrainedAmount(n_bytes=10**k, flops=10**k, bits_per_byte=4 - k / 4, error=0.1) for k in (5, 6)]
    trained = ModelTraining(
        parameters=9, window=9, learning_rate=0.01, rates={}, seconds=1.0, memory=9, amounts=amounts, seeds=[2.5]
    )
    pair = BitsComparison(
        tokenizer=NAMES[0], other=NAMES[1], differences=[-0.1] * 3, errors=[0.01] * 3, verdict="better"
    )
    results.studies.put(
        BITS_PER_BYTE,
        [BitsPerByte(**common, comparisons=[pair]), BitsPerByte(**common, trainings=dict.fromkeys(NAMES, trained))],
    )


def put_sizes(results: Results) -> None:
    """Two lines over two sizes on two groups."""
    sizes, ends = [256, 512], {"smallest": 256, "largest": 512}
    lines = [
        SizeLine(line=name, kind="ladder", tokenizers=names, **ends)
        for name, names in zip(NAMES, ([*NAMES[:2]], [NAMES[1]]), strict=False)
    ]
    rows = [
        SizeRow(
            line=line.line, corpus="pud", group=group, vocab_size=size, tokens=1000 // k, compression_ratio=k,
            ci_low=None, ci_high=None, entropy=1, used=9,
        )
        for line in lines for group in (WHOLE, *LANGUAGES[:2]) for k, size in enumerate(sizes, 1)
    ]  # fmt: skip
    results.studies.put(VOCABULARY_SIZES, VocabularySizes(sizes=sizes, lines=lines, rows=rows))
