"""The parts of README.md and of the plugin guide that are made from the code.

``python tests/helpers/readme_tables.py`` writes them anew.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import re
import sys
import tempfile
from pathlib import Path

import yaml

import tokbench
import tokbench.plugin
from tokbench import hookspecs
from tokbench.contracts import tokenizer as protocol
from tokbench.registry import load_registry
from tokbench.report.sections.size_lines import SizeLines
from tokbench.report.sections.vocabulary_size import by_size
from tokbench.results.cells import WHOLE
from tokbench.vocabulary.size.model import Model
from tokbench.vocabulary.size.options import VocabularyStudy

README = Path(__file__).parents[2] / "README.md"
CONFIGS = README.parent / "configs"
QUICKSTART = CONFIGS / "quickstart.yaml"
EQUAL_SIZE = CONFIGS / "equal_size.yaml"
MEASURED = {
    "quickstart": lambda: quickstart(without_speed()),
    "equal size": lambda: equal_size(tokbench.run(EQUAL_SIZE)),
}
"""The tables for which something is measured, and which therefore take their time."""

GUIDE = README.parent / "plugins" / "README.md"
TEMPLATE = GUIDE.parent / "template"
EXAMPLES = ("backend", "metric", "corpus", "reporter")
SECTIONS = {
    README: ("quickstart", "equal size", "backends", "backend example"),
    CONFIGS / "README.md": ("configurations", "options", "corpora", "metrics", "study"),
    GUIDE: ("hooks", "capabilities", *(f"{name} example" for name in EXAMPLES)),
}


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in lines)


def without_speed():
    """The quickstart's results, its speeds left out: they differ from run to run."""
    config = yaml.safe_load(QUICKSTART.read_text(encoding="utf-8"))
    config["metrics"] = [metric for metric in config["metrics"] if isinstance(metric, str)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "quickstart.yaml")
        path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
        return tokbench.run(path)


def quickstart(results):
    # The library's sources, and what is trained on them, differ from one version of Python to the next.
    corpora = [name for name, info in results.corpora.items() if info["source"] == "sample"]
    ratio = {(c.tokenizer, c.corpus, c.group): c for c in results.cells if c.metric == "compression_ratio"}
    exact = {(c.tokenizer, c.corpus): c for c in results.cells if c.metric == "roundtrip_exact" and c.group == WHOLE}
    languages = ("en", "ru", "hi", "th", "zh")

    def shown(cell):
        return f"{cell.value:.2f}" if cell.value is not None else cell.status.value

    rows = [
        (
            name,
            f"{info['vocab_size']:,}",
            *(shown(ratio[name, corpus, WHOLE]) for corpus in corpora),
            *(shown(ratio[name, "languages", language]) for language in languages),
            f"{min(exact[name, corpus].value for corpus in corpora):.0%}",
        )
        for name, info in results.tokenizers.items()
        if not info["train"]
    ]
    rows.sort(key=lambda row: -float(row[2]))
    return table(["tokenizer", "vocabulary", *corpora, *languages, "come back"], rows)


def equal_size(results):
    """Bytes per token on the languages at some sizes, the best at 32,000 first."""
    sizes = SizeLines(results)
    columns = [4_000, 16_000, 32_000, 64_000, 100_000]
    found = sorted(by_size(sizes, "languages", columns), key=lambda row: -(row.values[2] or 0))
    own = {line.line: line.largest for line in sizes.lines}

    def shown(value):
        return "" if value is None else f"{value:.2f}"

    rows = [(row.line, *map(shown, row.values), f"{row.own:.2f} at {own[row.line]:,}") for row in found]
    return table(["vocabulary", *(f"{size:,}" for size in columns), "own size"], rows)


def configurations():
    """The first sentences of each file's comment."""
    rows = []
    for path in sorted(CONFIGS.glob("*.yaml")):
        lines = itertools.takewhile(lambda line: line.startswith("#"), path.read_text(encoding="utf-8").splitlines())
        comment = " ".join(line.removeprefix("#").strip() for line in lines)
        needs = "test data" if "TOKBENCH_TEST_DATA" in path.read_text(encoding="utf-8").split("schema:")[1] else ""
        rows.append((f"[{path.name}]({path.name})", re.match(r"(.+?[.?])(?= |$)", comment)[1], needs))
    return table(["file", "what it shows", "needs"], rows)


def study():
    rows = [
        (where if not k else "", *each)
        for where, model in (("`vocabulary`", VocabularyStudy), ("`model`", Model))
        for k, each in enumerate(fields(model))
    ]
    return table(["under", "option", "default", "what it does"], rows)


def backends():
    rows = []
    for name, entry in sorted(load_registry().backends.entries.items()):
        spec = entry.spec
        verbs = " and ".join(verb for verb, has in (("load", spec.load), ("train", spec.train)) if has)
        rows.append((f"`{name}`", verbs, spec.summary, spec.install and f"`{spec.install}`"))
    return table(["backend", "can", "what it is", "needs"], rows)


def fields(model):
    return [
        (f"`{info.alias or name}`", "required" if info.is_required() else f"`{info.get_default(call_default_factory=True)!r}`", info.description)
        for name, info in model.model_fields.items()
    ]  # fmt: skip


def options():
    rows = []
    for name, entry in sorted(load_registry().backends.entries.items()):
        spec = entry.spec
        for verb, has, model in (("load", spec.load, spec.load_options), ("train", spec.train, spec.train_options)):
            if not has:
                continue
            found = fields(model)
            if len(found) > 20:
                names = ", ".join(option for option, _, _ in found)
                rows.append((f"`{name}`", verb, names, "", "as the library documents them"))
            else:
                rows.extend((f"`{name}`", verb, *each) for each in found)
    return table(["backend", "to", "option", "default", "what it does"], rows)


def corpora():
    rows = []
    for name, entry in sorted(load_registry().corpora.entries.items()):
        for k, each in enumerate(fields(entry.spec.options)):
            rows.append((f"`{name}`" if not k else "", entry.spec.summary if not k else "", *each))
    return table(["source", "what it is", "option", "default", "what it does"], rows)


def metrics():
    """One row a cell; cells that differ in a number alone share one."""
    rows = []
    for spec in (entry.spec for _, entry in sorted(load_registry().metrics.entries.items())):
        for _, alike in itertools.groupby(spec.values, key=lambda value: re.sub(r"\d+", "#", value.id + value.formula)):
            first, *more = alike
            last = f" … `{more[-1].id}`" if more else ""
            formula = first.formula.replace(first.id.split("_")[1], "n") if more else first.formula
            rows.append((f"`{spec.name}`", f"`{first.id}`{last}", formula, first.unit, first.direction))
    return table(["family", "cell", "formula", "unit", "better"], rows)


def hooks():
    """The hooks as hookspecs.py has them."""
    rows = []
    for name, hook in vars(hookspecs).items():
        if name.startswith("register_"):
            [parameter] = inspect.signature(hook).parameters.values()
            [kind] = re.findall(r"Callable\[\[(\w+)\]", str(parameter.annotation))
            fields = (
                f"`{field.name}`" + (" (required)" if field.default is dataclasses.MISSING else "")
                for field in dataclasses.fields(getattr(tokbench.plugin, kind))
            )
            rows.append((f"`{name}({parameter.name})`", f"`tokbench.{kind}`", ", ".join(fields)))
    return table(["hook", "registers", "with"], rows)


def capabilities():
    """The protocols of protocol.py that a tokenizer may have beside the three members of every tokenizer."""
    rows = []
    for name in protocol.__all__:
        kind = getattr(protocol, name)
        says = inspect.getdoc(kind) or ""
        if says.startswith("Capability: "):
            members = [each for each in vars(kind) if not each.startswith("_")]
            rows.append(
                (f"`{name}`", ", ".join(f"`{each}`" for each in members), says.partition(": ")[2].split("\n")[0])
            )
    return table(["capability", "members", "the tokenizer"], rows)


def example(name):
    """A module of the template folder."""
    module = TEMPLATE / "my_tokbench_plugin" / f"{name}.py"
    return f"```python\n{module.read_text(encoding='utf-8')}```"


def made(name):
    if name.endswith(" example"):
        return example(name.removesuffix(" example"))
    return MEASURED[name]() if name in MEASURED else globals()[name]()


def section(text, name):
    return re.search(rf"<!-- {name} -->\n(.*?)\n?<!-- /{name} -->", text, re.DOTALL)[1]


def write():
    for path, names in SECTIONS.items():
        text = path.read_text(encoding="utf-8")
        for name in names:
            pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
            new = made(name)
            text = re.sub(pattern, lambda match, new=new: f"{match[1]}{new}\n{match[2]}", text, flags=re.DOTALL)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(write())
