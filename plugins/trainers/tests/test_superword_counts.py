"""Superwords from tables of counts: the merges of the text, whatever was cut away."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("numba")
pytest.importorskip("duckdb")

import regex
from click.testing import CliRunner
from count_tables import ALPHABET, MEMORY, write
from hypothesis import example, given
from hypothesis import strategies as st

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench_plugins.bpe import resolve_pattern
from tokbench_plugins.bpe.compiled.count import count_documents, encode_documents
from tokbench_plugins.counts.count import count_partition
from tokbench_plugins.counts.facts import CountFacts, read_facts
from tokbench_plugins.counts.local import Task, count
from tokbench_plugins.counts.merge import add_tables
from tokbench_plugins.counts.pieces import Reading
from tokbench_plugins.counts.read import TableRows, read_counts
from tokbench_plugins.counts.rows import gather
from tokbench_trainers.superwords.cutting import BORDERS, SuperwordCutter
from tokbench_trainers.superwords.superbpe import SuperBPERule, train_superbpe
from tokbench_trainers.superwords.tables import boundless_of_table, make_table, plan_of, superbpe_of_table
from tokbench_trainers.superwords.train_boundless import train_boundless
from tokbench_trainers.superwords.wanted import SuperwordTraining, wanted_of

KINDS = ("superbpe", "boundless_bpe")
WORDS = ["by", " by", " the", " way", " in", " end", " a", " aa", ".", ":", "\n", "  ", "--", " '", "12", "é", "'s"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=30).map("".join), min_size=1, max_size=4)


def wanted_for(kind, size, pattern="gpt4", tie="first"):
    more = (size - 8, 3) if kind == "superbpe" else ()
    return SuperwordTraining(kind, resolve_pattern(pattern), size, tie, *more)


def from_text(documents, wanted):
    if wanted.kind == "superbpe":
        return train_superbpe(documents, wanted.vocab_size, SuperBPERule(*wanted[1:2], *wanted[4:]), tie=wanted.tie)
    return train_boundless(documents, wanted.vocab_size, wanted.pattern, tie=wanted.tie)


def from_rows(rows, facts, wanted):
    if wanted.kind == "superbpe":
        return superbpe_of_table(rows, facts, wanted)
    return boundless_of_table(rows, facts, wanted).learned


def from_table(path, wanted):
    return from_rows(read_counts(path, wanted.tie, path.parent), read_facts(path), wanted)


@given(texts, st.sampled_from(KINDS), st.sampled_from(["gpt2", "gpt4", "o200k"]), st.integers(1, 4), st.booleans())
def test_cut_text_gives_the_merges(documents, kind, pattern, least, smallest):
    """Without a guess: at any count, either the merges are those of the text, or they are refused."""
    wanted = wanted_for(kind, 276, pattern, "smallest" if smallest else "first")
    planned = plan_of(count_documents(documents, pattern), wanted)
    cutter = planned.cutter(planned.sketch(documents), least)
    rows = gather(count_partition(documents, 0, cutter=cutter).to_batches())
    expected = from_text(documents, wanted)
    try:
        found = from_rows(rows, CountFacts(cutter.name, superwords=cutter.facts), wanted)
    except tokbench.BackendError:
        assert least > 1
        return
    assert found == expected


@pytest.mark.parametrize("kind", KINDS)
@example("''\n/'a")
@given(st.lists(st.sampled_from(ALPHABET), max_size=30).map("".join))
def test_pieces_are_cut_alike(kind, text):
    """A text that is read in pieces is cut as the whole."""
    plan = plan_of(count_documents([text * 2, "by the way", "by the way"], "gpt4"), wanted_for(kind, 290)).plan
    cutter = SuperwordCutter(plan)
    borders = [0, *(match.start() for match in regex.finditer(BORDERS[kind], text)), len(text)]
    pieces = [text[start:end] for start, end in pairwise(borders)]
    ends, start = [], 0
    for piece in pieces:
        ends += [start + end for end in cutter.ends(*encode_documents([piece])).tolist()]
        start += len(piece.encode())
    assert ends == cutter.ends(*encode_documents([text])).tolist()


@pytest.fixture(scope="module")
def samples(tmp_path_factory, data):
    """A text in each of three languages, and code, of about half a megabyte."""
    folder = tmp_path_factory.mktemp("samples")
    made = {name: [(data / f"ntrex/{name}.txt").read_text("utf-8")] for name in ("deu", "rus", "zho-CN")}
    made["code"] = [path.read_text("utf-8") for path in sorted(Path(random.__file__).parent.glob("[a-d]*.py"))]
    return {name: (write(folder / name, some), some) for name, some in made.items()}


def table_of(folder, output, wanted, **options):
    task = Task(tuple(sorted(folder.iterdir())), Reading(wanted.pattern), output, MEMORY)
    words = output.with_suffix(".words")
    count(Task(task.files, task.reading, words, MEMORY), lambda _: None)
    rows = TableRows(read_counts(words, wanted.tie, output.parent), read_facts(words))
    return make_table(task, rows, wanted, lambda *_: None, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name", [*(pytest.param(name, marks=pytest.mark.slow) for name in ("deu", "rus")), "zho-CN", "code"]
)
def test_tables_of_real_text(samples, tmp_path, name, kind):
    folder, documents = samples[name]
    wanted = wanted_for(kind, 1200)._replace(**({"stage_one": 900} if kind == "superbpe" else {}))
    made = table_of(folder, tmp_path / "super.counts", wanted)
    assert made.merged.facts.superwords["least"] > 1, "something was cut away"
    assert from_table(tmp_path / "super.counts", wanted) == from_text(documents, wanted)


def test_parts_add_up(samples, tmp_path):
    """Parts that are cut by one plan, in any order."""
    folder, documents = samples["code"]
    wanted = wanted_for("superbpe", 1000)
    table_of(folder, tmp_path / "whole.counts", wanted)
    planned = plan_of(count_documents(documents, "gpt4"), wanted)
    cutter = planned.cutter(planned.sketch(documents))
    files, parts = sorted(folder.iterdir()), []
    reading = Reading(wanted.pattern, border=BORDERS["superbpe"])
    for number, some in enumerate((files[:5], files[5:])):
        parts.append(tmp_path / f"{number}.counts")
        count(Task(tuple(some), reading, parts[-1], MEMORY, cutter=cutter), lambda _: None)
    add_tables(parts, tmp_path / "all.counts", MEMORY)
    assert from_table(tmp_path / "all.counts", wanted) == from_table(tmp_path / "whole.counts", wanted)
    with pytest.raises(tokbench.InputError, match="different split"):
        add_tables([parts[0], tmp_path / "whole.words"], tmp_path / "no.counts", MEMORY)


def test_what_is_too_rare_is_refused(samples, tmp_path):
    wanted = wanted_for("superbpe", 1000)
    table_of(samples["code"][0], tmp_path / "rare.counts", wanted, least=10**6)
    with pytest.raises(tokbench.BackendError, match="--least"):
        from_table(tmp_path / "rare.counts", wanted)


def tokbench_command(*arguments):
    return CliRunner().invoke(command, [*map(str, arguments), "--log", "none"])


@pytest.mark.parametrize("backend", KINDS)
def test_options_that_are_wrong_are_refused(tmp_path, backend):
    (tmp_path / "a.txt").write_text("low lower")
    known = ["superwords", tmp_path / "a.txt", "--backend", backend, "--vocab-size", 300, "-o", tmp_path / "x"]
    for wrong, words in {"gpt5": "did you mean 'gpt4'", "(a": "is not a regular expression"}.items():
        with pytest.raises(tokbench.InputError, match=words):
            raise tokbench_command(*known, "--pattern", wrong).exception
        with pytest.raises(tokbench.InputError, match=words):
            wanted_of(backend, 300, pattern=wrong)


def test_where_stage_two_begins_is_a_share_or_a_number(tmp_path):
    (tmp_path / "a.txt").write_text("low lower")
    known = ["superwords", tmp_path / "a.txt", "--vocab-size", 300, "-o", tmp_path / "x", "--json"]
    assert tokbench_command(*known, "--stage-one", 270).exit_code == 0
    for wrong in (-1, 1, 255, 270.5, "nan"):
        with pytest.raises(tokbench.InputError, match="stage_one"):
            raise tokbench_command(*known, "--stage-one", wrong).exception


@pytest.mark.parametrize("backend", KINDS)
def test_commands_train_from_a_table(samples, tmp_path, backend):
    table, (folder, documents) = tmp_path / "super.counts", samples["deu"]
    made = tokbench_command("superwords", folder, "--backend", backend, "--vocab-size", 1000, "-o", table)
    assert made.exit_code == 0, made.exception
    trained = tokbench_command(
        "train", "--backend", f"{backend}:gpt4", "--counts", table, "--vocab-size", 1000, "-o", tmp_path
    )
    assert trained.exit_code == 0, trained.exception
    (path,) = tmp_path.glob("*.bpe.json")
    assert tokbench.load(str(path)).merges == tokbench.train(backend, documents, 1000, store=False).merges
    refused = tokbench_command("train", "--backend", "regex_bpe:gpt4", "--counts", table, "--vocab-size", 1000)
    assert "superwords of" in str(refused.exception)


@pytest.mark.parametrize("backend", KINDS)
def test_plain_tables_are_refused(samples, tmp_path, backend):
    table = tmp_path / "plain.counts"
    tokbench_command("count", samples["deu"][0], "-o", table)
    refused = tokbench_command("train", "--backend", backend, "--counts", table, "--vocab-size", 1000)
    assert "tokbench superwords" in str(refused.exception)


def test_words_of_other_texts_are_refused(samples, tmp_path):
    table = tmp_path / "plain.counts"
    tokbench_command("count", samples["deu"][0], "-o", table)
    refused = tokbench_command(
        "superwords", samples["rus"][0], "--counts", table, "--vocab-size", 1000, "-o", tmp_path / "x"
    )
    assert "same files" in str(refused.exception)
