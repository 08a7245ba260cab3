"""The gate: real regressions of real tokenizers are caught by the rules that one would write, and chance raises no alarm."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
import tokenizers

import tokbench
from tokbench.comparison.compare import compare
from tokbench.comparison.gate import Rule, check_rules
from tokbench.corpus.shards import BUCKETS
from tokbench.results.blocks import CorpusInfo, RawState
from tokbench.results.cells import WHOLE, Cell
from tokbench.results.model import NamedRun, Results
from tokbench.results.states import RawStates

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
    "unknown-characters-swallowed": "loss_other > 0",
    "special-token-not-matched": "tokens[markers] > 0",
    "vocabulary-cut": "compression_ratio < -1% significantly",
    "byte-fallback-off": "unk_rate > 0",
    "digits-split-otherwise": "digits_4_tokens[numbers] > 0",
    "indentation-merges-lost": "indent_spaces_per_line[program] > +10%",
}
"""By the name of a tokenizer what is done to it, and the rule that is to catch it."""


def piece(model_type, texts, folder, name, **options):
    made = tokbench.train("sentencepiece", texts, 600, model_type=model_type, hard_vocab_limit=False, **options)
    made.save(folder / name)
    return {"backend": "sentencepiece", "path": name}


def written(folder, name, content):
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return {"backend": "huggingface", "path": name}


def make_tokenizers(folder, texts):
    """Return the baseline's tokenizers and the changed ones, by name: ``tokenizers:`` of two configurations."""
    base = tokbench.train(
        "regex_bpe", [text for group in texts.values() for text in group if "<tool>" not in text], SIZE, pattern="gpt4"
    )
    base.export("huggingface", folder / "base.json")
    base.export("tiktoken", folder / "base.tiktoken")
    content = json.loads((folder / "base.json").read_text("utf-8"))
    before = {name: {"backend": "huggingface", "path": "base.json"} for name in REGRESSIONS}
    after = {}

    def change(name, changed):
        after[name] = written(folder, f"{len(after)}.json", changed)

    [often] = [pair for pair in merges_of(content) if "".join(pair) == "er"]
    change("one-merge-dropped", without_merges(content, {often}))
    change("normalizer-that-loses-case", content | {"normalizer": {"type": "Lowercase"}})
    change("language-worse", one_language_worse(content, texts["hi"], 0.03))

    characters = {char: k for k, char in enumerate(["<unk>", *sorted(set("".join(texts["en"])))])}
    known = {"type": "BPE", "vocab": characters, "merges": [], "unk_token": "<unk>"}
    simple = {"version": "1.0", "added_tokens": [], "decoder": {"type": "Fuse"}}
    name = "unknown-characters-swallowed"
    before[name] = written(folder, "known.json", simple | {"model": known})
    change(name, simple | {"model": known | {"unk_token": None}})

    marker = {"content": "<tool>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    marked = content | {"added_tokens": [marker | {"id": SIZE, "special": False}]}
    before["special-token-not-matched"] = written(folder, "marked.json", marked)
    change("special-token-not-matched", content)

    before["vocabulary-cut"] = {"backend": "tiktoken", "path": "base.tiktoken", "pattern": "gpt4"}
    ranks = (folder / "base.tiktoken").read_text("ascii").splitlines(keepends=True)
    (folder / "cut.tiktoken").write_text("".join(ranks[: SIZE * 3 // 4]), encoding="ascii")
    after["vocabulary-cut"] = before["vocabulary-cut"] | {"path": "cut.tiktoken"}

    german = texts["de"]
    before["byte-fallback-off"] = piece("bpe", german, folder, "with.model", byte_fallback=True)
    after["byte-fallback-off"] = piece("bpe", german, folder, "without.model", byte_fallback=False)

    change("digits-split-otherwise", json.loads(json.dumps(content).replace(r"\\p{N}{1,3}", r"\\p{N}")))
    spaces = {pair for pair in merges_of(content) if set("".join(pair)) == {"Ġ"}}
    change("indentation-merges-lost", without_merges(content, spaces))
    return before, {name: after[name] for name in before}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of the tokenizers as they were, and one of the changed ones."""
    folder = tmp_path_factory.mktemp("regressions")
    texts = {name: (SAMPLE / "languages" / f"{name}.txt").read_text("utf-8").splitlines() for name in LANGUAGES}
    program = "\n".join(path.read_text("utf-8") for path in sorted((SAMPLE / "code").glob("*.py.txt")))
    (folder / "program.py").write_text(program, encoding="utf-8")
    texts["indented"] = program.splitlines()
    texts["numbers"] = [f"{k} and {k * 7919} make {k * 7920}" for k in range(1, 60)]
    texts["markers"] = [f"<tool>call {k}<tool>" for k in range(60)]
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    corpora = {
        "text": {"source": "text", "path": "*.txt", "document": "line", "group": "{stem}"},
        "programs": {"source": "text", "path": "*.py", "group": "{stem}"},
    }
    code = {"code": {"corpora": ["programs"]}}
    metrics = ["compression", {"fertility": {"unit": "whitespace"}}, "roundtrip", "numbers", code]
    config = {"schema": "tokbench/1", "corpora": corpora, "metrics": metrics, "report": {"formats": ["csv"]}}
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
    rule = Rule.parse(f"{name}: {REGRESSIONS[name]}")
    changed, unchanged = (check_rules([rule], each) for each in comparisons)
    assert {failed.change.tokenizer for failed in changed} == {name}
    assert not unchanged


@pytest.mark.slow
def test_a_rule_about_whole_corpora_does_not_see_that_one_language_is_worse(comparisons):
    assert not check_rules([Rule.parse("language-worse: fertility[text/*] > +2%")], comparisons[0])
    assert not check_rules([Rule.parse("language-worse: fertility[en] > 0")], comparisons[0])


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


SLOWER = Rule.parse("mine: encode_ratio < -5%")


def test_an_engine_that_is_15_percent_slower_is_caught(timed):
    one, two = timed(1, 6.0), timed(2, 6.9)
    assert check_rules([SLOWER], compare(one, two))
    assert not check_rules([SLOWER], compare(two, one))


@pytest.mark.slow
def test_an_engine_that_is_timed_again_raises_no_alarm(timed):
    """Each of 11 runs against each other one: 110 comparisons."""
    runs = [timed(seed, 6.0) for seed in range(11)]
    ratios = [cell.value for run in runs for cell in run.results.cells if cell.metric == "encode_ratio"]
    assert len(set(ratios)) == 11, "chance moves them"
    alarms = [check_rules([SLOWER], compare(one, two)) for one in runs for two in runs if one is not two]
    assert len(alarms) == 110
    assert not any(alarms)


class Resampled:
    """Runs over documents that are drawn anew, from what two tokenizers make of real sentences in 28 languages."""

    def __init__(self, run):
        self._base = run
        texts = {path.stem: path.read_text("utf-8").splitlines() for path in (SAMPLE / "languages").glob("*.txt")}
        engines = [tokbench.load("splintr", vocabulary=name) for name in ("cl100k_base", "o200k_base")]
        self.groups = {
            name: np.array([[len(line.encode()), *(len(each.encode(line)) for each in engines)] for line in lines])
            for name, lines in texts.items()
        }

    def pair(self, rng, *, coin):
        """Two runs over the same 200 documents a language.

        With a coin, each document goes to one of the two tokenizers in the first run and to the other in the second. No
        run is better then, but by chance.
        """
        sums = [{}, {}]
        for name, documents in self.groups.items():
            drawn = documents[rng.integers(0, len(documents), 200)]
            bucket, first = rng.integers(0, BUCKETS, 200), rng.integers(1, 3, 200)
            for k, tokenizer in enumerate((first, 3 - first) if coin else (first, first)):
                columns = drawn[:, 0], drawn[np.arange(200), tokenizer]
                sums[k][name] = [np.bincount(bucket, each, BUCKETS) for each in columns]
        return [NamedRun(name, self._run(each)) for name, each in zip(("before", "after"), sums, strict=True)]

    def _run(self, sums):
        raw = {
            name: {"documents": 200, "sums": {"bytes": n_bytes.tolist(), "tokens": tokens.tolist()}, "largest": {}}
            for name, (n_bytes, tokens) in sums.items()
        }
        totals = {name: [each.sum() for each in columns] for name, columns in sums.items()}
        totals[WHOLE] = np.sum(list(totals.values()), axis=0)
        metric = "compression_ratio"
        cells = [
            Cell("t", "c", group, metric, float(total[0] / total[1]), "bytes/token") for group, total in totals.items()
        ]
        states = [
            RawState(tokenizer="t", corpus="c", group=name, family="compression", state=raw[name]) for name in raw
        ]
        groups = dict.fromkeys(raw, 200)
        return Results(
            name="resampled",
            corpora={"c": CorpusInfo(sha256="ab" * 32, groups=groups)},
            metrics={metric: self._base.metrics[metric]},
            cells=cells,
            states=RawStates(states),
        )


@pytest.mark.slow
def test_chance_raises_alarms_no_more_often_than_the_level_says(runs):
    """A hundred pairs of runs that differ by chance alone, in 28 languages and their sum."""
    resampled, rng = Resampled(runs[0].results), np.random.default_rng(4)
    rule = Rule.parse("compression_ratio[each] < 0 significantly")
    alarms = uncorrected = 0
    for _ in range(100):
        comparison = compare(*resampled.pair(rng, coin=True))
        assert len(comparison.changes) == 29
        alarms += bool(check_rules([rule], comparison))
        uncorrected += any(change.high is not None and change.high < 0 for change in comparison.changes)
    assert alarms <= 5
    assert uncorrected > 25, "without the correction for 29 numbers, half of the comparisons raise one"


@pytest.mark.slow
def test_an_unchanged_tokenizer_never_raises_an_alarm(runs):
    resampled, rng = Resampled(runs[0].results), np.random.default_rng(5)
    rules = [Rule.parse("compression_ratio[each] < 0"), Rule.parse("compression_ratio[each] > 0")]
    for _ in range(100):
        comparison = compare(*resampled.pair(rng, coin=False))
        assert {change.verdict for change in comparison.changes} == {"same"}
        assert not check_rules(rules, comparison)
