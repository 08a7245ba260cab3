"""The gate: real regressions are caught by their rules, chance raises no alarm, and the action fails by the rules."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import tokenizers
import yaml

import tokbench
from tokbench.comparison.compare import compare
from tokbench.comparison.gate import GateRule, check_rules
from tokbench.results.model import NamedRun

SAMPLE = Path(tokbench.__file__).parent / "sources" / "sample"
LANGUAGES = ("de", "en", "hi")
SIZE = 1000


def merges_of(content):
    return [tuple(each.split(" ")) if isinstance(each, str) else tuple(each) for each in content["model"]["merges"]]


def without_merges(content, dropped):
    """A ``tokenizer.json`` without some merges, and without those that build on what they made; ids stay as they are."""
    kept, known = [], set(content["model"]["vocab"]) - {"".join(pair) for pair in merges_of(content)}
    for pair in merges_of(content):
        if pair not in dropped and known.issuperset(pair):
            kept.append(pair)
            known.add("".join(pair))
    return content | {"model": content["model"] | {"merges": [list(pair) for pair in kept]}}


def count(content, texts):
    engine = tokenizers.Tokenizer.from_str(json.dumps(content))
    return sum(len(each.ids) for each in engine.encode_batch(texts, add_special_tokens=False))


def one_language_worse(content, texts, share):
    """Drop the youngest merges with letters of Devanagari until the language needs ``share`` more tokens."""
    letters = tokenizers.decoders.ByteLevel()
    indic = [pair for pair in merges_of(content) if any("ऀ" <= char <= "ॿ" for char in letters.decode(["".join(pair)]))]
    before, few, many = count(content, texts), 0, len(indic)
    while many - few > 1:
        middle = (few + many) // 2
        worse = count(without_merges(content, set(indic[-middle:])), texts) >= before * (1 + share)
        few, many = (few, middle) if worse else (middle, many)
    return without_merges(content, set(indic[-many:]))


REGRESSIONS = {
    "one-merge-dropped": "compression_ratio < 0",
    "normalizer-that-loses-case": "roundtrip_exact < 0",
    "language-worse": "fertility[hi] > +2% significantly",
    "vocabulary-cut": "compression_ratio < -1% significantly",
}
"""By the name of a tokenizer what is done to it, and the rule that is to catch it."""


def make_tokenizers(folder, texts):
    """Return the baseline's tokenizers and the changed ones, by name: ``tokenizers:`` of two configurations."""
    base = tokbench.train("regex_bpe", [text for group in texts.values() for text in group], SIZE, pattern="gpt4")
    base.export("huggingface", folder / "base.json")
    base.export("tiktoken", folder / "base.tiktoken")
    content = json.loads((folder / "base.json").read_text("utf-8"))
    ranks = (folder / "base.tiktoken").read_text("ascii").splitlines(keepends=True)
    (folder / "cut.tiktoken").write_text("".join(ranks[: SIZE * 3 // 4]), encoding="ascii")
    [often] = [pair for pair in merges_of(content) if "".join(pair) == "er"]
    changed = {
        "one-merge-dropped": without_merges(content, {often}),
        "normalizer-that-loses-case": content | {"normalizer": {"type": "Lowercase"}},
        "language-worse": one_language_worse(content, texts["hi"], 0.03),
    }
    before = {name: {"backend": "huggingface", "path": "base.json"} for name in changed}
    after = {name: {"backend": "huggingface", "path": f"{name}.json"} for name in changed}
    for name, each in changed.items():
        (folder / f"{name}.json").write_text(json.dumps(each), encoding="utf-8")
    before["vocabulary-cut"] = {"backend": "tiktoken", "path": "base.tiktoken", "pattern": "gpt4"}
    after["vocabulary-cut"] = before["vocabulary-cut"] | {"path": "cut.tiktoken"}
    return before, after


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of the tokenizers as they were, and one of the changed ones."""
    folder = tmp_path_factory.mktemp("regressions")
    texts = {name: (SAMPLE / "languages" / f"{name}.txt").read_text("utf-8").splitlines() for name in LANGUAGES}
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    corpora = {"text": {"source": "text", "path": "*.txt", "document": "line", "group": "{stem}"}}
    metrics = ["compression", {"fertility": {"unit": "whitespace"}}, "roundtrip"]
    config = {"schema": "tokbench/1", "corpora": corpora, "metrics": metrics}
    found = []
    for name, some in zip(("before", "after"), make_tokenizers(folder, texts), strict=True):
        path = folder / f"{name}.yaml"
        path.write_text(json.dumps(config | {"name": name, "tokenizers": some}), encoding="utf-8")
        found.append(NamedRun(name, tokbench.run(path, workers=0)))
    return found


@pytest.fixture(scope="module")
def comparisons(runs):
    """The changed run against the baseline, and the baseline against itself."""
    return compare(*runs), compare(runs[0], runs[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSIONS)
def test_a_regression_is_caught_by_the_rule_for_it(comparisons, name):
    rule = GateRule.parse(f"{name}: {REGRESSIONS[name]}")
    changed, unchanged = (check_rules([rule], comparison) for comparison in comparisons)
    assert {failed.change.tokenizer for failed in changed} == {name}
    assert not unchanged


@pytest.mark.slow
def test_a_rule_about_whole_corpora_does_not_see_that_one_language_is_worse(comparisons):
    assert not check_rules([GateRule.parse("language-worse: fertility[text/*] > +2%")], comparisons[0])
    assert not check_rules([GateRule.parse("language-worse: fertility[en] > 0")], comparisons[0])


@pytest.fixture
def timed(install, clock, tmp_path):
    """Time an engine of known cost in turns with another one, on a machine whose speed varies, and return the run."""
    install("sleeping_backends")
    (tmp_path / "text.txt").write_text("a line of forty bytes, with its end ...\n" * 500, encoding="utf-8")

    def run(seed, us_per_byte):
        clock.vary(random.Random(seed))
        path = tmp_path / "run.yaml"
        path.write_text(
            f"schema: tokbench/1\nname: run-{seed}\n"
            "corpora: {text: {source: text, path: text.txt}}\n"
            f"tokenizers: {{mine: {{backend: sleeping, us_per_byte: {us_per_byte}}}, other: {{backend: sleeping}}}}\n"
            "metrics: [speed: {rounds: 20, reference: other}]\n"
            "report: {formats: [csv]}\n",
            encoding="utf-8",
        )
        return NamedRun(f"run-{seed}", tokbench.run(path, workers=0))

    return run


SLOWER = GateRule.parse("mine: encode_ratio < -5%")


def test_an_engine_that_is_15_percent_slower_is_caught(timed):
    one, two = timed(1, 6.0), timed(2, 6.9)
    assert check_rules([SLOWER], compare(one, two))
    assert not check_rules([SLOWER], compare(two, one))


ACTION = Path(__file__).parents[2] / ".github" / "actions" / "compare" / "action.yml"
CONFIG = """\
schema: tokbench/1
name: mine
corpora: {mine: {source: text, path: texts.txt, document: line}}
tokenizers: {mine: NAME}
metrics: [compression, roundtrip]
"""


@pytest.mark.slow
def test_a_broken_rule_fails_the_action(tmp_path):
    [step] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["runs"]["steps"]
    (tmp_path / "texts.txt").write_text("만나서\n반가워요\n", encoding="utf-8")
    environment = os.environ | {
        "CONFIG": "mine.yaml",
        "RULES": "compression_ratio < -1%\nroundtrip_exact < 0\n",
        "GITHUB_STEP_SUMMARY": "summary.md",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }

    def run(tokenizer, output, baseline=""):
        (tmp_path / "mine.yaml").write_text(CONFIG.replace("NAME", tokenizer), encoding="utf-8")
        more = {"OUTPUT": output, "BASELINE": baseline}
        bash = ["bash", "-e", "-c", step["run"]]
        return subprocess.run(bash, cwd=tmp_path, env=environment | more, timeout=300, check=False).returncode

    assert run("utf16_units", "before") == 0
    assert not (tmp_path / "summary.md").exists()
    assert run("utf16_units", "same", "before") == 0
    assert run("utf8_bytes", "other", "same") == 1
    assert "mine" in (tmp_path / "summary.md").read_text(encoding="utf-8")
