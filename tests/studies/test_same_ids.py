"""Tokenizers that are declared the same: compared on every document, and not ranked on speed if they differ."""

import numpy as np
import pytest
from shared_fixtures import cell, problems

import tokbench
from tokbench.formats import markdown
from tokbench.results.cells import Status
from tokbench.studies.same_ids.block import DIFFERENCES, IdDifference, TokenizerDifference
from tokbench.studies.same_ids.compare import compare_group
from tokbench.studies.same_ids.metric import HashedShard, HashesOfIds, hashes
from tokbench.tokenizers.batch import from_lists
from tokbench.tokenizers.options import Options

SPEED = "[compression, {speed: {rounds: 3, min_time: 0.0001}}]"


@pytest.fixture
def lines(tmp_path):
    """Two groups of 30 lines; a ``b`` stands in every sixth line of the second alone."""
    (tmp_path / "p.txt").write_text("".join(f"ac {k}\n" for k in range(30)), encoding="utf-8")
    (tmp_path / "q.txt").write_text(
        "".join(f"x{k}{' b' if k % 6 == 5 else ''} ca\n" for k in range(30)), encoding="utf-8"
    )
    return "  c: {source: text, path: '?.txt', document: line, group: '{stem}'}"


def of(results, tokenizer, metric, group="*"):
    return cell(results, tokenizer, metric, group)


OTHER = "  first: {backend: utf8_bytes}\n  second: {backend: OtherIds, same_as: first}\n  third: {backend: utf16_units}"


def test_equal_ids_are_verified_and_timed(write_config, lines, faulty):
    tokenizers = "  first: {backend: utf8_bytes}\n  second: {backend: Bytes, same_as: first}"
    results = tokbench.run(write_config(lines, tokenizers, SPEED), workers=0)
    assert of(results, "second", "same_ids").value == 1
    assert of(results, "second", "same_ids", "q").n == 30
    assert of(results, "first", "same_ids").status == Status.NOT_APPLICABLE
    assert of(results, "second", "encode_mb_per_s").value > 0
    assert results.studies.get(DIFFERENCES) == []
    assert results.metrics["same_ids"].unit == "share of documents"
    assert "- second: the ids of first in all 60 documents that were compared\n" in markdown.render(results)


@pytest.mark.slow
def test_other_ids_are_counted_shown_and_not_ranked(write_config, lines, faulty):
    results = tokbench.run(write_config(lines, OTHER, SPEED), workers=2)
    assert of(results, "second", "same_ids", "p").value == 1
    assert of(results, "second", "same_ids", "q").value == 25 / 30
    assert of(results, "second", "same_ids").value == 55 / 60
    [found] = results.studies.get(DIFFERENCES)
    first = IdDifference(
        position=5,
        text="x5 b ca",
        expected=[(98, "b"), (32, " "), (99, "c"), (97, "a")],
        got=[(98, "b"), (32, " "), (97, "a"), (99, "c")],
    )
    assert found == TokenizerDifference(
        tokenizer="second",
        same_as="first",
        corpus="c",
        group="q",
        compared=30,
        documents=5,
        origin="q.txt:6",
        first=first,
    )
    for metric in ("encode_mb_per_s", "decode_mb_per_s"):
        speed = of(results, "second", metric)
        assert speed.status == Status.NOT_APPLICABLE
        assert speed.reason == "not ranked: its ids differ from first's in 5 of 60 documents"
        assert of(results, "first", metric).value > 0
    assert of(results, "second", "tokens").value == of(results, "first", "tokens").value


def test_one_that_fails_is_not_verified(write_config, lines, faulty):
    tokenizers = "  first: {backend: utf8_bytes}\n  second: {backend: Panics, same_as: first}"
    results = tokbench.run(write_config(lines, tokenizers), workers=0)
    assert of(results, "second", "same_ids", "p").value == 1
    value = of(results, "second", "same_ids")
    assert value.status == Status.NOT_APPLICABLE
    assert value.reason == "some documents have no ids of first or of the tokenizer itself"
    assert f"- second: not verified on c: {value.reason}\n" in markdown.render(results)


@pytest.mark.slow
def test_counts_are_compared_where_a_tokenizer_has_no_ids(write_config, lines, faulty, stored):
    tokenizers = "  first: {backend: utf8_bytes}\n  counts: {backend: Counts, same_as: first}\n"
    path = write_config(lines, f"{tokenizers}  wrong: {{backend: CountsWrong, same_as: first}}", SPEED)
    results = tokbench.run(path, workers=0)
    assert of(results, "counts", "same_counts").value == 1
    assert of(results, "wrong", "same_counts").value == 55 / 60
    assert of(results, "wrong", "same_counts", "q").value == 25 / 30
    assert {c.tokenizer for c in results.cells if c.metric == "same_ids"} == {"first"}
    assert (
        of(results, "wrong", "encode_mb_per_s").reason
        == "not ranked: its counts differ from first's in 5 of 60 documents"
    )
    [difference] = results.studies.get(DIFFERENCES)
    assert (difference.tokenizer, difference.documents, difference.first) == ("wrong", 5, None)
    assert "8 tokens instead of 7" in difference.reason
    assert "- wrong: other counts than first in 5 of 60 documents" in markdown.render(results)
    assert of(tokbench.run(path, workers=0), "wrong", "same_counts") == of(results, "wrong", "same_counts")


def test_a_reference_that_is_not_there(write_config, lines, faulty):
    tokenizers = "  first: {backend: NeedsMore, optional: true}\n  second: {backend: utf8_bytes, same_as: first}"
    results = tokbench.run(write_config(lines, tokenizers, SPEED), workers=0)
    value = of(results, "second", "same_ids")
    assert (value.status, value.reason) == (Status.NOT_APPLICABLE, "first was not measured")
    assert of(results, "second", "encode_mb_per_s").value > 0


def test_what_cannot_be_compared_is_refused_in_place(write_config):
    tokenizers = """\
  cl100k: {backend: utf8_bytes}
  a: {backend: utf8_bytes, same_as: cl10k}
  b: {backend: utf8_bytes, same_as: b}
  c: {backend: utf8_bytes, same_as: d}
  d: {backend: utf8_bytes, same_as: c}
  e: {backend: regex_bpe, train: {corpus: sample, vocab_size: [300, 400]}}
  f: {backend: utf8_bytes, same_as: e}
  g: {backend: utf8_bytes, same_as: [cl100k]}
  h: {backend: naive_bpe, train: {corpus: sample, vocab_size: [300, 400]}, same_as: h-300}
  i: {backend: utf8_bytes, same_as: e-300}"""
    found = problems(write_config(tokenizers=tokenizers))
    places = ["7:37", "8:37", "9:37", "10:37", "12:37", "13:37", "14:85"]
    assert [line.split(": ")[0] for line in found] == [f"run.yaml:{place}" for place in places]
    assert "did you mean 'cl100k'?" in found[0]
    assert "e-300, e-400" in found[4]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_first_that_differs_is_that_of_the_text_whichever_shard_comes_first(order):
    """The second document is the first of four that differs; in the second shard all do."""
    metric = HashesOfIds(Options())

    def group(*ids):
        encoded = [from_lists([[one], [other]]) for one, other in (ids[:2], ids[2:])]
        shards = [{2 * k: HashedShard(hashes(encoded[k]), np.ones(2), np.arange(2), None)} for k in order]
        return metric.merge(*shards)

    found = compare_group(group(7, 9, 1, 1), group(7, 2, 3, 4))
    assert (found.first, found.differing, found.sums.documents) == (1, 3, 4)


def test_same_ids_are_compared_where_both_are_measured(write_config):
    corpora = """  prose: {source: sample, part: languages, groups: [en, de], parallel: true}
  code: {source: sample, part: code, groups: [go]}"""
    tokenizers = """  one: {backend: utf8_bytes}
  same: {backend: utf8_bytes, same_as: one, corpora: [prose]}
  third: {backend: utf8_bytes, same_as: part}
  part: {backend: utf8_bytes, corpora: [code]}"""
    results = tokbench.run(write_config(corpora=corpora, tokenizers=tokenizers), workers=0)
    same = {(c.tokenizer, c.corpus): c.value for c in results.cells if c.metric == "same_ids" and c.group == "*"}
    assert same == {
        ("one", "prose"): None,
        ("one", "code"): None,
        ("same", "prose"): 1.0,
        ("third", "code"): 1.0,
        ("part", "code"): None,
    }
