"""The section on vocabulary sizes: charts and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tokbench.report import document as doc
from tokbench.report.section import Chart, SectionSpec
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE
from tokbench.studies.vocabulary_size.advice import rounded_range
from tokbench.studies.vocabulary_size.answer import advised, size_lines
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES, SizeLine, SizePick, SizeRow, VocabularySizes
from tokbench.studies.vocabulary_size.options import Model
from tokbench.studies.vocabulary_size.scaling import SOURCE, VALIDITY, law_range
from tokbench.studies.vocabulary_size.size_curve import BROAD, COST_TITLE, NARROW, cost_chart, line_key
from tokbench.studies.vocabulary_size.size_lines import SizeLines, SizesOnCorpus

_EXPLANATION: Final = (
    "Each vocabulary cut to every smaller size, its first merges kept. Nothing is trained or encoded again: merges "
    "apply in order of rank, so the tokens at every smaller size follow exactly from the text encoded once. "
    "Vocabularies of different makers are compared at equal size. Size counts the tokens that text can give, without "
    "special tokens. A cut vocabulary is what training with the same text and rules would have given at that size, not "
    "the best one of that size; a sharp bend marks a vocabulary that was extended by the merges of another."
)
_CHART: Final = (
    "Every size is drawn; the dot is the vocabulary as it was made. Broken lines join sizes trained one by one."
)
_COSTS: Final = "Compute for a byte of text in a {} model, beyond the least. {}."
_SHADED: Final = "Shaded are {:,} to {:,} tokens, within 2% of the least {}"
_LINE_COLUMN: Final = doc.Column("line", sort="ascending")
_LINE_COLUMNS: Final = (
    *(
        doc.Column("line"),
        doc.Column("known at"),
        doc.Column("smallest", numeric=True),
        doc.Column("own size", numeric=True),
    ),
    doc.Column("why not at every size"),
)


def vocabulary_size_document(tables: CellTables) -> doc.Section | None:
    """Return the section; ``None`` without a study of vocabulary sizes."""
    lines = SizeLines(tables.results)
    if not lines.lines:
        return None
    panes = [
        doc.Pane(corpus, _corpus_nodes(SizesOnCorpus(lines, corpus), f"sizes-{number}"))
        for number, corpus in enumerate(lines.corpora)
    ]
    nodes = [
        doc.Paragraph(_EXPLANATION),
        doc.Table("Vocabularies", _LINE_COLUMNS, [_line_row(line, number) for number, line in enumerate(lines.lines)]),
        doc.Chooser("Corpus of the vocabulary sizes", "sizes", panes),
        *_model_nodes(lines.study),
    ]
    return doc.Section("vocabulary-size", "Vocabulary size", nodes)


def _model_nodes(study: VocabularySizes) -> list[doc.Node]:
    """Return the models, and what a published law says of their sizes."""
    nodes: list[doc.Node] = [doc.Heading("The models, and what is published about their sizes")] if study.models else []
    tokens = {advice.model: advice.pick.tokens_per_byte for advice in reversed(study.advice)}
    for name, shape in study.models.items():
        model = Model(**shape)
        facts = ", ".join(f"{key.replace('_', ' ')} {_fact(value)}" for key, value in shape.items())
        facts += f", parameters without vocabulary {model.parameters_without_vocabulary:,}"
        nodes.append(doc.Paragraph(f"{name}: {facts}; by the law {law_range(model, tokens.get(name, 0.0))}."))
    if study.left_out:
        reasons = "; ".join(f"{line} ({why})" for line, why in study.left_out.items())
        nodes.append(doc.Paragraph(f"No size is advised for: {reasons}."))
    if study.models:
        flops = "FLOPs are those of a forward pass, two for a weight; training takes three times as many."
        nodes.append(doc.Paragraph(f"{flops} The law is that of {SOURCE}. {VALIDITY}"))
    return nodes


def _fact(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _number_cell(value: float | None, *, title: str = "", look: str = "") -> doc.TextCell:
    """Return a sortable number, or the word for none."""
    if value is None:
        return doc.TextCell(line="none", look="none")
    return doc.TextCell(line=f"{value:,.3f}", look=look, title=title, value=value)


def _line_cell(line: str, corpus: SizesOnCorpus) -> doc.TextCell:
    """Return the name of a line with its marks."""
    mark = corpus.marks[line]
    return doc.TextCell(line=[line, doc.Raised(mark)] if mark else line, value=line)


def _line_row(line: SizeLine, number: int) -> doc.Row:
    known = {
        "curve": "every size",
        "ladder": f"{len(line.tokenizers)} sizes, each trained by itself",
        "point": "its own size",
    }
    sizes = known[line.kind], f"{line.smallest:,}", f"{line.largest:,}"
    return doc.Row([doc.ChartKey(line_key(number), line.line), *sizes, doc.TextCell(line=line.reason, look="prose")])


def _corpus_nodes(corpus: SizesOnCorpus, place: str) -> list[doc.Node]:
    title = f"Compression at every size on {corpus.name}"
    nodes: list[doc.Node] = [doc.Heading(["On ", doc.Name(corpus.name)])]
    nodes.append(doc.Rich(lambda: [doc.Figure(corpus.chart, _CHART, label=title)] if corpus.chart else []))
    nodes.append(doc.captioned(_table_by_size(corpus)))
    if corpus.in_sample:
        nodes.append(doc.Paragraph(f"{corpus.in_sample}, so that nothing is known of other text.", "legend"))
    if corpus.lost:
        lost = "; ".join(f"{line} ({words})" for line, words in corpus.lost.items())
        nodes.append(doc.Paragraph(f"‡ lossy, and so sorted last and not drawn: {lost}.", "legend"))
    return [*nodes, doc.Rich(lambda: [*_small_charts(corpus), *_equal_sizes(corpus, place)])]


def _table_by_size(corpus: SizesOnCorpus) -> doc.Table:
    lines = corpus.lines
    rows = [
        doc.Row(
            [
                _line_cell(line.line, corpus),
                *(_size_cell(lines.row(line.line, corpus.name, WHOLE, size)) for size in corpus.columns),
                _number_cell(lines.ratio(line.line, corpus.name, WHOLE, line.largest)),
            ],
            aside=line.line in corpus.lost,
        )
        for line in lines.lines
    ]
    heads = [*(f"{size:,}" for size in corpus.columns), "own size"]
    return doc.Table(
        ["Bytes per token on ", doc.Name(corpus.name), " by vocabulary size"],
        [_LINE_COLUMN, *(doc.Column(head, numeric=True, sort="descending") for head in heads)],
        rows,
        label=f"Compression by size on {corpus.name}",
    )


def _size_cell(row: SizeRow | None) -> doc.TextCell:
    if row is None:
        return _number_cell(None)
    parts = [f"{row.tokens:,} tokens", f"entropy {row.entropy:.2f} bits", f"{row.used:,} tokens in use"]
    if row.ci_low is not None:
        parts.insert(0, f"{row.ci_low:.3f} to {row.ci_high:.3f} with 95% confidence")
    if row.gain is not None:
        parts.append(f"{row.gain:+.4f} bytes per token for each 1,000 tokens since the size before")
    if row.fertility is not None:
        parts.append(f"{row.fertility:.3f} tokens per {row.unit}")
    return _number_cell(row.compression_ratio, title="; ".join(parts))


def _small_charts(corpus: SizesOnCorpus) -> list[doc.Node]:
    if not corpus.charts_by_group:
        return []
    lines: doc.Line = [doc.ChartKey(key, line) for line, key in corpus.line_keys]
    return [
        doc.Heading("Each group", 4),
        doc.Paragraph(lines, "legend"),
        doc.Multiples(list(corpus.charts_by_group.values())),
    ]


def _equal_sizes(corpus: SizesOnCorpus, place: str) -> list[doc.Node]:
    sizes = [size for size in corpus.columns if len(corpus.known_at(size)) > 1]
    panes = [doc.Pane(f"{size:,}", [_equal_size(corpus, size)]) for size in sizes]
    return [doc.Heading("At equal size", 4), doc.Chooser("Size of the table", f"{place}-s", panes)] if panes else []


def _equal_size(corpus: SizesOnCorpus, size: int) -> doc.Table:
    lines = corpus.known_at(size)
    rows = []
    for group in [*corpus.lines.groups(corpus.name), WHOLE]:
        best = corpus.best_at(size, group)
        cells = [
            _number_cell(corpus.lines.ratio(line, corpus.name, group, size), look="best" if line in best else "")
            for line in lines
        ]
        rows.append(doc.Row([doc.TextCell(line="whole corpus" if group == WHOLE else group, value=group), *cells]))
    columns = [doc.Column(line, numeric=True, sort="descending", mark=corpus.marks[line]) for line in lines]
    return doc.Table(
        f"Bytes per token at {size:,} tokens; bold is the best, and all whose intervals overlap with its own",
        [doc.Column("group", sort="ascending"), *columns],
        rows,
        label=f"Bytes per token at {size} tokens on {corpus.name}",
    )


def size_charts(tables: CellTables) -> Iterator[Chart]:
    """Yield the charts of cost and of compression."""
    sizes = SizeLines(tables.results)
    if (shaded := _shaded(tables, sizes.study)) and (costs := cost_chart(sizes.study, sizes.styles, shaded.pick)):
        yield Chart("sizes-cost", costs, headings=(COST_TITLE, shaded.words))
    for corpus in (SizesOnCorpus(sizes, name) for name in sizes.corpora):
        small = f"{corpus.name}: bytes per token", "by vocabulary size"
        if corpus.chart:
            yield Chart(f"sizes-{corpus.name}", corpus.chart, headings=(" ".join(small),))
        for group, drawing in corpus.charts_by_group.items():
            yield Chart(f"sizes-{corpus.name}-group-{group}", drawing, tuple(corpus.line_keys), small)


def cost_nodes(tables: CellTables) -> list[doc.Node]:
    """Return the chart of costs, which a report shows with the answer."""
    lines = SizeLines(tables.results)
    shaded = _shaded(tables, lines.study)
    if not lines.study.best or not shaded:
        return []
    broad, narrow = (cost_chart(lines.study, lines.styles, shaded.pick, size) for size in (BROAD, NARROW))
    if not broad:
        return []
    words = _COSTS.format(lines.study.best.model, shaded.words)
    return [doc.Rich([doc.Figure(broad, words, narrow=narrow, label=COST_TITLE)])]


class _Shaded(NamedTuple):
    """The sizes that the answer advises."""

    pick: SizePick
    words: str


def _shaded(tables: CellTables, study: VocabularySizes) -> _Shaded | None:
    if not (best := study.best):
        return None
    pick = advised(study, best, tables.results.config.practical_margin)
    whole = "of all sizes" if pick == best.pick else "of what the text supports"
    return _Shaded(pick, _SHADED.format(*rounded_range(pick.vocab_size, pick.low, pick.high), whole))


SECTION: Final = SectionSpec(
    name="vocabulary_size",
    place=90,
    study=VOCABULARY_SIZES.study,
    build=vocabulary_size_document,
    charts=size_charts,
    lead=cost_nodes,
    answer=size_lines,
)
