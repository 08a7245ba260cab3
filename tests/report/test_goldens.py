"""The reports of six made-up runs, word for word: PYTHONPATH=tests/helpers python .ci/write_goldens.py writes them again."""

import pytest
import write_goldens


@pytest.mark.parametrize("name", write_goldens.RUNS)
def test_the_report_is_its_golden_file(name):
    golden = (write_goldens.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert write_goldens.report_of(name) == golden, (
        "PYTHONPATH=tests/helpers python .ci/write_goldens.py writes it again"
    )
