"""Registers the study of probes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokbench.measuring.metric import Probe
from tokbench.plugin import missing_members
from tokbench.plugin.metrics import MetricFamily, StudySpec
from tokbench.plugin.report import SectionSpec
from tokbench_research.probes.ask import run
from tokbench_research.probes.block import PROBES
from tokbench_research.probes.chat import CHAT
from tokbench_research.probes.figures import ARITHMETIC, DATES
from tokbench_research.probes.formats import EMOJI, FORMATS, URLS
from tokbench_research.probes.glitch import GLITCH
from tokbench_research.probes.spelling import CASE, SPACES, SPELLING
from tokbench_research.probes.typed import TYPED

CLASSIC: Final = (CASE, SPACES, SPELLING, ARITHMETIC, DATES, FORMATS, URLS, EMOJI, GLITCH)

FAMILIES: Final = (
    MetricFamily(
        name="probes",
        summary="the classic probes: case, spaces, spelling, sums, dates, formats, addresses, emoji, glitch tokens",
        study="probes",
        make=lambda _: CLASSIC,
        own_texts=True,
        values=tuple(value for probe in CLASSIC for value in probe.values),
    ),
    MetricFamily(
        name="special_tokens",
        summary="what a text that spells special tokens becomes, and the tokens that chat templates add to a message",
        study="probes",
        make=lambda _: (TYPED, CHAT),
        own_texts=True,
        values=(*TYPED.values, *CHAT.values),
    ),
)


def lacks(probes: Sequence[Probe]) -> str:
    """Return why a probe of a family cannot run; empty if all can."""
    return next(filter(None, (missing_members(probe, "a probe", Probe) for probe in probes)), "")


SPECS: Final = (
    StudySpec(
        name="probes",
        title="probes",
        summary="questions to each tokenizer on texts of their own",
        run=run,
        block=PROBES,
        lacks=lacks,
    ),
    *FAMILIES,
)


def late_specs() -> tuple[SectionSpec, ...]:
    """Return the section, which workers do not import."""
    from tokbench_research.probes.section import SECTION

    return (SECTION,)
