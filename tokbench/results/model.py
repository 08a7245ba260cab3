"""What a run leaves behind: cells, and all that is needed to read them.

``results.json`` is this model, written out. A report is a pure function of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.errors import ResultsError, one_line
from tokbench.results.cells import COLUMNS, Cell, Status

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SCHEMA", "Results"]

SCHEMA = "tokbench-results/1"


@dataclass(kw_only=True)
class Results:
    """All that one run found out.

    Attributes:
        name: the run's name.
        created: when it began, ISO 8601, UTC.
        config: the configuration, as read, and its sha256.
        environment: machine, interpreter, versions: plain names to plain values.
        plugins: every entry point: ``name, distribution, version, state, reason``.
        corpora: by name: ``source, options, licence, sha256, documents, bytes, evaluated_bytes, holdout,
            parallel, reference``
            and ``groups``, the number of evaluated documents by group.
        tokenizers: by name: ``backend, distribution, libraries, options, optional, same_as, state, reason,
            vocab_size, load_s, train, sha256, notes`` and, if saved, ``artefact, artefact_sha256``;
            ``train`` is ``None`` or ``corpora, documents, bytes, vocab_size, seconds``; ``sha256`` holds
            the digests of files, by option, and ``vocabulary``, that of the bytes of all ids.
        metrics: by the metric's id: ``family, unit, direction, formula, definition``; direction is
            ``higher`` or ``lower`` (is better) or ``none``.
        cells: the numbers.
        losses: for each tokenizer, corpus and group with texts that did not come back: ``tokenizer, corpus,
            group, documents`` (how many), of the first ``origin, position`` (characters), ``expected, got``
            (what stands there, with a little context before), and ``causes``: for each ``cause``, ``documents``
            (whose first difference it explains), ``taking_part`` (in which it takes part), and its own first.
        differences: for each tokenizer that is declared the same as another, corpus and group with documents that
            have other ids: ``tokenizer, same_as, corpus, group, compared, documents`` (how many were compared, how
            many differ), and of the first ``origin`` and either ``position`` (characters), ``text`` (from a little
            before), ``expected`` and ``got`` (``[id, text]`` of the tokens there), or ``reason``.
        study: what goes beyond cells, by kind; see :mod:`tokbench.runner.vocabulary_size`.
        probes: for each probe ``probe, title, explanation, values`` (ids of metrics), ``texts`` (``[label, text]``) and
            ``answers``, by tokenizer: ``tokens``, for each text the ``[id, text]`` of its tokens, and ``own``, further
            texts as ``[label, text, tokens]``; or ``reason``.
        pairs: for each two tokenizers, corpus and group, the one with fewer tokens first: ``corpus, group, tokenizer,
            other, tokens`` (of both), ``difference`` (share of the other's tokens, not above 0), its 95 % interval
            ``ci_low, ci_high`` (``None`` if nothing varies), ``n`` (documents), ``p``, ``p_holm`` (corrected for all
            pairs of the group) and ``differ``.
        notes: what a reader of the numbers must know, such as a warning about noise.
        states: the raw sums behind the cells, by tokenizer, corpus, group and metric family.
        tracebacks: by the reason of failed cells, where the code failed.
        seconds: how long the run took.
        interrupted: whether it was stopped before it was through.
        problems: files that could not be made or written.
    """

    name: str
    created: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    plugins: list[dict[str, str]] = field(default_factory=list)
    corpora: dict[str, dict[str, Any]] = field(default_factory=dict)
    tokenizers: dict[str, dict[str, Any]] = field(default_factory=dict)
    metrics: dict[str, dict[str, str]] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    losses: list[dict[str, Any]] = field(default_factory=list)
    differences: list[dict[str, Any]] = field(default_factory=list)
    study: dict[str, Any] = field(default_factory=dict)
    probes: list[dict[str, Any]] = field(default_factory=list)
    pairs: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    states: list[dict[str, Any]] = field(default_factory=list)
    tracebacks: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False
    problems: list[str] = field(default_factory=list)

    @property
    def frame(self) -> pd.DataFrame:
        """The cells as a tidy table, one row a cell, with the columns of ``results.csv``."""
        import pandas as pd

        return pd.DataFrame([_row(cell) for cell in self.cells], columns=list(COLUMNS))

    @property
    def failed(self) -> bool:
        """Whether any cell or study failed or ran out of time, or a file could not be written."""
        studies = any(study.get("failures") for study in self.study.values())
        return (
            bool(self.problems) or studies or any(cell.status in {Status.FAILED, Status.TIMEOUT} for cell in self.cells)
        )

    def to_json(self) -> str:
        """The text of ``results.json``."""
        body = {"schema": SCHEMA} | {name: getattr(self, name) for name in self.__dataclass_fields__}
        body["cells"] = [_row(cell) for cell in self.cells]
        return "{\n" + ",\n".join(f"{_dump(name)}: {_lines(value)}" for name, value in body.items()) + "\n}\n"

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read a ``results.json``.

        Raises:
            ResultsError: no such file, not JSON, or of a schema this version does not know.
        """
        try:
            body = json.loads(path.read_text(encoding="utf-8"))
            schema = body.pop("schema", None)
        except (OSError, ValueError, AttributeError) as error:
            msg = f"{path}: not a results file: {one_line(error)}"
            raise ResultsError(msg) from error
        if schema != SCHEMA:
            msg = f"{path}: schema {schema!r}, but this version of tokbench reads {SCHEMA!r}"
            raise ResultsError(msg)
        cells = [Cell(**{**row, "status": Status(row["status"])}) for row in body.pop("cells")]
        return cls(cells=cells, **body)


def _lines(value: Any) -> str:
    """JSON with one entry of a list or mapping a line: small, and two files can be compared line by line."""
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(map(_dump, value)) + "\n]"
    if isinstance(value, dict) and value:
        return "{\n" + ",\n".join(f"{_dump(name)}: {_dump(each)}" for name, each in value.items()) + "\n}"
    return _dump(value)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def _row(cell: Cell) -> dict[str, Any]:
    return {name: getattr(cell, name) for name in COLUMNS}


def by_key(cells: list[Cell], metric: str) -> Mapping[tuple[str, str, str], Cell]:
    """The cells of one metric by (tokenizer, corpus, group)."""
    return {(c.tokenizer, c.corpus, c.group): c for c in cells if c.metric == metric}


def groups_of(results: Results, corpus: str) -> Iterator[str]:
    """The groups of a corpus, in the order of its source; the whole corpus is not among them."""
    yield from results.corpora[corpus].get("groups", {})
