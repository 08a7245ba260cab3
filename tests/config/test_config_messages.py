"""Wrong values are told in the words of a user: no sentence of pydantic reaches one."""

import json
import re

import pytest
from pydantic import Field, ValidationError
from pydantic_core._pydantic_core import list_all_errors

from tokbench.config import model
from tokbench.config.strict_yaml import Located
from tokbench.config.validate import Part, validate
from tokbench.foundation.validation_messages import _MUST_BE, wrong_value
from tokbench.registry.plugins import load_registry
from tokbench.studies.vocabulary_size.options import Model, VocabularyStudy
from tokbench.tokenizers.options import Options

ERRORS = list_all_errors()
TEMPLATES = [
    error[key] for error in ERRORS for key in ("message_template_python", "message_template_json") if key in error
]
PIECES = {piece.strip().lower() for text in TEMPLATES for piece in re.split(r"\{\w+\}", text)}
FORBIDDEN = {piece for piece in PIECES if len(piece) > 8 and " " in piece} | {
    "pydantic",
    "value error",
    "assertion failed",
}
"""Phrases of pydantic, without the values that it inserts."""

OWN = {"value_error", "assertion_error", "missing", "extra_forbidden"}
"""Kinds of errors whose words come from validators, or that are about keys."""

VALUES = [
    *(
        None,
        True,
        0,
        -1,
        -2,
        3,
        10**18,
        10**299,
        0.5,
        -0.5,
        1e300,
        "",
        "no",
        "3",
        "0.5",
        "x y!",
        "{a.b}",
        "(",
        "x" * 300,
    ),
    *(
        [],
        [1],
        [None],
        ["a"],
        ["a", "a"],
        [[]],
        [{}],
        {},
        {"a": 1},
        {"": 1},
        {"x y!": {}},
        {"a": None},
        {"a": {"b": []}},
    ),
]


def models():
    registry = load_registry()
    found = {
        name: each for name, each in vars(model).items() if isinstance(each, type) and hasattr(each, "model_fields")
    }
    found |= {"Model": Model, "VocabularyStudy": VocabularyStudy}
    for name, entry in registry.backends.entries.items():
        found |= {f"{name}, loaded": entry.spec.load_options, f"{name}, trained": entry.spec.train_options}
    for catalogue in (registry.metrics, registry.corpora):
        found |= {name: entry.spec.options for name, entry in catalogue.entries.items()}
    return {name: each for name, each in found.items() if each is not Options and each.model_fields}


def attempts(options):
    """Data with one wrong value each, all wrong at once, and none of the right shape at all."""
    names = [info.alias or name for name, info in options.model_fields.items()]
    yield from ({name: value} for name in names for value in VALUES)
    yield from ({**dict.fromkeys(names, value), "zzz": 1} for value in VALUES)
    yield from (value for value in VALUES if not isinstance(value, dict))
    for name, info in options.model_fields.items():  # models inside of models
        for inner in getattr(info.annotation, "__args__", ()):
            yield from ({name: data} for data in (attempts(inner) if hasattr(inner, "model_fields") else ()))


def said(options, data):
    problems = []
    validate(options, data, Part(Located("f")), problems)
    return [problem.message for problem in problems]


@pytest.mark.parametrize("name", sorted(models()))
def test_no_sentence_of_pydantic_reaches_a_user(name):
    options, kinds = models()[name], set()
    for data in attempts(options):
        try:
            options.model_validate_json(json.dumps(data), strict=True)
        except ValidationError as error:
            kinds |= {detail["type"] for detail in error.errors()}
            for message in said(options, data):
                assert not [piece for piece in FORBIDDEN if piece in message.lower()], message
    assert kinds, "nothing was refused"
    assert kinds <= {*_MUST_BE, *OWN}, "a kind of error has no words of its own"


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error["type"])
def test_every_kind_of_error_has_words(error):
    message = wrong_value(error["type"], {**(error["example_context"] or {}), "max_length": 3}, "given")
    assert not [piece for piece in FORBIDDEN if piece in message.lower()], message
    assert "{" not in message


class Example(Options):
    count: int = 1
    share: float = 0.5
    how: str = "x"
    names: tuple[str, ...] = ()
    by_name: dict[str, int] = Field(default_factory=dict)
    flag: bool = False


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"count": "big"}, 'count: must be a whole number, but is "big"'),
        ({"count": "12"}, 'count: must be a whole number, but is "12"; write it without quotes'),
        ({"count": 0.5}, "count: must be a whole number, but is 0.5"),
        ({"count": None}, "count: must be a whole number, but is empty"),
        ({"share": "half"}, 'share: must be a number, but is "half"'),
        ({"how": 3}, 'how: must be text, but is 3; write it in quotes: "3"'),
        ({"names": "a"}, 'names: must be a list, but is "a"; write it in brackets: ["a"]'),
        ({"names": ["a", 3]}, 'names.1: must be text, but is 3; write it in quotes: "3"'),
        ({"by_name": ["a"]}, 'by_name: must be a mapping of keys to values, but is ["a"]'),
        ({"by_name": {"a": "b"}}, 'by_name.a: must be a whole number, but is "b"'),
        ({"flag": "no"}, 'flag: must be true or false, but is "no"'),
        ({"flags": True}, "unknown key 'flags'; did you mean 'flag'?"),
        ([1], "must be a mapping of keys to values, but is [1]"),
        ({"how": ["x" * 99]}, f'how: must be text, but is ["{"x" * 35}...'),
    ],
)
def test_the_words(data, message):
    assert said(Example, data) == [message]
