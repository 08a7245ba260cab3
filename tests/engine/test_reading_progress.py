"""The progress while corpora are read: of how much, where the files tell it."""

import gzip

import pytest

from tokbench.config.read import read_config
from tokbench.engine.planning import READING, make_plan
from tokbench.registry.plugins import load_registry


@pytest.mark.parametrize("packed", [False, True])
def test_the_total_is_that_of_the_files_unless_they_are_packed(write_config, tmp_path, packed):
    text = b"a line of some words\n" * 400_000
    path = tmp_path / ("text.txt.gz" if packed else "text.txt")
    path.write_bytes(gzip.compress(text, 1) if packed else text)
    config = write_config(f"  c: {{source: text, path: {path.name}, document: file}}")
    steps = []
    make_plan(read_config(config), load_registry(), lambda step, done, total: steps.append((step, done, total)))
    totals = [total for step, _, total in steps if step == READING]
    assert totals[:-1]
    assert totals[:-1] == [None if packed else pytest.approx(8.4)] * len(totals[:-1])
    assert totals[-1] == pytest.approx(8.4)
