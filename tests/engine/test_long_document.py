"""A document of 100 MB: its memory, every process counted."""

import subprocess
import sys
from pathlib import Path

import pytest

from tokbench.foundation.memory import PeakMemory

pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells all of it")
CONFIG = """schema: tokbench/1
name: long
corpora:
  long: {source: text, path: long.txt, document: file}
  few: {source: sample, evaluate: false}
tokenizers: {bytes: utf8_bytes, trained: {backend: regex_bpe, pattern: gpt4, train: {corpus: few, vocab_size: 1000}}}
metrics: [compression, fertility, roundtrip]
"""


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("end", ["\n", " "], ids=["lines", "one line"])
def test_a_document_of_100_mb_takes_about_a_gigabyte(tmp_path, end):
    line = "The ferry leaves at 7.45, and those who miss it wait until noon." + end
    (tmp_path / "long.txt").write_text(line * (100_000_000 // len(line)))
    (tmp_path / "long.yaml").write_text(CONFIG)
    with PeakMemory() as memory:
        subprocess.run([sys.executable, "-m", "tokbench", "run", "long.yaml", "-w", "1"], cwd=tmp_path, check=True)
    assert memory.n_bytes < 1.1e9
