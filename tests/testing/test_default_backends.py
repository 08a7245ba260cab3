"""Every built-in backend keeps every sentence of the contract."""

import pytest
from difficult_texts import hostile
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
    ("huggingface", {"model": "byte_bpe"}, 400),
    ("huggingface", {"model": "bpe"}, 2500),
    ("huggingface", {"model": "wordpiece"}, 5000),
    ("huggingface", {"model": "unigram", "n_sub_iterations": 1, "max_piece_length": 3}, 4000),
    ("tiktoken", {"pattern": "gpt4"}, 400),
    ("sentencepiece", {"model_type": "unigram"}, 2500),
    ("sentencepiece", {"model_type": "bpe", "byte_fallback": True, "character_coverage": 0.98}, 1500),
    (
        "sentencepiece",
        {
            "normalization_rule_name": "identity",
            "add_dummy_prefix": False,
            "remove_extra_whitespaces": False,
            "byte_fallback": True,
            "user_defined_symbols": ["<tool>"],
            "control_symbols": ["<end>"],
        },
        3000,
    ),
    ("sentencepiece", {"model_type": "word"}, 2000),
]
LOADED = [
    ("utf8_bytes", {}, 0),
    ("utf16_units", {}, 0),
    ("utf32_units", {}, 0),
    ("tokbench_bpe", {"encoding": "r50k_base"}, 0),
    ("cut", {"of": "tokbench_bpe:r50k_base", "size": 4096}, 0),
    ("tiktoken", {"encoding": "gpt2"}, 0),
    *(("splintr", {"vocabulary": vocabulary}, 0) for vocabulary in ("llama2", "gemma3", "modernbert")),
]
CASES = LOADED + TRAINED
# Backends whose first case checks every rule; others share the code that the next rules are about.
WHOLE = "codepoints huggingface naive_bpe sentencepiece splintr tiktoken".split()
# Rules that start processes, load again, or encode a megabyte. tests/tokenizers/test_merges.py compares the merges of every
# vocabulary at every size.
OF_THE_CODE = {"pickle", "other_process", "threads", "merges", "long_text"}
# Rules that a backend can break by the tokens that are added to its vocabulary.
OF_SPECIAL = "vocab_size special_tokens encode_with_special decode token_bytes ids_out_of_range pickle".split()


def passes(backend, options, train=0, rules=tuple(RULES)):
    try:
        report = check_in_shared_process(CheckRequest(backend, options, train, examples=30), list(rules))
    except tokbench.BackendUnavailable as error:
        pytest.skip(str(error))
    assert report.ok, str(report)
    assert len(report.outcomes) == len(rules)
    return {outcome.rule: outcome.state for outcome in report.outcomes}


def without(left):
    return [rule for rule in RULES if rule not in left]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: f"{CASES[number][0]}-{number}")
def test_a_built_in_backend(number):
    backend, options, train = CASES[number]
    first = [case[0] for case in CASES].index(backend) == number
    left = set() if backend in WHOLE and first else OF_THE_CODE
    passes(backend, options, train, without(left))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A small vocabulary in the formats of GPT-2, Hugging Face and tiktoken."""
    folder = tmp_path_factory.mktemp("files")
    tokenizer = tokbench.train("regex_bpe", hostile(), 500, pattern="gpt4")
    tokenizer.export("gpt2", folder)
    tokenizer.export("huggingface", folder / "gpt2.tokenizer.json")
    tokenizer.export("tiktoken", folder / "gpt2.tiktoken")
    return folder


@pytest.mark.slow
def test_files(files):
    passes("gpt2_files", {"encoder": str(files / "encoder.json"), "vocab": str(files / "vocab.bpe")})
    states = passes("tiktoken", {"path": str(files / "gpt2.tiktoken")}, rules=without(OF_THE_CODE))
    assert (states["save"], states["lossless"]) == ("ok", "ok")
    json = {"path": str(files / "gpt2.tokenizer.json")}
    passes("transformers", json, rules=without(OF_THE_CODE))


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("name", ["t5-small.tokenizer.json", "bert-base-uncased.vocab.txt"])
def test_published_pipelines(data, name):
    option = "path" if name.endswith(".json") else "vocab_txt"
    passes("huggingface", {option: str(data / "hf" / name)}, rules=without(OF_THE_CODE))


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("backend", ["splintr", "huggingface"])
def test_special_tokens_that_are_added(files, backend):
    options = {"vocabulary": "llama2"} if backend == "splintr" else {"path": str(files / "gpt2.tokenizer.json")}
    states = passes(backend, {**options, "special_tokens": ["chat", "fill_in_the_middle"]}, rules=OF_SPECIAL)
    assert set(states.values()) == {"ok"}


def test_every_built_in_backend_is_there():
    ours = {name for name, entry in load_registry().backends.entries.items() if entry.plugin.distribution == "tokbench"}
    in_files = {"gpt2_files", "hf", "huggingface", "transformers"}
    assert {backend for backend, _, _ in CASES} | in_files >= ours
