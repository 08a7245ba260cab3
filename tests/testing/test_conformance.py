"""Every built-in backend keeps every sentence of the contract."""

import json
from importlib import resources

import pytest
from shared_check import check_in_shared_process

import tokbench
from tokbench.registry.plugins import load_registry
from tokbench.testing.rules import RULES
from tokbench.testing.under_test import CheckRequest

pytestmark = pytest.mark.usefixtures("shared_store")

# Name of the backend, options, size to train to.
TRAINED = [
    ("codepoints", {}, 300),
    ("whitespace_words", {}, 600),
    ("naive_bpe", {}, 400),
    ("regex_bpe", {"pattern": "o200k", "special_tokens": ["chat", "end_of_text"]}, 600),
    ("regex_bpe", {"pattern": r"\w+", "engine": "python"}, 400),
    ("regex_bpe", {"superwords": "superbpe", "special_tokens": ["chat"]}, 600),
    ("regex_bpe", {"superwords": "boundless", "special_tokens": ["chat"]}, 600),
    ("regex_bpe", {"picky": 0.9, "special_tokens": ["chat"]}, 600),
    ("regex_bpe", {"dropout": 0.2, "stochastok": 0.1, "special_tokens": ["chat"]}, 400),
    ("huggingface", {"model": "byte_bpe"}, 600),
    ("huggingface", {"model": "bpe"}, 2500),
    ("huggingface", {"model": "wordpiece"}, 5000),
    ("huggingface", {"model": "unigram"}, 4000),
    ("rustbpe", {}, 600),
    ("gigabpe", {}, 600),
    ("gigatoken", {}, 600),
    ("tiktoken", {"pattern": "gpt4"}, 500),
    ("tiktoken", {"pattern": "gpt2"}, 500),
    ("sentencepiece", {"model_type": "unigram"}, 2500),
    ("sentencepiece", {"model_type": "bpe", "byte_fallback": True, "character_coverage": 0.98}, 1500),
    (
        "sentencepiece",
        {
            "model_type": "unigram",
            "normalization_rule_name": "identity",
            "add_dummy_prefix": False,
            "remove_extra_whitespaces": False,
            "byte_fallback": True,
            "user_defined_symbols": ["<tool>"],
            "control_symbols": ["<end>"],
        },
        3000,
    ),
    ("sentencepiece", {"model_type": "char"}, 2000),
    ("sentencepiece", {"model_type": "word"}, 2000),
]
# Of the vocabularies of splintr, those that differ most in kind.
VOCABULARIES = [
    "llama2",
    "gemma3",
    "modernbert",
    "mistral_v3",
    "o200k_base",
    "whisper_v3",
]
# Engines by the encoding with which they are checked: half as many ids as cl100k_base has take half as long to load, and
# ask the same of the code. tests/plugins/engines compares the ids of cl100k_base and o200k_base with tiktoken's.
ENGINES = {
    "bpe_openai": "cl100k_base",
    **dict.fromkeys(("fastokens", "gigatoken", "kitoken", "snaptokens", "tokie", "wordchipper"), "r50k_base"),
    "quicktok": "cl100k_base",
    "rs_bpe": "cl100k_base",
    "tokbench_bpe": "r50k_base",
}
LOADED = [
    ("utf8_bytes", {}, 0),
    ("utf16_units", {}, 0),
    ("utf32_units", {}, 0),
    *((engine, {"encoding": encoding}, 0) for engine, encoding in ENGINES.items()),
    ("toktok", {"encoding": "cl100k_base"}, 0),
    ("ctok", {"vocabulary": "v3"}, 0),
    ("cut", {"of": "tokbench_bpe:r50k_base", "size": 4096}, 0),
    ("mistral", {"vocabulary": "v1"}, 0),
    ("mistral", {"vocabulary": "tekken_240911"}, 0),
    ("tiktoken", {"encoding": "cl100k_base"}, 0),
    ("tiktoken", {"encoding": "gpt2"}, 0),
    ("tiktoken", {"encoding": "o200k_harmony"}, 0),
    *(("splintr", {"vocabulary": vocabulary}, 0) for vocabulary in VOCABULARIES),
]
# Rules that start processes, load again, or ask for every merge. They are about the code of a backend, and are checked
# with the first of its tokenizers. tests/tokenizers/test_merges.py compares the merges of every vocabulary at every size.
OF_THE_CODE = {"pickle", "other_process", "threads", "threads_mixed", "merges"}
# Rules that a backend can break by the tokens that are added to its vocabulary.
OF_SPECIAL = {
    "vocab_size",
    "special_tokens",
    "encode_with_special",
    "decode",
    "token_bytes",
    "ids_out_of_range",
    "pickle",
}
# Options with which regex_bpe encodes by other code. Long texts are in tests/plugins/bpe/superword and picky.
OWN_CODE = ({"superwords": "boundless"}, {"picky": 0.9})
# Vocabularies that run in the same engine: a text of a megabyte is encoded with the first of them.
ONE_ENGINE = {("splintr", False), ("tiktoken", False), ("tiktoken", True)}
ELSEWHERE = {
    "adapted_bpe",
    "deepseek",
    "gguf",
    "gpt2_files",
    "huggingface",
    "llama",
    "pretokenized",
    "qwen",
    "transformers",
}


def named(number):
    """Return a case with the rules that it leaves to others."""
    backend, options, train = case = CASES[number]
    left = set()
    if any(each.items() <= options.items() for each in OWN_CODE):
        left = {"long_text", "other_process"}
    elif any((before, bool(size)) == (backend, bool(train)) for before, _, size in CASES[:number]):
        left = OF_THE_CODE
    elif backend in list(ENGINES)[1:] and not train:  # all engines tell the merges of their vocabulary alike
        left = {"merges"}
    if left and (backend, bool(train)) in ONE_ENGINE:
        left = left | {"long_text"}
    words = [str(value) for value in options.values() if isinstance(value, str)]
    return pytest.param(*case, left, id="-".join([backend, *words, *([str(train)] * bool(train))]))


CASES = LOADED + TRAINED


def passes(backend, options, train=0, left=()):
    rules = [rule for rule in RULES if rule not in left]
    try:
        report = check_in_shared_process(CheckRequest(backend, options, train), rules)
    except tokbench.BackendUnavailable as error:
        pytest.skip(str(error))
    assert report.ok, str(report)
    assert len(report.outcomes) == len(rules)
    return {outcome.rule: outcome for outcome in report.outcomes}


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "options", "train", "left"), [named(k) for k in range(len(CASES))])
def test_a_built_in_backend(backend, options, train, left):
    passes(backend, options, train, left)


@pytest.fixture(scope="module")
def gpt2_files(tmp_path_factory):
    """A small vocabulary in the format of GPT-2."""
    folder = tmp_path_factory.mktemp("gpt2")
    spec = load_registry().backends.get("regex_bpe")
    lines = resources.files("tokbench.sources.sample").joinpath("hostile.jsonl").read_text(encoding="utf-8")
    texts = [json.loads(line)["text"] for line in lines.splitlines()]
    tokenizer = spec.train(texts, 500, spec.train_options(pattern="gpt2"), lambda done, total: None)
    tokenizer.export("gpt2", folder)
    return folder


@pytest.mark.slow
def test_gpt2_files(gpt2_files):
    passes("gpt2_files", {"encoder": str(gpt2_files / "encoder.json"), "vocab": str(gpt2_files / "vocab.bpe")})


@pytest.mark.slow
def test_an_adapted_vocabulary(gpt2_files):
    json = gpt2_files / "gpt2.tokenizer.json"
    given = {"encoder": str(gpt2_files / "encoder.json"), "vocab": str(gpt2_files / "vocab.bpe")}
    tokenizer = tokbench.load("gpt2_files", **given)
    tokenizer.export("huggingface", json)
    passes("adapted_bpe", {"path": str(json), "remove": 20}, tokenizer.vocab_size + 40, OF_THE_CODE - {"pickle"})


@pytest.mark.slow
def test_a_saved_file_that_was_loaded(tmp_path):
    spec = load_registry().backends.get("tiktoken")
    tokenizer = spec.train(["low lower lowest"] * 9, 270, spec.train_options(), lambda done, total: None)
    path = tmp_path / "ranks.tiktoken"
    tokenizer.save(path)
    outcomes = passes("tiktoken", {"path": str(path)}, left=OF_THE_CODE)
    assert outcomes["save"].state == "ok"
    assert outcomes["lossless"].state == "ok"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "backend"),
    # Both backends run the same engine: the second one is checked with one of the pipelines.
    [(name, "huggingface") for name in ("roberta-base", "gpt-neox-20b", "t5-small")] + [("t5-small", "transformers")],
)
def test_published_pipelines(data, backend, name):
    left = OF_THE_CODE if name != "roberta-base" else set()
    left = left | {"long_text"}  # the models that are trained above run in the same engine
    passes(backend, {"path": str(data / "hf" / f"{name}.tokenizer.json")}, left=left)


@pytest.mark.slow
def test_a_vocabulary_of_bert(data):
    passes("huggingface", {"vocab_txt": str(data / "hf" / "bert-base-uncased.vocab.txt")}, left=OF_THE_CODE)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["splintr", "huggingface"])
def test_special_tokens_that_are_added(gpt2_files, backend):
    options = {"vocabulary": "llama2"}
    if backend == "huggingface":
        options = {"path": str(gpt2_files / "added.tokenizer.json")}
        given = {"encoder": str(gpt2_files / "encoder.json"), "vocab": str(gpt2_files / "vocab.bpe")}
        tokbench.load("gpt2_files", **given).export("huggingface", gpt2_files / "added.tokenizer.json")
    options = {**options, "special_tokens": ["chat", "fill_in_the_middle"]}
    outcomes = passes(backend, options, left=RULES.keys() - OF_SPECIAL)
    assert {outcome.state for outcome in outcomes.values()} == {"ok"}


@pytest.mark.slow
def test_pretokenized(tmp_path):
    """It knows the texts of its file and no others; all else of the contract it keeps."""
    (tmp_path / "ids.jsonl").write_text('{"text": "a b", "pieces": ["a", " b"]}\n', encoding="utf-8")
    report = check_in_shared_process(
        CheckRequest("pretokenized", {"path": str(tmp_path / "ids.jsonl"), "pieces": "pieces"})
    )
    assert {outcome.rule for outcome in report.outcomes if outcome.state == "failed"} == {"every_text"}


def test_every_built_in_backend_is_there():
    ours = {name for name, entry in load_registry().backends.entries.items() if entry.plugin.distribution == "tokbench"}
    assert {backend for backend, _, _ in LOADED + TRAINED} | ELSEWHERE >= ours
