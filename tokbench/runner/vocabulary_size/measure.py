"""``study: vocabulary``: from the counts of ids to lines over sizes, costs, and what to take."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.contracts.metric import CorpusMetric, Measured
from tokbench.corpus.words import UNIT_NAMES
from tokbench.failures import Failure, attempt
from tokbench.metrics.families.curve import TokenCounts
from tokbench.progress import Progress
from tokbench.results.cells import WHOLE, Cell
from tokbench.runner.evaluate import Evaluation
from tokbench.runner.plan import CURVE, Plan
from tokbench.runner.prepare import PreparedTokenizer
from tokbench.runner.vocabulary_size.costs import advice, costs, describe_model, extensions, law
from tokbench.runner.vocabulary_size.lines import Line, cut, grid, ladder
from tokbench.runner.vocabulary_size.merges import Built, read_merges
from tokbench.runner.vocabulary_size.rows import Text, find_knee, rows
from tokbench.runner.workers.pool import WorkerPool
from tokbench.vocabulary.curve import Curve
from tokbench.vocabulary.size.options import VocabularyStudy

__all__ = ["study_vocabulary"]


def study_vocabulary(
    plan: Plan,
    prepared: Sequence[PreparedTokenizer],
    evaluation: Evaluation,
    cells: Iterable[Cell],
    pool: WorkerPool,
    progress: Progress,
) -> dict[str, Any]:
    """The study as plain data for ``results.json``; see :class:`tokbench.results.model.Results`.

    The cells tell who was trained on which of the documents.
    """
    options = plan.config.study.vocabulary
    assert options is not None
    ready = [each for each in prepared if each.facts]
    told = read_merges([each.name for each in ready], pool, progress)
    built = {name: each for name, each in told.items() if not isinstance(each, Failure)}
    seen = {(cell.tokenizer, cell.corpus): cell.in_sample or 0.0 for cell in cells if cell.group == WHOLE}
    study = _Study(plan, evaluation, options, [each.name for each in ready], seen)
    study.failures += [f"{name}: {each.reason}" for name, each in told.items() if isinstance(each, Failure)]
    entries: dict[str, list[PreparedTokenizer]] = {}
    for each in (each for each in ready if each.name in built):
        whole = built[each.name].order is not None
        entries.setdefault(each.name if whole else each.planned.entry, []).append(each)
    for done, (name, members) in enumerate(entries.items(), 1):
        failed = attempt(lambda name=name, members=members: study.line(name, members, built), name)  # type: ignore[misc]
        if isinstance(failed, Failure):
            study.failures.append(failed.reason)
        progress("drawing curves", done, len(entries))
    return study.results()


@dataclass
class _Study:
    plan: Plan
    evaluation: Evaluation
    options: VocabularyStudy
    names: list[str]
    seen: dict[tuple[str, str], float]
    lines: list[dict[str, Any]] = field(default_factory=list)
    curves: list[dict[str, Any]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    knees: list[dict[str, Any]] = field(default_factory=list)
    costs: list[dict[str, Any]] = field(default_factory=list)
    losses: list[dict[str, Any]] = field(default_factory=list)
    in_sample: list[dict[str, Any]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def line(self, name: str, members: Sequence[PreparedTokenizer], built: Mapping[str, Built]) -> None:
        """Look at one vocabulary that can be cut, or at several that were trained by themselves."""
        # Where the text gives no more tokens, several trainings end at one size.
        members = list({built[each.name].size: each for each in reversed(members)}.values())[::-1]
        first = built[members[0].name]
        sizes = [built[each.name].size for each in members]
        kind = "curve" if first.order is not None else "ladder" if len(members) > 1 else "point"
        self.lines.append({
            "line": name,
            "kind": kind,
            "tokenizers": [each.name for each in members],
            "trained": bool(members[0].planned.train_on),
            "smallest": first.order.base if first.order else min(sizes),
            "largest": max(sizes),
            "reason": first.reason,
            "spaces": max(built[each.name].spaces for each in members),
            "spaces_from": first.spaces_from,
        })  # fmt: skip
        for corpus in self.plan.measured:
            place, names = {"line": name, "corpus": corpus}, [each.name for each in members]
            share = max(self.seen.get((each, corpus), 0.0) for each in names)
            self.in_sample += [place | {"share": share}] * (share > 0)
            lost = self._lost(corpus, names)
            self.losses += [place | lost] if lost else []
        for (corpus, group), line in self._cut(self.texts, members, built).items():
            self._group({"line": name, "corpus": corpus, "group": group}, line, self.texts[corpus, group])

    def _cut(
        self, places: Iterable[tuple[str, str]], members: Sequence[PreparedTokenizer], built: Mapping[str, Built]
    ) -> dict[tuple[str, str], Line]:
        """The line on each corpus and group on which all members have been counted."""
        states: dict[tuple[str, str], list[TokenCounts]] = {}
        for place in places:
            counts = [self._counts(each.name, *place) for each in members]
            found = [each for each in counts if not isinstance(each, Failure)]
            if len(found) == len(members):
                states[place] = found
            elif place[1] != WHOLE:
                reasons = dict.fromkeys(each.reason for each in counts if isinstance(each, Failure))
                self.failures.append(
                    f"{members[0].planned.entry} on {place[0]}, group {place[1]}: {'; '.join(reasons)}"
                )
        order = built[members[0].name].order
        if order is not None:
            sizes = grid(order, self.options.sizes)
            return dict(zip(states, cut(order, [each[0] for each in states.values()], sizes), strict=True))
        rungs = [built[each.name].size for each in members]
        return {place: ladder(list(zip(rungs, each, strict=True))) for place, each in states.items()}

    def _group(self, place: dict[str, str], line: Line, text: Text) -> None:
        last = int(line.sizes[-1])
        wanted = [*(size for size in self.options.sizes if size < last), last]
        sizes = [size for size in wanted if size in line.sizes] if line.curve else line.sizes.tolist()
        found = rows(line, text, sizes)
        self.rows += [place | row for row in found]
        bend = find_knee(line, text) if line.curve else None
        if bend:
            self.knees.append(place | bend)
        if line.curve:
            self.curves.append(place | _drawn(line.curve, text, every=self.options.points == "all"))
        if place["group"] == WHOLE and self.options.model and found:
            ratios = {row["vocab_size"]: row["compression_ratio"] for row in found}
            self.costs += [
                place | row | {"compression_ratio": ratios[row["vocab_size"]]}
                for row in costs(self.options.model, line, found)
            ]

    @cached_property
    def texts(self) -> dict[tuple[str, str], Text]:
        """By corpus and group, the whole among them; its side of the counts is the same for whatever tokenizer."""
        found = {}
        for corpus in self.plan.measured:
            for group in [*self.plan.surveys[corpus].groups, WHOLE]:
                text = next(filter(None, (self._text(name, corpus, group) for name in self.names)), None)
                if text is not None:
                    found[corpus, group] = text
        return found

    def _text(self, name: str, corpus: str, group: str) -> Text | None:
        sums = self._state(name, corpus, group, "compression")
        words = self._state(name, corpus, group, "fertility")
        if isinstance(sums, Failure) or isinstance(words, Failure):
            return None
        if words.refusal() is not None:
            return Text(sums.documents, sums.columns["bytes"], None, "")
        [unit] = words.units
        return Text(sums.documents, sums.columns["bytes"], words.sums.columns["words"], UNIT_NAMES[unit][0])

    def _lost(self, corpus: str, names: Sequence[str]) -> dict[str, float | None]:
        """The least share of documents that come back, and the largest of unknown tokens; empty if nothing is lost.

        Where a round trip could not be measured, the share is ``None``.
        """
        states = [self._state(name, corpus, WHOLE, "roundtrip") for name in names]
        metric = self.evaluation.metrics["roundtrip"]
        assert not isinstance(metric, CorpusMetric)
        found = [metric.finish(state) for state in states if not isinstance(state, Failure)]
        exact = [each["roundtrip_exact"] for each in found]
        shares = [each.value for each in exact if isinstance(each, Measured)]
        unknown = [each.value for each in (one["unk_rate"] for one in found) if isinstance(each, Measured)]
        if len(shares) < len(names):
            return {"exact": None, "unknown": max(unknown, default=0.0)}
        return {} if min(shares) == 1 else {"exact": min(shares), "unknown": max(unknown, default=0.0)}

    def _counts(self, name: str, corpus: str, group: str) -> TokenCounts | Failure:
        state: TokenCounts | Failure = self._state(name, corpus, group, CURVE)
        return state

    def _state(self, name: str, corpus: str, group: str, family: str) -> Any | Failure:
        return self.evaluation.group_state((name, corpus, group, family), self.plan.surveys[corpus].groups)

    def results(self) -> dict[str, Any]:
        """All of it."""
        model = self.options.model
        found: dict[str, Any] = {
            "sizes": list(self.options.sizes),
            "points": self.options.points,
            "lines": self.lines,
            "rows": self.rows,
            "knees": self.knees,
            "curves": self.curves,
            "losses": self.losses,
            "in_sample": self.in_sample,
            "failures": self.failures,
        }
        if model is not None:
            largest = max((each["largest"] for each in self.lines), default=1)
            found |= {
                "model": describe_model(model),
                "costs": self.costs,
                "advice": {corpus: each for corpus in self.plan.measured if (each := self._advice(corpus))},
                "law": law(model),
                "extensions": {"vocab_size": largest, "rows": extensions(model, largest)},
            }
        return found

    def _advice(self, corpus: str) -> dict[str, Any] | None:
        """Of what loses nothing, and was not trained on the text, unless all was."""
        lossy, inside = (
            {each["line"] for each in found if each["corpus"] == corpus} for found in (self.losses, self.in_sample)
        )
        table = [row for row in self.costs if row["corpus"] == corpus and row["line"] not in lossy]
        outside = [row for row in table if row["line"] not in inside]
        if not table:
            return None
        taken = advice(outside or table, self._worst(corpus))
        if not outside:
            taken["sentence"] += " It was trained on some of this text: expect less on other text."
        return taken

    def _worst(self, corpus: str) -> dict[tuple[str, int], tuple[str, float]]:
        """By line and size, the group with the fewest bytes per token.

        In a parallel corpus all groups say the same, so each group's tokens are set against the mean of bytes: the
        script's bytes per character do not count then.
        """
        parallel = self.plan.corpora[corpus].parallel
        groups: dict[tuple[str, int], dict[str, float]] = {}
        of_text = {}
        for row in self.rows:
            if row["corpus"] == corpus and row["group"] != WHOLE:
                groups.setdefault((row["line"], row["vocab_size"]), {})[row["group"]] = row["compression_ratio"]
                of_text[row["group"]] = row["tokens"] * row["compression_ratio"]
        mean = float(np.mean(list(of_text.values()))) if of_text else 0.0
        if parallel:
            groups = {
                key: {group: ratio * mean / of_text[group] for group, ratio in each.items()}
                for key, each in groups.items()
            }
        return {key: min(each.items(), key=lambda item: item[1]) for key, each in groups.items()}


def _drawn(curve: Curve, text: Text, *, every: bool) -> dict[str, Any]:
    """The curve of every size: bytes, words, tokens without merges, what each merge saves, and maybe all entropies."""
    drawn = {
        "bytes": int(text.n_bytes.sum()),
        "words": None if text.words is None else int(text.words.sum()),
        "unit": text.unit,
        "base": curve.order.base,
        "units": int(curve.tokens[0]),
        "saved": _packed(-np.diff(curve.tokens), "<i8"),
    }
    return drawn | ({"entropy": _packed(curve.entropy, "<f8")} if every else {})


def _packed(values: NDArray[Any], kind: str) -> str:
    """An array as base64 of zlib."""
    return base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 6)).decode()
