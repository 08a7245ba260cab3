"""What a page needs to give the answer again for the texts and tokenizers that a reader chooses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.measuring.sums import Sums
from tokbench.report.answer.answer import TEXT_NAMES, Answer
from tokbench.report.answer.line import OWN
from tokbench.report.answer.ranking import REASONS, bars, why_not_ranked
from tokbench.report.answer.slices import TextGroup, text_groups
from tokbench.report.pages import packed
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE, trained_on
from tokbench.statistics.sample_units import SampleUnits
from tokbench.statistics.standings import LEVEL


class Chip(NamedTuple):
    """A switch of a page: for a corpus, a language, or a tokenizer."""

    value: str
    label: str
    within: str = ""
    """The corpora of a group; ``*`` for a corpus with groups."""


class ChipRow(NamedTuple):
    """Chips, the key of a link for those that are off, and the key of the filter that they share."""

    name: str
    off: str
    box: str
    chips: Sequence[Chip]


def chip_rows(tables: CellTables, answer: Answer) -> list[ChipRow]:
    """Return the chips of corpora, then of their languages and kinds; and of tokenizers. One alone has no chip."""
    parts = text_groups(tables, tables.results.config.weights)
    corpora = {part.corpus: Chip(part.corpus, part.corpus, "" if part.group == WHOLE else WHOLE) for part in parts}
    within: dict[str, list[TextGroup]] = {}
    for part in parts:
        if part.group != WHOLE:
            within.setdefault(part.group, []).append(part)
    groups = [Chip(group, some[0].label, ",".join(part.corpus for part in some)) for group, some in within.items()]
    names = [Chip(bar.tokenizer, bar.tokenizer) for bar in bars(tables, answer.ranking)]
    texts = [*corpora.values(), *groups] if len(parts) > 1 else []
    rows = ChipRow("Texts", "skip", "groups", texts), ChipRow("Tokenizers", "off", "tok", names)
    return [row for row in rows if len(row.chips) > 1]


def packed_answer(tables: CellTables, answer: Answer) -> str:
    """Return the rates and the tokens by sampling unit of every group, for the page's script."""
    config = tables.results.config
    groups = text_groups(tables, config.weights)
    metric, infos = tables.with_role(Role.TEXT_PER_TOKEN), [tables.tokenizer(name) for name in tables.tokenizers]
    sums = [[tables.sums(metric, part.corpus, part.group, name) for name in tables.tokenizers] for part in groups]
    known = [each.units for row in sums for each in row if each]
    units = reduce(lambda one, other: one.joined(other).units, known) if known else None
    data = {
        "names": [visible(name) for name in tables.tokenizers],
        "own": [tables.own(name) for name in tables.tokenizers],
        "sizes": [info.vocab_size for info in infos],
        "sized": any(line.label == OWN and not line.ranks for line in answer.lines),
        "rules": [config.practical_margin, config.least_share, config.least_documents, LEVEL],
        "weights": {visible(name): weight for name, weight in config.weights.items()},
        "kinds": {kind.value: name for kind, name in TEXT_NAMES.items()},
        "reasons": REASONS,
        "strata": [] if units is None else np.unique(units.strata, return_inverse=True)[1].tolist(),
        "groups": [
            _facts(tables, part) | (_counts(units, row) if units and any(row) else {})
            for part, row in zip(groups, sums, strict=True)
        ],
    }
    return packed(json.dumps(data, separators=(",", ":")))


def _facts(tables: CellTables, part: TextGroup) -> dict[str, object]:
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    cells = [tables.cell(metric, part.corpus, part.group, name) for name in tables.tokenizers]
    names = {"corpus": part.corpus, "code": part.group, "label": part.label, "kind": part.kind.value}
    return {
        **{key: visible(name) for key, name in names.items()},
        "size": part.size,
        "number": part.documents,
        "whole": [part.of_documents or part.documents, part.of_size or part.size],
        "unit": part.unit,
        "parallel": part.parallel,
        "rates": [cell and cell.value for cell in cells],
        "why": [REASONS.index(why_not_ranked(tables, cell)) for cell in cells],
        "seen": [bool(cell and trained_on(cell.in_sample)) for cell in cells],
    }


def _counts(units: SampleUnits, row: Sequence[Sums | None]) -> dict[str, object]:
    """Return the units of a group among all ``units``, and its tokens in each; all have the same documents."""
    placed = [each and each.placed(*each.units.with_bits(units.bits)[::-1]) for each in row]
    first = next(each.units for each in placed if each)
    return {
        "units": np.searchsorted(units.keys, first.keys).tolist(),
        "documents": first.documents.tolist(),
        "tokens": [each and each.columns["tokens"].astype(int).tolist() for each in placed],
    }
