"""The family ``drift``: its metrics, and the sums over messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.plugin import Tokenizer, metrics
from tokbench.segmentation.chat_templates import CHAT_TEMPLATES
from tokbench.segmentation.conversations import Conversation, conversation
from tokbench.tokenizers.contract import EncodesChat
from tokbench_research import encoded_again
from tokbench_research.metrics.drift.appends import AppendCut, AppendWindows, append_windows, cuts_of, is_empty
from tokbench_research.metrics.drift.shown import DecodesStream, ReportsSpans, spans_of, stream_of
from tokbench_research.metrics.drift.turns import OWN, all_turns, joins

_COUNTED: Final = (
    *("messages", "joins", "broken_joins", "continuations", "empty_continuations"),
    *("streams", "exact_streams", "replaced", "span_tokens", "exact_spans", "trimmed_spans"),
)
_P99: Final = 0.99
_APPENDS: Final = 8
"""Places in each message at which text is appended."""
_TURNS: Final = 16
"""Turns of a conversation that are compared, from the first."""


class DriftState(NamedTuple):
    """The state of a group."""

    sums: metrics.Sums
    windows: AppendWindows

    def __add__(self, other: DriftState) -> DriftState:  # type: ignore[override]
        return DriftState(self.sums + other.sums, self.windows + other.windows)


def _ids_of(tokenizer: Tokenizer, texts: Sequence[str]) -> Mapping[str, Sequence[int]]:
    distinct = list(dict.fromkeys(texts))
    arrays = encoded_again(tokenizer, distinct)
    flat, places = arrays.ids.tolist(), pairwise(arrays.offsets.tolist())
    return {text: flat[start:end] for text, (start, end) in zip(distinct, places, strict=True)}


class _Document(NamedTuple):
    texts: Sequence[str]
    cuts: Sequence[Sequence[AppendCut]]

    @classmethod
    def of(cls, talk: Conversation) -> _Document:
        texts = [message.content for message in talk.plain]
        return cls(texts, [cuts_of(message, _APPENDS) for message in texts])

    def needed(self) -> list[str]:
        one_by_one = [cut.context for cuts in self.cuts for cut in cuts]
        one_by_one += [cut.context + cut.continuation for cuts in self.cuts for cut in cuts]
        return [*self.texts, *map("".join, pairwise(filter(None, self.texts))), *one_by_one]


class Drift(metrics.SummedMetric):
    """The text metric."""

    def map(self, encoded: metrics.EncodedShard) -> DriftState:
        tokenizer, columns, windows = encoded.tokenizer, _Columns(len(encoded.shard)), AppendWindows({})
        for k, text in enumerate(encoded.shard.texts):
            talk = conversation(text)
            for name, turns in all_turns(tokenizer, talk, _TURNS).items():
                columns.add(k, **{f"drifted_{name}": turns.drifted, f"turns_{name}": turns.compared})
            document = _Document.of(talk)
            ids = _ids_of(tokenizer, document.needed())
            windows += self._messages(k, document, ids, columns)
            for message in filter(None, document.texts):
                _count_shown(k, tokenizer, message, ids[message], columns)
        return DriftState(metrics.Sums.of(encoded.shard, **columns.arrays), windows)

    def _messages(
        self, k: int, document: _Document, ids: Mapping[str, Sequence[int]], columns: _Columns
    ) -> AppendWindows:
        encode, windows = ids.__getitem__, AppendWindows({})
        joined = joins(document.texts, encode)
        columns.add(k, messages=len(document.texts), joins=joined.compared, broken_joins=joined.drifted)
        for text, cuts in zip(document.texts, document.cuts, strict=True):
            windows += append_windows(text, cuts, encode)
            pairs = ((encode(cut.context), encode(cut.context + cut.continuation)) for cut in cuts)
            columns.add(k, continuations=len(cuts), empty_continuations=sum(is_empty(*pair) for pair in pairs))
        return windows

    def finish(self, state: DriftState) -> Mapping[str, metrics.Measured | metrics.NotApplicable]:
        sums, windows = state
        values = metrics.declared(SPEC.values, sums)
        for metric in SPEC.values:
            if metric.id in values and not sums.columns[metric.of[1]].any():
                values[metric.id] = metrics.NotApplicable(_WITHOUT.get(metric.of[1], _NO_TURNS))
        for name, share in (("append_p99", _P99), ("append_max", 1.0)):
            changed = metrics.Measured(windows.percentile(share), sums.documents) if windows.counts else None
            values[name] = changed or metrics.NotApplicable(_NO_TEXT)
        return values


class _Columns:
    def __init__(self, documents: int) -> None:
        self._documents = documents
        self.arrays = {name: self._empty() for name in _COUNTED}

    def _empty(self) -> NDArray[np.int64]:
        return np.zeros(self._documents, dtype=np.int64)

    def add(self, document: int, **numbers: int) -> None:
        for name, number in numbers.items():
            self.arrays.setdefault(name, self._empty())[document] += number


def _count_shown(k: int, tokenizer: Tokenizer, text: str, ids: Sequence[int], columns: _Columns) -> None:
    if isinstance(tokenizer, DecodesStream):
        shown = stream_of(tokenizer, ids)
        columns.add(k, streams=1, exact_streams=shown.exact, replaced=shown.replaced)
    if spans := spans_of(tokenizer, text):
        columns.add(k, exact_spans=spans.exact, trimmed_spans=spans.trimmed, span_tokens=spans.tokens)


_NO_TURNS: Final = "no document is a conversation of two messages or more that the template takes"
_NO_TEXT: Final = "no message has text enough"
_NO_BYTES: Final = "no token has a text of its own that could be compared"


_WITHOUT: Final = {"continuations": _NO_TEXT, "streams": _NO_TEXT, "span_tokens": _NO_BYTES}

_MESSAGES: Final = "Documents that are JSON conversations count by their messages; any other document is one message."
_SENT: Final = (
    "The first k messages are encoded as they are sent to a model, with the assistant's reply opened if it is next. "
    "Where their ids change, a prefix cache misses, and training on k + 1 messages sees ids that were never sampled "
    "(verl #6719, trl #5559)."
)
_SPAN: Final = (
    "Tokens whose bytes are whole characters, without the space that a model puts before every text. Text that the "
    "tokenizer normalizes is not the token's"
)


def _turns_metric(template: str, title: str) -> metrics.Metric:
    own = template == OWN
    which = "the template of its own model" if own else f"the template of {title}"
    rest = "" if own else " Marks are single ids where the vocabulary has them, and ordinary text elsewhere."
    return metrics.Metric(
        "turn_drift" if own else f"turn_drift_{template}",
        "share of turns",
        "lower",
        of=(f"drifted_{template}", f"turns_{template}"),
        headline=template == "chatml",
        label="turn drift" if own else f"turn drift, {title}",
        needs=(EncodesChat,) if own else (),
    ).means(
        "turns k for which ids(messages 1 … k) do not begin ids(messages 1 … k + 1) / turns that it accepts",
        f"Turns that change ids of the conversation before them, in {which}. {_SENT}{rest}",
    )


_append = partial(metrics.Metric, unit="tokens", direction="lower")
_stream = partial(metrics.Metric, needs=(DecodesStream,))
_span = partial(metrics.Metric, unit="share of tokens", direction="higher", needs=(ReportsSpans,))

SPEC: Final = metrics.MetricFamily(
    name="drift",
    summary="ids that change while a conversation grows or a text is appended to; streams and spans of the engine",
    text=Drift,
    values=(
        _turns_metric(OWN, ""),
        *(_turns_metric(template.id, title) for title, template in CHAT_TEMPLATES.items()),
        metrics.Metric("join_drift", "share of boundaries", "lower", of=("broken_joins", "joins"), headline=True).means(
            "boundaries of messages a, b for which encode(a) + encode(b) ≠ encode(a + b) / boundaries",
            "Boundaries at which messages that are encoded separately and joined have other ids than their text. An "
            "engine that encodes only what is new, such as the answer of a tool, differs there from one that encodes "
            "all (verl #6719, trl #5224).",
        ),
        metrics.Metric(
            "empty_continuation", "share of pairs", "lower", of=("empty_continuations", "continuations"), headline=True
        ).means(
            "pairs for which encode(context + continuation) has no more ids than encode(context) / pairs",
            "A message is cut at random characters; its continuation goes on to the end of the word (UAX #29). If "
            "it adds no id, nothing is left to score when the ids of the context are cut off by number, as "
            f"lm-evaluation-harness does it (PR #4055). {_MESSAGES}",
        ),
        _append(
            "append_p99",
            label="append window, 99%",
            no_interval="a percentile of appends has no interval",
            headline=True,
        ).means(
            "99th percentile (nearest rank) over appends of the last ids of the text before that change",
            "A message is cut at random characters, and the rest is appended. The ids at the end that change must be "
            f"encoded again: holding back this many is enough in 99 of 100 cases. {_MESSAGES}",
        ),
        _append("append_max", label="append window, longest", no_interval="a maximum has no interval").means(
            "max over appends of the last ids of the text before that change",
            "The most ids at the end of a text that an append changed, over the same appends.",
        ),
        _stream("stream_exact", "share of messages", "higher", of=("exact_streams", "streams")).means(
            "messages for which all that the engine's decoder shows, id by id, is decode(ids) / messages",
            "The engine's own decoder of streams is fed the ids of a message one by one. A decoder that fails, or "
            "that keeps text back at the end, has not shown the message (dynamo #12630, vllm-mlx #109). "
            f"{_MESSAGES}",
        ),
        _stream("stream_replaced", "characters/message", "lower", of=("replaced", "streams")).means(
            "Σ U+FFFD that the decoder shows beyond those of decode(ids) / messages",
            "Replacement characters that a reader sees while a message is shown, and that are not in it.",
        ),
        _span("span_exact", of=("exact_spans", "span_tokens")).means(
            "tokens for which text[start:end], as the engine reports them, is the token's text / tokens",
            f"{_SPAN}, and neither is a span without the white space of its token.",
        ),
        _span("span_trimmed", of=("trimmed_spans", "span_tokens")).means(
            "tokens for which text[start:end] is the token's text, outer white space left aside / tokens",
            f"{_SPAN}; white space at the ends is left aside, which some engines cut off on purpose.",
        ),
    ),
)
