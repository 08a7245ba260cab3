"""Corpora whose files have an address that fsspec reads."""

import fsspec
import pytest
from shared_fixtures import problems

import tokbench
from tokbench.sources.text import TextOptions, TextSource


@pytest.fixture
def memory():
    """Return a function that keeps files in fsspec's file system in memory."""
    system = fsspec.filesystem("memory")

    def keep(**files):
        for name, data in files.items():
            system.pipe(f"/texts/{name.replace('_', '.')}", data)

    yield keep
    system.rm("/texts", recursive=True)


def test_a_run_over_addresses_is_one_over_files(tmp_path, memory, write_config):
    files = {"en_txt": b"one\ntwo words\n", "nl_txt": "één\n".encode()}
    memory(**files, other_md=b"not read")
    for name, data in files.items():
        (tmp_path / name.replace("_", ".")).write_bytes(data)
    csv = []
    for path in ("*.txt", "memory://texts/*.txt"):
        config = write_config(
            f"  c: {{source: text, path: '{path}', document: line}}", metrics="[compression, fertility]"
        )
        results = tokbench.run(config, tmp_path / "out", workers=0)
        csv.append((tmp_path / "out" / "results.csv").read_bytes())
    assert csv[0] == csv[1]
    assert results.corpora["c"].groups == {"en": 2, "nl": 1}
    assert results.corpora["c"].options["path"] == "memory://texts/*.txt"


def test_the_folder_of_an_address_can_be_the_group(memory):
    fsspec.filesystem("memory").pipe("/texts/de/1.txt", b"eins")
    fsspec.filesystem("memory").pipe("/texts/en/1.txt", b"one")
    memory()
    source = TextSource(TextOptions(path="memory://texts/*/1.txt", group="{parent}"))
    assert [(each.group, each.text) for each in source.documents()] == [("de", "eins"), ("en", "one")]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("memory://texts/none*.txt", "no file matches; list what is there"),
        ("gopher://host/a.txt", "Protocol not known: gopher"),
    ],
)
def test_an_address_without_files(write_config, memory, path, told):
    memory(a_txt=b"a")
    [problem] = problems(write_config(f"  c: {{source: text, path: '{path}'}}"))
    assert path in problem
    assert told in problem
