"""The parts of README files that are made from the code.

``python .ci/readme_tables.py`` writes all of them; with
``--quick`` it leaves out the tables for which something is measured.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import itertools
import re
import sys
from importlib.metadata import entry_points
from pathlib import Path

import click
import yaml
from pydantic import BaseModel

import tokbench
from tokbench import plugin
from tokbench.cli.main import tokbench as command
from tokbench.config.model import (
    CorpusEntry,
    Limits,
    MetricKeys,
    ReportEntry,
    TokenizerEntry,
    TopLevel,
    TrainEntry,
)
from tokbench.config.suites import shipped_suites
from tokbench.measuring.metric import Role
from tokbench.plugin import metrics as door_to_metrics
from tokbench.plugin import report as door_to_reports
from tokbench.registry.plugins import hookspecs, load_registry
from tokbench.registry.tokenizer_names import catalogue
from tokbench.report.answer.ranking import bars, rank
from tokbench.report.answer.slices import text_slices
from tokbench.report.cells import LOSSY
from tokbench.report.tables import CellTables
from tokbench.results.cells import WHOLE
from tokbench.studies.tokens.options import ShownTextEntry, ShowOptions
from tokbench.studies.vocabulary_size.options import Model, VocabularyStudy
from tokbench.studies.vocabulary_size.size_lines import SizeLines
from tokbench.tokenizers import contract as protocol
from tokbench_plugins.proofs import rows as proof_rows

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
CONFIGS = ROOT / "configs"
QUICKSTART = CONFIGS / "quickstart.yaml"
EQUAL_SIZE = CONFIGS / "equal_size.yaml"
MEASURED = {
    "quickstart": lambda: quickstart(tokbench.run(QUICKSTART)),
    # Only what the table shows is measured; it is what the whole run gives.
    "equal size": lambda: equal_size(
        tokbench.run(EQUAL_SIZE, settings=["corpora.code=null", "metrics=[compression]"], workers=0)
    ),
}
"""The tables for which something is measured, and which therefore take their time."""

DOOR = {**vars(plugin), **vars(door_to_metrics), **vars(door_to_reports)}
"""The names of the door."""

GUIDE = ROOT / "plugins" / "README.md"
DOORS = (
    *("tokbench.plugin", "tokbench.command", "tokbench.plugin.metrics", "tokbench.plugin.report"),
    *("tokbench.plugin.timing", "tokbench_plugins.bpe"),
)
"""The modules of the door, in the order of their reference."""
TEMPLATE = GUIDE.parent / "template"
EXAMPLES = {name: f"{name}.py" for name in ("backend", "metric", "timed", "study", "corpus", "reporter", "command")}
"""By name, the modules of the template that the guide shows."""

PACKAGES = ROOT / "plugins"
REFERENCES = {
    PACKAGES / name / "docs" / "reference.md": (f"package {name}",)
    for name in ("engines", "models", "research", "trainers")
}
"""The packages with specs, each with the page of what it brings."""

PAGES = ROOT / "reports" / "site" / "docs"
BACKENDS = PAGES / "reference" / "backends.md"
KEYS = PAGES / "reference" / "keys.md"
VOCABULARY = PAGES / "sizes.md"
SECTIONS = {
    README: ("openai table", "quickstart"),
    KEYS: ("configurations", "keys", "metric options", "report formats", "study"),
    BACKENDS: ("backends", "backend options", "source options"),
    PAGES / "reference" / "commands.md": ("commands",),
    PAGES / "names.md": ("published names",),
    VOCABULARY: ("equal size",),
    GUIDE: ("hooks", "command example"),
    PAGES / "extend" / "backend.md": ("backend example", "capabilities", "backend fields"),
    PAGES / "extend" / "metric.md": ("metric example", "timed example"),
    PAGES / "extend" / "study.md": ("study example",),
    PACKAGES / "door.md": tuple(f"names of {module}" for module in DOORS),
    **REFERENCES,
}


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(_cell(str(cell)) for cell in row)} |" for row in lines)


def _cell(text):
    """Text for a table in Markdown: no bar ends the cell, and outside code no ``<unk>`` is taken for HTML."""
    parts = text.replace("|", "\\|").split("`")
    return "`".join(part if k % 2 else part.replace("<", "&lt;") for k, part in enumerate(parts))


def marked(tables, corpus, group, name, value=None):
    """Return the bytes per token of a tokenizer at a place, or another ``value``, with the marks of the place."""
    cell = tables.series(tables.with_role(Role.TEXT_PER_TOKEN), corpus, group).cells[name]
    return cell.text if cell.value is None else f"{value or cell.value:.2f}{cell.marks}"


def quickstart(results, most=6):
    """Bytes per token of the best published vocabularies, baselines left out; over the groups of a corpus alike."""
    # The library's sources, and what is trained on them, differ from one version of Python to the next.
    corpora = [name for name, info in results.corpora.items() if info.source == "sample"]
    tables = CellTables(results)
    lost = {(c.tokenizer, c.corpus): c for c in results.cells if c.metric == "lost_characters" and c.group == WHOLE}
    languages = ("en", "ru", "hi", "th", "zh")
    alike = {}
    for corpus in corpora:
        published = [name for name, info in results.tokenizers.items() if not info.train]
        ranking = rank(tables, text_slices(tables, {}, corpus), published)
        alike |= {(bar.tokenizer, corpus): bar.value for bar in bars(tables, ranking)}
    ranked = tables.series(tables.with_role(Role.TEXT_PER_TOKEN), "languages").ranked()
    best_first = sorted(ranked, key=lambda name: -alike.get((name, "languages"), 0.0))
    rows = [
        (
            name,
            f"{results.tokenizers[name].vocab_size:,}",
            *(marked(tables, corpus, WHOLE, name, alike.get((name, corpus))) for corpus in corpora),
            *(marked(tables, "languages", language, name) for language in languages),
            f"{max(lost[name, corpus].value for corpus in corpora):.2%}",
        )
        for name in best_first
        if not results.tokenizers[name].train and not results.tokenizers[name].baseline
    ]
    heads = ["stress tests" if corpus == "hostile" else corpus for corpus in corpora]
    return table(["tokenizer", "vocabulary", *heads, *languages, "lost"], rows[:most])


def equal_size(results):
    """Bytes per token on the languages at some sizes, the best at 32,000 first; who loses text comes after the others."""
    sizes = SizeLines(results)
    columns = [4_000, 16_000, 32_000, 64_000, 100_000]
    lost = {line.line: LOSSY * bool(sizes.lost(line.line, "languages")) for line in sizes.lines}

    def ratio(line, size):
        return sizes.ratio(line.line, "languages", WHOLE, size)

    def shown(line, size):
        value = ratio(line, size)
        return "" if value is None else f"{value:.2f}"

    best_first = sorted(sizes.lines, key=lambda line: (lost[line.line], -(ratio(line, 32_000) or 0)))
    rows = [
        (
            line.line + lost[line.line],
            *(shown(line, size) for size in columns),
            f"{shown(line, line.largest)} at {line.largest:,}",
        )
        for line in best_first
    ]
    return table(["vocabulary", *(f"{size:,}" for size in columns), "own size"], rows)


def openai_table():
    """The tokens of OpenAI's twenty sentences, two languages a row; printed numbers that differ in brackets."""
    page = yaml.safe_load((ROOT / "reports" / "referee" / "openai-20.yaml").read_text(encoding="utf-8"))
    counts = {head: tokbench.load(name) for head, name in page["tokenizers"].items()}
    cells = []
    for language, sentence in page["texts"].items():
        ours = {head: len(tokenizer.encode(sentence)) for head, tokenizer in counts.items()}
        printed = page["cells"][language]
        cells.append([language, *(f"{n}" if n == printed[h] else f"{n} ({printed[h]})" for h, n in ours.items())])
    rows = [(*left, *right) for left, right in zip(cells[:10], cells[10:], strict=True)]
    return table(["language", *counts, "language", *counts], rows)


def commands():
    """Every command that tokbench and its packages bring, with what it does."""
    context = click.Context(command)
    every = {name: command.get_command(context, name) for name in command.list_commands(context)}
    origin = {point.name: point.dist.name for point in entry_points(group="tokbench.commands")}
    rows = [
        (f"`tokbench {name}`", each.get_short_help_str(300), origin.get(name, "tokbench"))
        for name, each in every.items()
    ]
    return table(["command", "what it does", "package"], rows)


def brought(kind, origin="tokbench"):
    """The specs of one kind that a distribution brings, by name."""
    entries = getattr(load_registry(), kind).entries
    return [(name, entry.spec) for name, entry in sorted(entries.items()) if entry.plugin.distribution == origin]


def configurations(folder=CONFIGS):
    rows = [
        (
            f"`{suite.name}`",
            f"[{suite.path.name}](../../../../configs/{suite.path.name})",
            suite.summary,
            "test data" if suite.needs_data else "",
        )
        for suite in shipped_suites().values()
        if suite.path.parent == folder
    ]
    return table(["suite", "file", "what it shows", "needs"], rows)


def table_of(model, verb=""):
    """The options of one class as rows: name, what they are for, default, description."""
    return [
        (f"`{info.alias or name}`", verb, _default(info), (info.description or "").strip())
        for name, info in model.model_fields.items()
    ]


def _default(info):
    """A default as one writes it in YAML; nothing where the key may simply be left out."""
    if info.is_required():
        return "required"
    value = info.get_default(call_default_factory=True)
    if value is None or value in ("", (), {}) or isinstance(value, BaseModel):
        return ""
    value = list(value) if isinstance(value, tuple) else value
    if isinstance(value, list):
        value = [each.model_dump() if isinstance(each, BaseModel) else each for each in value]
    written = yaml.safe_dump(value, default_flow_style=True, width=1000)
    written = written.removesuffix("...\n").strip()
    return f"`{written}`"


def keys():
    """The keys of a configuration, level by level."""
    parts = [
        ("### Top level", TopLevel),
        ("### `corpora: NAME:`", CorpusEntry),
        ("### `tokenizers: NAME:`", TokenizerEntry),
        ("### `train:` of a tokenizer", TrainEntry),
        ("### A metric of `metrics:`", MetricKeys),
        ("### `report:`", ReportEntry),
        ("### `limits:`", Limits),
        ("### `show:`", ShowOptions),
        ("### `show: texts: [{…}]`", ShownTextEntry),
    ]
    of_studies = {spec.key: spec for spec in load_registry().studies if spec.key and "." not in spec.key}
    further = {TopLevel: [(f"`{key}`", "", "", spec.summary) for key, spec in of_studies.items()]}
    rows = [(title, [*table_of(model), *further.get(model, [])]) for title, model in parts]
    return "\n\n".join(f"{title}\n\n{options_table(some)}" for title, some in rows)


def study():
    parts = [
        ("### `vocabulary:`", VocabularyStudy),
        ("### `vocabulary: model:`", Model),
    ]
    return "\n\n".join(f"{title}\n\n{options_table(table_of(model))}" for title, model in parts)


def backends(origin="tokbench"):
    rows = []
    for name, spec in brought("backends", origin):
        verbs = " and ".join(verb for verb, has in (("load", spec.load), ("train", spec.train)) if has)
        main = ", ".join(f"`{option}`" for option in dict.fromkeys((spec.main, spec.train_main)) if option)
        rows.append((f"`{name}`", verbs, main, spec.summary, spec.install and f"`{spec.install}`"))
    return table(["backend", "can", "main option", "what it is", "needs"], rows)


def published_names():
    """The published names, each with all that can load it and what the first of these was held against."""
    proofs = {row["name"]: row for row in proof_rows()}
    rows = [
        (
            f"`{name}`",
            ", ".join(f"`{candidate}`" for candidate in candidates),
            proofs[name]["held against"] or "*unverified*",
            proofs[name]["texts"] and f"{int(proofs[name]['texts']):,}",
            proofs[name]["differing"],
            proofs[name]["date"],
        )
        for name, candidates in catalogue(load_registry()).items()
    ]
    return table(["published name", "is loaded by", "held against", "texts", "differing", "date"], rows)


def options_table(rows):
    """A table of options; the column "for" is there only if something can be both loaded and trained."""
    if not any(verb for _, verb, _, _ in rows):
        return table(["option", "default", "what it does"], [(name, *rest) for name, _, *rest in rows])
    return table(["option", "for", "default", "what it does"], rows)


def backend_options(origin="tokbench"):
    """A small table for each backend; an option of loading and training that is the same stands there once."""
    parts = []
    for name, spec in brought("backends", origin):
        rows, long = {}, ""
        for verb, has, model in (("load", spec.load, spec.load_options), ("train", spec.train, spec.train_options)):
            found = table_of(model) if has else []
            if len(found) > 20:
                long = f"Options of {verb}ing are those of the library: {', '.join(each[0] for each in found)}."
            else:
                for option, _, *rest in found:
                    rows.setdefault((option, *rest), []).append(verb)
        both = spec.load and spec.train
        lines = [(option, ", ".join(verbs) if both else "", *rest) for (option, *rest), verbs in rows.items()]
        said = [part for part in (lines and options_table(lines), long) if part]
        parts.append("\n\n".join([f"### `{name}`", *(said or ["It has no options."])]))
    return "\n\n".join(parts)


def source_options(origin="tokbench"):
    return "\n\n".join(
        f"### `{name}`\n\n{capitalized(spec.summary)}.\n\n{options_table(table_of(spec.options))}"
        for name, spec in brought("corpora", origin)
    )


def metric_options(origin="tokbench"):
    return "\n\n".join(
        f"### `{name}`\n\n{options_table(table_of(spec.options))}"
        for name, spec in brought("metrics", origin)
        if spec.options.model_fields
    )


def report_formats(origin="tokbench"):
    rows = [(f"`{name}`", f"`{spec.filename}`", spec.summary) for name, spec in brought("reporters", origin)]
    return table(["format", "file", "what it is"], rows)


def study_options(origin="tokbench"):
    return "\n\n".join(
        f"### `{spec.key or name}`\n\n{capitalized(spec.summary)}.\n\n{options_table(table_of(spec.options))}"
        for name, spec in brought("studies", origin)
    )


def package(name):
    """All that a package brings, as the page of its reference."""
    origin, kinds = f"tokbench-{name}", ("backends", "corpora", "metrics", "studies", "reporters", "executors")
    there = {kind for kind in kinds if brought(kind, origin)}
    suites = PACKAGES / name / f"tokbench_{name}" / "configs"
    parts = [
        (
            "Suites",
            suites.is_dir()
            and configurations(suites).replace("](../../../../configs/", f"](../tokbench_{name}/configs/"),
        ),
        ("Backends", "backends" in there and backends(origin)),
        ("Options of backends", "backends" in there and backend_options(origin)),
        ("Sources of corpora", "corpora" in there and source_options(origin)),
        ("Metrics", "metrics" in there and metrics(origin)),
        ("Options of metrics", "metrics" in there and metric_options(origin)),
        ("Studies", "studies" in there and study_options(origin)),
        ("Report formats", "reporters" in there and report_formats(origin)),
    ]
    return "\n\n".join(f"## {title}\n\n{part}" for title, part in parts if part)


def capitalized(text):
    return text[:1].upper() + text[1:]


def metrics(origin="tokbench"):
    """A table for each family; metrics that differ in a number alone share one row."""
    parts = []
    for _, spec in brought("metrics", origin):
        rows = []
        for _, alike in itertools.groupby(spec.values, key=lambda value: re.sub(r"\d+", "#", value.id + value.formula)):
            first, *more = alike
            last = f" … `{more[-1].id}`" if more else ""
            formula = first.formula.replace(re.search(r"\d+", first.id)[0], "n") if more else first.formula
            rows.append((f"`{first.id}`{last}", formula, first.unit, first.direction))
        heading = f"### `{spec.name}`\n\n{capitalized(spec.summary)}."
        parts.append(f"{heading}\n\n{table(['metric', 'formula', 'unit', 'better'], rows)}")
    return "\n\n".join(parts)


def hooks():
    """The hooks as hookspecs.py has them."""
    rows = []
    for name, hook in vars(hookspecs).items():
        if name.startswith("register_"):
            [parameter] = inspect.signature(hook).parameters.values()
            [kind] = re.findall(r"Callable\[\[(\w+)\]", str(parameter.annotation))
            fields = (
                f"`{field.name}`"
                + (" (required)" if field.default is field.default_factory is dataclasses.MISSING else "")
                for field in dataclasses.fields(DOOR[kind])
            )
            rows.append((f"`{name}({parameter.name})`", f"`{kind}`", ", ".join(fields)))
    return table(["hook", "registers", "with"], rows)


def backend_fields():
    """The fields of a backend, as its class explains them."""
    [kind] = ast.parse(inspect.getsource(plugin.BackendSpec)).body
    rows = []
    for field, says in itertools.pairwise(kind.body):
        if isinstance(field, ast.AnnAssign):
            explained = isinstance(says, ast.Expr) and isinstance(says.value, ast.Constant)
            text = inspect.cleandoc(says.value.value) if explained else "the class of its options"
            rows.append((f"`{field.target.id}`", re.sub(r"\s+|:class:", " ", text.replace("``", "`"))))
    return table(["field", "what it is"], rows)


def names(module):
    """Every name of a module of the door, with the first line of its documentation."""
    door = importlib.import_module(module)
    return table(["name", "what it is"], [(f"`{name}`", _what(getattr(door, name))) for name in door.__all__])


def _what(value):
    if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__.startswith("tokbench"):
        return (inspect.getdoc(value) or "").split("\n")[0]
    plain = isinstance(value, (str, int)) or (isinstance(value, dict) and set(map(type, value)) == {str})
    return (
        f"constant: `{', '.join(value) if isinstance(value, dict) else value}`" if plain else "a type, or part of one"
    )


def capabilities():
    """The protocols that a tokenizer may have beside the three members of every tokenizer."""
    rows = []
    for kind in protocol.CAPABILITIES:
        says = inspect.getdoc(kind) or ""
        if says.startswith("Capability: "):
            members = [name for name in vars(kind) if not name.startswith("_")]
            rows.append(
                (
                    f"`{kind.__name__}`",
                    ", ".join(f"`{member}`" for member in members),
                    says.partition(": ")[2].split("\n")[0],
                )
            )
    return table(["capability", "members", "the tokenizer"], sorted(rows))


def example(name):
    """A module of the template folder."""
    return f"```python\n{module_of(name).read_text(encoding='utf-8')}```"


def module_of(name):
    """The file of an example."""
    return TEMPLATE / "my_tokbench_plugin" / EXAMPLES[name]


def made(name):
    if name.endswith(" example"):
        return example(name.removesuffix(" example"))
    if name.startswith("names of "):
        return names(name.removeprefix("names of "))
    if name.startswith("package "):
        return package(name.removeprefix("package "))
    return MEASURED[name]() if name in MEASURED else globals()[name.replace(" ", "_")]()


def section(text, name):
    return re.search(rf"<!-- {name} -->\n(.*?)\n?<!-- /{name} -->", text, re.DOTALL)[1]


def write(arguments=()):
    for path, names in SECTIONS.items():
        text = path.read_text(encoding="utf-8")
        for name in names:
            if "--quick" in arguments and name in MEASURED:
                continue
            pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
            new = made(name)
            text = re.sub(pattern, lambda match, new=new: f"{match[1]}{new}\n{match[2]}", text, flags=re.DOTALL)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(write(sys.argv[1:]))
