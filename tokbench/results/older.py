"""Results files of older schemas, brought to the present one step by step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tokbench.foundation.errors import ResultsError, one_line

Body = dict[str, Any]


def upgraded(body: Body, schema: object, wanted: str, path: Path) -> Body:
    """Return the body of a results file of an older schema as one of the schema ``wanted``.

    Raises:
        ResultsError: the schema is newer than this version of tokbench, or unknown, or the file is damaged.
    """
    while schema != wanted:
        if schema not in _STEPS:
            ours = isinstance(schema, str) and schema.startswith(wanted.partition("/")[0] + "/")
            advice = "update tokbench to read it" if ours else "is this a results.json of tokbench?"
            msg = f"{path}: schema {schema!r}, but this version of tokbench reads {wanted!r} and older; {advice}"
            raise ResultsError(msg)
        newer, step = _STEPS[schema]
        try:
            body = step(body)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ResultsError(f"{path}: not a results file of schema {schema!r}: {one_line(error)}") from error
        schema = newer
    return body


_BLOCKS: Final = {
    "vocabulary_size": "vocabulary_size",
    "probes": "probes",
    "bits_per_byte": "language_models",
    "validity": "validity",
}
"""By the key of a block in schema 2, the study that it is of."""


def _from_2(body: Body) -> Body:
    """Bring schema 2, in which every study had a key at the top level, to schema 3."""
    body = dict(body)
    blocks = {study: body.pop(key, None) for key, study in _BLOCKS.items()}
    blocks["tokens"] = {"texts": body.pop("shown", []), "worst": body.pop("worst_documents", [])}
    body["studies"] = {study: {"version": 1, "body": block} for study, block in blocks.items() if block}
    body["own_texts"] = [
        {"metric": metric, "tokenizer": name, "comes_back": None if answer.get("lost") is None else not answer["lost"]}
        for probe in blocks["probes"] or []
        for name, answer in probe["answers"].items()
        for metric in probe["metrics"]
    ]
    sizes = blocks["vocabulary_size"] or {}
    failed = {study: [reason] for study, reason in body.get("failed_studies", {}).items()}
    body["failed_studies"] = failed | ({"vocabulary_size": sizes["failures"]} if sizes.get("failures") else {})
    durations = dict(body.get("durations", {}))
    taken = {study: durations.pop(study, None) for study in ("vocabulary_size", "probes", "models")}
    body["durations"] = durations | {"studies": {study: value for study, value in taken.items() if value is not None}}
    return body


def _from_3(body: Body) -> Body:
    """Bring schema 3, in which each cell was an object of its own, to schema 4: such a list of cells is still read."""
    return body


_STEPS: Final[dict[Any, tuple[str, Callable[[Body], Body]]]] = {
    "tokbench-results/2": ("tokbench-results/3", _from_2),
    "tokbench-results/3": ("tokbench-results/4", _from_3),
}
