"""From merges and counts of ids to lines over vocabulary sizes: each size with intervals, and all corpora mixed."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import and_
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus.shards import BUCKETS
from tokbench.foundation.errors import ContractError
from tokbench.foundation.failures import Failure
from tokbench.measuring.job import TokenizerJob
from tokbench.measuring.metric import Measured, NotApplicable
from tokbench.measuring.plan import Plan
from tokbench.measuring.study import AskedJobs, StudyContext
from tokbench.measuring.sums import Sums
from tokbench.measuring.token_counts import TokenCounts, renyi_entropy
from tokbench.report.answer.slices import TextGroup, TextSlice, divide, kinds_of_text
from tokbench.results.blocks import RunConfig
from tokbench.studies.vocabulary_size.block import PackedCurve, SizeRow, VocabularySizes
from tokbench.tokenizers.contract import Tokenizer
from tokbench.tokenizers.curve import Curve, tokens_of_each
from tokbench.tokenizers.merges import MergeOrder, merge_order, ordinary_tokens

_SPANS: Final = re.compile(rb"\S\s+\S")


class Built(NamedTuple):
    """The structure of a vocabulary.

    Attributes:
        order: its merges, if it can be cut.
        size: ordinary tokens, neither special nor without bytes; all if their bytes are unknown.
        spans: the share of tokens that span words, in the first half of the merges, or else of the ids.
    """

    order: MergeOrder | None
    size: int
    reason: str = ""
    spans: float = 0.0


def _built(tokenizer: Tokenizer) -> Built:
    try:
        tokens = ordinary_tokens(tokenizer)
    except ContractError as error:
        return Built(None, tokenizer.vocab_size, str(error))
    try:
        order = merge_order(tokenizer, tokens)
    except ContractError as error:
        return Built(None, sum(map(bool, tokens)), str(error), _spans(list(filter(None, tokens))))
    merged = [tokens[made] for made in order.made.tolist()]
    return Built(order, order.base + len(order), spans=_spans(merged))


def _spans(tokens: Sequence[bytes]) -> float:
    """Return the share of tokens that span words in the first half."""
    first = tokens[: (len(tokens) + 1) // 2]
    return sum(bool(_SPANS.search(token)) for token in first) / max(len(first), 1)


def read_merges(names: Sequence[str], context: StudyContext) -> dict[str, Built | Failure]:
    """Return the structure of each vocabulary, or the failure."""
    jobs = [TokenizerJob((name,), "reading the merges of", name, _built) for name in names]
    answers = context.ask(AskedJobs(jobs, "reading merges", keep_asking=True))
    return {answer.job.tokenizers[0]: answer.value for answer in answers}


class LinePlace(NamedTuple):
    """A line on one group of a corpus."""

    line: str
    corpus: str
    group: str


@dataclass(frozen=True)
class Line:
    """The tokens of some text at some sizes of a vocabulary.

    Attributes:
        sizes: int64[s], rising.
        tokens: float64[s, BUCKETS], by jackknife group of documents.
        counts_by_size: for each size the count of each id; empty with a curve.
    """

    sizes: NDArray[np.int64]
    tokens: NDArray[np.float64]
    curve: Curve | None = None
    counts_by_size: tuple[NDArray[np.int64], ...] = ()

    def counts(self, k: int) -> NDArray[np.int64]:
        if self.curve is None:
            return self.counts_by_size[k]
        return self.curve.counts_at(int(self.sizes[k]) - self.curve.order.base)

    def tokens_at(self, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the tokens of all documents at some of the known sizes."""
        if self.curve is None:
            return np.asarray(self.tokens[np.searchsorted(self.sizes, sizes)].sum(axis=1))
        return np.asarray(self.curve.tokens[sizes - self.curve.order.base], dtype=np.float64)


def sizes_of(order: MergeOrder, sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return the wanted sizes that a vocabulary has, and its own, rising."""
    first, last = order.base, order.base + len(order)
    return np.unique([*(size for size in sizes if first <= size <= last), last]).astype(np.int64)


def cut(order: MergeOrder, states: Sequence[TokenCounts], sizes: NDArray[np.int64]) -> list[Line]:
    """Return the lines of several texts under one vocabulary."""
    curves = [Curve(order, state.total()) for state in states]
    tokens = np.zeros((len(states), len(sizes), BUCKETS))
    for k, size in enumerate(sizes.tolist()):
        weights = tokens_of_each(order, size - order.base)
        for text, state in enumerate(states):
            tokens[text, k] = state.per_bucket(weights)
    lines = zip(tokens, curves, strict=True)
    return [Line(sizes, per_size, curve) for per_size, curve in lines]


def ladder(trained: Sequence[tuple[int, TokenCounts]]) -> Line:
    """Return the line of one text under separately trained vocabularies."""
    trained = sorted(trained, key=lambda pair: pair[0])
    counts = tuple(state.total() for _, state in trained)
    ones = [state.per_bucket(np.ones(state.vocab_size, dtype=np.int64)) for _, state in trained]
    return Line(np.array([size for size, _ in trained]), np.array(ones), counts_by_size=counts)


class TextTotals(NamedTuple):
    """The size of a text, the same for every tokenizer: float64[BUCKETS], UTF-8 bytes and words by jackknife group.

    ``words`` are ``None`` where groups have different units.
    """

    documents: int
    n_bytes: NDArray[np.float64]
    words: NDArray[np.float64] | None
    unit: str


def of_group(place: LinePlace, line: Line, text: TextTotals) -> VocabularySizes:
    """Return the packed curve, and a row for each size with tokens of the text."""
    curves = [_pack(place, line.curve, text)] if line.curve else []
    kept: list[SizeRow] = []
    for k, size in enumerate(line.sizes.tolist()):
        row = _row(place, line, text, k)
        if row is None:
            continue
        if kept:
            gained = row.compression_ratio - kept[-1].compression_ratio
            row = replace(row, gain=1000 * gained / (size - kept[-1].vocab_size))
        kept.append(row)
    return VocabularySizes(rows=kept, curves=curves)


def _row(place: LinePlace, line: Line, text: TextTotals, k: int) -> SizeRow | None:
    tokens, counts = line.tokens[k], line.counts(k)
    columns = {"tokens": tokens, "bytes": text.n_bytes}
    columns |= {} if text.words is None else {"words": text.words}
    sums = Sums(text.documents, columns)
    ratio = sums.ratio("bytes", "tokens")
    if isinstance(ratio, NotApplicable):
        return None
    row = SizeRow(
        **place._asdict(),
        vocab_size=int(line.sizes[k]),
        tokens=int(tokens.sum()),
        compression_ratio=ratio.value,
        ci_low=ratio.ci_low,
        ci_high=ratio.ci_high,
        entropy=renyi_entropy(counts[counts > 0], 1.0),
        used=int(np.count_nonzero(counts)),
        unit=text.unit,
    )
    fertility = sums.ratio("tokens", "words") if text.words is not None else None
    if not isinstance(fertility, Measured):
        return row
    low, high = fertility.ci_low, fertility.ci_high
    return replace(row, fertility=fertility.value, fertility_low=low, fertility_high=high)


def _pack(place: LinePlace, curve: Curve, text: TextTotals) -> PackedCurve:
    saved = base64.b64encode(zlib.compress((-np.diff(curve.tokens)).astype("<i8").tobytes(), 6)).decode()
    return PackedCurve(
        **place._asdict(),
        bytes=int(text.n_bytes.sum()),
        base=curve.order.base,
        units=int(curve.tokens[0]),
        saved=saved,
    )


@dataclass(frozen=True)
class Mixture:
    """The text of a model, mixed of slices of text."""

    slices: Sequence[TextSlice]

    @property
    def places(self) -> set[tuple[str, str]]:
        """The corpora and groups."""
        return {(of.corpus, of.group) for part in self.slices for of in part.groups}

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """By corpus, the share of the bytes, above 0; they add up to 1."""
        weights: dict[str, float] = {}
        for part in self.slices:
            for group in part.groups:
                weights[group.corpus] = weights.get(group.corpus, 0.0) + part.weight * (group.size / part.size)
        return weights


def mixture_of(plan: Plan, corpora: Iterable[str]) -> Mixture:
    """Return the text of the model: what counts of the evaluated texts, as in the answer; of designed ones nothing."""
    config, groups = plan.config, list[TextGroup]()
    for name in corpora:
        if plan.design(name).designed or (config.weights and not config.weights.get(name)):
            continue
        survey, parallel = plan.surveys[name], plan.corpora[name].parallel
        for group, kind in kinds_of_text(name, list(survey.groups)).items():
            size, documents = survey.group_bytes[group], survey.groups[group]
            groups += [TextGroup(name, group, group, kind, size, documents, parallel=parallel)] if size else []
    rule = RunConfig(least_share=config.least_share, least_documents=config.least_documents)
    return Mixture(divide(groups, config.weights, rule).counted)


def training_bytes(plan: Plan, train_on: Sequence[str], weights: Mapping[str, float]) -> dict[str, float]:
    """Return the bytes of training text of each corpus of the mixture; designed texts do not count."""
    sizes = {}
    for name in (name for name in train_on if not plan.design(name).designed):
        survey, held = plan.surveys[name], bool(plan.corpora[name].holdout)
        sizes[name] = float(survey.bytes - held * survey.evaluated_bytes)
    if sizes.keys() & weights.keys():
        return sizes
    return {name: weight * sum(sizes.values()) for name, weight in weights.items()}  # another text, of which all counts


@dataclass(frozen=True)
class MixedLine:
    """A line over all texts together.

    Attributes:
        every: int64[s], every known size, rising.
        mixed: float64[s], the tokens of a byte at each: the weighted geometric mean over the texts.
        whole: every size from the first to the last is known.
    """

    every: NDArray[np.int64]
    mixed: NDArray[np.float64]
    whole: bool


def mix(lines: Mapping[tuple[str, str], Line], mixture: Mixture) -> MixedLine:
    """Return a line over all texts together, by the mean with which tokenizers are ranked."""
    known = [lines[place] for place in mixture.places]
    curve = known[0].curve
    if curve is None:
        every = np.array(sorted(reduce(and_, (set(line.sizes.tolist()) for line in known))))
    else:
        every = curve.order.base + np.arange(len(curve.tokens))
    logs = np.zeros(len(every))
    for part in mixture.slices:
        tokens = np.sum([lines[of.corpus, of.group].tokens_at(every) for of in part.groups], axis=0)
        logs += part.weight * np.log(tokens / part.size)
    return MixedLine(every, np.exp(logs), curve is not None)
