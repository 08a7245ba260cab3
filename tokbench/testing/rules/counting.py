"""The rule about counts, the only one for a tokenizer without ids."""

from __future__ import annotations

from tokbench.testing.findings import Broken
from tokbench.testing.under_test import TokenizerUnderTest, is_id
from tokbench.tokenizers.contract import only_counts


def count_batch(subject: TokenizerUnderTest) -> str:
    """Counts equal ``encode``, and do not depend on the batch."""
    texts = subject.more_texts
    counts = _counts(subject, texts)
    if any(count != 0 for text, count in zip(texts, counts, strict=True) if not text):
        raise Broken("count_batch([''])", "0", counts[texts.index("")])
    for text, count in zip(texts, counts, strict=True):
        alone = _counts(subject, (text,))[0]
        if alone != count:
            raise Broken(f"count_batch([{text!r}])", f"{count}, as in a batch of all texts", alone)
        if not only_counts(subject.tokenizer) and len(ids := subject.ids(text)) != count:
            raise Broken(f"count_batch([{text!r}])", f"{len(ids)}, the number of its ids", count)
    return f"{len(texts):,} texts"


def _counts(subject: TokenizerUnderTest, texts: tuple[str, ...]) -> list[int]:
    answer = list(subject.answer("count_batch", list(texts), expected="a number for each text"))
    if len(answer) != len(texts) or not all(is_id(count) and count >= 0 for count in answer):
        raise Broken("count_batch", f"{len(texts):,} integers, 0 or more", answer[:9])
    return list(map(int, answer))
