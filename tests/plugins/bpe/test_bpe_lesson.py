"""The lesson: its examples are true, and each of its steps is a file that is there."""

import doctest
import re
from pathlib import Path

import tokbench_plugins.bpe

README = Path(tokbench_plugins.bpe.__file__).with_name("README.md")


def test_the_examples_of_the_lesson():
    failed, tried = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert (failed, tried > 25) == (0, True)


def test_each_of_seven_steps_is_a_file():
    steps = re.findall(r"^## (\d)\. .*: `(.+)`$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert [number for number, _ in steps] == list("1234567")
    assert all((README.parent / path).is_file() for _, path in steps)
