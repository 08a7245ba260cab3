"""Every backend of the package keeps every sentence of the contract."""

import pytest
from difficult_texts import hostile
from shared_check import check_in_shared_process

import tokbench
from tokbench.testing.rules import RULES
from tokbench.testing.under_test import CheckRequest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("shared_store")]

OF_THE_CODE = {"other_process", "threads", "merges", "long_text"}
"""Rules that tokbench's own suite checks with ``regex_bpe``, whose code does them."""


def passes(backend, options, train=0):
    rules = [rule for rule in RULES if rule not in OF_THE_CODE]
    report = check_in_shared_process(CheckRequest(backend, options, train, examples=30), rules)
    assert report.ok, str(report)


@pytest.mark.parametrize(
    ("backend", "options", "size"),
    [
        ("boundless_bpe", {}, 300),
        ("picky_bpe", {"share": 0.9}, 400),
        ("superbpe", {"stage_one": 300}, 400),
    ],
)
def test_trained(backend, options, size):
    passes(backend, {**options, "special_tokens": ["chat"]}, size)


def test_parity_of_a_saved_file(tmp_path):
    tokbench.train("parity_bpe", {"a": hostile(), "b": hostile()[::2]}, 400, unit="bytes").save(tmp_path / "a.bpe.json")
    passes("parity_bpe", {"path": str(tmp_path / "a.bpe.json")})


def test_adapted(tmp_path):
    path = tmp_path / "base.tokenizer.json"
    tokbench.train("regex_bpe", hostile(), 500, pattern="gpt4").export("huggingface", path)
    passes("adapted_bpe", {"path": str(path), "remove": 20}, 540)
