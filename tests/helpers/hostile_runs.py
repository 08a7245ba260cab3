"""Runs with the hostile plugin: what a fault at a place may cost, and what it may not."""

import os
import subprocess
import sys
from pathlib import Path

import tokbench

HARMLESS = {"patch", "child", "closed"}
UNUSED = {("type", "import"), ("type", "options")}
"""What nobody reads may have any type."""
"""They return what is right; whether their own results are there is their affair."""

BEFORE = {"import", "late", "options", "open", "documents"}
"""Where a fault is told before anything is measured."""

OWN = """schema: tokbench/1
name: test
corpora:
  c: {source: sample, part: hostile}
"""
TOKENIZERS = """tokenizers:
  bytes: {backend: utf8_bytes}
  chars: {backend: utf16_units}
limits: {step: 15, memory: 700MB}
"""
CONFIG = (
    f"{OWN}  theirs: {{source: hostile, value: y}}\n{TOKENIZERS}"
    "metrics: [compression, roundtrip, {hostile: {value: z}}, hostile_corpus]\n"
    "study: {hostile: {}}\nreport: {formats: [csv, html, md, hostile]}\n"
)
PLAIN = f"{OWN}{TOKENIZERS}metrics: [compression, roundtrip]\nreport: {{formats: [csv, html, md]}}\n"


def install(folder):
    """Write the distribution of the plugin, and return the environment of processes that have it."""
    info = folder / "site" / "unfriendly-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: unfriendly\nVersion: 1.0\n", encoding="utf-8")
    points = "[tokbench]\nhostile = hostile_plugin\n[tokbench.commands]\nhostile = hostile_command:hostile\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    (folder / "full.yaml").write_text(CONFIG, encoding="utf-8")
    (folder / "hang.yaml").write_text(CONFIG.replace("step: 15", "step: 6"), encoding="utf-8")
    (folder / "plain.yaml").write_text(PLAIN, encoding="utf-8")
    path = os.pathsep.join([str(folder / "site"), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    plugins = "baselines,corpora,metrics,reports,hostile"
    return {**os.environ, "PYTHONPATH": path, "TOKBENCH_PLUGINS": plugins, "TOKBENCH_NO_STORE": "1"}


def start(folder, environment, fault, *arguments):
    """Run the command line with a fault; return how it ended, and all that it said."""
    ended = subprocess.run(
        [sys.executable, "-m", "tokbench", *arguments], cwd=folder, env={**environment, "TOKBENCH_TEST_FAULT": fault},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240, check=False,
    )  # fmt: skip
    return ended.returncode, " ".join(ended.stdout.split())


def neighbours(output):
    """Return the numbers of tokbench's own metrics on its own corpus."""
    results = tokbench.Results.read(output / "results.json")
    theirs = {name for name, metric in results.metrics.items() if metric.family.startswith("hostile")}
    return [str(cell) for cell in results.cells if cell.corpus == "c" and cell.metric not in theirs]


def wrong(folder, environment, what, place):
    """Return what a fault at a place did that it may not do; empty if it did only what is promised."""
    fault = f"{what} at {place}"
    if place == "command":
        return _wrong_command(folder, environment, what, fault)
    output, config = folder / f"{what}-{place}", "hang.yaml" if what == "hang" else "full.yaml"
    code, said = start(folder, environment, fault, "run", config, "-o", str(output), "-w", "1", "--log", "none")
    if "Traceback" in said:
        return f"a traceback: {said[-300:]}"
    if code == 2 and place in BEFORE:
        named = "hostile" in said or "unfriendly" in said
        return "" if named and _plain_sound(folder, environment, fault, output) else f"not named: {said[-300:]}"
    if code not in ({0, 1} if what in HARMLESS or (what, place) in UNUSED else {1}):
        return f"exit code {code}: {said[-300:]}"
    if code == 1 and not _named(said, output):
        return f"not named: {said[-300:]}"
    return _wrong_files(folder, output)


def _named(said, output):
    results = tokbench.Results.read(output / "results.json") if (output / "results.json").is_file() else None
    return "hostil" in said or "unfriendly" in said or bool(results and "hostile" in results.failed_studies)


def _plain_sound(folder, environment, fault, output):
    code, said = start(folder, environment, fault, "run", "plain.yaml", "-o", str(output), "-w", "1", "--log", "none")
    told = code == 1 and "hostile" in said  # its section is part of every report
    return (code == 0 or told) and not _wrong_files(folder, output)


def _wrong_files(folder, output):
    lacking = [name for name in ("results.json", "results.csv", "states.jsonl.gz", "report.html", "report.md")
               if not (output / name).is_file()]  # fmt: skip
    if lacking:
        return f"not written: {lacking}"
    tokbench.Results.read(output / "results.json").states[0]
    return "" if neighbours(output) == neighbours(folder / "expected") else "a neighbour's number is another"


def _wrong_command(folder, environment, what, fault):
    if what in {"hang", "memory"}:
        return ""  # the user ends it as any other program
    code, said = start(folder, environment, fault, "hostile")
    if what in HARMLESS | {"type"}:
        return "" if "all is well" in said else f"exit code {code}: {said}"
    if code == 0:
        return f"exit code 0: {said}"
    help_code, shown = start(folder, environment, fault, "--help")
    return "" if help_code == 0 and "hostile" in shown and "hostile" in said else f"not named: {said}"


def expect(folder, environment):
    """Run without a fault and without the plugin, for the neighbours' numbers; return what went wrong."""
    code, said = start(folder, environment, "", "run", "plain.yaml", "-o", str(folder / "expected"), "-w", "1")
    return "" if code == 0 else said
