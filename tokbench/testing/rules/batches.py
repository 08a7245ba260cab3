"""Rules about batches: they equal their documents one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from tokbench.testing.findings import Broken, call_of, shown
from tokbench.testing.rules.encoding import SURROGATES
from tokbench.testing.under_test import TokenizerUnderTest, check_small
from tokbench.tokenizers.batch import from_lists
from tokbench.tokenizers.contract import Encoded


def encode_batch(subject: TokenizerUnderTest) -> str:
    """Batches encode to typed arrays with the ids of ``encode``."""

    def check(texts: list[str]) -> None:
        expected = [subject.ids(text) for text in texts]
        encoded = subject.answer("encode_batch", texts, expected="Encoded")
        call = call_of("encode_batch", texts)
        ids, offsets = _arrays(call, encoded)
        together = [ids[start:end].tolist() for start, end in pairwise(offsets.tolist())]
        if together != expected:
            raise Broken(call, f"{shown(expected)}, as encode gives", together)

    texts = subject.working([*subject.encodable, *SURROGATES], subject.ids)
    return _each_batch(subject, texts, check)


def _arrays(call: str, encoded: object) -> Encoded:
    expected = "Encoded(ids: uint32[n], offsets: int64[d + 1])"
    if not isinstance(encoded, tuple) or len(encoded) != 2:  # noqa: PLR2004
        raise Broken(call, expected, encoded)
    for array, dtype in zip(encoded, (np.uint32, np.int64), strict=True):
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            what = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else shown(array)
            raise Broken(call, expected, words=what)
    return Encoded(*encoded)


def decode_batch(subject: TokenizerUnderTest) -> str:
    """Batches decode to the texts of ``decode``."""

    def check(texts: list[str]) -> None:
        documents = [subject.ids(text) for text in texts]
        expected = [subject.text(ids) for ids in documents]
        decoded = subject.answer("decode_batch", from_lists(documents), expected="texts")
        if not isinstance(decoded, Sequence) or list(decoded) != expected:
            raise Broken(f"decode_batch of the ids of {shown(texts)}", f"{shown(expected)}, as decode gives", decoded)

    texts = subject.working(subject.encodable, lambda text: subject.text(subject.ids(text)))
    return _each_batch(subject, texts, check)


def _each_batch(subject: TokenizerUnderTest, texts: list[str], check: Callable[[list[str]], None]) -> str:
    def checked(batch: list[str]) -> None:
        try:
            check_small(batch, check)
        except Broken:
            for text in batch:  # one document may be enough, and may be made smaller
                check_small(text, lambda text: check([text]))
            raise

    subject.working([[], [""], ["", "a", ""], texts], checked)
    return f"{len(texts):,} texts in one batch"
