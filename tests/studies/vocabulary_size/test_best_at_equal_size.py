"""The table at equal size: bold is what evidence calls best, and nothing without evidence."""

from __future__ import annotations

import pytest

from tokbench.formats import html
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeLine, SizeRow, VocabularySizes
from tokbench.studies.vocabulary_size.size_lines import SizeLines, SizesOnCorpus


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
