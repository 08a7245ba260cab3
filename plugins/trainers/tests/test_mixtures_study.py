"""The study of mixtures in a run: its block, its answer, and options that are refused before anything is measured."""

import pytest

pytest.importorskip("numba")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

import pyarrow.parquet as pq
from mixed_texts import WORDS, corpus, write_table

import tokbench
from tokbench.foundation.errors import InputError
from tokbench_plugins.bpe import BPETokenizer
from tokbench_plugins.bpe.engines import train
from tokbench_plugins.counts.count import count_table
from tokbench_plugins.counts.merge import add_tables
from tokbench_trainers.mixtures.block import MIXTURES, MixtureRow, Mixtures
from tokbench_trainers.mixtures.front import standings

TEXTS = {name: corpus(name, 5) for name in WORDS}


@pytest.fixture
def folder(tmp_path):
    """Tables of each language, with two splits, and one of all languages."""
    for pattern in ("gpt2", "gpt4"):
        for number, (name, documents) in enumerate(TEXTS.items()):
            write_table(tmp_path / f"{name}-{pattern}.counts", documents, number, pattern, name)
    add_tables([tmp_path / f"{name}-gpt4.counts" for name in TEXTS], tmp_path / "all.counts", 1 << 30)
    return tmp_path


def by_language(folder, *patterns):
    return {name: [str(folder / f"{name}-{pattern}.counts") for pattern in patterns] for name in TEXTS}


def run(folder, **study):
    config = {
        "schema": "tokbench/1",
        "name": "mixed",
        "corpora": {"text": {"source": "sample", "part": "languages", "groups": ["de"]}},
        "tokenizers": {"bytes": "utf8_bytes"},
        "metrics": ["compression"],
        "report": {"formats": ["md"]},
        "study": {"mixtures": study},
    }
    return tokbench.run(config, output=folder / "out", workers=0)


def test_tokens_are_those_of_a_tokenizer_trained_on_the_text(folder):
    results = run(folder, tables=by_language(folder, "gpt2", "gpt4"), alpha=[1], sizes=[280, 300])
    block = results.studies.get(MIXTURES)
    assert [(row.pattern, row.vocab_size) for row in block.rows] == [
        (p, n) for p in ("gpt2", "gpt4") for n in (280, 300)
    ]
    every = [text for documents in TEXTS.values() for text in documents]
    for row in block.rows:
        tokenizer = BPETokenizer(
            train(every, row.vocab_size, row.pattern, engine="python"), row.pattern, engine="python"
        )
        assert row.tokens == {name: sum(len(tokenizer.encode(text)) for text in some) for name, some in TEXTS.items()}
    sizes = {name: sum(len(text.encode()) for text in some) for name, some in TEXTS.items()}
    assert block.bytes == {"gpt2": sizes, "gpt4": sizes}


def test_groups_of_one_table_are_languages(folder):
    asked = {"weights": [{"de": 2, "hi": 1, "code": 1}], "sizes": [290]}
    blocks = [
        run(folder, tables=tables, **asked).studies.get(MIXTURES)
        for tables in (str(folder / "all.counts"), by_language(folder, "gpt4"))
    ]
    names = ["alpha 1", "alpha 0.3", "alpha 0", "2 de, 1 hi, 1 code"]
    for block in blocks:
        assert list(block.shares) == names
        assert block.shares[names[-1]] == {"de": 0.5, "hi": 0.25, "code": 0.25}
    tokens = [{row.mixture: row.tokens for row in block.rows} for block in blocks]
    assert tokens[0] == tokens[1]


def test_a_language_gains_where_its_share_rises(folder):
    tables = by_language(folder, "gpt4")
    results = run(folder, tables=tables, weights=[{"hi": 1}, {"hi": 1, "de": 9}], alpha=[], sizes=[290])
    rows = results.studies.get(MIXTURES).rows
    assert rows[0].tokens["hi"] < rows[1].tokens["hi"]
    lines = {line.label: line.sentences for line in results.answer.lines}
    assert "1 hi, 9 de" in lines["Mixtures"][0]
    assert any("29 kB" in sentence for sentence in lines["Confidence"])  # 100 bytes for each of 290 tokens
    assert "## Shares of languages" in (folder / "out" / "report.md").read_text()


def test_the_front_by_hand():
    rows = [
        MixtureRow(mixture=name, pattern="gpt4", vocab_size=300, ids=300, tokens={"de": de, "hi": hi})
        for name, de, hi in (("a", 100, 120), ("b", 110, 100), ("c", 120, 130))
    ]
    block = Mixtures(shares={}, text={"de": 0.75, "hi": 0.25}, bytes={"gpt4": {"de": 400, "hi": 400}}, rows=rows)
    found = {one.name: one for one in standings(block, 300)}
    # a: .75 * 100 + .25 * 120 = 105 tokens, b: 107.5, c: 122.5; hi needs 20% more with a, de 10% more with b
    assert list(found) == ["a", "b", "c"]
    assert found["b"].more == pytest.approx(107.5 / 105 - 1)
    assert (found["a"].worst, found["a"].worst_more) == ("hi", pytest.approx(0.2))
    assert (found["b"].worst, found["b"].worst_more) == ("de", pytest.approx(0.1))
    assert [one.on_front for one in found.values()] == [True, True, False]


def test_trainings_are_kept(folder, tmp_path, monkeypatch):
    from tokbench_trainers.mixtures import study

    monkeypatch.setenv("TOKBENCH_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("TOKBENCH_NO_STORE", raising=False)
    asked = {"tables": by_language(folder, "gpt4"), "alpha": [1, 0], "sizes": [290]}
    first = run(folder, **asked).studies.get(MIXTURES)
    monkeypatch.setattr(study, "read_languages", None)
    assert run(folder, **asked).studies.get(MIXTURES) == first


@pytest.mark.parametrize(
    ("study", "named"),
    [
        ({"weights": [{"de": 1, "cde": 1}]}, "unknown language 'cde'; did you mean 'code'"),
        ({"text": {"dee": 1}}, "unknown language 'dee'; did you mean 'de'"),
        ({"weights": [{"de": -1, "hi": 2}]}, r"weights"),
        ({"weights": [{"de": 0}]}, "every weight is 0"),
        ({"alpha": [-0.3]}, "alpha"),
        ({"alpha": []}, "no mixture"),
        ({"sizes": [256]}, "sizes"),
        ({"patterns": ["gpt-4"]}, "did you mean 'gpt4'"),
        ({"patterns": ["o200k"]}, "no table of any language has the split o200k"),
        ({"tables": ["absent.counts"]}, "absent.counts"),
        ({"tables": {"de": "de-gpt4.counts"}}, "two languages"),
        ({"tables": {"de": "de-gpt4.counts", "hi": "hi-gpt2.counts"}}, "no table of hi has the split gpt4"),
        ({"tables": {"de": "de-gpt4.counts", "hi": ["hi-gpt4.counts", "code-gpt2.counts"]}}, "no table of de .* gpt2"),
        (
            {"tables": {"de": ["de-gpt2.counts", "hi-gpt4.counts"], "hi": ["hi-gpt2.counts", "hi-gpt4.counts"]}},
            "same text",
        ),
        ({"tables": ["unordered.counts", "all.counts"]}, "tie: smallest"),
        ({"tables": ["groupless.counts"]}, "without a group"),
    ],
)
def test_refused_before_anything_is_measured(folder, monkeypatch, study, named):
    monkeypatch.chdir(folder)
    pq.write_table(count_table(["a b"], group="xx"), folder / "unordered.counts")
    pq.write_table(count_table(["a b"], [0]), folder / "groupless.counts")
    with pytest.raises(InputError, match=named):
        run(folder, **{"tables": "all.counts", **study})
    assert not (folder / "out").exists()


def test_a_damaged_table_fails_the_study_alone(folder):
    table = pq.read_table(folder / "de-gpt4.counts")
    at = table.schema.get_field_index("count")
    pq.write_table(table.set_column(at, "count", [[-1] * table.num_rows]), folder / "de-gpt4.counts")
    results = run(folder, tables=by_language(folder, "gpt4"), sizes=[290])
    assert results.studies.get(MIXTURES) is None
    assert any("de-gpt4.counts" in note and "count of -1" in note for note in results.notes)
