"""The key ``corpora`` of tokenizers and metrics: what is not bound to a corpus is not computed and has no cell."""

from collections import defaultdict

import pytest
from shared_fixtures import problems

import tokbench
from tokbench.engine.reports import report_of
from tokbench.studies.vocabulary_size.block import VOCABULARY_SIZES

CORPORA = """  prose: {source: sample, part: languages, groups: [en, de], parallel: true, reference: en}
  code: {source: sample, part: code, groups: [go]}
  library: {source: sample, part: languages, groups: [fr], evaluate: false}"""
TOKENIZERS = """  bytes: {backend: utf8_bytes}
  utf-16: {backend: utf16_units, corpora: [prose]}
  again: {backend: utf8_bytes, corpora: code}"""
METRICS = "[compression, {fertility: {corpora: [prose]}}, {utf8: {corpora: [code]}}, {fairness: {corpora: prose}}]"


def families(results):
    """By tokenizer and corpus, the families that have cells."""
    found = defaultdict(set)
    for cell in results.cells:
        found[cell.tokenizer, cell.corpus].add(results.metrics[cell.metric].family)
    return dict(found)


def run(path, workers=0):
    return tokbench.run(path, workers=workers)


@pytest.fixture(scope="module")
def bound(tmp_path_factory):
    path = tmp_path_factory.mktemp("bound") / "run.yaml"
    parts = f"schema: tokbench/1\nname: test\ncorpora:\n{CORPORA}\ntokenizers:\n{TOKENIZERS}\nmetrics: {METRICS}\n"
    path.write_text(parts, encoding="utf-8")
    return run(path)


def test_only_what_is_bound_has_cells(bound):
    prose, code = {"compression", "fertility", "fairness"}, {"compression", "utf8"}
    assert families(bound) == {
        ("bytes", "prose"): prose,
        ("bytes", "code"): code,
        ("utf-16", "prose"): prose,
        ("again", "code"): code,
    }
    assert {state.family for state in bound.states if state.corpus == "code"} == code
    assert bound.tokenizers["again"].corpora == ["code"]
    assert bound.metrics["fertility"].corpora == ["prose"]
    assert bound.metrics["compression_ratio"].corpora == []


def test_bound_cells_are_those_of_an_unbound_run(bound, write_config):
    """Every cell that is there is equal to the same cell of the run without any binding."""
    unbound = run(
        write_config(
            corpora=CORPORA,
            tokenizers=TOKENIZERS.replace(", corpora: [prose]", "").replace(", corpora: code", ""),
            metrics="[compression, fertility, utf8, fairness]",
        )
    )
    assert set(bound.cells) < set(unbound.cells)
    assert any(cell.status == "not_applicable" for cell in unbound.cells)
    assert not any(cell.status == "not_applicable" and cell.group == "*" for cell in bound.cells)


@pytest.mark.slow
def test_a_study_of_sizes_is_made_where_its_families_are_measured(write_config):
    tokenizers = """  trained: {backend: naive_bpe, train: {corpus: library, vocab_size: 300}}
  prose-only: {backend: utf8_bytes, corpora: [prose]}
  code-only: {backend: utf8_bytes, corpora: [code]}"""
    results = run(
        write_config(
            corpora=CORPORA,
            tokenizers=tokenizers,
            metrics="[{compression: {corpora: [code]}}, fertility]",
            extra="study: {vocabulary: {sizes: [256, 280], model: {width: 64, layers: 2, context: 128}}}",
        )
    )
    found = results.studies.get(VOCABULARY_SIZES)
    assert results.failed_studies == {}
    assert {line.line for line in found.lines} == {"trained", "code-only"}
    assert {row.corpus for row in found.rows} == {"code"}
    assert {loss.corpus for loss in found.losses} <= {"code"}
    assert list(found.weights) == ["code"]
    assert "vocabulary-size" in [section.id for section in report_of(results).sections]


REFUSED = {
    "unknown names": (
        "  a: {backend: utf8_bytes, corpora: [prse]}",
        "[compression, {fertility: {corpora: [cod]}}]",
        {"8:38": "did you mean 'prose'?", "9:47": "did you mean 'code'?"},
    ),
    "no list": (
        "  a: {backend: utf8_bytes, corpora: []}",
        "[{compression: {corpora: 3}}]",
        {"8:37": "empty", "9:35": "must be text"},
    ),
    "not evaluated": (
        "  a: {backend: utf8_bytes, corpora: [library]}",
        "[{compression: {corpora: [library]}}]",
        {"8:38": "'evaluate: false'", "9:36": "'evaluate: false'"},
    ),
    "nothing left": (
        "  a: {backend: utf8_bytes, corpora: [prose]}",
        "[{compression: {corpora: [code]}}]",
        {"8:37": "'a'; known with metrics: 'code'", "9:36": "no tokenizer is measured on corpus 'code'"},
    ),
    "nothing in common": (
        "  a: {backend: utf8_bytes, corpora: [prose], same_as: b}\n  b: {backend: utf8_bytes, corpora: [code]}",
        "[compression]",
        {"8:55": "a common corpus"},
    ),
    "a reference elsewhere": (
        "  a: {backend: utf8_bytes, corpora: [prose]}\n  b: {backend: utf8_bytes}",
        "[compression, {nsl: {reference: a}}]",
        {"10:42": "'a' is not measured on 'code'"},
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_restrictions(write_config, case):
    tokenizers, metrics, expected = REFUSED[case]
    found = problems(write_config(corpora=CORPORA, tokenizers=tokenizers, metrics=metrics))
    for line, (place, words) in zip(found, expected.items(), strict=True):
        assert line.startswith(f"run.yaml:{place}: ")
        assert words in line


def test_a_study_without_a_corpus_is_refused(write_config):
    path = write_config(
        corpora=CORPORA,
        metrics="[{compression: {corpora: [code]}}, {fertility: {corpora: [prose]}}]",
        extra="study: {vocabulary: {}}",
    )
    [line] = problems(path)
    assert line.startswith("run.yaml:11:21: the study needs 'compression', 'fertility'")


def test_losses_that_are_not_measured_are_told(write_config):
    path = write_config(corpora=CORPORA, metrics="[compression, {roundtrip: {corpora: [prose]}}]")
    [note] = run(path).notes
    assert note.startswith("roundtrip is not measured on corpus code")


def test_a_plugin_with_an_option_of_that_name_is_told_too(write_config, install):
    install("own_plugins")
    results = run(write_config(corpora=CORPORA, metrics="[{chosen: {corpora: [prose]}}]"))
    assert {(cell.corpus, cell.value) for cell in results.cells} == {("prose", 1.0)}
