"""The probes of ``results.json``: their texts, and their tokens by tokenizer."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokbench.plugin import BlockType, RoundTrip


@dataclass(frozen=True, kw_only=True)
class ProbeText:
    """A text of a probe and its tokens.

    Attributes:
        label: its name in a table.
        text: the text.
        tokens: ``(id, text)`` of each token.
        round_trip: its round trip.
    """

    label: str
    text: str
    tokens: list[tuple[int, str]] = field(default_factory=list)
    round_trip: RoundTrip = RoundTrip.UNKNOWN


@dataclass(frozen=True, kw_only=True)
class ProbeAnswerInfo:
    """The answer of one tokenizer to a probe.

    Attributes:
        tokens: for each text of the probe ``(id, text)`` of its tokens.
        own: further texts, chosen for this tokenizer.
        reason: why there is no answer; else empty.
        lossy: by label the round trip of the lossy texts of the probe; ``None`` if that was not checked.
    """

    tokens: list[list[tuple[int, str]]] = field(default_factory=list)
    own: list[ProbeText] = field(default_factory=list)
    reason: str = ""
    lossy: dict[str, RoundTrip] | None = None


@dataclass(frozen=True, kw_only=True)
class ProbeInfo:
    """One probe: its texts, and the answers of all tokenizers.

    Attributes:
        probe: its name.
        title, explanation: what it shows, and why it matters.
        metrics: the ids of its metrics.
        texts: ``(label, text)`` of its texts.
        answers: by tokenizer.
    """

    probe: str
    title: str
    explanation: str
    metrics: list[str] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    answers: dict[str, ProbeAnswerInfo] = field(default_factory=dict)


PROBES: BlockType[list[ProbeInfo]] = BlockType(study="probes", kind=list[ProbeInfo])
