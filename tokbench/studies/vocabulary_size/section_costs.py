"""The costs of vocabulary sizes to a model: on a corpus, by the published law, without a tokenizer, and to extend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tokbench.plugin import Column, Heading, Name, Node, Paragraph, Raised, Row, Table, TextCell, byte_size, captioned
from tokbench.studies.vocabulary_size.block import (
    ByteCost,
    ExtensionCost,
    ScalingLaw,
    ScalingOptimum,
    SizeCost,
    VocabularySizes,
)
from tokbench.studies.vocabulary_size.sizes_on_corpus import SizesOnCorpus

LINE_COLUMN: Final = Column("line", sort="ascending")

_COST_HEADS: Final[Mapping[str, str]] = {
    "size": "tokens",
    "bytes/token": "of the whole corpus",
    "parameters": "of embedding and output layer",
    "share": "of all parameters",
    "memory": "of embedding and output layer",
    "FLOPs/byte": ("of a forward pass for a byte of text: attention at half the context, feed-forward, output layer"),
    "output": "share of the output layer in the FLOPs",
    "cache/byte": "bytes of keys and values for a byte of text",
    "context": "text that fits the context",
    "unseen": (
        "ids that the measured text does not hold; each is to be expected at most so often in training as the bound "
        "says"
    ),
}
_COST_COLUMNS: Final = [
    Column(head, numeric=True, sort="descending", title=title) for head, title in _COST_HEADS.items()
]
_BYTE_COLUMNS: Final = (
    Column("it reads"),
    Column("bytes/step", numeric=True),
    Column("parameters", numeric=True, title="of embeddings, output layer and local model"),
    Column("FLOPs/byte", numeric=True, title="of a forward pass for a byte of text, both models"),
    Column("local", numeric=True, title="share of the local model in the FLOPs"),
    Column("cache/byte", numeric=True),
    Column("context", numeric=True),
)
_EXTENSION_COLUMNS: Final = (
    *(Column(head, numeric=True) for head in ("further tokens", "rows added", "spare rows", "parameters", "memory")),
    Column("share of the model", numeric=True),
    Column(
        "must save",
        numeric=True,
        title="share of tokens that further merges must save for a byte of text to cost no more",
    ),
)
_PATCHES: Final = (
    "The same model without a tokenizer. Over patches it takes one step a patch, as MEGABYTE does (Yu et al. 2023). A "
    "local model writes their bytes; that it has half the width and as many layers is an assumption of tokbench."
)
_ENTROPY_PATCHES: Final = (
    "Patches by entropy begin where the next byte has more than {:.3f} bits, as in BLT (Pagnoni et al. 2024), under an "
    "n-gram model of bytes trained on other documents. The threshold is chosen so that patches "
    "have 4.5 bytes on average, as far as the text allows it. They are taken to cost what fixed patches of their mean "
    "length cost; the n-gram model is not counted."
)


def number_cell(value: float | None, digits: int = 3, *, title: str = "", look: str = "") -> TextCell:
    """Return a number by which a column can be sorted, or the word for none."""
    if value is None:
        return TextCell(line="none", look="none")
    return TextCell(line=f"{value:,.{digits}f}", look=look, title=title, value=value)


def line_cell(line: str, corpus: SizesOnCorpus) -> TextCell:
    """Return the name of a line with its marks; it is sorted by the name alone."""
    mark = corpus.marks[line]
    return TextCell(line=[line, Raised(mark)] if mark else line, value=line)


def cost_nodes(corpus: SizesOnCorpus) -> list[Node]:
    """Return what each size costs the model on a corpus; nothing without a model."""
    if not corpus.costs:
        return []
    table = Table(
        ["Costs on ", Name(corpus.name)],
        [LINE_COLUMN, *_COST_COLUMNS],
        [_cost_row(cost, corpus) for cost in corpus.costs],
    )
    return [Heading("What each size costs the model", 4), table]


def _cost_row(cost: SizeCost, corpus: SizesOnCorpus) -> Row:
    cells = [
        line_cell(cost.line, corpus),
        *(number_cell(cost.vocab_size, 0), number_cell(cost.compression_ratio), number_cell(cost.parameters, 0)),
        *(_share_cell(cost.share, 2), _bytes_cell(cost.memory_bytes), number_cell(cost.flops_per_byte, 0)),
        *(_share_cell(cost.output_share, 1), number_cell(cost.cache_per_byte, 0), _bytes_cell(cost.context_bytes)),
    ]
    bound = "" if cost.bound is None else f"each at most {cost.bound:,.0f} times, by the rule of three"
    cells.append(number_cell(cost.unseen, 0, title=bound))
    return Row(cells, aside=cost.line in corpus.lost)


def _share_cell(share: float, digits: int) -> TextCell:
    return TextCell(line=f"{100 * share:,.{digits}f} %", value=share)


def _bytes_cell(n_bytes: float) -> TextCell:
    return TextCell(line=byte_size(n_bytes), value=float(n_bytes))


def model_nodes(study: VocabularySizes) -> list[Node]:
    """Return the model, what is published about its size, and what it costs otherwise; nothing without a model."""
    if not study.model or not study.law:
        return []
    nodes: list[Node] = [
        Heading("The model, and what is published about its size"),
        Paragraph(_model(study.model)),
        Paragraph(_law(study.law)),
    ]
    if study.without_tokenizer:
        rows = [_byte_row(cost) for cost in study.without_tokenizer]
        table = Table(_without_tokenizer(study), _BYTE_COLUMNS, rows, label="Without a tokenizer")
        nodes.append(captioned(table))
    extended = f"Extending a finished vocabulary of {study.extended_from:,} tokens"
    table = Table(
        f"{extended}, rows rounded up to a multiple of 64",
        _EXTENSION_COLUMNS,
        [_extension_row(cost) for cost in study.extensions],
        label="Extending a vocabulary",
    )
    return [*nodes, captioned(table)]


def _model(model: Mapping[str, Any]) -> str:
    facts = ", ".join(f"{name.replace('_', ' ')} {_fact(value)}" for name, value in model.items())
    return (
        f"The model: {facts}. FLOPs are those of a forward pass, two for a weight; training takes three times as many. "
        "Memory is in the precision of the model."
    )


def _fact(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _law(law: ScalingLaw) -> str:
    optima = ", ".join(map(_optimum, law.optima))
    return f"By the scaling law of {law.source} the compute-optimal size is {optima}. {law.validity}"


def _optimum(optimum: ScalingOptimum) -> str:
    budget = f", with {optimum.budget:.1e} FLOPs of training" if optimum.budget else ""
    caution = f"; {optimum.caution}" if optimum.caution else ""
    return f"{optimum.vocab_size:,} ({optimum.approach}{budget}{caution})"


def _without_tokenizer(study: VocabularySizes) -> str:
    """Return how patches are cut, and what is assumed."""
    parts = [_PATCHES]
    for cost in study.without_tokenizer:
        if cost.threshold is not None:
            by_corpus = (f"{corpus} {mean:.2f}" for corpus, mean in cost.by_corpus.items())
            some = f" Bytes of such a patch: {', '.join(by_corpus)}." if len(cost.by_corpus) > 1 else ""
            parts.append(_ENTROPY_PATCHES.format(cost.threshold) + some)
    if study.no_entropy_patches:
        parts.append(f"No {study.no_entropy_patches}.")
    return " ".join(parts)


def _byte_row(cost: ByteCost) -> Row:
    if cost.threshold is not None:
        reads = "patches by entropy"
    else:
        reads = "bytes" if cost.patch == 1 else f"patches of {cost.patch:.0f} bytes"
    step = number_cell(cost.patch, 0 if cost.threshold is None else 2)
    flops = number_cell(cost.flops_per_byte, 0), _share_cell(cost.local_share, 1)
    cache = number_cell(cost.cache_per_byte, 0), _bytes_cell(cost.context_bytes)
    return Row([reads, step, number_cell(cost.parameters, 0), *flops, *cache])


def _extension_row(cost: ExtensionCost) -> Row:
    counts = (number_cell(count, 0) for count in (cost.further, cost.rows, cost.spare, cost.parameters))
    shares = _share_cell(cost.share, 3), _share_cell(cost.break_even, 3)
    return Row([*counts, _bytes_cell(cost.bytes), *shares], named=False)
