"""Strict YAML, mappings, and wrong values in the words of a user."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

import tokbench
from tokbench.config.read import config_of
from tokbench.config.strict_yaml import MAX_BYTES, Located, read_yaml
from tokbench.config.validate import ConfigPart, validate
from tokbench.foundation.errors import InputError
from tokbench.tokenizers.options import Options


def told(text):
    return [str(problem) for problem in read_yaml(text, "f").problems]


def test_yaml_1_2_booleans_are_true_and_false_only():
    assert read_yaml("[true, FALSE, yes, no, on, y]", "f").data == [True, False, "yes", "no", "on", "y"]


def test_numbers_follow_the_core_schema():
    data = read_yaml("[12, -3, 0o17, 0x1f, 1.5, 2e3, 1_000, 1:30, 012, '12', .inf, ~, null]", "f").data
    assert data == [12, -3, 15, 31, 1.5, 2000.0, "1_000", "1:30", 12, "12", ".inf", None, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", "f:3:1: key 'a' is given twice (first at line 1)"),
        ("a: {x: 1, x: 2}", "f:1:11: key 'x' is given twice (first at line 1)"),
        ("a: !!python/object:os.system x", "f:1:4: tag tag:yaml.org,2002:python/object:os.system: tags are refused"),
        ("a: 1\n---\nb: 2", "f:2:1: a second document begins here"),
        ("", "f:1:1: the file is empty"),
        ("? [a, b]\n: 1", "f:1:3: a key must be a plain word"),
        (
            "a: " + "9" * 5000,
            "f:1:4: Exceeds the limit (4300 digits) for integer string conversion",
        ),
        ("a: 1e999", "f:1:4: the number 1e999 is too large; if it is text, write it in quotes"),
        ('a: "\\ud800"', "f:1:4: holds half of a surrogate pair, which is not Unicode text"),
    ],
)
def test_refused_with_its_place(text, message):
    assert any(line.startswith(message) for line in told(text)), told(text)


def test_an_alias_bomb_is_refused_before_it_grows():
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}]\n" for k in range(1, 40))
    lines = told(bomb)
    assert lines[0] == "f:1:5: anchor &a0: anchors and aliases are refused; write the value out"
    assert "f:2:10: alias *a0: anchors and aliases are refused; write the value out" in lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1, 2", "f:1:9: not YAML"),
        ("a: 1\n\tb: 2", "f:2:1: not YAML"),
        ("[" * 200, "not YAML: nested deeper than 100 levels"),
        ("a: '" + "x" * MAX_BYTES + "'", "larger than 1,048,576 bytes"),
        (
            "a: [x, y/${X}/z-${Z}]",
            'f:1:11: not YAML: inside {...} and [...] a value with ${...} needs quotes; write "y/${X}/z-${Z}"',
        ),
        ("a: {b: $", "f:1:9: not YAML: expected ',' or '}'"),
    ],
)
def test_not_yaml_is_told_with_its_place(text, message):
    with pytest.raises(InputError) as caught:
        read_yaml(text, "f")
    assert message in str(caught.value)


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("abn0 :-", max_size=5)
)
names = st.text("abc", min_size=1, max_size=3)
plain = scalars | st.lists(scalars, max_size=3) | st.dictionaries(names, st.lists(scalars, max_size=2), max_size=3)


@given(st.dictionaries(names, plain, min_size=1, max_size=3))
def test_what_pyyaml_writes_is_read_back(data):
    """PyYAML quotes what YAML 1.1 or 1.2 would take for something else, so both must read the same."""
    located = read_yaml(yaml.safe_dump(data), "f")
    assert located.data == data
    assert not located.problems


CONFIG = {
    "schema": "tokbench/1",
    "name": "mine",
    "corpora": {"c": {"source": "text", "path": Path("?.txt"), "document": "line"}},
    "tokenizers": {"bytes": {"backend": "utf8_bytes"}, "no": {"backend": "utf16_units"}},
    "metrics": ("compression", {"fertility": {"unit": "whitespace"}}),
}


def test_a_mapping_gives_the_numbers_of_a_file(tmp_path, monkeypatch, corpus):
    monkeypatch.chdir(tmp_path)
    results = tokbench.run(CONFIG, tmp_path / "out", workers=0, limit=np.int64(1).item(), only=["no"])
    (tmp_path / "run.yaml").write_text(results.config.text, encoding="utf-8")
    again = tokbench.run(tmp_path / "run.yaml", workers=0, limit=1, only=["no"])
    assert results.cells == again.cells != []
    assert {cell.tokenizer for cell in results.cells} == {"no"}  # a word that YAML 1.1 would take for false
    assert (tmp_path / "out" / "results.csv").exists()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "object is not a string, a number, a list or a mapping"),
        (float("nan"), "Out of range float values are not JSON compliant"),
        ({1, 2}, "set is not a string"),
    ],
)
def test_other_values_are_refused(value, message):
    with pytest.raises(InputError, match=f"the configuration cannot be written as YAML: .*{message}"):
        config_of(CONFIG | {"name": value})


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
