"""The probes of ``results.json``."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokbench.plugin import BlockType, RoundTrip


@dataclass(frozen=True, kw_only=True)
class ProbeText:
    """A text of a probe, with id and text of each token."""

    label: str
    text: str
    tokens: list[tuple[int, str]] = field(default_factory=list)
    round_trip: RoundTrip = RoundTrip.UNKNOWN


@dataclass(frozen=True, kw_only=True)
class ProbeAnswerInfo:
    """The answer of one tokenizer to a probe.

    Attributes:
        tokens: by text of the probe ``(id, text)`` of its tokens.
        own: further texts for this tokenizer.
        lossy: by label the round trip of lossy texts, if checked.
    """

    tokens: list[list[tuple[int, str]]] = field(default_factory=list)
    own: list[ProbeText] = field(default_factory=list)
    reason: str = ""
    lossy: dict[str, RoundTrip] | None = None


@dataclass(frozen=True, kw_only=True)
class ProbeInfo:
    """One probe: its texts by label, and the answers by tokenizer."""

    probe: str
    title: str
    explanation: str
    metrics: list[str] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    answers: dict[str, ProbeAnswerInfo] = field(default_factory=dict)


PROBES: BlockType[list[ProbeInfo]] = BlockType(study="probes", kind=list[ProbeInfo])
