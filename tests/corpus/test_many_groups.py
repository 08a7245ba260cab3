"""Very many files and very many groups: one group by default, told in a note, and cut in reports."""

import pytest
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command


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
    note = "corpus c: 301 files are one group, 'files', because their names tell no language; for a group of each file "
    assert f"{note}write group: '{{stem}}'" in results.notes


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


def test_check_says_what_very_many_groups_cost_and_names_the_line(grouped):
    done = CliRunner().invoke(command, ["check", str(grouped)], catch_exceptions=False)
    assert "note: corpus c has 301 groups, which make 3,010 results" in done.output
    assert f"{grouped}:4:" in done.output.partition("write 'group: files' (")[2]
    assert done.output.endswith("nothing wrong; see the notes\n")
