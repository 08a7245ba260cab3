"""Wrong values are reported in the words of a user."""

import pytest
from pydantic import Field

from tokbench.config.strict_yaml import Located
from tokbench.config.validate import ConfigPart, validate
from tokbench.tokenizers.options import Options


def said(options, data):
    problems = []
    validate(options, data, ConfigPart(Located("f")), problems)
    return [problem.message for problem in problems]


class Example(Options):
    count: int = 1
    how: str = "x"
    names: tuple[str, ...] = ()
    by_name: dict[str, int] = Field(default_factory=dict)
    flag: bool = False


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"count": "big"}, 'count: must be a whole number, but is "big"'),
        ({"count": "12"}, 'count: must be a whole number, but is "12"; write it without quotes'),
        ({"count": None}, "count: must be a whole number, but is empty"),
        ({"how": 3}, 'how: must be text, but is 3; write it in quotes: "3"'),
        ({"names": "a"}, 'names: must be a list, but is "a"; write it in brackets: ["a"]'),
        ({"names": ["a", 3]}, 'names.1: must be text, but is 3; write it in quotes: "3"'),
        ({"by_name": ["a"]}, 'by_name: must be a mapping of keys to values, but is ["a"]'),
        ({"flag": "no"}, 'flag: must be true or false, but is "no"'),
        ({"flags": True}, "unknown key 'flags'; did you mean 'flag'?"),
        ([1], "must be a mapping of keys to values, but is [1]"),
        ({"how": ["x" * 99]}, f'how: must be text, but is ["{"x" * 35}...'),
    ],
)
def test_the_words(data, message):
    assert said(Example, data) == [message]
