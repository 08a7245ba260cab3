"""A metric as a plain function, in a notebook."""

import numpy as np
import pytest

import tokbench
from tokbench.foundation.errors import InputError

BYTES = tokbench.load("utf8_bytes")


@tokbench.metric(unit="ids/word")
def ids_a_word(text, ids):
    """Ids for a word."""
    return len(ids), len(text.split())


def test_it_is_a_ratio_of_sums_with_the_interval_of_the_jackknife():
    texts = [f"{'a' * k} bc {'d' * (k % 5)}" for k in range(1, 41)]
    table = ids_a_word.on(texts, {"bytes": BYTES, "units": tokbench.load("utf16_units")})
    assert table.columns.tolist() == ["tokenizer", "ids_a_word", "ci_low", "ci_high", "unit", "n"]
    row = table.iloc[0]
    ids, words = (np.array(column, float) for column in np.array([ids_a_word(text, text.encode()) for text in texts]).T)
    assert row.ids_a_word == pytest.approx(ids.sum() / words.sum())
    without = np.array([(ids.sum() - i) / (words.sum() - w) for i, w in zip(ids, words, strict=True)])
    error = np.sqrt(39 / 40 * ((without - without.mean()) ** 2).sum())
    assert row.ci_high - row.ci_low == pytest.approx(2 * 2.02 * error, rel=0.1)
    assert (row.unit, row.n) == ("ids/word", 40)
    assert ids_a_word.__doc__ == "Ids for a word."


def test_a_plain_number_is_averaged_and_tokenizers_may_be_given():
    @tokbench.metric()
    def length(text, ids):
        return len(ids)

    table = length.on(["a", "abc"], {"mine": BYTES})
    assert table.to_dict("records") == [
        {"tokenizer": "mine", "length": 2.0, "ci_low": None, "ci_high": None, "unit": "", "n": 2}
    ]


def test_what_it_cannot_use_is_refused():
    @tokbench.metric()
    def wrong(text, ids):
        return "many"

    with pytest.raises(InputError, match="wrong gave 'many'"):
        wrong.on(["a"], {"bytes": BYTES})
    with pytest.raises(InputError, match="wrong needs a document at least"):
        wrong.on([], {"bytes": BYTES})
