"""The training that a table of counts is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from tokbench import plugin
from tokbench_plugins.bpe import Tie

Kind = Literal["superbpe", "boundless_bpe"]


class SuperwordTraining(NamedTuple):
    """The training that a table is for."""

    kind: Kind
    pattern: str
    """The expression of the split of words."""
    vocab_size: int
    tie: Tie = "first"
    stage_one: int = 0
    """The number of ids with which stage one of SuperBPE ends."""
    most_words: int = 1

    @property
    def rule(self) -> dict[str, Any]:
        """What the table depends on."""
        rule: dict[str, Any] = {"pattern": self.pattern, "tie": self.tie}
        if self.kind == "superbpe":
            return {**rule, "stage_one": self.stage_one, "most_words": self.most_words}
        return {**rule, "vocab_size": self.vocab_size}


def wanted_of(backend: str, vocab_size: int, **options: Any) -> SuperwordTraining:
    """Return the training of a backend with options; raise InputError if they are wrong."""
    from tokbench.config.validate import validate_options
    from tokbench_trainers.ruled import RuledTrainOptions
    from tokbench_trainers.superwords import boundless_bpe, superbpe

    if backend == "superbpe":
        return superbpe.training_of(validate_options(superbpe.SuperBPETrainOptions, options, backend), vocab_size)
    return boundless_bpe.training_of(validate_options(RuledTrainOptions, options, backend), vocab_size)


def check_table(wanted: SuperwordTraining, tables: Mapping[str, plugin.CountsFile]) -> str:
    """Return why a training does not fit tables; sizes are checked when it begins."""
    from tokbench_plugins.counts.facts import read_facts

    for table in tables.values():
        made = read_facts(table.path).superwords
        name = table.path.name
        if made is None or made["kind"] != wanted.kind:
            return f"{name} has no counts for {wanted.kind}; make them: tokbench superwords --backend {wanted.kind}"
        for key, value in wanted.rule.items():
            if key not in {"stage_one", "vocab_size"} and made[key] != value:
                return f"{name} was made with {key} {made[key]}, and not {value}; make it again with {value}"
    return ""
