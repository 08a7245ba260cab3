"""The slices of a run's text: its languages and programming languages, each with the weight it has in the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tokbench.corpus.languages import find_language
from tokbench.corpus.programs import is_programming_language, program_name
from tokbench.measuring.metric import Role
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE


class Kind(StrEnum):
    """What a text is written in."""

    LANGUAGE = "languages"
    CODE = "code"
    OTHER = "texts"


@dataclass(frozen=True, slots=True)
class Slice:
    """A group of a corpus, which counts as one text.

    Attributes:
        corpus, group: its place; the group ``*`` is a corpus without groups.
        label: its name for readers, such as ``German``.
        weight: its share of the answer; the shares add up to 1.
        size: bytes of its text; 0 if unknown.
    """

    corpus: str
    group: str
    label: str
    kind: Kind
    weight: float
    size: int = 0


def text_slices(tables: CellTables, weights: Mapping[str, float]) -> list[Slice]:
    """Return the slices of all corpora but curated ones. Each counts alike.

    With ``weights``, by corpus, the groups of a corpus share its weight, and a corpus without a weight does not count.
    """
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    corpora = [name for name in tables.corpora if not tables.corpus(name).designed]
    measured = {name: tables.groups(metric, name) or [WHOLE] for name in corpora if _is_measured(tables, metric, name)}
    if weights:
        measured = {name: groups for name, groups in measured.items() if weights.get(name)}
    shares = {name: weights.get(name, 0.0) / len(groups) if weights else 1.0 for name, groups in measured.items()}
    total = sum(shares[name] * len(groups) for name, groups in measured.items())
    return [
        Slice(name, group, _label(tables, name, group), kind, shares[name] / total, _size(tables, name, group))
        for name, groups in measured.items()
        for kind in [_kind(name, groups)]
        for group in groups
    ]


def _is_measured(tables: CellTables, metric: str, corpus: str) -> bool:
    return any((cell := tables.cell(metric, corpus, WHOLE, name)) and cell.value for name in tables.tokenizers)


def _label(tables: CellTables, corpus: str, group: str) -> str:
    return corpus if group == WHOLE else tables.language(corpus, group) or program_name(group)


def _kind(corpus: str, groups: Sequence[str]) -> Kind:
    """Return what most groups of a corpus are."""
    if 2 * sum(map(is_programming_language, groups)) > len(groups) or (groups == [WHOLE] and corpus == Kind.CODE):
        return Kind.CODE
    return Kind.LANGUAGE if 2 * sum(find_language(group) is not None for group in groups) > len(groups) else Kind.OTHER


def _size(tables: CellTables, corpus: str, group: str) -> int:
    """Return the bytes of a slice, which every tokenizer has the same."""
    for name in tables.tokenizers:
        if sums := tables.sums(tables.with_role(Role.TEXT_PER_TOKEN), corpus, group, name):
            return int(sums.columns["bytes"].sum())
    return 0


def of_kind(slices: Sequence[Slice], kind: Kind) -> list[Slice]:
    """Return the slices of one kind."""
    return [part for part in slices if part.kind == kind]
