"""Writes the published tables beside a run of the engine matrix: README.md and engines.csv, which alone are kept.

tokbench run engine_matrix -o reports/engine_matrix && python tests/helpers/engine_matrix.py
"""

import csv
import sys
from pathlib import Path

from readme_tables import table

from tokbench.results.cells import WHOLE
from tokbench.results.model import Results

FOLDER = Path(__file__).parents[2] / "reports" / "engine_matrix"
REFERENCES = ("cl100k", "o200k", "llama3")
COLUMNS = {
    "encode_mb_per_s": "MB/s",
    "encode_ratio": "times the reference",
    "count_mb_per_s": "counting, MB/s",
    "load_s": "load, s",
    "memory_peak_mb": "peak, MB",
}


def shown(cell):
    if cell is None:
        return ""
    if cell.value is None:
        return cell.status.value if cell.status.value != "not_applicable" else ""
    ends = "" if cell.ci_low is None else f" [{cell.ci_low:.3g}, {cell.ci_high:.3g}]"
    return f"{cell.value:.3g}{ends}"


def rows(results):
    """Yield the rows: by corpus, those that return the same together, fastest first; load and memory stand in each."""
    cells = {(c.tokenizer, c.corpus, c.metric): c for c in results.cells if c.group == WHOLE}
    corpora = list(dict.fromkeys(c.corpus for c in results.cells if c.metric == "encode_mb_per_s"))
    for reference in REFERENCES:
        names = [name for name in results.tokenizers if name.split("-")[0] == reference]
        for corpus in corpora:
            speed = {name: cells[name, corpus, "encode_mb_per_s"] for name in names}
            returns = {name: results.tokenizers[name].returns for name in names}
            for name in sorted(names, key=lambda name: (returns[name], -(speed[name].value or 0))):
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


def main(run):
    results = Results.read(run / "results.json" if run.is_dir() else run)
    if results.config.quick or results.config.limit or results.config.only or results.partial:
        sys.exit(f"{run}: a first look is not to be published; run it whole")
    header = ["vocabulary", "text", "backend", "returns", *COLUMNS.values(), "why not ranked"]
    found = list(rows(results))
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "engines.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *found])
    machine = results.environment
    packages = ", ".join(f"{name} {version}" for name, version in sorted(machine.packages.items()))
    notes = "\n".join(f"- {note}" for note in results.notes if note.startswith(("speed", "counting", "footprint")))
    page = f"""# Engines for three vocabularies

`tokbench run engine_matrix`, {results.created}, on {machine.cpu}, {machine.cores} cores, {machine.system}, {machine.python}.
Ids were compared on every document, and counts of engines without ids. Only engines that return the same are ranked against
one another; the reference is timed through its lists, too, for those that return lists. In brackets are 95 % intervals over processes.

{table(header, found)}

## What to distrust

{notes}

Versions: {packages}.
"""
    (FOLDER / "README.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
