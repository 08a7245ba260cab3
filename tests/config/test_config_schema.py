"""The JSON Schema of a configuration takes what tokbench takes, and refuses a misspelt key."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tokbench.cli.main import tokbench as command
from tokbench.config.strict_yaml import read_yaml

jsonschema = pytest.importorskip("jsonschema")
REPOSITORY = Path(__file__).parents[2]
CONFIGS = [*REPOSITORY.glob("configs/*.yaml"), *REPOSITORY.glob("plugins/*/tokbench_*/configs/*.yaml")]


def read(path):
    return read_yaml(path.read_text(encoding="utf-8"), path.name).data


@pytest.fixture(scope="module")
def validator():
    printed = CliRunner().invoke(command, ["schema"])
    assert printed.exit_code == 0, printed.output
    return jsonschema.Draft202012Validator(json.loads(printed.stdout))


@pytest.mark.packages
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_suite_is_valid(validator, path):
    validator.validate(read(path))


@pytest.mark.parametrize(
    ("part", "entry"),
    [
        ("corpora", {"source": "sample", "parts": "code"}),
        ("corpora", {"source": "samples"}),
        ("tokenizers", {"backend": "regex_bpe", "patern": "gpt4"}),
        ("limits", 3),
        ("metrics", 3),
    ],
)
def test_a_misspelt_key_is_refused(validator, part, entry):
    config = read(REPOSITORY / "configs" / "quickstart.yaml")
    assert validator.is_valid(config)
    config[part] = [{"fertility": {"unti": "gold"}}] if part == "metrics" else {"steps" if entry == 3 else "x": entry}
    assert not validator.is_valid(config)


def test_one_name_may_stand_for_a_list(validator):
    config = read(REPOSITORY / "configs" / "quickstart.yaml")
    config["tokenizers"]["naive"] |= {"corpora": "code", "train": {"corpus": "languages", "vocab_size": 300}}
    config["limits"] = {"memory": "8GB", "document": "1GB"}
    validator.validate(config)
