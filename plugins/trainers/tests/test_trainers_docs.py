"""The examples of the documentation are true."""

import doctest
from pathlib import Path

import yaml

from tokbench.config.read import read_config

FOLDER = Path(__file__).parents[1]


def test_the_examples_of_the_docs():
    failed, tried = doctest.testfile(str(FOLDER / "docs" / "trainers.md"), module_relative=False, encoding="utf-8")
    assert (failed, tried > 10) == (0, True)


def test_the_example_of_the_readme_is_a_configuration(tmp_path):
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    config = yaml.safe_load(readme.partition("```yaml\n")[2].partition("```")[0])
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({"schema": "tokbench/1", "name": "mine", **config}), encoding="utf-8")
    assert len(read_config(path).tokenizers) == 5
