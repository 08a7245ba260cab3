"""Publishes a study in reports/: runs its configuration and keeps a table, Markdown, pictures and the facts of the run.

python tests/helpers/publish_report.py vocabularies

A folder after the name is taken as the finished run. README.md of the study is written by hand and left alone.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tokbench.engine.reports import report_of
from tokbench.report.csv_text import csv_text
from tokbench.report.pictures import picture_svg, pictures
from tokbench.results.cells import COLUMNS
from tokbench.results.model import SCHEMA, Results

SHELF = Path(__file__).parents[2] / "reports"
FACTS = "run.json"
COUNTS = r"compression_ratio|tokens|roundtrip_exact"
VALIDITY = (
    rf"{COUNTS}|fertility|renyi_\w+|(transformer_)?bits_per_byte\w*",
    r"bits-per-byte-text(-\d)?|validity-text-transformer(-\d)?",
)
KEPT = {
    # by study: the metrics of the table, and the pictures
    "vocabularies": (
        rf"{COUNTS}|fertility|premium|gini|max_min|chars_split",
        r"parity-(ntrex|pud)|heat-(ntrex|pud|sample)-premium",
    ),
    "vocabularies_code": (
        rf"{COUNTS}|tokens_per_line|indent_(share|tokens_per_space|level_\d)|identifier_tokens|operators_whole|digits_single",
        r"heat-\w+-(compression_ratio|indent_share)",
    ),
    "equal_size-pud": (rf"{COUNTS}|fertility", r"sizes-pud"),
    "drift": (
        r"roundtrip_exact|(turn|join)_drift\w*|empty_continuation|(append|stream|span)_\w+",
        r"heat-conversations-(join_drift|empty_continuation)",
    ),
    "validity": VALIDITY,
    "validity_code": VALIDITY,
    "validity_languages": VALIDITY,
    "validity_narrow": (VALIDITY[0], r"bits-per-byte-text-3|validity-text-transformer(-\d)?"),
    "validity_cpu": (VALIDITY[0], r"bits-per-byte-text(-\d)?|measured-sizes-.*"),
    "size_measured": (rf"{COUNTS}", r"measured-sizes-.*"),
}
"""By study, patterns of the ids of metrics and of the names of pictures that are kept."""

FAMILIES = {"validity_narrow": "transformer"}
"""By study, the family of models whose correlations are kept: the n-grams of a narrower body are those of ``validity``."""


def facts(results):
    """Return what a reader must know of a run to make it again."""
    return {
        "configuration": results.name,
        "schema": SCHEMA,
        "created": results.created,
        "python": results.environment.python,
        "packages": dict(sorted(results.environment.packages.items())),
        "corpora": {
            name: {"sha256": corpus.sha256, "licence": corpus.licence, "documents": corpus.documents}
            for name, corpus in results.corpora.items()
        },
    }


def correlations(text, study):
    """Return a table in which numbers have four decimals at most, because they come from 2,000 draws."""
    head, *lines = text.splitlines(keepends=True)
    family = FAMILIES.get(study)
    text = "".join([head, *(line for line in lines if family is None or line.split(",")[1] == family)])
    return re.sub(r"(?<=,)-?\d+\.\d{5,}(e-\d+)?(?=,)", lambda number: str(round(float(number[0]), 4)), text)


def publish(study, run):
    results = Results.read(run / "results.json")
    if results.config.quick or results.config.limit or results.config.only or results.partial:
        sys.exit(f"{run}: a first look is not to be published; run it whole")
    metrics, names = KEPT[study]
    cells = [cell for cell in results.cells if re.fullmatch(metrics, cell.metric)]
    folder = SHELF / study
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "table.csv": csv_text(COLUMNS, ([getattr(cell, name) for name in COLUMNS] for cell in cells)),
        FACTS: json.dumps(facts(results), indent=1, ensure_ascii=False) + "\n",
    }
    report = report_of(results)
    files |= {
        f"{picture.name}.svg": picture_svg(picture) for picture in pictures(report) if re.fullmatch(names, picture.name)
    }
    for name in ("report.md", "curve.csv", "validity.csv", "validity_tokenizers.csv", "sizes.csv"):
        if (run / name).exists():
            text = (run / name).read_text(encoding="utf-8")
            files[name.replace("report", "tables")] = correlations(text, study) if name == "validity.csv" else text
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def main(study, run=None):
    if study not in KEPT:
        sys.exit(f"no published study is called {study!r}; known: {', '.join(KEPT)}")
    if run:
        publish(study, Path(run))
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "tokbench", "run", study, "-o", folder, "-w", "2"], check=True)
        publish(study, Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
