"""Families of metrics, as a plugin registers them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokbench.measuring.metric import CorpusMetric, Metric, Role, TextMetric
from tokbench.results.blocks import MetricInfo
from tokbench.tokenizers.members import missing_members
from tokbench.tokenizers.options import Options


@dataclass(frozen=True, kw_only=True)
class MetricFamily:
    """A family of metrics; at most one of ``text`` and ``make`` is set."""

    name: str
    """The word under ``metrics:`` in a configuration."""
    summary: str
    values: tuple[Metric, ...]
    text: Callable[[Any], TextMetric | CorpusMetric] | None = None
    study: str = ""
    """The name of the study that makes the cells of the family, such as ``language_models``; empty if the run does."""
    make: Callable[[Any], Any] | None = None
    """Makes what that study takes, from the options."""
    options: type[Options] = Options
    """A field that names a tokenizer, corpus or group has such a type, see :data:`.TokenizerName`: a name
    that does not exist is refused with its place."""
    by_script: bool = False
    """A text metric also gets cells for all groups of one script together, where groups are languages."""
    subject: tuple[str, ...] = ()
    """The families that a report begins with where this one is measured; empty for a family of any study."""
    role: Role | None = None
    """The meaning of its states to the rest of tokbench; ``None`` for none. Its metrics have roles of their own."""
    from_counts: bool = False
    """Whether its states of counted chunks (``shard.times``) are the states of the text that was counted."""
    version: int = 1
    """Raise it when what the code reads or calls changes the states, such as a table that is downloaded: then they are
    computed again. Changes of the plugin's own code are noticed without it."""

    def has_role(self, role: Role) -> bool:
        return role == self.role or any(metric.role == role for metric in self.values)

    def missing_members(self, options: Options) -> str:
        """Make the metric of the family, and return which members it lacks; the study checks what a study takes."""
        if not self.text:
            return ""
        metric = self.text(options)
        protocol = CorpusMetric if hasattr(metric, "finish_corpus") else TextMetric
        return missing_members(metric, "a text metric", protocol)


def described(
    families: Sequence[MetricFamily], bound: Mapping[str, Sequence[str]], alone: Collection[str] = ()
) -> dict[str, MetricInfo]:
    """Return the definition of every metric, by id.

    Args:
        families: the metric families of the run.
        bound: the corpora of each family that is not measured on all.
        alone: the studies whose numbers hold for one machine.
    """
    subject = {name for family in families for name in family.subject}
    return {
        metric.id: MetricInfo(
            family=family.name,
            unit=metric.unit,
            direction=metric.direction,
            formula=metric.formula,
            definition=metric.definition,
            label=metric.label,
            short_label=metric.short_label,
            headline=metric.headline,
            leads=metric.headline and family.name in subject,
            no_interval=metric.no_interval,
            loss_cannot_help=metric.loss_cannot_help,
            role=metric.role or "",
            timed=family.study in alone,
            by_output=metric.by_output,
            corpora=list(bound.get(family.name, ())),
        )
        for family in families
        for metric in family.values
    }
