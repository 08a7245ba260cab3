"""Configurations of corpora that the field uses: each reads a copy of its layout, and says how to get the real one."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tokbench
from tokbench.config.read import read_config
from tokbench.config.suites import find_suite
from tokbench.corpus.languages import language_names
from tokbench.engine.planning import make_plan
from tokbench.registry.plugins import load_registry
from tokbench.results.cells import WHOLE

CORPORA = ["code_search_net", "flores_plus", "ntrex", "udhr", "universal_dependencies"]


def measured(name):
    """Return the run of a configuration under bytes alone, with the count of tokens of each group of its corpus."""
    results = tokbench.run(name, workers=0, only=["bytes"], settings=["metrics=[compression, fairness]"], store=False)
    wrong = [cell.reason for cell in results.cells if cell.value is None and cell.metric == "tokens"]
    assert not wrong
    tokens = {cell.group: cell.value for cell in results.cells if cell.metric == "tokens" and cell.group != WHOLE}
    premiums = {cell.group: cell.value for cell in results.cells if cell.metric == "premium"}
    return tokens, premiums


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def write_rows(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TOKBENCH_TEST_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", CORPORA)
def test_a_missing_corpus_says_how_to_get_it(name, folder):
    head = find_suite(name).path.read_text(encoding="utf-8").partition("schema:")[0]
    assert "Licence: " in head
    assert "Layout: " in head
    plan = make_plan(read_config(Path(name)), load_registry(), lambda *_: None)
    [problem] = map(str, plan.problems)
    assert "no file matches" in problem
    command = problem.partition("get the files with: ")[2]
    assert f"#   {command}\n" in head, "the message and the head of the file give the same command"
    assert "$TOKBENCH_TEST_DATA/" in command


def test_flores_plus(folder):
    for code, texts in {
        "eng_Latn": ["A cat.", "Two"],
        "mya_Mymr": ["ကြောင်", "နှစ်"],
        "cat_Latn_vale1252": ["Un gat", "Dos"],
    }.items():
        rows = [
            {"id": number, "iso_639_3": code[:3], "iso_15924": code[4:8], "glottocode": "", "text": text}
            for number, text in enumerate(texts)
        ]
        write_rows(folder / f"flores_plus/devtest/{code}.parquet", rows)
    tokens, premiums = measured("flores_plus")
    assert tokens == {"eng_Latn": 9, "mya_Mymr": len("ကြောင်နှစ်".encode()), "cat_Latn_vale1252": 9}
    assert premiums["mya_Mymr"] == pytest.approx(tokens["mya_Mymr"] / 9)
    assert language_names(tokens) == {"eng_Latn": "English", "mya_Mymr": "Burmese", "cat_Latn_vale1252": "Catalan"}


def test_ntrex(folder):
    ntrex = folder / "NTREX" / "NTREX-128"
    write(ntrex / "newstest2019-src.eng.txt", "A cat.\r\nTwo\r\n")
    write(ntrex / "newstest2019-ref.eng-GB.txt", "A cat!\r\nTwo\r\n")
    write(ntrex / "newstest2019-ref.zho-CN.txt", "猫。\r\n二\r\n")
    write(ntrex / "newstest2019-ref.srp-Cyrl.txt", "Мачка\r\nДва\r\n")
    write(ntrex / "newstest2019-ref-2.spa.txt", "Un gato\r\nDos\r\n")
    tokens, premiums = measured("ntrex")
    assert tokens == {"eng": 9, "eng-GB": 9, "srp-Cyrl": 16, "zho-CN": 9}, "line ends are no text"
    assert premiums["srp-Cyrl"] == pytest.approx(16 / 9)
    assert set(language_names(tokens).values()) == {"English", "Chinese", "Serbian"}


def conllu(key, *words):
    rows = [f"{number}\t{word}\t_\tNOUN" + "\t_" * 6 for number, word in enumerate(words, 1)]
    return "\n".join([f"# sent_id = {key}", f"# text = {' '.join(words)}", *rows]) + "\n\n"


def test_universal_dependencies(folder):
    for name, code, sentences in [
        ("English", "en", [conllu("n1", "one", "cat"), conllu("n2", "two")]),
        ("German", "de", [conllu("n1", "eine", "Katze"), conllu("n2", "zwei")]),
    ]:
        write(folder / f"ud/UD_{name}-PUD/{code}_pud-ud-test.conllu", "".join(sentences))
        write(folder / f"ud/UD_{name}-PUD/README.md", "not a treebank")
    assert measured("universal_dependencies")[0] == {"en": 10, "de": 14}
    settings = ["metrics=[{fertility: {unit: gold}}]"]
    results = tokbench.run("universal_dependencies", workers=0, only=["bytes"], settings=settings, store=False)
    fertility = {cell.group: cell.value for cell in results.cells if cell.metric == "fertility"}
    assert fertility["de"] == pytest.approx(14 / 3)
