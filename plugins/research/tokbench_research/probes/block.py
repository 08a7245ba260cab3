"""The probes of ``results.json``."""

from __future__ import annotations

from dataclasses import dataclass, field

from tokbench.measuring.round_trip import RoundTrip
from tokbench.plugin.metrics import BlockType


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
        tokens: by text of the probe ``(id, text)`` of its tokens.
        own: further texts for this tokenizer.
        reason: why it has no tokens.
        lossy: by label the round trip of lossy texts, if checked.
    """

    tokens: list[list[tuple[int, str]]] = field(default_factory=list)
    own: list[ProbeText] = field(default_factory=list)
    reason: str = ""
    lossy: dict[str, RoundTrip] | None = None


@dataclass(frozen=True, kw_only=True)
class ProbeInfo:
    """One probe: its texts, and all answers.

    Attributes:
        probe: its name.
        title, explanation: what it shows, and why it matters.
        metrics: metric ids.
        texts: ``(label, text)`` of each.
        answers: by tokenizer.
    """

    probe: str
    title: str
    explanation: str
    metrics: list[str] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    answers: dict[str, ProbeAnswerInfo] = field(default_factory=dict)


PROBES: BlockType[list[ProbeInfo]] = BlockType(study="probes", kind=list[ProbeInfo])
