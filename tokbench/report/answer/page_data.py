"""What a page needs to give the answer again for the texts and tokenizers that a reader chooses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from tokbench.foundation.visible_text import visible
from tokbench.measuring.metric import Role
from tokbench.report.answer.answer import TEXT_NAMES, Answer
from tokbench.report.answer.line import OWN
from tokbench.report.answer.ranking import REASONS, why_not_ranked
from tokbench.report.answer.slices import Slice
from tokbench.report.pages import packed
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE, trained_on


class Chip(NamedTuple):
    """A switch of a page: for a corpus, a language, or a tokenizer."""

    value: str
    label: str
    within: str = ""
    """The corpora of a group; ``*`` for a corpus with groups."""


def text_chips(slices: Sequence[Slice]) -> list[Chip]:
    """Return the corpora, and then their languages and kinds; nothing for one text alone."""
    corpora = {part.corpus: Chip(part.corpus, part.corpus, "" if part.group == WHOLE else WHOLE) for part in slices}
    groups: dict[str, Chip] = {}
    for part in slices:
        if part.group != WHOLE:
            within = [groups[part.group].within] if part.group in groups else []
            groups[part.group] = Chip(part.group, part.label, ",".join([*within, part.corpus]))
    return [*corpora.values(), *groups.values()] if len(slices) > 1 else []


def packed_answer(tables: CellTables, answer: Answer) -> str:
    """Return the rates and the tokens by sampling unit of every slice, for the page's script."""
    names = tables.tokenizers
    sized = any(line.label == OWN and not line.ranks for line in answer.lines)
    data = {
        "names": [visible(name) for name in names],
        "own": [bool(tables.tokenizer(name).train) for name in names],
        "sizes": [tables.tokenizer(name).vocab_size for name in names],
        "sized": sized,
        "margin": tables.results.config.practical_margin,
        "weighted": bool(tables.results.config.weights),
        "kinds": {kind.value: name for kind, name in TEXT_NAMES.items()},
        "reasons": REASONS,
        **_by_unit(tables, answer.slices),
    }
    return packed(json.dumps(data, separators=(",", ":")))


def _by_unit(tables: CellTables, slices: Sequence[Slice]) -> dict[str, object]:
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    cells = [[tables.cell(metric, part.corpus, part.group, name) for name in tables.tokenizers] for part in slices]
    sums = [[tables.sums(metric, part.corpus, part.group, name) for name in tables.tokenizers] for part in slices]
    known = [each.units for row in sums for each in row if each]
    units = reduce(lambda one, other: one.joined(other).units, known) if known else None
    parts = []
    for part, row, counts in zip(slices, cells, sums, strict=True):
        facts: dict[str, object] = {
            "corpus": visible(part.corpus), "code": visible(part.group), "label": visible(part.label),
            "kind": part.kind.value, "weight": part.weight, "size": part.size,
            "rates": [cell and cell.value for cell in row],
            "why": [REASONS.index(why_not_ranked(tables, cell)) for cell in row],
            "seen": [bool(cell and trained_on(cell.in_sample)) for cell in row],
        }  # fmt: skip
        first = next((each for each in counts if each), None)
        if units is not None and first is not None:
            placed = [None if each is None else each.units.with_bits(units.bits) for each in counts]
            own = first.units.with_bits(units.bits).units
            facts["units"] = np.searchsorted(units.keys, own.keys).tolist()
            facts["documents"] = own.documents.tolist()
            facts["tokens"] = [
                np.bincount(place.places, weights=each.columns["tokens"]).astype(int).tolist()
                if each and place and np.array_equal(place.units.keys, own.keys) else None
                for each, place in zip(counts, placed, strict=True)
            ]  # fmt: skip
        parts.append(facts)
    strata = [] if units is None else np.unique(units.strata, return_inverse=True)[1].tolist()
    return {"slices": parts, "strata": strata}
