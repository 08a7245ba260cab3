"""The shape of the package: who knows plugins by name, how long a file may be, budgets, and folders of tests."""

import ast
import re
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

from tokbench.registry.plugins import load_registry

PACKAGE = Path(__file__).parents[1] / "tokbench"
BY_NAME = (PACKAGE / "metrics", PACKAGE / "formats", PACKAGE / "studies", PACKAGE / "cost" / "command.py")
"""Only here may the id of a metric stand; the JSON of ``cost`` has a key ``same_ids`` of its own."""

PLUGINS = ("formats", "metrics", "sources", "studies")
"""The rooms of built-in plugins."""

APPLICATIONS = (
    "cli",
    "comparison",
    "cost",
    "inspect",
    "notebook",
    "plugin",
    "serve",
    "terminal",
    "testing",
    "training",
)
"""The rooms and files that may name plugins: what a user asks of them is about one, and the door has names of all."""

WORDS = {
    "counts": "tables of counts that stand for text: a key of train, and the source that reads them",
    "code": "source code: a part of what the store knows a plugin by",
    "documents": "the documents of sums and surveys, and their number",
    "pairs": "comparisons of two tokenizers, a key of results.json",
    "python": "the interpreter of a run",
    "text": "anything written: a document, a column, an element of SVG",
    "tokens": "the sums of every text metric, and what an id stands for",
    "vocabulary": "the ids of a tokenizer: a hash, a column of its table",
}
"""Words of the core that a plugin has for its name, too, each with what the core means by it."""

PLACES = {
    "registry/python_objects.py": {"jsonl"},  # the file of texts from Python
    # the formats of a configuration that names none
    "config/model.py": {"csv", "html", "md"},
    # formats of files, which the first of these names
    "text/formats.py": {"conllu", "csv", "jsonl", "parquet"},
    "text/read.py": {"conllu"},
    "text/rows.py": {"csv", "jsonl", "parquet"},
    "command.py": {"sample"},  # the texts of a command that names none
    # a programming language
    "corpus/programs.py": {"html"},
    # an example of what one may type
    "report/templates/report.html.j2": {"compression"},
}
"""The files of the core that must name plugins: by path, the names."""

PLAIN_WORDS = {"tokens", "bytes", "chars", "words"}
"""Ids that are also names of columns of sums and of counts."""


def metric_ids():
    families = load_registry().metrics.entries.values()
    return {metric.id for family in families for metric in family.spec.values} - PLAIN_WORDS


def strings(path):
    """Yield the line and the value of every string in a Python file, or of every quoted word in a template."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.lineno, node.value
    else:
        for number, line in enumerate(source.splitlines(), 1):
            for match in re.finditer(r"""(["'])(\w+)\1""", line):
                yield number, match[2]


def test_the_core_knows_no_metric_by_name():
    ids = metric_ids()
    assert {"compression_ratio", "roundtrip_exact", "encode_mb_per_s", "rank"} <= ids
    named = [
        f"{path.relative_to(PACKAGE)}:{line}: {value!r}"
        for path in files_of_the_package()
        if not any(path.is_relative_to(folder) for folder in BY_NAME)
        for line, value in strings(path)
        if value in ids
    ]
    assert not named, "\n".join(named)


def files_of_the_package():
    return sorted(path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".j2"})


def files_of_the_core():
    return [
        path for path in files_of_the_package() if path.relative_to(PACKAGE).parts[0] not in {*PLUGINS, *APPLICATIONS}
    ]


@pytest.mark.packages
def test_the_core_knows_no_study_family_format_or_source_by_name():
    registry = load_registry()
    catalogues = (registry.studies, registry.metrics, registry.reporters, registry.corpora)
    names = {name for catalogue in catalogues for name in catalogue.entries}
    assert {"bits_per_byte", "latex", "conllu", *WORDS} <= names
    places, words, named = {}, set(), []
    for path in files_of_the_core():
        name = path.relative_to(PACKAGE).as_posix()
        for line, value in strings(path):
            if value in WORDS:
                words.add(value)
            elif value in PLACES.get(name, ()):
                places.setdefault(name, set()).add(value)
            elif value in names:
                named.append(f"{name}:{line}: {value!r}")
    assert not named, "\n".join(named)
    assert (places, words) == (PLACES, set(WORDS)), "an exception that is needed no more"


def test_no_file_has_grown_into_two():
    """Around 150 lines a file, and never more than 500."""
    for folder in (PACKAGE, PACKAGE.parent / "plugins"):
        for path in folder.rglob("*.py"):
            assert len(path.read_text(encoding="utf-8").splitlines()) <= 500, path


def test_no_modules_import_one_another_in_a_circle():
    graph = grimp.build_graph("tokbench", "tokbench_plugins", exclude_type_checking_imports=True)
    TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules}).prepare()


def test_public_classes_have_names_of_their_own():
    counts = Counter()
    for folder in ("tokbench", "plugins"):
        for path in (PACKAGE.parent / folder).rglob("*.py"):
            if not {"tests", "template"} & set(path.parts):
                tree = ast.parse(path.read_text(encoding="utf-8"))
                counts.update(each.name for each in tree.body if isinstance(each, ast.ClassDef))
    assert {name for name, times in counts.items() if times > 1 and not name.startswith("_")} == set()
