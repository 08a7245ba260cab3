"""A folder or file of plugins can be deleted: what does not use it lists, checks and runs as before."""

import os
import shutil
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path

import pytest

from tokbench import __version__
from tokbench.results.model import Results

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[1]
DELETED = (
    *("tokbench/formats/csv.py", "tokbench/formats/html.py"),
    *("tokbench/metrics/compression.py", "tokbench/metrics/vocabulary.py"),
    *("tokbench/sources/files.py", "tokbench/sources/rows.py", "tokbench/sources/sample"),
    *("tokbench/studies/same_ids", "tokbench/studies/speed", "tokbench/studies/vocabulary_size"),
    *("tokbench_plugins/baselines", "tokbench_plugins/bpe", "tokbench_plugins/tiktoken"),
)
"""Plugins of every kind: defaults, some that others need, and some that nothing needs."""

_FILES = {"tokbench/sources/files.py"}
_ROWS = {"tokbench/sources/rows.py", *_FILES}
CORPORA = {
    "{source: sample, part: languages, groups: [en]}": {"tokbench/sources/sample", "tokbench/sources/text.py", *_ROWS},
    "{source: jsonl, path: lines.jsonl, group: en}": _ROWS,
    "{source: text, path: lines.txt}": {"tokbench/sources/text.py", *_FILES},
    "{source: python, packages: [this]}": {"tokbench/sources/python.py"},
}
"""Corpora, each with all that it uses of the folders."""

TOKENIZERS = {
    "{backend: utf8_bytes}": {"tokbench_plugins/baselines"},
    "{backend: naive_bpe, train: {corpus: texts, vocab_size: 260}}": {"tokbench_plugins/naive_bpe.py"},
}
METRICS = {"compression": {"tokbench/metrics/compression.py"}, "fertility": {"tokbench/metrics/fertility.py"}}
FORMATS = {"csv": {"tokbench/formats/csv.py"}, "md": {"tokbench/formats/markdown.py"}}

DEFAULTS = {
    "tokbench/formats/csv.py": "csv", "tokbench/formats/html.py": "html", "tokbench/formats/markdown.py": "md",
}  # fmt: skip
"""The formats of a configuration that names none, by the file that brings them."""

NEED = {"tokbench/sources/rows.py": [], "tokbench_plugins/bpe": ["naive_bpe", "regex_bpe", "tokbench_bpe"]}
"""Plugins that need another."""


def without(deleted, choices):
    """Return the first of some choices that does not use what was deleted."""
    return next(choice for choice, used in choices.items() if deleted not in used)


def config(deleted):
    formats = "" if deleted in DEFAULTS else f"report: {{formats: [{without(deleted, FORMATS)}]}}\n"
    return (
        f"schema: tokbench/1\nname: rest\ncorpora: {{texts: {without(deleted, CORPORA)}}}\n"
        f"tokenizers: {{one: {without(deleted, TOKENIZERS)}}}\nmetrics: [{without(deleted, METRICS)}]\n{formats}"
    )


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    """A copy of the packages, with the metadata of an installation, on a path of its own."""
    folder = tmp_path_factory.mktemp("installation")
    shutil.copytree(REPOSITORY / "tokbench", folder / "tokbench")
    shutil.copytree(REPOSITORY / "plugins" / "tokbench_plugins", folder / "tokbench_plugins")
    shutil.copytree(REPOSITORY / "configs", folder / "tokbench" / "configs")
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        plugins = tomllib.load(file)["project"]["entry-points"]["tokbench"]
    info = folder / f"tokbench-{__version__}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tokbench\nVersion: {__version__}\n", encoding="utf-8")
    lines = ["[tokbench]", *(f"{name} = {module}" for name, module in plugins.items())]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store that all runs share."""
    return tmp_path_factory.mktemp("store")


@contextmanager
def deletion(installation, piece):
    """Delete a folder or file for a while."""
    aside = installation / "aside"
    (installation / piece).rename(aside)
    try:
        yield
    finally:
        aside.rename(installation / piece)


ALL_IN_ONE = """
import sys
from tokbench.cli.main import tokbench
for line in sys.argv[1:]:
    try:
        tokbench.main(line.split(), standalone_mode=False)
    except SystemExit as end:
        print(f"{line} ended with {end.code}") if end.code else None
    print(chr(30))
"""
"""Commands in one process, which takes a third of the time of one for each; a mark stands after the output of each."""


def started(installation, store, folder, arguments):
    environment = {name: value for name, value in os.environ.items() if name != "TOKBENCH_NO_STORE"}
    environment |= {"PYTHONPATH": str(installation), "TOKBENCH_STORE": str(store), "COLUMNS": "250"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen([sys.executable, *arguments], cwd=folder, env=environment, **pipes)


@pytest.mark.matrix
@pytest.mark.parametrize("piece", DELETED)
def test_the_rest_works_without(installation, store, tmp_path, piece):
    (tmp_path / "run.yaml").write_text(config(piece), encoding="utf-8")
    (tmp_path / "lines.jsonl").write_text('{"text": "a b c"}\n', encoding="utf-8")
    (tmp_path / "lines.txt").write_text("a b c\n", encoding="utf-8")
    commands = ("list", "check run.yaml", "run run.yaml -o out")
    with deletion(installation, piece):
        process = started(installation, store, tmp_path, ["-c", ALL_IN_ONE, *commands])
        text = process.communicate(timeout=120)[0]
    listed, checked, ran, _ = text.split(chr(30))
    assert process.returncode == 0, text
    assert not [word for word in ("Traceback", " ended with ") if word in text], text
    assert "nothing wrong" in checked
    assert "out/" in ran
    module = piece.removesuffix(".py").replace("/", ".")
    for name in NEED.get(piece, ()):
        [line] = [line for line in listed.splitlines() if line.startswith(f"{name} ") and "No module" in line]
        assert module in line
    results = Results.read(tmp_path / "out")
    assert {cell.status for cell in results.cells} == {"ok"}
    if piece in DEFAULTS:
        left = [name for name in ("html", "md", "csv") if name != DEFAULTS[piece]]
        assert results.config.formats == left
        assert f"no report in the format {DEFAULTS[piece]!r}, which is a default: no plugin brings it" in results.notes


@pytest.mark.nightly
def test_a_backend_cannot_be_checked_without_the_shipped_texts(installation, store, tmp_path):
    with deletion(installation, "tokbench/sources/sample"):
        process = started(installation, store, tmp_path, ["-m", "tokbench", "check", "--backend", "utf8_bytes"])
        said = process.communicate(timeout=120)[0]
    assert process.returncode == 2
    assert said.startswith("error: unknown corpus source 'sample'")
