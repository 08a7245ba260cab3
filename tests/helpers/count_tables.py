"""Texts that are counted, and tables of counts as they are read."""

import random
import subprocess
import sys

import pytest

pytest.importorskip("numba")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

import pyarrow.parquet as pq

from tokbench.text.find import find_texts
from tokbench_plugins.bpe.fast.train import count_chunks
from tokbench_plugins.counts import local
from tokbench_plugins.counts.pieces import Reading

MEMORY = 1 << 30
CALL = "from tokbench.cli.main import main; import sys; sys.argv = ['tokbench', 'count', *sys.argv[1:]]; main()"
ALPHABET = [*"abBé東京1  \n\t'.-/\u3000\u0301🎉", "23", "\n\n", " \n", "\r\n", "'s"]


def texts(number, longest, seed=0):
    rng = random.Random(seed)
    return ["".join(rng.choices(ALPHABET, k=rng.randrange(longest))) for _ in range(number)]


def write(folder, documents):
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(documents):
        (folder / f"{number:03}.txt").write_bytes(text.encode())
    return folder


def counted(folder, output=None, **options):
    """The chunks in their order with their counts, and the table."""
    task = {
        "least": 1,
        "processes": 1,
        "parts": False,
        **{k: options.pop(k) for k in ("least", "processes", "parts") if k in options},
    }
    output = output or folder.with_suffix(".counts")
    result = local.count(
        local.Task(
            tuple(find_texts([str(folder)]).files), Reading(**{"pattern": "gpt4", **options}), output, MEMORY, **task
        ),
        lambda _: None,
    )
    return result, rows(output)


def rows(path):
    return pq.read_table(path).select(["chunk", "count"]).to_pydict()


def expected(documents, pattern):
    counts = count_chunks(documents, pattern)
    return {"chunk": [chunk.encode() for chunk in counts], "count": list(counts.values())}


def call(*arguments, before="", **more):
    command = [sys.executable, "-c", before + CALL, *map(str, arguments), "--log", "none"]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)
