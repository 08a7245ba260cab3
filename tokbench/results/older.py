"""Results files of older schemas, brought to the present one step by step."""

from __future__ import annotations

import json
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


_LOSS_FIRST: Final = ("origin", "position", "expected", "got")


def _from_1(body: Body) -> Body:
    """Bring schema 1, in which blocks were plain dictionaries, to schema 2."""
    body = dict(body)
    body["problems"] = body.pop("troubles", [])
    body["corpora"] = {
        name: {key: value for key, value in corpus.items() if value is not None}
        for name, corpus in body.get("corpora", {}).items()
    }
    # Schema 1 said no more of a metric than unit, direction and formula; reports ask for the rest.
    known = json.loads(Path(__file__).with_name("schema_1_metrics.json").read_text(encoding="utf-8"))
    body["metrics"] = {
        name: metric | {"timed": metric["family"] == "speed"} | known.get(name, {})
        for name, metric in body.get("metrics", {}).items()
    }
    body["losses"] = [_loss(each) for each in body.get("losses", [])]
    body["differences"] = [_difference(each) for each in body.get("differences", [])]
    body["probes"] = [_probe(each) for each in body.get("probes", [])]
    study = body.pop("study", {}).get("vocabulary")
    body["vocabulary_size"] = _sizes(study) if study else None
    return body


def _loss(each: Body) -> Body:
    causes = [
        {name: cause[name] for name in ("cause", "documents", "taking_part")}
        | {"first": {name: cause[name] for name in _LOSS_FIRST} if "origin" in cause else None}
        for cause in each["causes"]
    ]
    rest = {name: value for name, value in each.items() if name not in {*_LOSS_FIRST, "causes"}}
    return rest | {"first": {name: each[name] for name in _LOSS_FIRST}, "causes": causes}


def _difference(each: Body) -> Body:
    inner = ("position", "text", "expected", "got")
    rest = {name: value for name, value in each.items() if name not in inner}
    return rest | {"first": {name: each[name] for name in inner} if "position" in each else None}


def _probe(each: Body) -> Body:
    answers = {
        name: answer if "own" not in answer else answer | {"own": [_own(*own) for own in answer["own"]]}
        for name, answer in each["answers"].items()
    }
    rest = {name: value for name, value in each.items() if name != "values"}
    return rest | {"metrics": each["values"], "answers": answers}


def _own(label: str, text: str, tokens: list[Any]) -> Body:
    return {"label": label, "text": text, "tokens": tokens}


def _sizes(study: Body) -> Body:
    extensions = study.get("extensions", {})
    rest = {name: value for name, value in study.items() if name != "extensions"}
    rest["advice"] = study.get("advice", {})
    return rest | {"extensions": extensions.get("rows", []), "extended_from": extensions.get("vocab_size", 0)}


_STEPS: Final[dict[Any, tuple[str, Callable[[Body], Body]]]] = {
    "tokbench-results/1": ("tokbench-results/2", _from_1),
}
