"""A vocabulary that loses text is marked and never recommended, whatever its size."""

from __future__ import annotations

import pytest

from tokbench.formats import html, markdown
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.block import (
    VOCABULARY_SIZES,
    SizeLine,
    SizeLoss,
    SizeRow,
    VocabularySizes,
)
from tokbench.studies.vocabulary_size.size_lines import SizeLines, SizesOnCorpus


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
