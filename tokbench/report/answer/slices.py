"""The slices of a run's text: its languages and programming languages, each with the weight it has in the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tokbench.corpus.languages import find_language
from tokbench.corpus.programs import is_programming_language, program_name
from tokbench.measuring.metric import Role
from tokbench.report.number_format import byte_size
from tokbench.report.tables import CellTables
from tokbench.results.blocks import RunConfig
from tokbench.results.cells import WHOLE

_LEAST_OF_EVEN: Final = 0.1


class SliceKind(StrEnum):
    """What a text is written in."""

    LANGUAGE = "languages"
    CODE = "code"
    OTHER = "texts"


@dataclass(frozen=True, slots=True)
class TextGroup:
    """A group of a corpus.

    Attributes:
        group: ``*`` is a corpus without groups.
        label: its name for readers, such as ``German``.
        size: bytes of its text that is measured; 0 if unknown.
        documents: their number; 0 if unknown.
        of_size, of_documents: the same with what training keeps; 0 without a holdout.
        unit: what a document is: ``file`` or ``document``.
        parallel: the groups of its corpus are translations, so that none has too little text for the others.
    """

    corpus: str
    group: str
    label: str
    kind: SliceKind
    size: int = 0
    documents: int = 0
    unit: str = "document"
    parallel: bool = False
    of_size: int = 0
    of_documents: int = 0


@dataclass(frozen=True, slots=True)
class TextSlice:
    """Groups of one kind that count as one text: a large one, or the small ones together.

    Attributes:
        label: its name for readers.
        weight: its share of the answer; the shares add up to 1.
    """

    label: str
    kind: SliceKind
    weight: float
    groups: Sequence[TextGroup]

    @property
    def size(self) -> int:
        return sum(group.size for group in self.groups)

    @property
    def documents(self) -> int:
        return sum(group.documents for group in self.groups)

    @property
    def corpora(self) -> list[str]:
        return list(dict.fromkeys(group.corpus for group in self.groups))


@dataclass(frozen=True, slots=True)
class Division:
    """The slices that count, and the groups that are left out because there is too little of them."""

    counted: Sequence[TextSlice]
    left_out: Sequence[TextGroup]


def text_slices(tables: CellTables, weights: Mapping[str, float], corpus: str = "") -> list[TextSlice]:
    """Return the slices of one corpus, or of all but curated ones, that count; see :func:`divide`."""
    groups = [group for group in text_groups(tables, weights) if corpus in {"", group.corpus}]
    return list(divide(groups, weights, tables.results.config).counted)


def divide(groups: Sequence[TextGroup], weights: Mapping[str, float], config: RunConfig) -> Division:
    """Return the slices of some groups, with equal weight, or those of a corpus share its weight.

    A group, or all translations together, is small with less than ``least_share`` of the bytes (of more than ten
    groups, less than a tenth of an even share), or with fewer documents than ``least_documents``. The small ones of one
    kind are one slice, or are left out if they are small together; with ``weights`` they are one slice of their corpus.
    If all are small, each is a slice.

    >>> sizes = {"go": 900, "sql": 7, "css": 4}
    >>> groups = [TextGroup("c", name, name, SliceKind.CODE, size, 60) for name, size in sizes.items()]
    >>> [(each.label, each.weight, each.size) for each in divide(groups, {}, RunConfig()).counted]
    [('go', 0.5, 900), ('other code', 0.5, 11)]
    >>> [group.label for group in divide(groups[:2], {}, RunConfig()).left_out]
    ['sql']
    """
    least = min(config.least_share, _LEAST_OF_EVEN / max(len(groups), 1)) * sum(group.size for group in groups)

    def small(size: int, documents: int) -> bool:
        return 0 < size < least or 0 < documents < config.least_documents

    bytes_of = Counter[str]()
    for group in groups:
        bytes_of[group.corpus] += group.size
    sizes = [bytes_of[group.corpus] if group.parallel else group.size for group in groups]
    few = [group for group, size in zip(groups, sizes, strict=True) if small(size, group.documents)]
    parts = [(group.label, [group]) for group in groups if group not in few or len(few) == len(groups)]
    left_out: list[TextGroup] = []
    pools: dict[tuple[str, SliceKind], list[TextGroup]] = {}
    for group in few if len(few) < len(groups) else ():
        pools.setdefault((group.corpus if weights else "", group.kind), []).append(group)
    for (corpus, kind), pool in pools.items():
        if not weights and small(sum(group.size for group in pool), sum(group.documents for group in pool)):
            left_out += pool
            continue
        alone = not any(other.kind == kind and other not in few and corpus in {"", other.corpus} for other in groups)
        parts.append((pool[0].label if len(pool) == 1 else f"{'' if alone else 'other '}{kind.value}", pool))
    many = Counter(pool[0].corpus for _, pool in parts)
    shares = [weights[pool[0].corpus] / many[pool[0].corpus] if weights else 1.0 for _, pool in parts]
    counted = [
        TextSlice(label, pool[0].kind, share / sum(shares), pool)
        for (label, pool), share in zip(parts, shares, strict=True)
    ]
    return Division(counted, left_out)


def text_groups(tables: CellTables, weights: Mapping[str, float]) -> list[TextGroup]:
    """Return the groups of all corpora but curated ones; with ``weights``, of the corpora that have one."""
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    corpora = [
        name for name in tables.corpora if not tables.corpus(name).designed and (not weights or weights.get(name))
    ]
    measured = {name: tables.groups(metric, name) or [WHOLE] for name in corpora if _is_measured(tables, metric, name)}
    found = []
    for name, groups in measured.items():
        info, kinds = tables.corpus(name), kinds_of_text(name, groups)
        unit = "file" if info.options.get("document") == "file" else "document"
        for group, kind in kinds.items():
            known, whole_size, whole = (
                sum(numbers.values()) if group == WHOLE else numbers.get(group, 0)
                for numbers in (info.groups, info.group_bytes, info.group_documents)
            )
            label, size = _label(tables, name, group), _size(tables, name, group)
            found.append(TextGroup(name, group, label, kind, size, known, unit, info.parallel, whole_size, whole))
    return found


def unmeasured(tables: CellTables, weights: Mapping[str, float]) -> list[TextGroup]:
    """Return the groups of which the holdout has no document."""
    found = []
    for name in tables.corpora:
        info = tables.corpus(name)
        kinds = kinds_of_text(name, list(info.group_documents))
        unit = "file" if info.options.get("document") == "file" else "document"
        for group, documents in info.group_documents.items():
            if group not in info.groups and not info.designed and (not weights or weights.get(name)):
                label, size = _label(tables, name, group), info.group_bytes.get(group, 0)
                found.append(TextGroup(name, group, label, kinds[group], 0, 0, unit, info.parallel, size, documents))
    return found


def _is_measured(tables: CellTables, metric: str, corpus: str) -> bool:
    return any((cell := tables.cell(metric, corpus, WHOLE, name)) and cell.value for name in tables.tokenizers)


def _label(tables: CellTables, corpus: str, group: str) -> str:
    return corpus if group == WHOLE else tables.language(corpus, group) or program_name(group)


def kinds_of_text(corpus: str, groups: Sequence[str]) -> dict[str, SliceKind]:
    """Return by group what it is: what most groups of its corpus are, but a language only by its name.

    >>> [kind.name for kind in kinds_of_text("prose", ["de", "fi", "notes"]).values()]
    ['LANGUAGE', 'LANGUAGE', 'OTHER']
    """
    if 2 * sum(map(is_programming_language, groups)) > len(groups) or (groups == [WHOLE] and corpus == SliceKind.CODE):
        return dict.fromkeys(groups, SliceKind.CODE)
    named = {group for group in groups if find_language(group) is not None}
    most = 2 * len(named) > len(groups)
    return {group: SliceKind.LANGUAGE if most and group in named else SliceKind.OTHER for group in groups}


def _size(tables: CellTables, corpus: str, group: str) -> int:
    """Return the bytes of a slice, which every tokenizer has the same."""
    for name in tables.tokenizers:
        if sums := tables.sums(tables.with_role(Role.TEXT_PER_TOKEN), corpus, group, name):
            return int(sums.columns["bytes"].sum())
    return 0


def weighting(config: RunConfig) -> str:
    """Return how the mean over several slices weighs them, in words."""
    return "your weights" if config.weights else "equal weight"


def amount(groups: Sequence[TextGroup], label: str = "", *, whole: bool = False) -> str:
    """Return how much text some groups have; ``whole`` counts what training keeps, too.

    >>> amount([TextGroup("c", name, name, SliceKind.CODE, 21, 1, "file") for name in ("css", "go", "sql")], "code")
    '3 files of code, 63 bytes'
    >>> amount([TextGroup("p", "de", "German", SliceKind.LANGUAGE, 1200, 1)])
    '1 document, 1.20 kB'
    >>> go = TextGroup("c", "go", "Go", SliceKind.CODE, 21, 1, "file", of_documents=5, of_size=98)
    >>> amount([go], "Go", whole=True)
    '5 files of Go, 98 bytes (1 held out)'
    """
    evaluated, size = sum(group.documents for group in groups), sum(group.size for group in groups)
    documents = evaluated
    if whole:
        documents = sum(group.of_documents or group.documents for group in groups)
        size = sum(group.of_size or group.size for group in groups)
    unit = groups[0].unit if all(group.unit == groups[0].unit for group in groups) else "document"
    counted = f"{documents:,} {unit}{'s' if documents != 1 else ''}{f' of {label}' if label else ''}"
    held_out = f" ({evaluated:,} held out)" if documents > evaluated else ""
    return f"{counted}, {f'{size} bytes' if size < 1000 else byte_size(size)}{held_out}"  # noqa: PLR2004 - a kB
