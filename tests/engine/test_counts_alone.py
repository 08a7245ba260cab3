"""Tokenizers that count and give no ids: what they have is measured, all else does not apply to them."""

import pytest
from shared_fixtures import cell

import tokbench
from tokbench.formats import markdown
from tokbench.foundation.errors import ContractError
from tokbench.results.cells import Status
from tokbench.tokenizers.batch import count_batch

NO_IDS = "it counts tokens and returns no ids"
METRICS = (
    "[compression, fertility, roundtrip, vocabulary, utf8, worst_documents, pairs, "
    "{speed: {rounds: 3, min_time: 0.0001}}, {counting: {rounds: 3}}]"
)
TOKENIZERS = """  bytes: {backend: utf8_bytes}
  counts: {backend: Counts, same_as: bytes}
  units: {backend: utf16_units}"""


@pytest.fixture
def lines(tmp_path):
    """Two groups of 30 lines."""
    for group in "pq":
        (tmp_path / f"{group}.txt").write_text("".join(f"{group} ac {k}\n" for k in range(30)), encoding="utf-8")
    return "  c: {source: text, path: '?.txt', document: line, parallel: true}"


@pytest.mark.packages
def test_counts_are_measured_and_compared(write_config, lines, faulty, stored):
    results = tokbench.run(write_config(lines, TOKENIZERS, METRICS), workers=0)
    for metric in ("tokens", "compression_ratio", "fertility"):
        for group in ("p", "q", "*"):
            one, other = (cell(results, name, metric, group) for name in ("counts", "bytes"))
            assert (one.status, one.value, one.ci_low) == (Status.OK, other.value, other.ci_low)
    for metric in ("roundtrip_exact", "vocab_utilization", "encode_mb_per_s", "decode_mb_per_s"):
        value = cell(results, "counts", metric)
        assert (value.status, value.reason) == (Status.NOT_APPLICABLE, NO_IDS)
    assert not [c for c in results.cells if c.tokenizer == "counts" and c.status in {Status.FAILED, Status.TIMEOUT}]
    assert cell(results, "counts", "count_mb_per_s").value > 0
    assert cell(results, "counts", "count_ratio").value > 0
    assert "round trip not measured here" in markdown.render(results)


@pytest.mark.parametrize("answer", [[1], [1, -1], [1.5, 2.0]])
def test_what_is_no_count_is_refused(answer):
    class Counts:
        def count_batch(self, texts, /):
            return answer

    with pytest.raises(ContractError, match="count_batch"):
        count_batch(Counts(), ["a", "b"])
