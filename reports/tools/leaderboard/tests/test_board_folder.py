"""A leaderboard in a folder: a contributor adds an entry, a wrong number is refused by name, pages need nothing else."""

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from leaderboard.__main__ import leaderboard as command
from leaderboard.board import read_board
from leaderboard.measure import read_ranks
from leaderboard.numbers import read_numbers
from leaderboard.site import write_site

from tokbench.foundation.errors import InputError

REAL = Path(__file__).parents[3] / "leaderboard"

SETTINGS = """\
run:
  schema: tokbench/1
  name: tiny
  corpora:
    languages: {source: text, path: FOLDER/*.txt, document: line, parallel: true, reference: en}
    code: {source: sample, part: code, groups: [python, go]}
  metrics:
    - compression
    - roundtrip
    - fertility: {corpora: [languages]}
    - fairness: {corpora: [languages]}
texts: {}
numbers:
  - {corpus: languages, groups: true, metrics: [compression_ratio, tokens, fertility, premium, lost_characters, roundtrip_exact]}
  - {corpus: languages, metrics: [gini]}
  - {corpus: code, groups: true, metrics: [compression_ratio, tokens, lost_characters, roundtrip_exact]}
ranks:
  - {corpus: languages, metric: compression_ratio}
site:
  languages: languages
  code: code
  reference: en
  tokens: tokens
  ratio: compression_ratio
  lost: lost_characters
  fertility: fertility
  columns:
    - {corpus: languages, metric: gini, label: inequality}
    - {corpus: (vocabulary), metric: dead_ids, label: dead ids}
"""
ENTRY = "tokenizer: {{backend: {}}}\nfamily: Made up\nsource: here\nlicence: MIT\n"
DE = [f"Die Straße {k} führt über die Brücke zum Fluß." for k in range(40)]
EN = [f"Road {k} leads over the bridge to the river." for k in range(40)]


def called(*arguments):
    outcome = CliRunner().invoke(command, [*map(str, arguments)])
    if isinstance(outcome.exception, InputError):
        raise outcome.exception
    return outcome


@pytest.fixture(scope="module")
def made(tmp_path_factory, shared_store):
    """A leaderboard with two entries and a baseline, measured."""
    base = tmp_path_factory.mktemp("board")
    (base / "texts").mkdir()
    for name, lines in (("de", DE), ("en", EN)):
        (base / "texts" / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    board = base / "tiny"
    (board / "entries").mkdir(parents=True)
    (board / "leaderboard.yaml").write_text(SETTINGS.replace("FOLDER", str(base / "texts")), encoding="utf-8")
    add(board, "gpt-4o", "splintr, vocabulary: o200k_base")
    add(board, "modernbert", "splintr, vocabulary: modernbert")
    add(board, "bytes", "utf8_bytes", "baseline: true\n")
    outcome = called("run", "--folder", board, "-w", 0, "--log", "none")
    assert outcome.exit_code == 0, outcome.output
    return board


@pytest.fixture
def board(made, tmp_path):
    """A copy that a test may change."""
    return Path(shutil.copytree(made, tmp_path / "tiny"))


def add(board, name, backend, more=""):
    (board / "entries" / f"{name}.yaml").write_text(ENTRY.format(backend) + more, encoding="utf-8")


@pytest.mark.slow
def test_numbers_are_those_of_the_text(made):
    numbers = {row.place: row for row in read_numbers(made / "results" / "bytes.csv")}
    size = {name: sum(len(line.encode()) for line in lines) for name, lines in (("de", DE), ("en", EN))}
    assert numbers["languages", "de", "tokens"].number == size["de"]
    assert numbers["languages", "*", "compression_ratio"].value == "1"
    premium = numbers["languages", "de", "premium"]
    assert premium.number == pytest.approx(size["de"] / size["en"], rel=1e-5)
    assert float(premium.low) < premium.number < float(premium.high)
    assert numbers["(vocabulary)", "*", "ids"].value == "256"
    assert numbers["(vocabulary)", "*", "dead_ids"].value == "13"
    assert len(numbers["(vocabulary)", "*", "sha256"].value) == 64


def test_a_baseline_has_no_place(made):
    ranks = read_ranks(made / "ranks.csv")["languages", "compression_ratio"]
    assert ranks["gpt-4o"].place == 1
    assert ranks["bytes"].place is None


@pytest.mark.slow
def test_a_planted_number_is_refused_and_named(board):
    path = board / "results" / "gpt-4o.csv"
    row = next(row for row in read_numbers(path) if row.place == ("languages", "de", "tokens"))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f"languages,de,tokens,{row.value},", "languages,de,tokens,123,"), encoding="utf-8")
    outcome = called("check", "gpt-4o", "--folder", board, "-w", 0)
    assert outcome.exit_code == 1
    assert outcome.stderr.splitlines() == [f"gpt-4o: tokens of languages/de is published as 123, and is {row.value}"]
    outcome = called("verify", 9, "--seed", 1, "--folder", board, "-w", 0)
    assert outcome.exit_code == 1
    assert outcome.stdout.splitlines()[0] == "seed 1: bytes, gpt-4o, modernbert"
    assert "bytes: all" in outcome.stdout
    assert outcome.stderr.count("is published as") == 1
    outcome = called("run", "bytes", "--folder", board, "-w", 0, "--log", "none")
    assert outcome.exit_code == 1
    assert "written: nothing" in outcome.stdout, "ranks and rows would not belong together"


@pytest.mark.slow
def test_an_entry_goes_in_as_a_contributor_would(board):
    add(board, "mine", "utf16_units", "notes: mine alone\n")
    outcome = called("check", "mine", "--folder", board, "-w", 0)
    assert outcome.exit_code == 1
    assert "leaderboard run mine" in outcome.stderr
    before = (board / "results" / "gpt-4o.csv").read_bytes()
    outcome = called("run", "mine", "--folder", board, "-w", 0, "--log", "none")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.stdout.splitlines()[-1] == "written: mine"
    assert (board / "results" / "gpt-4o.csv").read_bytes() == before
    assert "mine" in (board / "ranks.csv").read_text(encoding="utf-8")
    assert called("check", "mine", "--folder", board, "-w", 0).exit_code == 0
    assert called("build", board, "-o", board / "site").exit_code == 0
    assert "mine alone" in (board / "site" / "mine.html").read_text(encoding="utf-8")


def test_a_text_that_is_another_is_refused(board):
    path = board / "leaderboard.yaml"
    path.write_text(path.read_text("utf-8").replace("texts: {}", "texts: {languages: abcd}"), encoding="utf-8")
    with pytest.raises(InputError, match=r"corpus 'languages' has the sha256 .* abcd"):
        called("check", "bytes", "--folder", board, "-w", 0)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("Mine", ENTRY.format("utf8_bytes"), "small letters"),
        ("mine", "tokenizer: {vocabulary: x}\nfamily: a\nsource: b\nlicence: c\n", "no 'backend'"),
        ("mine", "tokenizer: {backend: utf8_bytes}\nfamly: a\nsource: b\nlicence: c\n", r"mine\.yaml:2:1.*famly"),
    ],
)
def test_an_entry_that_is_wrong_is_refused_with_its_place(board, name, text, message):
    (board / "entries" / f"{name}.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_board(board)


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b\n", ":1: the head"), ("HEADc,*\n", ":2: 2 fields"), ("HEADc,*,m,four,,,ok\n", ":2: 'four'")],
)
def test_a_damaged_file_of_numbers_is_refused(tmp_path, text, message):
    path = tmp_path / "x.csv"
    path.write_text(text.replace("HEAD", "corpus,group,metric,value,low,high,status\n"), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_numbers(path)


def test_pages_need_nothing_else(made, tmp_path):
    assert called("build", made, "-o", tmp_path).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("bytes.html", "bytes.svg", "gpt-4o.html", "gpt-4o.svg", "index.html", "modernbert.html", "modernbert.svg")
    ]
    for path in tmp_path.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", text), path
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', index, re.DOTALL)[1])
    assert data["choices"]["script-Latin"]["groups"] == ["de", "en"]
    assert data["numbers"]["bytes"]["languages"]["en"][1] == 1
    assert "place 1" in (tmp_path / "gpt-4o.svg").read_text(encoding="utf-8")
    assert "place" not in (tmp_path / "bytes.svg").read_text(encoding="utf-8")


def test_the_published_board_is_whole():
    board = read_board(REAL)
    assert len(board.names) >= 30
    ranks = read_ranks(board.ranks)
    assert set(ranks) == {(rank.corpus, rank.metric) for rank in board.settings.ranks}
    for name in board.names:
        rows = read_numbers(board.results(name))
        assert rows, name
        exact = next(row.number for row in rows if row.place == ("languages", "*", "roundtrip_exact"))
        place = ranks["languages", "compression_ratio"][name].place
        assert (place is None) >= board.entries[name].baseline, name
        assert place or exact < 1 or board.entries[name].baseline, name
    assert {path.stem for path in (REAL / "results").glob("*.csv")} == set(board.names)
    assert sum(path.stat().st_size for path in REAL.rglob("*.csv")) < 500_000


def test_names_with_the_same_ids_share_a_row(tmp_path):
    write_site(read_board(REAL), tmp_path, "../index.html")
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    rows = [set(names.split()) for names in re.findall(r'data-names="([^"]*)"', index)]
    assert {"gpt-4o", "gpt-4o.bpe-openai", "gpt-oss"} in rows
    assert {"kimi-k2", "kimi-k3"} in rows
    assert {"gemma-3"} in rows, "gemma-4 has other ids in code"
    assert sorted(name for row in rows for name in row) == read_board(REAL).names
    data = json.loads(re.search(r'id="data">(.*?)</script>', index, re.DOTALL)[1])
    places = sorted(own["languages"][0] for own in data["places"].values() if own["languages"][0])
    assert all(place <= number for number, place in enumerate(places, 1))
    assert all(place == 1 or places[place - 2] < place for place in places), "no gaps"
    heads = " ".join(re.findall(r'<th scope="col".*?</th>', index))
    assert not re.search(r">[^<]*_[^<]*<", heads), "no ids of metrics"
    assert 'href="../index.html"' in index
    assert (REAL / "measured.txt").read_text("utf-8").strip() in index


def test_unverified_names_are_marked(tmp_path):
    write_site(read_board(REAL), tmp_path)
    assert "<h1>qwen-3.5 (unverified)</h1>" in (tmp_path / "qwen-3.5.html").read_text(encoding="utf-8")
    marked = re.findall(
        r'html">([^<]*)</a> <span[^>]*>unverified', (tmp_path / "index.html").read_text(encoding="utf-8")
    )
    assert set(marked) == {"qwen-3.5"}
