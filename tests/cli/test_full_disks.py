"""Whatever cannot be written is said in one line, and no half of a file is left."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from full_disk import NO_BYTECODE

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.argv[:2] = ["tokbench"]
from tokbench.cli.main import main
main()
"""
COMMANDS = {
    "compare run run -o out/x.html": 4_000,
    "compare run run -o out/x.json": 400,
    "report run -o out": 40_000,
    "new quickstart -o out/x.yaml": 400,
    "inspect utf8_bytes --bytes out/x.npy": 400,
    "train --backend regex_bpe:gpt4 --text texts.txt --vocab-size 300 -o out/x.json --no-store": 4_000,
    "count texts.txt -o out/x.counts": 400,
    "pin run.yaml -o out/x.lock --no-store": 400,
}
CONFIG = """
schema: tokbench/1
name: run
corpora: {c: {source: text, path: texts.txt}}
tokenizers: {b: utf8_bytes, g: utf16_units}
metrics: [compression]
"""


def call(code, *arguments, **more):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], text=True, check=False, timeout=200,
        stderr=subprocess.PIPE, env={**os.environ, **NO_BYTECODE}, **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("disk")
    (made / "texts.txt").write_text("".join(f"line {k * k} of words\n" for k in range(300)))
    (made / "run.yaml").write_text(CONFIG)
    done = call(LIMITED, "100000000", "run", "run.yaml", "-o", "run", "--no-store", cwd=made)
    assert done.returncode == 0, done.stderr
    (made / "out").mkdir()
    return made


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_full_disk(folder, arguments):
    done = call(LIMITED, str(COMMANDS[arguments]), *arguments.split(), cwd=folder)
    assert done.returncode in {1, 2}
    assert "Traceback" not in done.stderr
    assert "cannot be written: " in done.stderr
    assert all(path.suffix in {".md", ".csv", ".unfinished"} for path in (folder / "out").iterdir())


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize("arguments", ["--help", "show x -t utf8_bytes --json", "cost texts.txt"])
@pytest.mark.parametrize("where", ["full", "closed"])
def test_standard_output(folder, arguments, where):
    with Path("/dev/full").open("w") as full:
        closing = {"preexec_fn": lambda: os.close(1)} if where == "closed" else {"stdout": full}
        done = call(LIMITED, "100000000", *arguments.split(), cwd=folder, **closing)
    assert (done.returncode, done.stderr.count("Traceback")) == (1, 0)
    assert "error: standard output: cannot be written: " in done.stderr
