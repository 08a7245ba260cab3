"""The recipe of docs/metrics.md that ranks tokenizers by a metric, and the published intervals that follow from it."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "plugins/models/docs/metrics.md"
RECIPE = {}
exec(re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1], RECIPE)
PUBLISHED = list(csv.DictReader((ROOT / "reports/validity/figures.csv").read_text(encoding="utf-8").splitlines()))


def test_the_correlation_is_that_of_mean_ranks():
    assert RECIPE["rank_correlation"]([1, 2, 3, 4, 5], [1, 2, 3, 5, 4])[0] == pytest.approx(0.9)
    rho, low, high = RECIPE["rank_correlation"]([1, 1, 2, 3, 4, 5], [9, 8, 7, 3, 2, 1])
    assert rho == pytest.approx(np.corrcoef([1.5, 1.5, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1])[0, 1])
    assert -1 < low < rho < high < 0


def test_a_table_is_read_for_the_whole_corpus_and_where_both_numbers_are(tmp_path):
    rows = ["tokenizer,corpus,group,metric,value,status"]
    for k in range(6):
        rows += [f"t{k},text,*,compression_ratio,{k},ok", f"t{k},text,*,bits,{9 - k},ok"]
        rows += [f"t{k},text,python,bits,{k},ok", f"t{k},other,*,bits,{k},ok"]
    rows += ["t6,text,*,compression_ratio,0,ok", "t6,text,*,bits,,failed"]
    (tmp_path / "results.csv").write_text("\n".join(rows), encoding="utf-8")
    assert RECIPE["predicts"](tmp_path / "results.csv", "compression_ratio", "bits", "text")[0] == pytest.approx(1)


def test_published_intervals_follow_from_rho_and_the_number_of_tokenizers(monkeypatch):
    """Within what two decimals of rho, and other documents and trainings, can change."""
    for row in (row for row in PUBLISHED if row["tokenizers"]):
        value, low, high = (float(row[name]) for name in ("value", "low", "high"))
        monkeypatch.setattr(np, "corrcoef", lambda *_, value=value: np.full((2, 2), value))
        some = range(int(row["tokenizers"]))
        assert RECIPE["rank_correlation"](some, some)[1:] == pytest.approx((low, high), abs=0.06), row


def test_the_page_cites_what_the_table_has():
    page = (ROOT / "reports/validity/README.md").read_text(encoding="utf-8")
    cited = set(re.findall(r"(-?\d\.\d\d) \[(-?\d\.\d\d), (-?\d\.\d\d)\]", page))
    assert len(cited) > 40
    assert cited <= {(row["value"], row["low"], row["high"]) for row in PUBLISHED}
