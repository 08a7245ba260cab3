"""Lines of sizes: their counts, the best at equal size, losses, and how far vocab_size: auto goes."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tokbench.config.read import read_config
from tokbench.corpus.contract import Document
from tokbench.corpus.shards import BUCKETS, Shard
from tokbench.engine.planning import make_plan
from tokbench.formats import html, markdown
from tokbench.foundation.progress import silent
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.registry.plugins import load_registry
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.block import (
    VOCABULARY_SIZES,
    SizeLine,
    SizeLoss,
    SizeRow,
    VocabularySizes,
)
from tokbench.studies.vocabulary_size.plugin import CURVE as SPEC
from tokbench.studies.vocabulary_size.size_lines import SizeLines, SizesOnCorpus
from tokbench.tokenizers.batch import encode_batch
from tokbench.tokenizers.options import Options
from tokbench_plugins.bpe import BPETokenizer, train

TOKENIZER = BPETokenizer(train(["the cat sat on the mat, the hat"] * 3, 290, "gpt4", engine="python"), "gpt4")


class Huge:
    """Ids beyond 27 bits."""

    vocab_size = 1 << 32

    def encode(self, text, /):
        return [(1 << 31) + ord(char) for char in text]

    def decode(self, ids, /):
        return "".join(chr(token - (1 << 31)) for token in ids)


def shard_of(texts):
    return Shard("c", "g", 0, [Document(text, "g", str(k), f"f:{k}") for k, text in enumerate(texts)], by_key=False)


def state_of(texts, tokenizer=TOKENIZER):
    shard = shard_of(texts)
    return SPEC.text(Options()).map(
        EncodedShard(LoadedTokenizer("t", tokenizer), shard, encode_batch(tokenizer, texts))
    )


@settings(deadline=None, max_examples=20)
@given(st.lists(st.lists(st.text(alphabet="the cat,é", max_size=12), max_size=6), min_size=1, max_size=8), st.randoms())
def test_counts_by_group_in_any_order(parts, random):
    states = [state_of(texts) for texts in parts]
    random.shuffle(states)
    merged = reduce(SPEC.text(Options()).merge, states)
    texts = [text for part in parts for text in part]
    expected = np.zeros(TOKENIZER.vocab_size, np.int64)
    by_bucket = np.zeros(BUCKETS)
    for text, bucket in zip(texts, shard_of(texts).buckets, strict=True):
        np.add.at(expected, TOKENIZER.encode(text), 1)
        by_bucket[bucket] += 3 * len(TOKENIZER.encode(text))
    assert merged.total().tolist() == expected.tolist()
    assert merged.per_bucket(np.full(TOKENIZER.vocab_size, 3)).tolist() == by_bucket.tolist()
    assert merged.documents == len(texts)


def test_ids_beyond_27_bits():
    [table] = state_of(["abba", "b"], Huge()).tables
    assert sorted(table.counts.tolist()) == [1, 2, 2] or sorted(table.counts.tolist()) == [2, 3]
    assert set((table.keys // BUCKETS).tolist()) == {(1 << 31) + 97, (1 << 31) + 98}


def at_equal_size(numbers):
    """Results with lines that are known at 500 tokens, from value, low and high by line."""
    rows = [
        SizeRow(
            line=line,
            corpus="turkish",
            group=WHOLE,
            vocab_size=500,
            tokens=10,
            compression_ratio=value,
            ci_low=low,
            ci_high=high,
            entropy=1,
            used=5,
        )
        for line, (value, low, high) in numbers.items()
    ]
    lines = [SizeLine(line=line, kind="point", tokenizers=[line], smallest=500, largest=500) for line in numbers]
    results = Results(name="r")
    results.studies.put(VOCABULARY_SIZES, VocabularySizes(sizes=[500], lines=lines, rows=rows))
    return results


@pytest.mark.parametrize(
    ("numbers", "best"),
    [
        ({"bytes": (1.004, None, None), "bpe": (2.332, None, None)}, set()),
        ({"bytes": (1.004, 1.0, 1.01), "bpe": (2.332, None, None)}, set()),
        ({"bytes": (1.004, 1.0, 1.01), "bpe": (2.332, 2.3, 2.36)}, {"bpe"}),
        ({"bytes": (1.004, 1.0, 1.01), "bpe": (2.332, 2.3, 2.36), "near": (2.31, 2.28, 2.34)}, {"bpe", "near"}),
        ({"bytes": (1.004, None, None), "bpe": (2.332, 2.3, 2.36), "behind": (2.2, 2.1, 2.25)}, {"bpe"}),
    ],
)
def test_lines_are_level_by_evidence_alone(numbers, best):
    results = at_equal_size(numbers)
    assert SizesOnCorpus(SizeLines(results), "turkish").best_at(500, WHOLE) == best
    page = html.render(results)
    for line, (value, *_) in numbers.items():
        assert (f'<td class="n best" data-v="{value}">' in page) == (line in best)


def sizes(lost: dict[str, float | None]) -> Results:
    place = {"corpus": "c", "group": WHOLE, "vocab_size": 500}
    rows = [
        SizeRow(
            line=name,
            **place,
            tokens=10,
            compression_ratio=ratio,
            ci_low=ratio - 0.1,
            ci_high=ratio + 0.1,
            entropy=1,
            used=5,
        )
        for name, ratio in (("good", 2.0), ("fine", 2.5), ("lossy", 4.0))
    ]
    block = VocabularySizes(
        sizes=[500],
        lines=[
            SizeLine(line=name, kind="point", tokenizers=[name], smallest=500, largest=500)
            for name in ("good", "fine", "lossy")
        ],
        rows=rows,
        losses=[SizeLoss(line=name, corpus="c", lost=share) for name, share in lost.items()],
    )
    results = Results(name="r")
    results.studies.put(VOCABULARY_SIZES, block)
    return results


@pytest.mark.parametrize("share", [0.0002, None])
def test_a_study_of_sizes_marks_losses_in_tables_and_charts(share):
    results = sizes({"lossy": share})
    lines = SizeLines(results)
    [corpus] = [SizesOnCorpus(lines, name) for name in lines.corpora]
    assert corpus.marks == {"good": "", "fine": "", "lossy": "‡"}
    assert corpus.best_at(500, WHOLE) == {"fine"}
    assert corpus.chart is not None
    assert "lossy‡" in corpus.chart.__html__()
    assert "fine‡" not in corpus.chart.__html__()
    page = html.render(results)
    assert page.count("<tr data-aside><th") == 1
    assert '<span class="key">lossy</span><sup>‡</sup></th>' in page, "the mark is no part of the name"
    assert '<td class="n best" data-v="2.5">2.500</td>' in page
    assert "lossy‡" in markdown.render(results)
    assert "lossy, and so sorted last and not drawn" in markdown.render(results)


CORPUS = "  c: {source: sample, part: languages, groups: [en, th, hi, zh, ja, ko], holdout: 0.3}"
MINE = "  bytes: {{backend: utf8_bytes}}\n  mine: {{backend: {backend}, train: {{corpus: c, vocab_size: {size}}}}}"
AUTO = MINE.format(backend="regex_bpe, pattern: gpt4", size="auto")


def planned(write_config, tokenizers, study):
    plan = make_plan(read_config(write_config(CORPUS, tokenizers, extra=study)), load_registry(), silent)
    return plan.tokenizers, [problem.message for problem in plan.problems]


@pytest.mark.parametrize(
    ("model", "size"),
    [
        # (4 x 768 x 768 + 2 x 768 x 3,072 + 1,024 x 768) x 12 / 2 / 768 = 61,440
        ("125m", 65_536),
        ("{width: 8, layers: 1, context: 8}", 4_096),
        ("8b", 1_048_576),
        ("405b", 1_048_576),
        ("null", 1_048_576),
    ],
)
def test_the_largest_size_follows_from_the_model(write_config, model, size):
    [_, mine], problems = planned(write_config, AUTO, f"study: {{vocabulary: {{model: {model}}}}}")
    assert (mine.vocab_size, mine.auto, problems) == (size, True, [])


@pytest.mark.parametrize(
    ("tokenizers", "study", "begins"),
    [
        (AUTO, "", ["auto needs a study that chooses a size"]),
        (AUTO, "study: {vocabulary: {model: 9z}}", ["vocabulary.model: "]),
        (MINE.format(backend="sentencepiece", size="auto"), "study: {vocabulary: {}}", ["auto needs a backend"]),
        (
            MINE.format(backend="regex_bpe", size="[auto, 300]"),
            "study: {vocabulary: {}}",
            ["train.vocab_size.0: must be"],
        ),
        (MINE.format(backend="regex_bpe", size="automatic"), "study: {vocabulary: {}}", ["train.vocab_size: must be"]),
        (MINE.format(backend="regex_bpe", size="255"), "study: {vocabulary: {}}", ["vocab_size 255 is too small"]),
    ],
)
def test_what_cannot_be_auto_has_one_problem(write_config, tokenizers, study, begins):
    _, problems = planned(write_config, tokenizers, study)
    assert len(problems) == len(begins), problems
    assert all(problem.startswith(begin) for problem, begin in zip(problems, begins, strict=True))


@pytest.mark.parametrize(
    ("size", "context", "end", "inside"),
    [
        ("auto", 8, "cap", True),
        ("auto", 10**9, "text", True),
        ("300", 8, "file", False),
        ("[280, 50000]", 8, "text", True),
    ],
)
def test_a_run_goes_on_until_the_text_or_the_model_ends_it(write_config, size, context, end, inside):
    model = f"study: {{vocabulary: {{model: {{width: 64, layers: 1, context: {context}}}}}}}"
    config = write_config(CORPUS, MINE.format(backend="regex_bpe, pattern: gpt4", size=size), extra=model)
    results = tokbench.run(config, workers=0, store=False)
    study = results.studies.get(VOCABULARY_SIZES)
    assert study.ends == {"mine": end}
    assert (study.best.pick.high < study.best.largest) == (inside and context == 8)
