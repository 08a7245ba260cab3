"""``vocab_size: auto``: as large as the model of the study can use, until the text ends."""

import pytest

import tokbench
from tokbench.config.read import read_config
from tokbench.engine.planning import make_plan
from tokbench.foundation.progress import silent
from tokbench.registry.plugins import load_registry
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES

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


def test_a_size_of_the_file_is_kept(write_config):
    sizes = MINE.format(backend="regex_bpe", size="[300, 400]")
    (_, *both), _ = planned(write_config, sizes, "study: {vocabulary: {}}")
    assert [(each.name, each.vocab_size, each.auto) for each in both] == [
        ("mine-300", 300, False),
        ("mine-400", 400, False),
    ]


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
