"""Configurations that extend others: what is merged, where a mistake stands, and what the results record."""

import hashlib

import pytest
from shared_fixtures import cell

import tokbench
from tokbench.config.read import read_config
from tokbench.engine.planning import plan_tokenizers
from tokbench.foundation.errors import InputError
from tokbench.registry.plugins import load_registry
from tokbench.results.blocks import ConfigFile, RunConfig
from tokbench.results.model import Results

BASE = """corpora:
  text: {source: text, path: en.txt, document: line, holdout: 0.5}
  hostile: {source: sample, part: hostile}
tokenizers:
  bytes: {backend: utf8_bytes}
  mine: {backend: regex_bpe, pattern: gpt4, train: {corpus: text, vocab_size: [260, 270]}}
metrics: [compression, fertility, roundtrip]
report: {formats: [csv, md]}
"""
SUITE = """schema: tokbench/1
name: suite
extends: {0}
corpora:
  hostile: null
tokenizers:
  mine: {{pattern: gpt2, train: {{vocab_size: 300}}}}
  units: {{backend: utf16_units}}
metrics: [compression]
"""


@pytest.fixture
def write(tmp_path):
    def write_file(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def told(path):
    """Return what is wrong with a configuration that can be read, without the folder's name."""
    problems = plan_tokenizers(read_config(path), load_registry()).problems
    return [str(problem).replace(f"{path.parent}/", "") for problem in problems]


def test_mappings_merge_and_everything_else_replaces(write):
    write("bases/base.yaml", BASE)
    config = read_config(write("suite.yaml", SUITE.format("bases/base.yaml")))
    assert config.problems == []
    assert config.located.data == {
        "corpora": {"text": {"source": "text", "path": "en.txt", "document": "line", "holdout": 0.5}},
        "tokenizers": {
            "bytes": {"backend": "utf8_bytes"},
            "mine": {"backend": "regex_bpe", "pattern": "gpt2", "train": {"corpus": "text", "vocab_size": 300}},
            "units": {"backend": "utf16_units"},
        },
        "metrics": ["compression"],
        "report": {"formats": ["csv", "md"]},
        "schema": "tokbench/1",
        "name": "suite",
        "extends": "bases/base.yaml",
    }
    assert list(config.tokenizers) == ["bytes", "mine", "units"], "the order of the base, then what is new"
    assert list(config.corpora) == ["text"]
    assert config.formats == ("csv", "md")


def test_a_mistake_has_the_place_of_the_file_in_which_it_stands(write):
    base = BASE.replace("pattern: gpt4", "patern: gpt4").replace("document: line", "document: word")
    write("base.yaml", base.replace("roundtrip]", "roundtrip]\nlimits: {step: 0}"))
    path = write("suite.yaml", SUITE.format("base.yaml").replace("vocab_size: 300", "vocab_size: big"))
    with pytest.raises(InputError) as caught:
        tokbench.run(path, workers=0)
    lines = [str(problem).replace(f"{path.parent}/", "") for problem in caught.value.problems]
    assert lines == [
        "base.yaml:2:48: document: must be 'file', 'line' or 'paragraph', but is \"word\"",
        "base.yaml:8:16: step: must be greater than 0, but is 0",
        'suite.yaml:7:45: train.vocab_size: must be a whole number, but is "big"',
    ]


def test_paths_start_in_the_folder_of_the_file_in_which_they_stand(write):
    lines = "".join(f"one line {k}\n" for k in range(30))
    write("bases/en.txt", lines)
    write("suites/de.txt", lines.replace("line", "Zeile"))
    write("bases/base.yaml", BASE)
    own = "  own: {source: text, path: de.txt, document: line}\n  text: {document: file, holdout: null}\n"
    suite = SUITE.format("../bases/base.yaml").replace("  hostile: null\n", f"  hostile: null\n{own}")
    results = tokbench.run(write("suites/suite.yaml", suite), workers=0)
    assert {name: (info.documents, info.bytes) for name, info in results.corpora.items()} == {
        "text": (1, len(lines)),
        "own": (30, len(lines) + 30 - 30),
    }


def test_several_bases_and_bases_of_bases(write):
    write("root.yaml", BASE)
    write("left.yaml", "extends: root.yaml\nlimits: {step: 5, train: 6}\ntokenizers: {bytes: null}\n")
    write("right.yaml", "extends: root.yaml\nlimits: {step: 7}\n")
    path = write("suite.yaml", SUITE.format("[left.yaml, right.yaml]"))
    config = read_config(path)
    assert config.problems == []
    assert (config.limits.step, config.limits.train) == (7, 6)
    assert list(config.tokenizers) == ["mine", "bytes", "units"], "the second base brings it back"
    assert [base.file for base in config.bases] == ["left.yaml", "root.yaml", "right.yaml"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"suite.yaml": SUITE.format("[base.yaml, quikstart]")},
            "suite.yaml:3:22: cannot extend 'quikstart': no such file; did you mean 'quickstart'?",
        ),
        (
            {"suite.yaml": SUITE.format("a.yaml"), "a.yaml": "extends: b.yaml\n", "b.yaml": "extends: [a.yaml]\n"},
            "b.yaml:1:11: a configuration cannot extend itself: a.yaml -> b.yaml -> a.yaml",
        ),
        (
            {"suite.yaml": SUITE.format("base.yaml").replace("hostile: null", "hostle: null")},
            "suite.yaml:5:3: null removes a key of the base, which has no 'hostle' here; did you mean 'hostile'?",
        ),
        ({"suite.yaml": SUITE.format("a.yaml"), "a.yaml": "x: 1\nx: 2"}, "a.yaml:2:1: key 'x' is given twice"),
        ({"suite.yaml": SUITE.format("[]")}, "suite.yaml:3:10: extends: the list is empty; name at least one"),
    ],
)
def test_what_is_wrong_with_a_base_is_told(write, files, expected):
    write("base.yaml", BASE)
    for name, text in files.items():
        path = write(name, text)
    lines = told(path.parent / "suite.yaml")
    assert any(line.startswith(expected) for line in lines), lines


def test_results_record_every_file(write, tmp_path):
    write("en.txt", "".join(f"one line {k}\n" for k in range(40)))
    base = write("base.yaml", BASE)
    suite = write("suites/suite.yaml", SUITE.format("../base.yaml"))
    text = suite.read_text()
    results = tokbench.run(suite, tmp_path / "out", workers=0)
    kept = Results.read(tmp_path / "out" / "results.json").config
    digest = hashlib.sha256(BASE.encode()).hexdigest()
    assert kept == RunConfig(
        file="suite.yaml",
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
        bases=[ConfigFile(file="../base.yaml", sha256=digest, text=BASE)],
        formats=["csv", "md"],
    )
    assert f"It extends ../base.yaml, sha256 {digest}" in (tmp_path / "out" / "report.md").read_text()
    # With what is recorded, the run can be made again elsewhere.
    elsewhere = tmp_path / "again" / "suites"
    elsewhere.mkdir(parents=True)
    (elsewhere / kept.file).write_text(kept.text)
    for each in kept.bases:
        (elsewhere / each.file).write_text(each.text)
    (elsewhere.parent / "en.txt").write_bytes(base.with_name("en.txt").read_bytes())
    again = tokbench.run(elsewhere / kept.file, workers=0)
    assert [cell.value for cell in again.cells] == [cell.value for cell in results.cells]
    assert cell(again, "bytes", "compression_ratio", "en") is not None
