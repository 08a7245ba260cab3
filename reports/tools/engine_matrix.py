"""Runs the engine matrix and writes its published tables: README.md and engines.csv, which alone are kept.

Each vocabulary is a run of its own. Some engines (snaptokens) build their tables again, 10 ms a call, wherever two of their
tokenizers take turns, as timing in rounds asks of them; one vocabulary at a time shows what a user of one sees.

    PYTHONPATH=.ci python reports/tools/engine_matrix.py [FOLDER]

FOLDER keeps the runs (by default a temporary folder); a run that is there already is not repeated.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from readme_tables import table

from tokbench.results.cells import WHOLE
from tokbench.results.model import Results

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "reports" / "engine_matrix"
CONFIG = ROOT / "plugins" / "engines" / "tokbench_engines" / "configs" / "engine_matrix.yaml"
COLUMNS = {
    "encode_mb_per_s": "MB/s",
    "encode_ratio": "times the reference",
    "count_mb_per_s": "counting, MB/s",
    "appends_per_s": "appends/s",
    "load_s": "load, s",
    "memory_peak_mb": "peak, MB",
}


def shown(cell):
    if cell is None:
        return ""
    if cell.value is None:
        return cell.status.value if cell.status.value != "not_applicable" else ""
    ends = "" if cell.ci_low is None else f" [{rounded(cell.ci_low)}, {rounded(cell.ci_high)}]"
    return f"{rounded(cell.value)}{ends}"


def rounded(value):
    """Return three digits, in full."""
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 1000 else f"{value:.3g}"


def tokenizers_by_reference():
    """Return the names of the tokenizers, by the one that their ids are compared with."""
    groups = {}
    for name, options in yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["tokenizers"].items():
        groups.setdefault(options.get("same_as", name), []).append(name)
    return groups


def measured(reference, names, folder):
    """Run the tokenizers of one vocabulary, or read the run that is there."""
    run = folder / reference
    if not (run / "results.json").exists():
        only = [part for name in names for part in ("--only", name)]
        subprocess.run([sys.executable, "-m", "tokbench", "run", str(CONFIG), *only, "-o", str(run)], check=True)
    results = Results.read(run / "results.json")
    if results.config.settings or results.config.limit or set(results.tokenizers) != set(names):
        sys.exit(f"{run}: a first look is not to be published; run it whole")
    return results


def rows(reference, results):
    """Yield the rows: by corpus, those that return the same together, fastest first, each with load and memory."""
    cells = {(c.tokenizer, c.corpus, c.metric): c for c in results.cells if c.group == WHOLE}
    for corpus in dict.fromkeys(c.corpus for c in results.cells if c.metric == "encode_mb_per_s"):
        speed = {name: cells[name, corpus, "encode_mb_per_s"] for name in results.tokenizers}
        returns = {name: run.returns for name, run in results.tokenizers.items()}
        for name in sorted(speed, key=lambda name: (returns[name], -(speed[name].value or 0))):
            yield [
                reference,
                corpus,
                results.tokenizers[name].backend,
                returns[name],
                *(
                    shown(cells.get((name, corpus, metric)) or cells.get((name, "(own texts)", metric)))
                    for metric in COLUMNS
                ),
                speed[name].reason if speed[name].value is None else "",
            ]


def standing(reference, results):
    """Yield the places of tokbench's own engine on each text: in speed among engines that return arrays, in all else."""
    ours = f"{reference}-tokbench"
    cells = {(c.tokenizer, c.corpus, c.metric): c.value for c in results.cells if c.group == WHOLE}
    arrays = [name for name, run in results.tokenizers.items() if run.returns == "arrays"]

    def place(names, corpus, metric, *, high):
        values = {name: cells.get((name, corpus, metric)) for name in names}
        values = {name: value for name, value in values.items() if value is not None}
        best = sorted(values, key=values.__getitem__, reverse=high)
        first = next(name for name in best if name != ours)
        return (
            f"{best.index(ours) + 1} of {len(best)}",
            results.tokenizers[first].backend,
            f"{values[ours] / values[first]:.2f}",
        )

    for label, corpus, metric, names, high in (
        ("MB/s on languages", "languages", "encode_mb_per_s", arrays, True),
        ("MB/s on the library", "library", "encode_mb_per_s", arrays, True),
        ("appends/s", "library", "appends_per_s", results.tokenizers, True),
        ("load", "(own texts)", "load_s", results.tokenizers, False),
        ("peak memory", "(own texts)", "memory_peak_mb", results.tokenizers, False),
    ):
        yield [reference, label, *place(names, corpus, metric, high=high)]


NOTES = ("every value", "this is a virtual machine", "noise floor")
"""The notes that are published: how the values were made, and how far a tokenizer differs from itself."""


def kept_notes(runs):
    """Return the notes of all runs that say what to distrust, each once."""
    notes = (note.partition(" (process ")[0] for results in runs for note in results.notes)
    return [note for note in dict.fromkeys(notes) if any(f": {start}" in note for start in NOTES)]


def finding(lines):
    """Say which engine is fastest on the library, by vocabulary; rows are the fastest first."""
    fastest = {line[0]: line for line in reversed(lines) if line[1] == "library" and line[3] == "arrays"}
    parts = [
        f"{name} under {reference} ({rate.partition(' ')[0]} MB/s, {times.partition(' ')[0]} times the reference)"
        for reference, (_, _, name, _, rate, times, *_) in reversed(fastest.items())
    ]
    return f"The fastest engines on Python's library are {', '.join(parts[:-1])} and {parts[-1]}."


def main(folder):
    groups = tokenizers_by_reference()
    runs = {reference: measured(reference, names, folder) for reference, names in groups.items()}
    header = ["vocabulary", "text", "backend", "returns", *COLUMNS.values(), "why not ranked"]
    lines = [row for reference, results in runs.items() for row in rows(reference, results)]
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "engines.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *lines])
    first = next(iter(runs.values()))
    machine = first.environment
    packages = {name: version for results in runs.values() for name, version in results.environment.packages.items()}
    versions = ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))
    notes = "\n".join(f"- {note}" for note in kept_notes(runs.values()))
    places = [row for reference, results in runs.items() for row in standing(reference, results)]
    page = f"""# Engines for three vocabularies

**{finding(lines)}**

`PYTHONPATH=.ci python reports/tools/engine_matrix.py`, {first.created}, on {machine.cpu}, {machine.cores} cores, {machine.system}, {machine.python}:
`configs/engine_matrix.yaml`, one vocabulary after the other. Ids were compared on every document, and counts of engines without
ids. Only engines that return the same are ranked against one another; the reference is timed through its lists, too, for those
that return lists. In brackets are 95% intervals over processes.

## The place of tokbench's own engine

In speed it is ranked among the engines that return arrays, in all else among all.

{table(["vocabulary", "number", "place of tokbench_bpe", "best other", "ours / its"], places)}

## All engines

{table(header, lines)}

## What to distrust

{notes}

Versions: {versions}.
"""
    (FOLDER / "README.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
