"""A run from its file to its cells, with tokenizers that break on the way: the rest is measured, nothing is lost."""

from shared_fixtures import cell, problems

import tokbench
from tokbench.corpus.shards import SHARD_CHARS
from tokbench.notebook.results import NotebookResults
from tokbench.results.cells import WHOLE, Status


def test_cells_are_complete_and_true(write_config, corpus):
    results = tokbench.run(
        write_config(corpus, "  b: {backend: utf8_bytes}\n  u: {backend: utf16_units}", "[compression, roundtrip]"),
        workers=0,
    )
    assert len(results.cells) == 2 * 3 * 21
    assert cell(results, "b", "tokens").value == 11
    assert cell(results, "b", "tokens", "x").value == 6
    assert cell(results, "b", "roundtrip_exact").value == 1
    assert cell(results, "b", "roundtrip_exact").in_sample is None
    assert list(results.corpora["c"].groups.items()) == [("x", 2), ("y", 2)]
    assert results.partial is None


def test_a_second_run_keeps_the_first_beside_it(write_config, tmp_path):
    folder = tmp_path / "out"
    first = tokbench.run(write_config(), folder, workers=0)
    assert not (folder / "previous").exists()
    second = tokbench.run(write_config(metrics="[compression, roundtrip]"), folder, workers=0)
    kept = NotebookResults.read(folder / "previous" / "results.json")
    assert (len(kept.cells), len(kept.states)) == (len(first.cells), len(first.states))
    assert len(NotebookResults.read(folder / "results.json").cells) == len(second.cells) > len(first.cells)


BREACHES = {
    "DecodesFew": ("roundtrip_exact", "decode_batch returned 1 texts for 2 documents"),
    "OutOfRange": ("tokens", "encode returned id 300 in document 0, but vocab_size is 256 (corpus c, group y, document y.txt:2)"),
    "Negative": ("tokens", "encode returned id -1"),
    "Floats": ("tokens", "encode[0] is 0.5"),
    "Panics": ("tokens", "Panic: index out of bounds (corpus c, group y, document y.txt:2)"),
    "BadBatch": ("tokens", "encode_batch returned offsets"),
    "DecodeRaises": ("roundtrip_exact", "decode: ValueError: cannot go back (roundtrip of corpus c, group x, document x.txt:1)"),
}  # fmt: skip
"""By backend the metric that it has no value of, and the reason."""


def test_each_breach_costs_what_it_spoils(write_config, corpus, faulty):
    tokenizers = "\n".join(f"  {name}: {{backend: {name}}}" for name in BREACHES) + "\n  good: {backend: utf8_bytes}"
    results = tokbench.run(write_config(corpus, tokenizers, "[compression, roundtrip, fertility]"), workers=0)
    for name, (metric, reason) in BREACHES.items():
        value = cell(results, name, metric)
        assert (value.status, reason in value.reason) == (Status.FAILED, True), value.reason
    assert cell(results, "OutOfRange", "tokens", "x").value == 6
    assert cell(results, "DecodeRaises", "tokens").value == 11
    assert cell(results, "DecodeRaises", "fertility").value == 11 / 4
    assert cell(results, "good", "tokens").value == 11
    assert cell(results, "good", "roundtrip_exact").value == 1
    assert results.failed


def test_a_shard_that_fails_costs_its_whole_group(write_config, corpus, faulty, tmp_path):
    """The first line of each group fills a shard; one of the two shards cannot be encoded."""
    for group, lines in {"x": ["a" * SHARD_CHARS, "abc"], "y": ["b" * SHARD_CHARS, "aa"]}.items():
        (tmp_path / f"{group}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    results = tokbench.run(
        write_config(corpus, "  bad: {backend: OutOfRange}\n  good: {backend: utf8_bytes}"), workers=0
    )
    for group, tokens in {"x": SHARD_CHARS + 3, "y": SHARD_CHARS + 2, WHOLE: 2 * SHARD_CHARS + 5}.items():
        value = cell(results, "bad", "tokens", group)
        assert (value.status, value.value) == (Status.FAILED, None)
        assert "encode returned id 300" in value.reason
        assert cell(results, "good", "tokens", group).value == tokens


def test_training_that_fails_is_a_failed_tokenizer(write_config, corpus, faulty):
    tokenizers = "  bad: {backend: fails_to_train, train: {corpus: c, vocab_size: 300}}\n  good: {backend: utf8_bytes}"
    results = tokbench.run(write_config(corpus, tokenizers), workers=0)
    assert results.tokenizers["bad"].state == "failed"
    assert cell(results, "bad", "tokens").reason == "the text is too thin"
    assert cell(results, "good", "tokens").value == 11


def test_a_missing_library_is_refused_unless_optional(write_config, corpus, faulty):
    [line] = problems(write_config(corpus, "  x: {backend: NeedsMore}"))
    assert "backend 'NeedsMore' needs no-such-thing: pip install no-such-thing; or mark it 'optional: true'" in line
    results = tokbench.run(
        write_config(corpus, "  x: {backend: NeedsMore, optional: true}\n  good: {backend: utf8_bytes}"),
        workers=0,
    )
    assert cell(results, "x", "tokens").status == Status.UNAVAILABLE
    assert cell(results, "x", "tokens").reason == "needs no-such-thing: pip install no-such-thing"
    assert not results.failed


def test_in_sample_is_a_share(write_config, tmp_path):
    (tmp_path / "x.txt").write_text("".join(f"line {k} of some\n" for k in range(50)), encoding="utf-8")
    (tmp_path / "z.txt").write_text("line 1 of some\nsomething else\n", encoding="utf-8")
    corpora = (
        "  all: {source: text, path: x.txt, document: line}\n"
        "  part: {source: text, path: x.txt, document: line, holdout: 0.4}\n"
        "  other: {source: text, path: z.txt, document: line}"
    )
    tokenizers = (
        "  on-all: {backend: naive_bpe, train: {corpus: all, vocab_size: 260}}\n"
        "  on-part: {backend: naive_bpe, train: {corpus: part, vocab_size: 260}}"
    )
    results = tokbench.run(write_config(corpora, tokenizers), workers=0)
    marks = {(c.tokenizer, c.corpus): c.in_sample for c in results.cells if c.metric == "tokens" and c.group == WHOLE}
    assert marks["on-all", "all"] == 1
    assert marks["on-all", "part"] == 1
    assert marks["on-all", "other"] == 0.5
    assert marks["on-part", "part"] == 0
    assert 0 < marks["on-part", "all"] < 1
    held = results.corpora["part"].groups["x"]
    assert marks["on-part", "all"] == 1 - held / 50


def test_everything_is_written_and_read_back(write_config, corpus, tmp_path):
    tokenizers = "  n: {backend: naive_bpe, train: {corpus: c, vocab_size: 258}}"
    path = write_config(corpus, tokenizers, "[compression, vocabulary]", "[csv, md, html]")
    results = tokbench.run(path, tmp_path / "out", workers=0)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        *("artefacts", "report.html", "report.md", "results.csv", "results.json", "states.jsonl.gz")
    ]
    read = NotebookResults.read(tmp_path / "out" / "results.json")
    assert read == results
    tokbench.load("naive_bpe", path=tmp_path / "out" / results.tokenizers["n"].artefact)
    assert results.tokenizers["n"].vocab_size == 258


def test_a_report_that_cannot_be_made_or_written_is_told(write_config, corpus, tmp_path, monkeypatch):
    (tmp_path / "out" / "report.md").mkdir(parents=True)
    results = tokbench.run(write_config(corpus, formats="[csv, md, html]"), tmp_path / "out", workers=0)
    [trouble] = results.problems
    assert trouble.startswith(f"{tmp_path}/out/report.md: ")
    assert results.failed
    assert sorted(path.name for path in results.written) == [
        "report.html",
        "results.csv",
        "results.json",
        "states.jsonl.gz",
    ]
    assert {"results.csv", "report.html"} <= {path.name for path in (tmp_path / "out").iterdir()}
