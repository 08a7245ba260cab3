"""Every engine of the package keeps every sentence of the contract."""

import pytest
from shared_check import check_in_shared_process

import tokbench
from tokbench.testing.rules import RULES
from tokbench.testing.under_test import CheckRequest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("shared_store")]

OF_THE_CODE = {"pickle", "other_process", "merges"}
"""Rules about code that all engines share; the first ones are asked them, too."""
WHOLE = {"fastokens", "gigatoken"}
# By the encoding: half as many ids as cl100k_base has take half as long to load, and ask the same of the code.
LOADED = [
    *((name, "r50k_base") for name in ("fastokens", "gigatoken", "kitoken", "snaptokens", "tokie", "wordchipper")),
    *((name, "cl100k_base") for name in ("bpe_openai", "quicktok", "rs_bpe", "toktok")),
]


def check(backend, options, train=0, left=frozenset()):
    try:
        rules = [rule for rule in RULES if rule not in left]
        return check_in_shared_process(CheckRequest(backend, options, train, examples=30), rules)
    except tokbench.BackendUnavailable as error:
        pytest.skip(str(error))


@pytest.mark.matrix
@pytest.mark.parametrize(("backend", "encoding"), LOADED)
def test_an_engine_with_a_published_encoding(backend, encoding):
    report = check(backend, {"encoding": encoding}, left=frozenset() if backend in WHOLE else OF_THE_CODE)
    assert report.ok, str(report)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("backend", "options"),
    [("ctok", {"vocabulary": "v3"}), ("mistral", {"vocabulary": "v1"}), ("mistral", {"vocabulary": "tekken_240911"})],
)
def test_another_vocabulary(backend, options):
    report = check(backend, options, left=OF_THE_CODE)
    assert report.ok, str(report)


@pytest.mark.matrix
@pytest.mark.parametrize("backend", ["rustbpe", "gigabpe", "gigatoken"])
def test_a_trainer(backend):
    report = check(backend, {}, 400, OF_THE_CODE | {"long_text"})
    assert report.ok, str(report)


def test_a_table_of_texts_refuses_others(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "a b", "pieces": ["a", " b"]}\n', encoding="utf-8")
    report = check("pretokenized", {"path": str(path), "pieces": "pieces"})
    assert {outcome.rule for outcome in report.failed} == {"every_text"}
