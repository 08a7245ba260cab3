"""Suites that ship, found by name, and configurations of corpora that the field uses."""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tokbench
from tokbench.config import suites
from tokbench.config.read import read_config
from tokbench.config.suites import find_config, find_configs, find_suite, shipped_suites
from tokbench.corpus.languages import language_names
from tokbench.engine.planning import make_plan
from tokbench.foundation.errors import InputError
from tokbench.registry.plugins import load_registry
from tokbench.results.cells import WHOLE

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.packages
def test_every_configuration_ships_with_a_summary():
    suites = shipped_suites()
    assert {path.stem for path in (REPOSITORY / "configs").glob("*.yaml")} <= set(suites)
    assert {"quickstart", "code", "multilingual", "vocab_size"} <= set(suites)
    for suite in suites.values():
        assert suite.summary, suite.name
    assert {name for name, suite in suites.items() if suite.needs_data} >= {"words", "pud", "engines-pud"}
    assert not suites["quickstart"].needs_data
    assert not suites["multilingual"].needs_data, "a comment that names the folder is no need"


@pytest.mark.parametrize("name", shipped_suites())
def test_a_suite_is_right_and_its_copy_says_the_same_anywhere(name, tmp_path, monkeypatch):
    monkeypatch.setenv("TOKBENCH_TEST_DATA", os.environ.get("TOKBENCH_TEST_DATA", "/nowhere"))
    monkeypatch.chdir(tmp_path)
    suite = read_config(Path(name))
    assert suite.problems == []
    assert suite.name == name
    copy = tmp_path / "copy.yaml"
    copy.write_text(suite.text, encoding="utf-8")
    copied = read_config(copy)
    assert copied.problems == []
    assert copied.located.data == suite.located.data
    local = [entry.options.get("path", "") for entry in [*suite.corpora.values(), *suite.tokenizers.values()]]
    assert all(not path or path.startswith("${TOKBENCH_TEST_DATA}/") for path in local), "a path needs no folder"


@pytest.mark.packages
def test_a_path_that_exists_wins_over_a_name(tmp_path, monkeypatch, write_config):
    monkeypatch.chdir(tmp_path)
    assert find_config(Path("probes")) == shipped_suites()["probes"].path
    Path("probes").write_bytes(write_config().read_bytes())
    assert find_config(Path("probes")) == Path("probes")
    assert read_config(Path("probes")).name == "test"


@pytest.mark.packages
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("quikstart", "no such file, and no shipped suite is called 'quikstart'; did you mean 'quickstart'? Known: adapt, "),
        ("quickstart.yaml", "quickstart.yaml: no such file; the shipped suite is called 'quickstart'"),
        ("nothing.yaml", "nothing.yaml: cannot be read: No such file or directory"),
        ("code", "code: is a folder, not a configuration; 'tokbench new code' writes the shipped suite of this name"),
    ],
)  # fmt: skip
def test_what_is_not_found_is_told(given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("code").mkdir()
    with pytest.raises(InputError) as caught:
        tokbench.run(given)
    assert str(caught.value).startswith(message), str(caught.value)


def test_a_folder_stands_for_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.yml", "a.yaml", "_base.yaml", ".hidden.yaml", "notes.txt", "inner/c.yaml"):
        Path("code", name).parent.mkdir(parents=True, exist_ok=True)
        Path("code", name).write_text("", encoding="utf-8")
    assert find_configs([Path("x.yaml"), Path("code"), Path("probes")]) == [
        *(Path("x.yaml"), Path("code/a.yaml"), Path("code/b.yml"), Path("probes")),
    ]
    Path("words").mkdir()
    with pytest.raises(InputError) as caught:
        find_configs([Path("words")])
    assert str(caught.value).startswith("words: a folder without a configuration: no file ends with .yaml or .yml")
    assert str(caught.value).endswith("; 'tokbench new words' writes the shipped suite of this name to a file")


def test_a_bad_suite_of_a_package_costs_that_suite_alone(tmp_path, monkeypatch, caplog):
    configs = tmp_path / "configs"
    (configs / "folder.yaml").mkdir(parents=True)
    (configs / "latin.yaml").write_bytes(b"# caf\xe9\n")
    (configs / "good.yaml").write_text("# Good.\n")
    if hasattr(os, "mkfifo"):
        os.mkfifo(configs / "pipe.yaml")
    monkeypatch.setattr(suites, "_folders_of_packages", lambda: [configs])
    shipped_suites.cache_clear()
    try:
        found = shipped_suites()
    finally:
        shipped_suites.cache_clear()
    assert {"good", "quickstart"} <= found.keys()
    assert not found.keys() & {"folder", "latin", "pipe"}
    assert len(caplog.messages) == 2 + hasattr(os, "mkfifo")


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
