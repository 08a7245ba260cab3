"""Change the code of a room in small ways, and print the share of the changes that its tests catch.

``python .ci/mutants.py ROOM… [--sample N]``, with mutmut installed: rooms are in ``[tool.mutants]`` of pyproject.toml. The
changes that no test notices are listed, and the command fails if a room is below nine in ten.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import mkdtemp

TOP = Path(__file__).parent.parent
LEAST = 0.9
CAUGHT = {"killed", "timeout", "segfault"}
# mutmut takes a module's name from its path: the default backends lie beside the core.
PLUGINS = "tokbench_plugins"
# What mutmut notes while it looks which test calls what is noted in its own process alone.
ELSEWHERE = """
import os
if os.environ.get("MUTANT_UNDER_TEST") == "stats":
    del os.environ["MUTANT_UNDER_TEST"]
"""
MAKE = """
import multiprocessing, sys
from mutmut import __main__ as mutmut
from mutmut.configuration import config
multiprocessing.set_start_method("fork", force=True)
mutmut.copy_src_dir(); mutmut.copy_also_copy_files(); mutmut.create_mutants(1)
"""


def _workspace(room):
    """Copy what git has, with the settings of a room."""
    work = Path(mkdtemp(prefix="mutants-"))
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, check=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (TOP / name).is_file():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, work / name)
    shutil.copytree(work / "plugins" / PLUGINS, work / PLUGINS)
    project, changed = work / "pyproject.toml", [file.removeprefix("plugins/") for file in room["files"]]
    examples = [path.relative_to(work).as_posix() for pattern in changed for path in sorted(work.glob(pattern))]
    settings = {
        "source_paths": ["tokbench", PLUGINS],
        "only_mutate": changed,
        "also_copy": sorted(path.name for path in work.iterdir() if path.name not in {"tokbench", PLUGINS, "tests"}),
        "pytest_add_cli_args_test_selection": [*room["tests"], *examples],
        # Each change of a function is a function with the same examples.
        "pytest_add_cli_args": ["-p", "no:xdist", "-p", "no:cacheprovider", "-k", "not __mutmut_"],
        "process_isolation": "forkserver",
        "timeout_multiplier": 2.0,
        "timeout_constant": 30.0,
    }
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    project.write_text(project.read_text(encoding="utf-8") + f"\n[tool.mutmut]\n{lines}", encoding="utf-8")
    return work


def _names(work):
    metas = sorted((work / "mutants").rglob("*.meta"))
    return [name for meta in metas for name in json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]]


def _score(name, room, sample, seed, children):
    """Return the share of a room's mutants that are caught."""
    work = _workspace(room)
    environment = os.environ | {"PYTHONPATH": str(work / "mutants")}
    subprocess.run([sys.executable, "-c", MAKE], cwd=work, check=True, stdout=subprocess.DEVNULL)
    (work / "mutants" / "sitecustomize.py").write_text(ELSEWHERE, encoding="utf-8")
    names = _names(work)
    chosen = sorted(random.Random(seed).sample(names, min(sample, len(names)))) if sample else names
    mutmut = [sys.executable, "-m", "mutmut"]
    with (work / "run.log").open("w", encoding="utf-8") as log:
        done = subprocess.run(
            [*mutmut, "run", "--max-children", str(children), *chosen],
            cwd=work,
            env=environment,
            stdout=log,
            check=False,
        )
    if done.returncode:
        sys.exit(f"{name}: the tests fail without a change; see {work}/run.log")
    listed = subprocess.run([*mutmut, "results", "--all", "true"], cwd=work, capture_output=True, check=True, text=True)
    results = dict(line.strip().rsplit(": ", 1) for line in listed.stdout.splitlines() if ": " in line)
    left = [mutant for mutant in chosen if results[mutant] not in CAUGHT]
    for mutant in left:
        shown = subprocess.run([*mutmut, "show", mutant], cwd=work, capture_output=True, check=True, text=True).stdout
        changed = [line for line in shown.splitlines() if line[:1] in "+-" and line[:3] not in {"+++", "---"}]
        sys.stdout.write("\n".join([f"  {results[mutant]}: {mutant}", *(f"    {line}" for line in changed), ""]))
    shutil.rmtree(work)
    share = 1 - len(left) / len(chosen)
    endless = sum(results[mutant] == "timeout" for mutant in chosen)
    caught = f"{len(chosen) - len(left):,} of {len(chosen):,} tried, of {len(names):,}; {endless} did not end"
    sys.stdout.write(f"{share:4.0%} {caught}  {name}\n")
    sys.stdout.flush()
    return share


def main():
    rooms = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutants"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", default=list(rooms), choices=list(rooms))
    parser.add_argument("--sample", type=int, default=0, help="so many changes of a room; without it all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    shares = [_score(name, rooms[name], options.sample, options.seed, options.processes) for name in options.rooms]
    sys.exit(any(share < LEAST for share in shares))


if __name__ == "__main__":
    main()
