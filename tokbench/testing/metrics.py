"""Conformance of metrics: the states of a family add up in any order, and what it makes of them is sound.

With pytest, three lines are a test of all families that plugins register, your own among them::

    @pytest.mark.parametrize("family", tokbench.testing.metrics.families(), ids=lambda family: family.name)
    def test_my_metrics(family):
        tokbench.testing.metrics.check_metric(family)
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tokbench.corpus.contract import Document
from tokbench.corpus.shards import shards
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.measuring.family import MetricFamily
from tokbench.measuring.metric import CorpusMetric, CorpusOutcome, CorpusStates, Measured, NotApplicable
from tokbench.registry.load import load
from tokbench.registry.plugins import ALL, load_registry
from tokbench.results.blocks import RawState
from tokbench.results.cells import WHOLE
from tokbench.results.states import RawStates
from tokbench.tokenizers.batch import encode_batch
from tokbench.tokenizers.contract import Offsets, Tokenizer

_TEXTS: Final = (
    *("It's 3.5 km to 1234567 places.", "", "x", "naïve café — 東京タワー 🙂🇫🇮", "two  spaces\n\tand lines\n"),
    *(
        "def f(max_size):\n    return max_size != 0\n",
        '[{"role": "user", "content": "Hi"}]',
        "กขค ภาษาไทย",
        "да İz 12 13",
    ),
)
_GROUPS: Final = {"en": 30, "th": 30}
_SIZES: Final = (30, 200)


class Lossy:
    """Capitals are lost, ``z`` is unknown; it says where its tokens end, but not their bytes."""

    vocab_size = 0x110000
    unk_id = 0

    def encode(self, text: str, /) -> Sequence[int]:
        return [0 if char == "z" else ord(char.lower()[0]) for char in text]

    def decode(self, ids: Sequence[int], /) -> str:
        return "".join(chr(token) if token else "?" for token in ids)

    def encode_with_offsets(self, text: str, /) -> Offsets:
        return Offsets(self.encode(text), list(range(1, len(text) + 1)))


def families() -> list[MetricFamily]:
    """Return the families of all plugins that measure text."""
    return sorted((family for family in load_registry(here=ALL).metrics if family.text), key=lambda family: family.name)


def check_metric(family: MetricFamily, **options: Any) -> None:
    """Check a family of text metrics on a few documents under a lossless tokenizer and a lossy one.

    Merged in any order, shards of any size have the same raw states and values, and merging changes none of them. Raw
    states can be written and read. Each metric has a finite value inside its interval, or a reason. As in a run, a
    tokenizer that lacks what every metric needs is left out.
    """
    __tracebackhide__ = True
    assert family.text is not None, f"{family.name} is measured on no text"
    metric, draw = family.text(family.options(**options)), random.Random(1)  # noqa: S311
    both: Mapping[str, Tokenizer] = {"bytes": load("utf8_bytes"), "lossy": Lossy()}
    tokenizers = {name: one for name, one in both.items() if _applies(family, one)}
    documents = {
        group: [Document(text, group, str(k), f"c:{k}") for k, text in enumerate(draw.choices(_TEXTS, k=size))]
        for group, size in _GROUPS.items()
    }
    seen = []
    for size in (1 << 20, *_SIZES):
        states = {
            (name, group): _merged(metric, LoadedTokenizer(name, tokenizer), rows, size, draw)
            for group, rows in documents.items()
            for name, tokenizer in tokenizers.items()
        }
        seen.append(({place: _as_read(metric.raw(state)) for place, state in states.items()}, _outcome(metric, states)))
    for size, (raw, outcome) in zip(_SIZES, seen[1:], strict=True):
        assert raw == seen[0][0], f"shards of {size} characters have another raw state"
        assert outcome == seen[0][1], f"shards of {size} characters have other values"
    for (name, group), values in seen[0][1].values.items():
        _check_values(family, tokenizers[name], group, values)


def _applies(family: MetricFamily, tokenizer: Tokenizer) -> bool:
    """Tell whether a tokenizer has what one of the metrics needs; a run measures no other."""
    return any(not metric.needs or isinstance(tokenizer, metric.needs) for metric in family.values)


def _merged(metric: Any, loaded: LoadedTokenizer, rows: list[Document], size: int, draw: random.Random) -> Any:
    """Merge in a tree of any shape."""
    cut = shards("c", rows, by_key=True, size=size)
    parts = [metric.map(EncodedShard(loaded, shard, encode_batch(loaded.tokenizer, shard.texts))) for shard in cut]
    known = [(part, _as_read(metric.raw(part))) for part in parts]
    while len(parts) > 1:
        parts.append(metric.merge(*(parts.pop(draw.randrange(len(parts))) for _ in range(2))))
    assert all(_as_read(metric.raw(part)) == before for part, before in known), "merge changes a state"
    return parts[0]


def _as_read(raw: Any) -> Any:
    """Return a raw state as a file gives it."""
    states = [] if raw is None else [RawState(tokenizer="t", corpus="c", group="g", family="f", state=raw)]
    return [read.state for read in RawStates(states)]


def _outcome(metric: Any, states: Mapping[tuple[str, str], Any]) -> CorpusOutcome:
    if not isinstance(metric, CorpusMetric):
        return CorpusOutcome({place: metric.finish(state) for place, state in states.items()})
    names = list(dict.fromkeys(name for name, _ in states))
    corpus = CorpusStates("c", parallel=True, reference="en", groups=_GROUPS, tokenizers=names, states=states)
    return metric.finish_corpus(corpus)


def _check_values(
    family: MetricFamily, tokenizer: Tokenizer, group: str, values: Mapping[str, Measured | NotApplicable]
) -> None:
    expected = {
        metric.id
        for metric in family.values
        if not family.study
        and (group == WHOLE if metric.whole else group in {*_GROUPS, WHOLE})
        and (not metric.needs or isinstance(tokenizer, metric.needs))
    }
    assert expected <= values.keys() <= {metric.id for metric in family.values}, f"metrics of {family.name}: {values}"
    for name, value in values.items():
        sound = bool(value.reason) if isinstance(value, NotApplicable) else _is_sound(value)
        assert sound, f"{name} in {group}: {value}"


def _is_sound(value: Measured) -> bool:
    ends = [value.value if end is None else end for end in (value.ci_low, value.ci_high)]
    return all(map(math.isfinite, [value.value, *ends])) and ends[0] <= value.value <= ends[1]
