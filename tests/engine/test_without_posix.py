"""The API runs where Python has no modules and signals of POSIX, as on Windows."""

import subprocess
import sys

import pytest

PROGRAM = """
import signal, sys

import psutil  # has code of its own for Windows

for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None  # so that an import fails
for name in ("SIGHUP", "SIGKILL", "SIGSTOP"):
    delattr(signal, name)

import tokbench

config = {
    "schema": "tokbench/1",
    "name": "small",
    "corpora": {"languages": {"source": "sample", "part": "languages"}},
    "tokenizers": {
        "bytes": {"backend": "utf8_bytes"},
        "bpe": {"backend": "naive_bpe", "train": {"corpus": "languages", "vocab_size": 260}},
    },
    "metrics": ["compression", {"speed": {"rounds": 3, "min_time": 0.0001}}],
}
if __name__ == "__main__":
    results = tokbench.run(config, limit=2, workers=0, store=False)
    assert not results.failed, results.problems
    assert {cell.status for cell in results.cells} == {"ok"}, {cell.reason for cell in results.cells}
    print(tokbench.train("naive_bpe", ["one text", "another text"], 260, store=False).vocab_size)
"""


@pytest.mark.slow
def test_a_run_in_one_process_needs_no_module_of_posix(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, str(program)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "260"
