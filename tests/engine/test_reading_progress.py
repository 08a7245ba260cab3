"""The progress while corpora are read: of how much, where the files tell it."""

import gzip

import pytest

import tokbench
from tokbench.foundation.progress import RunProgress

READING = "reading corpora (MB)"


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
def test_the_total_is_that_of_the_files_unless_they_are_packed(write_config, tmp_path, packed):
    text = "a line of some words\n" * 100_000
    path = tmp_path / ("text.txt.gz" if packed else "text.txt")
    path.write_bytes(gzip.compress(text.encode(), 1) if packed else text.encode())
    config = write_config(
        f"  c: {{source: text, path: {path.name}, document: line, group: files}}", metrics="[compression]"
    )
    totals = []

    def shown(step):
        if step.name == READING:
            totals.append((step.done, step.total))

    tokbench.run(config, workers=0, store=False, progress=RunProgress(shown))
    between = totals[1:-1]
    assert between
    [total] = {total for _, total in between}
    assert total == (None if packed else pytest.approx(2.1))
    assert totals[-1] == (pytest.approx(2.1 - 0.1), pytest.approx(2.1 - 0.1)), "without the ends of lines"
