"""The options of parity-aware BPE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import Field

from tokbench import plugin
from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import read_file
from tokbench_plugins.bpe.artefact import CorpusDigest
from tokbench_plugins.bpe.parity.literal_parity import ParityRule

Unit = Literal["bytes", "documents"]
"""The unit by which the tokens of a language are divided."""

Texts = Mapping[str, Sequence[str]]
"""The documents of each language."""

_ENDING: Final = ".txt"


class ParityTraining(NamedTuple):
    """The measure of parity between languages, and the rule to reach it."""

    unit: Unit

    rule: ParityRule = ParityRule()

    dev: Texts | None = None
    """The measured documents; ``None`` for the training text."""

    @property
    def record(self) -> tuple[tuple[str, str | int | float], ...]:
        """For the artefact; the development text by its hash."""
        dev = CorpusDigest()
        for language, documents in sorted((self.dev or {}).items()):
            for document in (language, *documents):
                dev.add(document)
        record = (("unit", self.unit), *self.rule._asdict().items())
        return record if self.dev is None else (*record, ("dev_sha256", dev.corpus.sha256))


class ParityOptions(plugin.Options):
    """Options of parity between languages; a language is a group of the training text.

    >>> ParityOptions(parity="bytes", parity_window=100).parity_training()
    ParityTraining(unit='bytes', rule=ParityRule(global_merges=0, window=100, alpha=2.0), dev=None)
    """

    parity: Literal["none"] | Unit = Field(
        default="none",
        description="parity-aware BPE: the language with the most tokens for its bytes, or for its documents if these "
        "are translations, chooses each merge; none for plain BPE",
    )
    parity_global_merges: int = Field(
        default=0, ge=0, description="so many first merges are those of plain BPE (hybrid parity-aware BPE)"
    )
    parity_window: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="a language that chose too often among so many last choices is passed over; 0: none is (the paper "
        "has 100)",
    )
    parity_alpha: float = Field(
        default=2.0,
        ge=1.0,
        description="how many times its equal share of the window a language may choose; with global merges the "
        "paper's program takes the share of one language more",
    )
    parity_dev: plugin.LocalPath | None = Field(
        default=None,
        description="a folder with a text in each language, such as en.txt, a document a line, on which parity is "
        "measured; the training text by default",
    )

    def parity_training(self) -> ParityTraining | None:
        """Return the requested training, with the development text; ``None`` for plain BPE."""
        if self.parity == "none":
            given = sorted(name for name in self.model_fields_set if name.startswith("parity_"))
            if given:
                raise BackendError(f"{', '.join(given)} without parity; add 'parity: bytes' or 'parity: documents'")
            return None
        rule = ParityRule(self.parity_global_merges, self.parity_window, self.parity_alpha)
        return ParityTraining(self.parity, rule, None if self.parity_dev is None else _read_texts(self.parity_dev))


def _read_texts(folder: Path) -> dict[str, list[str]]:
    paths = sorted(folder.glob(f"*{_ENDING}")) if folder.is_dir() else []
    if not paths:
        raise BackendError(f"{folder}: no folder with files such as en{_ENDING}; give one with a text in each language")
    lines = {path.stem: read_file(path, text=True).decode().splitlines() for path in paths}
    return {language: [line for line in documents if line.strip()] for language, documents in lines.items()}
