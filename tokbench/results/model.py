"""The whole of ``results.json``. A report is a pure function of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from tokbench.foundation.errors import ResultsError, one_line
from tokbench.foundation.files import read_regular
from tokbench.foundation.parsing import TextError, parse_json
from tokbench.foundation.validation_messages import wrong_value
from tokbench.results.blocks import (
    CorpusInfo,
    Durations,
    Environment,
    FamilyInfo,
    LossInfo,
    MetricInfo,
    OwnTexts,
    PairComparison,
    PartialRun,
    PluginInfo,
    RunConfig,
    StatesFile,
    TokenizerInfo,
)
from tokbench.results.cells import COLUMNS, FAILED, Cell, CellTable, TokenizerState, cell_table, cells_of
from tokbench.results.states import RawStates
from tokbench.results.study_blocks import StudyBlocks

if TYPE_CHECKING:
    import pandas as pd

SCHEMA: Final = "tokbench-results/8"


@dataclass(kw_only=True, repr=False)
class Results:
    """The whole of ``results.json``; each block is documented by its class.

    After a run, ``written`` has the files that this run wrote into its folder; they are not in the file itself.
    """

    name: str
    created: str = ""
    """When it began, ISO 8601, UTC."""
    config: RunConfig = field(default_factory=RunConfig)
    """The configuration that ran."""
    environment: Environment = field(default_factory=Environment)
    """The place where it ran."""
    plugins: list[PluginInfo] = field(default_factory=list)
    """The installed plugins."""
    corpora: dict[str, CorpusInfo] = field(default_factory=dict)
    """By name, in the order of the configuration."""
    tokenizers: dict[str, TokenizerInfo] = field(default_factory=dict)
    """By name, in the order of the configuration."""
    metrics: dict[str, MetricInfo] = field(default_factory=dict)
    """By name, in the order of the configuration."""
    cells: list[Cell] = field(default_factory=list)
    """The numbers."""
    losses: list[LossInfo] = field(default_factory=list)
    """For each tokenizer and group with lossy texts, how many and why."""
    own_texts: list[OwnTexts] = field(default_factory=list)
    """The round trips of metrics' own texts."""
    pairs: list[PairComparison] = field(default_factory=list)
    """For each two tokenizers and group, which needs fewer tokens."""
    studies: StudyBlocks = field(default_factory=StudyBlocks)
    """By study, its block: what it found beyond the cells."""
    failed_studies: dict[str, list[str]] = field(default_factory=dict)
    """By study, why it or a part of it failed; each makes the run fail."""
    notes: list[str] = field(default_factory=list)
    """What a reader of the numbers must know, such as a warning about noise."""
    from_store: list[str] = field(default_factory=list)
    """The cache hits of the run, in sentences; no number depends on it."""
    families: dict[str, FamilyInfo] = field(default_factory=dict)
    """By name, the metric families of the run with their options."""
    states: RawStates = field(default_factory=RawStates)
    """The raw sums behind the cells. In a run's folder they are in ``states_file``, and read when they are asked for;
    :class:`~tokbench.foundation.errors.ResultsError` says then if the file is missing."""
    states_file: StatesFile | None = None
    """The file that holds the states; ``None`` if they are here."""
    tracebacks: dict[str, str] = field(default_factory=dict)
    """By the reason of failed cells, where the code failed."""
    seconds: float = 0.0
    """The duration of the run."""
    durations: Durations = field(default_factory=Durations)
    """The duration of each phase."""
    interrupted: bool = False
    """``True`` if it was stopped."""
    partial: PartialRun | None = None
    """Its progress when it was stopped, if it was."""
    problems: list[str] = field(default_factory=list)
    """Files that could not be made or written."""

    def __post_init__(self) -> None:
        if not isinstance(self.states, RawStates):
            self.states = RawStates(self.states)
        if not isinstance(self.studies, StudyBlocks):
            self.studies = StudyBlocks(self.studies)
        self.written: list[Path] = []

    @property
    def frame(self) -> pd.DataFrame:
        """The cells as a tidy table, one row a cell, with the columns of ``results.csv``."""
        import pandas as pd

        return pd.DataFrame({name: list(map(attrgetter(name), self.cells)) for name in COLUMNS}, columns=list(COLUMNS))

    @property
    def failed(self) -> bool:
        """``True`` if a cell failed or ran out of time, or a file or a study could not be made.

        So does a run without a tokenizer that is unavailable and not declared optional.
        """
        cells_failed = any(cell.status in FAILED for cell in self.cells)
        lacking = any(
            tokenizer.state == TokenizerState.UNAVAILABLE and not tokenizer.optional
            for tokenizer in self.tokenizers.values()
        )
        return bool(self.problems or self.failed_studies) or cells_failed or lacking

    def to_json(self) -> str:
        """Return the text of ``results.json``; the states are in it unless ``states_file`` has them."""
        body = {"schema": SCHEMA} | {part.name: getattr(self, part.name) for part in fields(self)}
        body["cells"] = cell_table(self.cells)
        body["studies"] = self.studies.plain()
        body["states"] = [] if self.states_file else list(self.states)
        lines = (
            f"{_dump(name)}: {_parts(value) if name == 'cells' else _lines(value)}" for name, value in body.items()
        )
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a ``results.json`` of this schema, by its path or its folder's.

        Raises:
            ResultsError: it is missing, damaged, or of another schema; the message names the place.
        """
        path = Path(path, "results.json") if Path(path).is_dir() else Path(path)
        try:
            body = parse_json(read_regular(path))
            schema = body.pop("schema", None)
            body.pop("matrices", None)  # of earlier files of this schema
        except TextError as error:
            fault = error.at(path)
            raise ResultsError(f"{fault.where}: not a results file: {fault.message}") from error
        except OSError as error:
            raise ResultsError(f"{path}: not a results file: {error.strerror}") from error
        except (AttributeError, TypeError) as error:
            raise ResultsError(f"{path}: not a results file: {one_line(error)}") from error
        if schema != SCHEMA:
            ours = isinstance(schema, str) and schema.startswith("tokbench-results/")
            advice = "read it with the version that wrote it, or run it again" if ours else "is it of tokbench?"
            raise ResultsError(f"{path}: schema {schema!r}, but this version reads {SCHEMA!r} alone; {advice}")
        wrong = f"{path}: not a results file of schema {SCHEMA!r}: "
        try:
            if isinstance(body.get("cells"), dict):
                body["cells"] = cells_of(body["cells"])
            results: Self = _adapter(cls).validate_python(body)  # type: ignore[arg-type]
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, [*["cells"] * (error.title == CellTable.__name__), *first["loc"]]))
            raise ResultsError(f"{wrong}{place}: {_wrong(first)}") from error
        except ValueError as error:
            raise ResultsError(f"{wrong}cells.{error}") from error
        except RecursionError:
            raise ResultsError(f"{path}: not a results file: a part of it is nested too deep") from None
        if results.states_file:
            beside = Path(path).with_name(Path(results.states_file.file).name)
            results.states = RawStates(beside, results.states_file)
        return results


class NamedRun(NamedTuple):
    """The results of a run, and the name by which messages call it."""

    name: str
    """The path as it was given."""
    results: Results

    @classmethod
    def read(cls, path: str | Path) -> NamedRun:
        """Read the results of a run from its folder, or from its ``results.json``.

        Raises:
            ResultsError: it is missing or damaged.
        """
        return cls(str(path), Results.read(path))


def _wrong(detail: ErrorDetails) -> str:
    if detail["type"] in {"missing", "extra_forbidden"}:
        return "is missing" if detail["type"] == "missing" else "is not part of the schema"
    return wrong_value(detail)


@cache
def _adapter(kind: type[Results]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _lines(value: Any) -> str:
    """Return JSON with one entry of a list or mapping a line: two files can then be compared line by line."""
    if isinstance(value, list) and value:
        scalars = set(map(type, value)) <= {bool, int, float, str, type(None)}  # a call for each takes longer than all
        lines = _dump(value, separators=(",\n", ": "))[1:-1] if scalars else ",\n".join(map(_dump, value))
        return f"[\n{lines}\n]"
    if isinstance(value, dict) and value:
        return "{\n" + ",\n".join(f"{_dump(name)}: {_dump(item)}" for name, item in value.items()) + "\n}"
    return _dump(value)


def _parts(table: Mapping[str, object]) -> str:
    return "{\n" + ",\n".join(f"{_dump(name)}: {_lines(part)}" for name, part in table.items()) + "\n}"


def _dump(value: Any, separators: tuple[str, str] | None = None) -> str:
    plain = asdict(value) if is_dataclass(value) else value  # type: ignore[arg-type]
    return json.dumps(plain, ensure_ascii=True, allow_nan=False, separators=separators)
