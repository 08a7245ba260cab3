"""A vocabulary that loses text is marked and never recommended, whatever its size."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tokbench.formats import html, markdown
from tokbench.results.cells import WHOLE
from tokbench.results.model import Results
from tokbench.studies.vocabulary_size.block import (
    VOCABULARY_SIZES,
    SizeLine,
    SizeLoss,
    SizeRecommendation,
    SizeRow,
    VocabularySizes,
)
from tokbench.studies.vocabulary_size.size_lines import SizeLines
from tokbench.studies.vocabulary_size.sizes_on_corpus import SizesOnCorpus


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
        model={"width": 8, "layers": 1, "context": 8},
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
    assert "never recommended" in markdown.render(results)


def test_where_every_vocabulary_loses_text_none_is_recommended():
    results = sizes(dict.fromkeys(("good", "fine", "lossy"), 0.1))
    left_out = dict.fromkeys(("good", "fine", "lossy"), "text of c is lost")
    recommendation = SizeRecommendation(weights={"c": 1.0}, left_out=left_out)
    block = replace(results.studies.get(VOCABULARY_SIZES), recommendation=recommendation)
    results.studies.put(VOCABULARY_SIZES, block)
    for text in (html.render(results), markdown.render(results)):
        assert "No size is recommended, because no vocabulary can be." in text
        assert "good, fine and lossy cannot be recommended: text of c is lost." in text
