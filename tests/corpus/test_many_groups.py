"""Very many files and very many groups: one group by default, told in a note, and cut in reports."""

import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.formats import html, markdown


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """301 files of k // 100 + 1 lines."""
    folder = tmp_path_factory.mktemp("many")
    for k in range(301):
        (folder / f"d{k:03d}.txt").write_text(f"one two {k}\n" * (k // 100 + 1), encoding="utf-8")
        (folder / f"d{k:03d}.jsonl").write_text('{"text": "one"}\n', encoding="utf-8")
    return folder


@pytest.mark.parametrize(("source", "suffix"), [("text", "txt"), ("jsonl", "jsonl")])
def test_very_many_files_are_one_group_and_a_note_says_so(write_config, many, source, suffix):
    results = tokbench.run(write_config(f"  c: {{source: {source}, path: '{many}/*.{suffix}'}}"), workers=0)
    assert results.corpora["c"].groups == {"files": 301}
    note = "corpus c: 301 files are one group, 'files', because 'group' is not given; for a group of each file write "
    assert f"{note}group: '{{stem}}'" in results.notes


def test_fewer_files_are_a_group_each(write_config, many):
    results = tokbench.run(write_config(f"  c: {{source: text, path: '{many}/d[0-1]*.txt'}}"), workers=0)
    assert len(results.corpora["c"].groups) == 200
    assert results.notes == []


@pytest.fixture(scope="module")
def grouped(many, tmp_path_factory):
    path = tmp_path_factory.mktemp("grouped") / "run.yaml"
    path.write_text(
        f"""schema: tokbench/1
name: many
corpora:
  c: {{source: text, path: '{many}/*.txt', document: line, group: '{{stem}}'}}
tokenizers: {{a: {{backend: utf8_bytes}}, b: {{backend: utf16_units}}}}
metrics: [compression]
""",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(("groups", "notes"), [(200, 0), (201, 1)])
def test_from_which_number_on_it_is_said(groups, notes, write_config, tmp_path):
    lines = (f'{{"text": "a", "g": "g{k}"}}\n' for k in range(groups))
    (tmp_path / "c.jsonl").write_text("".join(lines), encoding="utf-8")
    path = write_config(corpora="  c: {source: jsonl, path: c.jsonl, group: '{g}'}", metrics="[compression]")
    done = CliRunner().invoke(command, ["check", str(path)], catch_exceptions=False)
    assert done.output.count("groups, each with a row of its own") == notes, done.output


def test_check_says_what_very_many_groups_cost_and_names_the_line(grouped):
    done = CliRunner().invoke(command, ["check", str(grouped)], catch_exceptions=False)
    assert "note: corpus c has 301 groups, each with a row of its own in every table: 3,010 cells" in done.output
    assert "write 'group: files' for it (" in done.output
    assert f"{grouped}:4:" in done.output.partition("'group: files' for it (")[2]
    assert done.output.endswith("nothing wrong; see the notes\n")


@pytest.mark.slow
def test_reports_show_the_largest_groups_and_count_the_others(grouped):
    results = tokbench.run(grouped, workers=0, settings=["show={documents: 0}"])  # or excerpts name further groups
    assert len({each.group for each in results.cells}) == 302
    sentence = "The 200 groups with the most documents are shown; results.csv has the other 101, too."
    for text in (html.render(results), markdown.render(results)):
        assert sentence in text
        # One group has four documents and 100 have three; so 99 of the 100 with two have a place.
        assert all(re.search(rf"\b{group}\b", text) for group in ("d300", "d200", "d198"))
        assert not any(re.search(rf"\b{group}\b", text) for group in ("d199", "d050"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is that of Linux")
def test_one_long_document_takes_memory_in_proportion(tmp_path):
    """A document of 40 MB: what each byte more costs in the largest process, beyond what a document of 5 MB takes."""
    lines = "".join(f"def function_{k}(argument):\n    return argument + {k}\n" for k in range(20_000))
    (tmp_path / "small.txt").write_text(lines[:200_000], encoding="utf-8")
    peaks = []
    for size in (5_000_000, 40_000_000):
        (tmp_path / "doc.txt").write_text((lines * (size // len(lines) + 1))[:size], encoding="utf-8")
        (tmp_path / "run.yaml").write_text(
            """schema: tokbench/1
name: long
corpora:
  c: {source: text, path: doc.txt}
  t: {source: text, path: small.txt, evaluate: false}
tokenizers: {mine: {backend: regex_bpe, pattern: gpt4, train: {corpus: t, vocab_size: 1000}}}
metrics: [compression, fertility, continued_words, roundtrip, vocabulary]
report: {formats: [csv]}
""",
            encoding="utf-8",
        )
        code = (
            "import resource, subprocess, sys\n"
            "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        )
        run = [sys.executable, "-m", "tokbench", "run", str(tmp_path / "run.yaml"), "-o", str(tmp_path / "out")]
        done = subprocess.run(
            [sys.executable, "-c", code, *run], check=True, capture_output=True, text=True, env=dict(os.environ)
        )
        peaks.append(int(done.stdout) * 1024)
    assert (peaks[1] - peaks[0]) / 35_000_000 < 12
