"""The description of a family of metrics, which a plugin registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tokbench.measuring.isolated_metric import IsolatedMetric
from tokbench.measuring.metric import CorpusMetric, Metric, Probe, Role, TextMetric, TimedMetric
from tokbench.measuring.model_metric import ModelMetric
from tokbench.tokenizers.members import missing_members
from tokbench.tokenizers.options import Options


@dataclass(frozen=True, kw_only=True)
class MetricFamily:
    """The description of a family of metrics, which a plugin registers.

    At most one of ``text``, ``probes``, ``timed``, ``isolated`` and ``model`` is given.

    Attributes:
        name: the word under ``metrics:`` in a configuration.
        summary: one line for ``tokbench list``.
        values: the metrics of the family.
        text: makes the text metric, or the corpus metric, from the options.
        probes: makes the probes from the options.
        timed: makes the timed metric from the options.
        isolated: makes the isolated metric from the options.
        model: makes the metric of models from the options.
        options: the options class. A field that names a tokenizer, corpus or group says so by its type
            (:data:`tokbench.plugin.TokenizerName` and so on): a name that does not exist is refused with its place.
        by_script: ``True`` if a text metric also gets cells for all groups of one script together, where groups are
            languages.
        companion: the report format that comes by itself with the family, and not without it; empty for none.
        subject: the families that a report begins with where this one is measured; empty for a family of any study.
        role: what its states mean to the rest of tokbench; ``None`` if nothing. Its metrics have roles of their own.
        version: raise it when states or answers of probes come out otherwise than before, so that what the store holds
            of the family is computed again. Changes of the plugin's own code are noticed without it; it is for those in
            what the code reads or calls, such as a table that is downloaded.
    """

    name: str
    summary: str
    values: tuple[Metric, ...]
    text: Callable[[Any], TextMetric | CorpusMetric] | None = None
    probes: Callable[[Any], Sequence[Probe]] | None = None
    timed: Callable[[Any], TimedMetric] | None = None
    isolated: Callable[[Any], IsolatedMetric] | None = None
    model: Callable[[Any], ModelMetric] | None = None
    options: type[Options] = Options
    by_script: bool = False
    companion: str = ""
    subject: tuple[str, ...] = ()
    role: Role | None = None
    version: int = 1

    def has_role(self, role: Role) -> bool:
        """Tell whether the family or one of its metrics has a role."""
        return role == self.role or any(metric.role == role for metric in self.values)

    def lacks(self, options: Options) -> str:
        """Make the metrics of the family, and return what one of them lacks; an empty string if none lacks anything."""
        if self.text:
            metric = self.text(options)
            protocol = CorpusMetric if hasattr(metric, "finish_corpus") else TextMetric
            return missing_members(metric, "a text metric", protocol)
        if self.timed:
            return missing_members(self.timed(options), "a timed metric", TimedMetric)
        if self.isolated:
            return missing_members(self.isolated(options), "an isolated metric", IsolatedMetric)
        if self.model:
            return missing_members(self.model(options), "a metric of models", ModelMetric)
        probes = self.probes(options) if self.probes else ()
        return next(filter(None, (missing_members(probe, "a probe", Probe) for probe in probes)), "")

    @property
    def clocked(self) -> bool:
        """``True`` if the numbers are those of this machine: the family is timed or isolated."""
        return self.timed is not None or self.isolated is not None

    @property
    def automatic(self) -> bool:
        """``True`` if the runner measures the family by itself where its role applies; no configuration names it."""
        return not (self.text or self.probes or self.model or self.clocked) and any(
            metric.role for metric in self.values
        )
