"""Runs over parts of a corpus, merged: equal to one run over all of it, or refused with the reason."""

import dataclasses
import json

import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.foundation.errors import InputError, ResultsError
from tokbench.results.cells import TokenizerState
from tokbench.results.model import Results
from tokbench.results.segmentation import shown_texts

WORDS = "the cat sat 12 on 3456 of mats naïve straße 日本語 foo_bar getItem 7 x2 well-known".split()

METRICS = """[compression, fertility, continued_words, strr, roundtrip, worst_documents, vocabulary, usage, utf8, numbers, code, morphology,
  pairs, overlap, agreement, context, token_lengths, fairness, {nsl: {reference: bytes}}]"""

TOKENIZERS = """
  bytes: {backend: utf8_bytes}
  again: {backend: utf8_bytes, same_as: bytes}
  wide: {backend: utf16_units, same_as: bytes}
  letters: {backend: codepoints, train: {corpus: learned, vocab_size: 40}}
  merges: {backend: regex_bpe, pattern: gpt4, train: {corpus: learned, vocab_size: 300}}"""


def cell(results, tokenizer, metric, corpus):
    place = (tokenizer, corpus, "*", metric)
    [found] = [each for each in results.cells if (each.tokenizer, each.corpus, each.group, each.metric) == place]
    return found


def sentence(seed):
    return " ".join(WORDS[(seed * k + k * k + seed) % len(WORDS)] for k in range(3, 5 + seed % 9))


def conllu(seed):
    words = sentence(seed).split()
    rows = "".join(f"{k}\t{word}\t_\t_\t_\t_\t0\t_\t_\t_\n" for k, word in enumerate(words, 1))
    return f"# text = {' '.join(words)}\n{rows}\n"


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Three corpora in 40 files, which fall into four parts by the first digit of their names."""
    folder = tmp_path_factory.mktemp("texts")
    for k in range(40):
        for n, lang in enumerate(["de", "en", "py"]):
            (folder / lang).mkdir(exist_ok=True)
            (folder / lang / f"{k:02d}.txt").write_text(f"if {sentence(k * 3 + n)}:\n\treturn {k}\n", encoding="utf-8")
        (folder / f"{k:02d}.conllu").write_text(conllu(k), encoding="utf-8")
        lines = "".join(f"{sentence(k * 7 + n)}  {n}\n" for n in range(k % 5 + 2))
        (folder / f"{k:02d}.lines").write_text(lines, encoding="utf-8")
    (folder / "learned.txt").write_text("".join(f"{sentence(k)}  {k % 3}\n" for k in range(60)), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run(texts, tmp_path_factory):
    """Run a part of the texts, and return its folder."""

    def execute(part="", tokenizers=TOKENIZERS, metrics=METRICS, formats="[csv]"):
        config = texts / "part.yaml"
        config.write_text(
            f"""schema: tokbench/1
name: parts
corpora:
  learned: {{source: text, path: learned.txt, document: line, evaluate: false}}
  pairs: {{source: text, path: "*/{part}*.txt", group: "{{parent}}", parallel: true, reference: en}}
  gold: {{source: conllu, path: "{part}*.conllu", group: en}}
  lines: {{source: text, path: "{part}*.lines", document: line, group: "all"}}
tokenizers:{tokenizers}
metrics: {metrics}
report: {{formats: {formats}}}
show: {{documents: 2, texts: [the cat]}}
""",
            encoding="utf-8",
        )
        folder = tmp_path_factory.mktemp(f"part{part}")
        tokbench.run(config, folder, workers=0)
        return folder

    return execute


@pytest.fixture(scope="module")
def parts(run):
    return [run("0", formats="[html, csv]"), *map(run, "123")]


@pytest.mark.slow
def test_four_parts_are_equal_to_the_whole(run, parts, tmp_path):
    whole, merged = Results.read(run() / "results.json"), tokbench.merge(parts, tmp_path)
    assert merged.problems == []
    assert [pair for pair in zip(merged.cells, whole.cells, strict=True) if pair[0] != pair[1]] == []
    assert merged.losses == whole.losses
    assert merged.pairs == whole.pairs
    assert merged.matrices == whole.matrices
    assert {each.of for each in whole.matrices} == {"groups", "tokenizers"}
    assert shown_texts(merged).texts == shown_texts(whole).texts
    assert shown_texts(merged).worst == shown_texts(whole).worst
    assert len(shown_texts(whole).worst) == 5, "one tokenizer is not a baseline: three groups, one and one"
    assert merged.differences == whole.differences
    assert list(merged.states) == list(whole.states)
    for name, info in whole.corpora.items():
        mine = merged.corpora[name]
        assert (mine.documents, mine.bytes, mine.evaluated_bytes, mine.groups) == (
            info.documents, info.bytes, info.evaluated_bytes, info.groups
        )  # fmt: skip
    # The comparison would be empty if there were no intervals, no losses and nothing in sample.
    assert sum(each.ci_low is not None for each in whole.cells) > 100
    assert {each.tokenizer for each in whole.losses} == {"letters"}
    assert 0 < cell(whole, "letters", "tokens", "lines").in_sample < 1
    assert whole.differences
    assert whole.pairs
    assert tokbench.Results.read(tmp_path / "results.json") == merged
    assert (tmp_path / "pairs.csv").is_file()


@pytest.mark.slow
def test_what_was_merged_says_so_and_can_be_merged_again(parts, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    tokbench.merge(parts[:2], first)
    tokbench.merge(parts[2:], second)
    both, all_ = tokbench.merge([first, second / "results.json"]), tokbench.merge(parts)
    assert both.cells == all_.cells
    info = both.corpora["lines"]
    assert info.sha256 == all_.corpora["lines"].sha256
    assert info.sha256.startswith("merged:")
    assert info.parts == [Results.read(part / "results.json").corpora["lines"].sha256 for part in parts]
    assert both.notes[0].startswith(f"merged from 2 runs: {first} (")
    with pytest.raises(InputError, match="corpus 'lines' is the same text"):
        tokbench.merge([first, parts[0]])


@pytest.mark.slow
def test_what_does_not_belong_together_is_refused(run, parts):
    other = run("3", "\n  bytes: {backend: utf16_units}\n  new: {backend: utf8_bytes}", "[compression, fertility]")
    with pytest.raises(InputError) as caught:
        tokbench.merge([parts[0], other])
    lines = str(caught.value).splitlines()
    assert (
        f"{other}: tokenizer 'bytes' is not that of {parts[0]}: another backend (utf16_units and utf8_bytes)" in lines
    )
    assert f"{parts[0]}: has no tokenizer 'new', but {other} has" in lines
    assert f"{other}: has no metrics 'pairs', but {parts[0]} has" in lines
    with pytest.raises(InputError, match="give two runs or more"):
        tokbench.merge(parts[:1])


@pytest.mark.slow
def test_options_versions_and_trainings_that_differ_are_refused(run, parts, texts):
    plain = "\n  bytes: {backend: utf8_bytes}\n  mine: {backend: naive_bpe, train: {corpus: %s, vocab_size: 270}}"
    one = run("0", plain % "learned", "[{vocabulary: {alpha: 2}}]")
    two = run("1", plain % "lines", "[vocabulary]")
    with pytest.raises(InputError) as caught:
        tokbench.merge([one, two])
    assert "tokenizer 'mine' is not that of" in str(caught.value)
    assert "another vocabulary; train it on a corpus that is the same in all runs" in str(caught.value)
    assert "metrics 'vocabulary' have the options {\"alpha\": 2.5" in str(caught.value)
    path = two / "results.json"
    path.write_text(
        path.read_text(encoding="utf-8").replace(f'"tokbench": "{tokbench.__version__}"', '"tokbench": "9"')
    )
    with pytest.raises(InputError, match=r"is of tokbench 9, and .* --other-versions"):
        tokbench.merge([one, two])


def test_a_group_with_the_same_sums_is_the_same_text(run, texts):
    simple = "\n  bytes: {backend: utf8_bytes}", "[compression]"
    one, two = run("1", *simple), run("2", *simple)
    changed = json.loads((two / "results.json").read_text(encoding="utf-8"))
    (two / "states.bin").write_bytes((one / "states.bin").read_bytes())
    changed["states_file"] = json.loads((one / "results.json").read_text(encoding="utf-8"))["states_file"]
    changed["corpora"]["lines"]["groups"] = json.loads((one / "results.json").read_text())["corpora"]["lines"]["groups"]
    (two / "results.json").write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(InputError, match="group 'all' of corpus 'lines' has the very sums that it has in"):
        tokbench.merge([one, two])


def test_a_failure_of_a_part_is_that_of_the_whole(run, texts, tmp_path):
    simple = "\n  bytes: {backend: utf8_bytes}", "[compression]"
    one, two = run("1", *simple), run("2", *simple)
    results = Results.read(two / "results.json")
    lost = {("bytes", "lines", "all")}
    results.states = [each for each in results.states if (each.tokenizer, each.corpus, each.group) not in lost]
    results.cells = [
        dataclasses.replace(each, value=None, status="failed", reason="it broke")
        if (each.tokenizer, each.corpus, each.group) in lost
        else each
        for each in results.cells
    ]
    results.states_file = None
    path = tmp_path / "results.json"
    path.write_text(results.to_json(), encoding="utf-8")
    merged = tokbench.merge([one, path])
    assert cell(merged, "bytes", "tokens", "lines").reason == "it broke"
    assert cell(merged, "bytes", "tokens", "pairs").value > 0


@pytest.mark.slow
def test_a_tokenizer_that_was_away_in_a_part_is_away_in_the_whole(run, tmp_path):
    simple = "\n  bytes: {backend: utf8_bytes}", "[compression]"
    one, two = run("1", *simple), run("2", *simple)
    results = Results.read(two / "results.json")
    [info] = results.tokenizers.values()
    away = dataclasses.replace(info, state=TokenizerState.UNAVAILABLE, reason="no such package")
    results.tokenizers["bytes"] = away
    results.states, results.states_file = [], None
    results.cells = [dataclasses.replace(row, value=None, status="unavailable", reason="away") for row in results.cells]
    path = tmp_path / "results.json"
    path.write_text(results.to_json(), encoding="utf-8")
    for order in ([one, path], [path, one]):
        merged = tokbench.merge(order).tokenizers["bytes"]
        assert (merged.state, merged.reason) == (TokenizerState.UNAVAILABLE, "no such package")


@pytest.mark.slow
def test_the_command_merges_and_names_a_missing_file(parts, tmp_path):
    out = tmp_path / "out"
    done = CliRunner().invoke(command, ["merge", *map(str, parts), "-o", str(out)], catch_exceptions=False)
    assert done.exit_code == 0
    assert (out / "report.html").is_file()
    with pytest.raises(ResultsError, match="nowhere: not a results file"):
        tokbench.merge([parts[0], tmp_path / "nowhere"])
    (out / "states.bin").unlink()
    with pytest.raises(ResultsError, match="the raw states cannot be read"):
        len(Results.read(out / "results.json").states)


@pytest.mark.slow
def test_runs_with_a_limit_are_refused_and_extended_ones_are_merged(texts, tmp_path):
    text = "schema: tokbench/1\nname: base\ntokenizers: {bytes: {backend: utf8_bytes}}\nmetrics: [compression]\n"
    (texts / "base.yaml").write_text(text, encoding="utf-8")
    for k in "01":
        part = (
            f"schema: tokbench/1\nextends: base.yaml\ncorpora: {{c: {{source: text, path: '{k}*.lines', group: g}}}}\n"
        )
        (texts / "extended.yaml").write_text(part, encoding="utf-8")
        for name, limit in (("whole", None), ("limited", 1)):
            tokbench.run(texts / "extended.yaml", tmp_path / f"{name}{k}", workers=0, limit=limit)
    assert tokbench.merge([tmp_path / "whole0", tmp_path / "whole1"]).corpora["c"].groups == {"g": 20}
    with pytest.raises(InputError, match=r"corpus 'c' has a limit, here or in .*limited0; run it without --limit"):
        tokbench.merge([tmp_path / "limited0", tmp_path / "limited1"])
