"""The lines of the site for MLflow write the numbers of a run to its file store."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "reports" / "site" / "docs" / "notebooks.md"


@pytest.mark.filterwarnings("ignore")
def test_every_tokenizer_is_a_run_with_numbers(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    [code] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    config = {
        "schema": "tokbench/1",
        "name": "mine",
        "corpora": {"de": {"source": "sample", "part": "languages", "groups": ["de"]}},
        "tokenizers": {"bytes": "utf8_bytes", "words": "utf32_units"},
        "metrics": ["compression"],
    }
    names = {}
    exec(code.replace('"quickstart"', repr(config)), names)
    written = {}
    for run in mlflow.MlflowClient().search_runs([mlflow.get_experiment_by_name("mine").experiment_id]):
        for name, value in run.data.metrics.items():
            written[run.info.run_name, name] = value
    assert set(names["whole"]["tokenizer"]) == {"bytes", "words"}
    rows = names["whole"].itertuples()
    assert written == {(row.tokenizer, f"{row.corpus}/{row.metric}"): row.value for row in rows}
    assert written["bytes", "de/compression_ratio"] == 1
