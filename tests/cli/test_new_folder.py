"""``tokbench new FOLDER``: a corpus for every kind of text, what is left out, and the weight of each."""

import gzip
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.config.read import read_config
from tokbench.terminal.folder_texts import corpora_of, describe, entry, read_texts

SAMPLE = Path(tokbench.__file__).parent / "sources" / "sample"
PROGRAMS = {
    "src/inventory.py": "python_inventory.py", "src/tides.py": "python_tide_table.py",
    "src/cache.js": "javascript_lru_cache.js", "db/loans.sql": "sql_library_loans.sql",
}  # fmt: skip


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def mix(tmp_path, monkeypatch):
    """A folder of four languages and three kinds of code, with files that cannot be read."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mix"
    prose = {
        language: (SAMPLE / "languages" / f"{language}.txt").read_text("utf-8") for language in ("es", "de", "ru", "zh")
    }
    write(folder, {f"{language}/news.txt": text for language, text in prose.items()})
    write(folder, {f"{language}/notes.md": text[::-1] for language, text in prose.items()})
    rows = map(json.loads, (SAMPLE / "code.jsonl").read_text("utf-8").splitlines())
    programs = {row["name"]: row["text"] for row in rows}
    write(folder, {name: programs[f"{file}.txt"] for name, file in PROGRAMS.items()})
    write(folder, {"image.bin": bytes(range(256)), "es/empty.txt": "", "es/old.txt": "a\u00f1ejo".encode("latin-1")})
    write(folder, {".git/config": "x", "table.csv": "a,b\n1,2", "Makefile": "all:"})
    return folder


def new(*arguments):
    return CliRunner().invoke(command, ["new", *arguments])


def test_a_folder_gives_a_corpus_of_each_kind_and_says_what_it_leaves_out(mix):
    outcome = new("mix", "--weight", "code=25", "-t", "utf8_bytes")
    assert outcome.exit_code == 0, outcome.output
    assert "prose  4 languages: de, es, ru, zh; 8 files" in outcome.output
    assert "code   javascript 1 file, python 2 files, sql 1 file; 4 files" in outcome.output
    left_out = dict(re.findall(r"^  (\S+): (\w+ ?\w*)", outcome.output, re.MULTILINE))
    assert left_out == {
        ".git": "hidden",
        "Makefile": "no ending",
        "es/empty.txt": "empty",
        "es/old.txt": "not UTF",
        "image.bin": "a binary",
        "table.csv": "has no",
    }
    checked = CliRunner().invoke(command, ["check", "size.yaml"])
    assert checked.exit_code == 0, checked.output
    assert "corpus prose: 528 documents" in checked.output
    config = read_config(Path("size.yaml"))
    assert config.corpora["code"].options["group"] == "{language}"
    assert "weights: {prose: 75.0, code: 25.0}" in Path("size.yaml").read_text("utf-8")


def test_a_language_with_a_weight_is_a_corpus_of_its_own(mix):
    new("mix", "--weight", "de=30", "--weight", "sql=10%", "-t", "utf8_bytes")
    text = Path("size.yaml").read_text("utf-8")
    assert "weights: {prose: 30.0, code: 30.0, de: 30.0, sql: 10.0}" in text
    assert list(read_config(Path("size.yaml")).corpora) == ["prose", "code", "de", "sql"]
    new("mix", "--weight", "German=30", "--weight", "sql=10%", "-t", "utf8_bytes", "-o", "named.yaml")
    assert "de: 30.0" in Path("named.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weight", "cod=25"], "--weight: no corpus or group is called 'cod'; did you mean 'code'?"),
        (["--weight", "jsonl=5"], "--weight: no corpus or group is called 'jsonl'; "),
        (["--weight", "code=x"], "NAME=PERCENT"),
        (["--weight", "de=120"], "sum to 120"),
        (["--weight", "de=60", "--weight", "code=60"], "sum to 120"),
        (["--weight", "de=-5"], "none below 0"),
        (["--weight", "de=nan"], "none below 0"),
        (["--weight", "de=5", "--weight", "de=6"], "two weights"),
        (["--weight", "de=5", "--weight", "German=6"], "one weight"),
        (["--weight", "French=6"], "--weight: no corpus or group is called 'French'; "),
    ],
)
def test_weights_that_cannot_be_used_are_refused(mix, options, message):
    outcome = new("mix", "-t", "utf8_bytes", *options)
    assert message in f"{outcome.exception}{outcome.output}"
    assert not Path("size.yaml").exists()


def test_norwegian_is_no_truth_value(mix):
    write(mix, {"no/a.txt": "en linje\nto linjer\nog tre\n" * 9})
    new("mix", "--weight", "no=10", "-t", "utf8_bytes")
    config = read_config(Path("size.yaml"))
    assert list(config.corpora) == ["prose", "code", "no"]
    assert config.weights == {"prose": 45.0, "code": 45.0, "no": 10.0}


def layout(folder):
    return {name: (corpus.keys, list(corpus.groups)) for name, corpus in corpora_of(read_texts(str(folder))).items()}


@pytest.mark.parametrize(
    ("names", "corpora"),
    [
        (["en.txt", "de.txt.gz"], {"prose": ("{stem}", ["de", "en"])}),
        (["news.en.txt", "news.de.txt"], {"prose": ("{last}", ["de", "en"])}),
        (["en/2020/a.txt", "de/2021/b.txt"], {"de": ("de", ["de"]), "en": ("en", ["en"])}),
        (["en/a.txt", "de/a.txt", "x/README.md"], {"prose": ("{parent}", ["de", "en", "x"])}),
        (["LICENSE.txt", "a/b.txt", "c/d.md"], {"prose": ("prose", ["prose"])}),
        ([f"{k % 7}/{k}.txt" for k in range(200)], {"prose": ("prose", ["prose"])}),
        (["notes.txt"], {"prose": ("{stem}", ["notes"])}),
        (["a.h", "b.CPP", "c.cc"], {"code": ("{language}", ["c", "cpp"])}),
    ],
)  # fmt: skip
def test_groups_are_named_by_what_names_the_language(tmp_path, names, corpora):
    write(tmp_path, {name: gzip.compress(b"one\n") if name.endswith("gz") else "one\n" for name in names})
    assert {name: (keys["group"], groups) for name, (keys, groups) in layout(tmp_path).items()} == corpora


def test_rows_name_their_field_of_text_and_their_language(tmp_path):
    row = {"content": "hello", "lang": "en"}
    write(tmp_path, {"a.jsonl": json.dumps(row), "b.jsonl": json.dumps({"text": "hello"}), "c.jsonl": '{"x": 1}'})
    every = f"{tmp_path}/**/*"
    assert layout(tmp_path) == {"jsonl": ({"path": every}, ["en", "files"])}
    left_out = read_texts(str(tmp_path)).found.left_out
    assert left_out == {"has no field 'text', 'content', 'body' or 'sentence'; it has x": ["c.jsonl"]}


def test_a_corpus_takes_its_own_files_alone(tmp_path):
    write(tmp_path, {"en/x/a.txt": "one\n", "de/x/a.txt": "one\n", "top.txt": "one\n", "en/b.txt": b"\xff\xff"})
    texts = read_texts(str(tmp_path))
    corpora = corpora_of(texts)
    prose, _, english = (entry(corpus, texts, tmp_path, holdout=False) for corpus in corpora.values())
    assert prose["groups"] == ["top"]
    assert "leave_out" not in prose
    assert (english["path"], english["leave_out"]) == (f"{tmp_path}/en/**/*", ["en/b.txt"])
    assert [*describe(texts, corpora)][:2] == [
        "  prose  1 group: top; 1 file, 4 B",
        "  de     1 language: de; 1 file, 4 B",
    ]
