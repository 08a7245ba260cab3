"""One answer for a run of any shape, in lines that the console, the report, ``report.md`` and ``--json`` show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final, NamedTuple

from tokbench.measuring.metric import Role
from tokbench.measuring.round_trip import RoundTrip
from tokbench.report.answer.line import CONFIDENCE, OWN, PUBLISHED, AnswerLine
from tokbench.report.answer.ranking import Ranking, rank
from tokbench.report.answer.slices import (
    Division,
    SliceKind,
    TextGroup,
    TextSlice,
    amount,
    divide,
    text_groups,
    unmeasured,
    weighting,
)
from tokbench.report.answer.words import MOST_NAMES, join, more, percent
from tokbench.report.sections.losses import LOSES_NOTHING, ShownLoss, losses
from tokbench.report.tables import CellTables
from tokbench.results.blocks import RunConfig
from tokbench.results.cells import WHOLE
from tokbench.statistics.jackknife import LEAST_UNITS
from tokbench.statistics.standings import Verdict, standings

_MOST_SLICES: Final = 8
"""With more slices than these, languages are counted and not listed."""

_MOST_WHERE: Final = 6

_LEAST_TIMED: Final = 100_000
"""Bytes of text that a sentence on speeds needs."""

_NOISE: Final = 1.25
"""Speeds that differ by a larger factor without significance are noise, and no tie."""

_INSERTED: Final = {"U+0020": "a space", "U+000A": "a line end", "U+0009": "a tab"}

TEXT_NAMES: Final = {SliceKind.LANGUAGE: "language", SliceKind.CODE: "programming language", SliceKind.OTHER: "text"}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a run.

    Attributes:
        text: what was measured, in one sentence; empty if nothing was.
        lines: the rest, by subject.
        ranking: all ranked tokenizers over all slices that count.
        slices: the texts that count.
        left_out: the groups that do not, because there is too little of them.
    """

    text: str = ""
    lines: Sequence[AnswerLine] = ()
    ranking: Ranking = field(default_factory=lambda: Ranking((), ()))
    slices: Sequence[TextSlice] = ()
    left_out: Sequence[TextGroup] = ()

    @property
    def sentences(self) -> list[str]:
        """All sentences in their order."""
        return [*([self.text] if self.text else []), *(sentence for line in self.lines for sentence in line.sentences)]

    def facts(self) -> Mapping[str, object]:
        """Return the answer as JSON has it.

        >>> Answer(text="For your texts: German.").facts()
        {'text': 'For your texts: German.', 'lines': [], 'ranking': []}
        """
        return {
            "text": self.text,
            "lines": [{"label": line.label, "sentences": list(line.sentences)} for line in self.lines],
            "ranking": [asdict(standing) for standing in self.ranking.standings],
        }


def answer_of(tables: CellTables, further: Sequence[AnswerLine] = ()) -> Answer:
    """Return the answer; ``further`` lines, such as a vocabulary size, come after the ranking."""
    config = tables.results.config
    division = _division(tables)
    slices = division.counted
    if not slices:
        return Answer(lines=[*_designed(tables, config), *_speed(tables), *further])
    published = [name for name in tables.tokenizers if not tables.own(name)]
    own = [name for name in tables.tokenizers if tables.own(name)]
    maker, ranking = _LineMaker(tables, config, slices), overall(tables)
    lines = [
        *maker.published(published, alone=not own),
        *maker.own(published, own, sized=any(line.label == OWN for line in further)),
        *(line for line in further if line.label != CONFIDENCE),
        *_losses(tables, config, list(dict.fromkeys(corpus for part in slices for corpus in part.corpora))),
        *_speed(tables),
        *_confidence(tables, slices, ranking, [line for line in further if line.label == CONFIDENCE]),
    ]
    return Answer(_text(division, config), lines, ranking, slices, division.left_out)


def overall(tables: CellTables) -> Ranking:
    """Rank all tokenizers over all texts, or the published ones alone where training has seen some of these."""
    config = tables.results.config
    slices = _division(tables).counted
    published = [name for name in tables.tokenizers if not tables.own(name)]
    ranking = rank(tables, slices, tables.tokenizers, config.practical_margin)
    if published and len(ranking.slices) < len(slices):
        return rank(tables, slices, published, config.practical_margin)
    return ranking


def _division(tables: CellTables) -> Division:
    config = tables.results.config
    parts = divide(text_groups(tables, config.weights), config.weights, config)
    return Division(parts.counted, [*parts.left_out, *unmeasured(tables, config.weights)])


def _text(division: Division, config: RunConfig) -> str:
    """Say what was measured, how it counts, and what does not.

    >>> groups = [TextGroup("a", name, name, SliceKind.OTHER, size, 60) for name, size in (("a", 3000), ("b", 1000))]
    >>> _text(divide([*groups, TextGroup("a", "go", "Go", SliceKind.CODE, 31, 1)], {}, RunConfig()), RunConfig())
    'For your texts: 75% a, 25% b. All have equal weight, whatever their shares. Left out: 1 document of Go, 31 bytes.'
    """
    return " ".join([_counted(division.counted, config), *_left_out(division.left_out)])


def _left_out(groups: Sequence[TextGroup]) -> Iterator[str]:
    """Name the groups that are too small, by kind."""
    pools = [[group for group in groups if group.kind == kind] for kind in SliceKind]
    named = [(pool[0].label if len(pool) == 1 else pool[0].kind.value, pool) for pool in pools if pool]
    if named:
        yield f"Left out: {'; '.join(amount(pool, label, whole=True) for label, pool in named)}."


def _counted(slices: Sequence[TextSlice], config: RunConfig) -> str:
    if len(slices) > _MOST_SLICES:
        counted = Counter(part.kind for part in slices)
        parts = [
            f"{counted[kind]} {TEXT_NAMES[kind]}{'s' * (counted[kind] > 1)}" for kind in SliceKind if counted[kind]
        ]
        return f"For {join(parts)}, with {weighting(config)}."
    total = sum(part.size for part in slices)
    shares = Counter[str]()
    for part in slices:
        shares[part.label] += part.weight if config.weights or not total else part.size / total  # type: ignore[assignment]
    listed = [f"{percent(share)} {label}" for label, share in shares.most_common()] if len(shares) > 1 else [*shares]
    how = "These are your weights." if config.weights else "All have equal weight, whatever their shares."
    return f"For your texts: {', '.join(listed)}.{f' {how}' if len(slices) > 1 else ''}"


class _LineMaker:
    """Makes the lines on tokens."""

    def __init__(self, tables: CellTables, config: RunConfig, slices: Sequence[TextSlice]) -> None:
        self._tables, self._config, self._slices = tables, config, slices

    def rank(self, names: Sequence[str], slices: Sequence[TextSlice] = ()) -> Ranking:
        return rank(self._tables, slices or self._slices, names, self._config.practical_margin)

    def published(self, names: Sequence[str], *, alone: bool) -> Iterator[AnswerLine]:
        ranking = self.rank(names)
        if ranking.standings:
            label = PUBLISHED if len(ranking.standings) > 1 or not alone else "Tokens"
            said = [self._ranked(ranking), *_same(self._tables, ranking), *self._summed(ranking)]
            said += self._where(ranking, names)
            yield AnswerLine(label, tuple(said), ranks=True, leads=1)

    def own(self, published: Sequence[str], own: Sequence[str], *, sized: bool) -> Iterator[AnswerLine]:
        """Yield what the run's own tokenizers need, beside the best published one; nothing where a size is advised."""
        ranking, best = self.rank(own), self.rank(published)
        if not ranking.standings or sized:
            return
        said = [self._ranked(ranking)]
        unseen = [part for part in self._slices if part not in ranking.slices]
        if seen := list(dict.fromkeys(corpus for part in unseen for corpus in part.corpora)):
            said.append(f"That is without {join(seen)}: training has seen it.")
        if best.standings:
            both = self.rank([ranking.best, best.best])
            said.append(_beside(both, ranking.best, best.best))
        yield AnswerLine(OWN, tuple(said), ranks=True, leads=1)

    def _ranked(self, ranking: Ranking) -> str:
        per_token = f"{ranking.bytes_per_token:.2f} bytes per token{self._aside(ranking)}"
        if len(ranking.standings) == 1:
            return f"{ranking.best}: {per_token}."
        ties, behind = ranking.ties, ranking.behind
        head = f"{join(ties)} tie for the fewest tokens" if len(ties) > 1 else f"{ties[0]} uses the fewest tokens"
        after = f"; {behind[0].tokenizer} uses {more(behind[0].more, behind[0].low, behind[0].high)}" if behind else ""
        return f"{head}: {per_token}{after}."

    def _aside(self, ranking: Ranking) -> str:
        """Return over what the mean is, and the number over all bytes where that is another one."""
        over_all = {name: f"{ranking.over_all[name]:.2f}" for name in ranking.ties[:MOST_NAMES] if ranking.over_all}
        if set(over_all.values()) <= {f"{ranking.bytes_per_token:.2f}"}:
            return ""
        each = ", ".join(f"{name} {value}" for name, value in over_all.items())
        whole = f"over all bytes {each}" if len(over_all) > 1 else f"{over_all[ranking.best]} over all bytes"
        return f", with {weighting(self._config)} ({whole})"

    def _summed(self, ranking: Ranking) -> Iterator[str]:
        """Name the tokenizer that needs the fewest tokens for all bytes together, if it is another one, and why."""
        best = max(ranking.over_all, key=ranking.over_all.__getitem__, default=ranking.best)
        beyond = ranking.over_all[best] / ranking.over_all[ranking.best] - 1 if ranking.over_all else 0.0
        if best not in ranking.ties and beyond >= self._config.practical_margin:
            most = max(ranking.slices, key=lambda part: part.size)
            share = percent(most.size / sum(part.size for part in ranking.slices))
            said = f"{best} uses the fewest tokens, {ranking.best} {percent(beyond)} more"
            yield f"Over all bytes, {said}: {most.label} is {share} of them."

    def _where(self, ranking: Ranking, names: Sequence[str]) -> Iterator[str]:
        """Name the winners by language and kind, if not all are the same."""
        if len(ranking.standings) < 2 or len(self._slices) < 2:  # noqa: PLR2004 - nothing to compare
            return
        places = [(name, self.rank(names, parts)) for name, parts in self._places()]
        if any(set(place.ties) != set(ranking.ties) for _, place in places):
            said = " · ".join(f"{name} {_winner(place, ranking)}" for name, place in places if place.standings)
            yield f"{said[:1].upper()}{said[1:]}."

    def _places(self) -> Iterator[tuple[str, Sequence[TextSlice]]]:
        """Yield the languages one by one if they are few, and code as one."""
        for kind in SliceKind:
            parts = [part for part in self._slices if part.kind == kind]
            if parts and (kind is SliceKind.CODE or len(parts) > _MOST_WHERE):
                yield kind.value, parts
            else:
                yield from ((part.label, [part]) for part in parts)


def _same(tables: CellTables, ranking: Ranking) -> Iterator[str]:
    """Say which ties are no accident."""
    same = [ranking.best, *(one.tokenizer for one in ranking.standings if one.same)]
    vocabularies = {tables.tokenizer(name).sha256.get("vocabulary", name) for name in same}
    if len(same) > 1:
        what = "are the same vocabulary" if len(vocabularies) == 1 else "need the same number of tokens"
        yield f"{join(same)} {what}."


def _winner(place: Ranking, overall: Ranking) -> str:
    """Return who wins at a place, and what the winner over all needs there, or else the next.

    >>> from tokbench.report.answer.ranking import BarStanding
    >>> both = Ranking((), [BarStanding("a", 0.0, tied=True), BarStanding("b", 0.04)])
    >>> _winner(both, Ranking((), [BarStanding("b", 0.0, tied=True)]))
    'a (b +4%)'
    """
    if len(place.ties) > 1:
        return f"{join(place.ties)} tie"
    other = place.of(overall.best) if overall.best != place.best else next(iter(place.behind), None)
    beside = f" ({other.tokenizer} +{percent(other.more)})" if other else ""
    return f"{place.best}{beside}"


def _beside(both: Ranking, own: str, published: str) -> str:
    if len(both.standings) < 2:  # noqa: PLR2004 - one of the two is not ranked
        return f"It cannot be compared with {published}."
    if len(both.ties) > 1:
        return f"{own} and {published} tie."
    behind = both.behind[0]
    if behind.tokenizer == own:
        return f"{own} uses {more(behind.more, behind.low, behind.high, published)}."
    return f"{published} uses {more(behind.more, behind.low, behind.high, own)}."


def _designed(tables: CellTables, config: RunConfig) -> Iterator[AnswerLine]:
    """Say what can be said of curated texts alone: no interval, and nothing about other text."""
    metric = tables.with_role(Role.TEXT_PER_TOKEN)
    pools = {corpus: tables.competing(metric, corpus) if metric else [] for corpus in tables.corpora}
    for corpus, pool in pools.items():
        if pool and pool[0].value:
            said = f"{pool[0].tokenizer} uses the fewest tokens, {pool[0].value:.2f} bytes per token"
            yield AnswerLine(corpus, (f"{said}; these texts are curated, and say nothing about others.",))
    if any(pools.values()):
        yield from _losses(tables, config, tables.corpora)


def _speed(tables: CellTables) -> Iterator[AnswerLine]:
    """Say who encodes the largest text fastest, if that is significant; nothing of texts too short to time."""
    metric = tables.with_role(Role.ENCODING_SPEED)
    sizes = {name: tables.corpus(name).evaluated_bytes or 0 for name in tables.corpora}
    corpora = [name for name, size in sizes.items() if size >= _LEAST_TIMED and not tables.corpus(name).designed]
    corpus = max(corpora, key=lambda name: sizes[name], default="")
    pool = [cell for cell in tables.competing(metric, corpus) if cell.value] if metric and corpus else []
    returns = {cell.tokenizer: tables.tokenizer(cell.tokenizer).returns for cell in pool}
    if tables.metric(metric).by_output:
        pool = [cell for cell in pool if returns[cell.tokenizer] == returns[pool[0].tokenizer]]
    if len(pool) < 2:  # noqa: PLR2004 - one alone is not the fastest
        return
    numbers = {cell.tokenizer: [tables.number(cell)] for cell in pool}
    top, *others = standings(numbers, margin=tables.margin(metric))
    ties = [other for other in others if other.verdict is not Verdict.BEHIND]
    among = f" among those returning {returns[top.contender]}" if len(pool) < len(returns) else ""
    said = f"{top.contender} encodes {corpus} fastest{among}: {top.value:.3g} {pool[0].unit}, "
    said += f"{percent(others[0].gap.more)} faster than {others[0].contender}."
    if ties:
        names = join([top.contender, *(tie.contender for tie in ties)])
        said = f"{names} tie{among}: {top.value:.3g} {pool[0].unit} on {corpus}."
        if top.value > _NOISE * min(each.value for each in ties):
            said = "Speeds are too noisy to rank."
    yield AnswerLine("Speed", (said,))


class _Lost(NamedTuple):
    """The worst round trip of a tokenizer, and the share of the characters that it loses there."""

    round_trip: RoundTrip
    share: float
    corpus: str


def _losses(tables: CellTables, config: RunConfig, corpora: Sequence[str]) -> Iterator[AnswerLine]:
    """Name what is lost: a little, and by whom; and who is not ranked for it."""
    if not tables.losses_checked:
        yield AnswerLine("Losses", ("Not measured: add roundtrip to the metrics to know which tokenizers lose text.",))
        return
    worst = {name: max((_lost(tables, name, corpus) for corpus in corpora), key=_badness) for name in tables.tokenizers}
    by_kind = {kind: [name for name, lost in worst.items() if lost.round_trip == kind] for kind in RoundTrip}
    examples = losses(tables)
    little: dict[str, list[str]] = {}
    for name in [*by_kind[RoundTrip.LOSSY_RANKED], *by_kind[RoundTrip.INSERTS]]:
        little.setdefault(_example(tables, examples, worst[name], name), []).append(name)
    said = [f"{join(names)}: {what}." for what, names in little.items()]
    if same := by_kind[RoundTrip.CANONICAL]:
        said.append(f"{join(same)}: equal up to NFC, which loses nothing.")
    if much := sorted(by_kind[RoundTrip.LOSSY], key=lambda name: worst[name].share):
        listed = join([f"{name} ({percent(share)})" if (share := worst[name].share) else name for name in much], most=6)
        said.append(f"Not ranked, because they lose more than {percent(config.most_lost)} of the characters: {listed}.")
    if unknown := by_kind[RoundTrip.UNKNOWN]:
        said.append(f"The round trip of {join(unknown)} is not known.")
    if by_kind[RoundTrip.EXACT]:
        said.append("All others round-trip." if said else "Every text round-trips.")
    elif not said:
        return
    yield AnswerLine("Losses", tuple(said))


def _badness(lost: _Lost) -> tuple[int, float]:
    return list(RoundTrip).index(lost.round_trip), lost.share


def _lost(tables: CellTables, name: str, corpus: str) -> _Lost:
    ratio = tables.cell(tables.with_role(Role.TEXT_PER_TOKEN), corpus, WHOLE, name)
    share = tables.cell(tables.with_role(Role.LOST_CHARACTERS), corpus, WHOLE, name)
    kept = tables.round_trip(ratio) if ratio and ratio.value is not None else RoundTrip.EXACT
    return _Lost(kept, share.value or 0.0 if share else 0.0, corpus)


def _example(tables: CellTables, examples: Sequence[ShownLoss], lost: _Lost, name: str) -> str:
    here = [loss for loss in examples if (loss.tokenizer, loss.corpus) == (name, lost.corpus)]
    found = [loss for loss in here if loss.documents and loss.cause not in LOSES_NOTHING]
    where = f"in {sum(loss.documents for loss in found):,} of {sum(tables.corpus(lost.corpus).groups.values()):,} texts"
    before, _, after = found[0].change.partition(" → ") if found else ("", "", "")
    if lost.round_trip == RoundTrip.INSERTS:
        what = _INSERTED.get(after, after) if found else "characters"
        return f"inserts {what} {where if found else 'in texts'} of {lost.corpus}"
    if not found:
        return f"{percent(lost.share)} of the characters of {lost.corpus} are lost"
    return f"{before} becomes {after} {where} of {lost.corpus}"


def _confidence(
    tables: CellTables, slices: Sequence[TextSlice], ranking: Ranking, further: Sequence[AnswerLine]
) -> Iterator[AnswerLine]:
    said = [sentence for line in further for sentence in line.sentences]
    limit = tables.results.config.limit
    if limit is not None:
        learned = ", and training has read no more" * any(info.train for info in tables.results.tokenizers.values())
        said.append(f"A first look: at most {limit:,} document{'s' * (limit > 1)} of each language{learned}.")
    behind = next((one for one in ranking.standings[1:] if not one.same), None)
    if behind and behind.low is None:
        least = min(slices, key=lambda part: part.documents)
        few = 0 < least.documents < LEAST_UNITS
        why = f": only {amount(least.groups, least.label if len(slices) > 1 else '')}" if few else ""
        said.append(f"No intervals{why}.")
    if said:
        yield AnswerLine(CONFIDENCE, tuple(said))
