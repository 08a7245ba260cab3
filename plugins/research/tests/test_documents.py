"""The tables of documents: their sums are the cells, and they are the same however a run is cut."""

import csv
import io

import tokbench
from tokbench.results.cells import WHOLE
from tokbench_research.metrics.documents import COLUMNS

CORPORA = "  sample: {source: sample, part: languages, parallel: true}"
TOKENIZERS = "  bytes: {backend: utf8_bytes}\n  mine: {backend: naive_bpe, train: {corpus: sample, vocab_size: 300}}"


def run(write_config, folder=None):
    config = write_config(CORPORA, TOKENIZERS, "[compression, fertility, roundtrip, documents]")
    return tokbench.run(config, folder, workers=0, limit=4)


def test_the_sums_of_the_rows_are_the_cells(write_config, tmp_path):
    results = run(write_config, tmp_path / "out")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "documents.csv").read_text(encoding="utf-8"))))
    assert tuple(rows[0]) == COLUMNS
    cells = {(cell.tokenizer, cell.group, cell.metric): cell for cell in results.cells}
    groups = dict(results.corpora["sample"].groups)
    assert len(rows) == 2 * sum(groups.values())
    for name in ("bytes", "mine"):
        for group in [*groups, WHOLE]:
            mine = [row for row in rows if row["tokenizer"] == name and group in (WHOLE, row["group"])]
            totals = {column: sum(int(row[column]) for row in mine) for column in ("bytes", "words", "tokens")}
            assert totals["tokens"] == cells[name, group, "tokens"].value
            assert totals["bytes"] / totals["tokens"] == cells[name, group, "compression_ratio"].value
            back = sum(row["exact"] == "true" for row in mine) / len(mine)
            assert back == cells[name, group, "roundtrip_exact"].value
            if group != WHOLE and cells[name, group, "words"].value is not None:
                assert totals["words"] == cells[name, group, "words"].value
    assert [int(row["document"]) for row in rows[: groups["en"]]] == list(range(1, groups["en"] + 1))


def test_the_median_document_by_hand(write_config, tmp_path):
    (tmp_path / "t.txt").write_text("".join("x" * k + "\n" for k in range(1, 22)), encoding="utf-8")
    config = write_config(
        "  c: {source: text, path: t.txt, document: line}", "  bytes: {backend: utf8_bytes}", "[documents]"
    )
    [cell] = [cell for cell in tokbench.run(config, workers=0).cells if cell.group == WHOLE]
    assert (cell.metric, cell.value, cell.n, cell.ci_low) == ("median_compression", 1.0, 21, None)
