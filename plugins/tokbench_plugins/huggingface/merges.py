"""The merges of a ``tokenizer.json`` with BPE: pairs that are listed in order of rank, of characters or of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tokbench_plugins.bpe.recovery.order import Merges, in_order, is_text, listed
from tokbench_plugins.bpe.vocabulary import Merge
from tokbench_plugins.huggingface.json import halves, model_kind, product


def has_merges(content: Mapping[str, Any]) -> bool:
    """Return True if the model is BPE that adds no marks to its tokens: these are not in the bytes of the parts.

    >>> has_merges({"model": {"vocab": {"a": 0}, "merges": []}}), has_merges({"model": {"type": "WordPiece"}})
    (True, False)
    """
    marks = ("continuing_subword_prefix", "end_of_word_suffix")
    return model_kind(content) == "BPE" and not any(content["model"].get(mark) for mark in marks)


def merges_of_content(content: Mapping[str, Any], token_bytes: Callable[[int], bytes]) -> Merges:
    """Return the parts of each merge, in order of rank.

    A token that several pairs are listed for is made of the one that the merges before leave of it. With
    ``ignore_merges`` any token of the vocabulary is a whole chunk where no merge builds it; it has the rank of the
    first merge that makes a higher id.

    Raises:
        NoMergesError: there is no order in which all merges are done.

    >>> vocab = {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4, "ca": 5, "cab": 6}
    >>> model = {"vocab": vocab, "merges": [["a", "b"], ["ab", "c"], ["c", "a"], ["c", "ab"]]}
    >>> merges_of_content({"model": model}, lambda token_id: b"")
    ((0, 1), (3, 2), (2, 0), (2, 3))
    """
    model = content["model"]
    vocab: Mapping[str, int] = model["vocab"]
    text_of = {token_id: token for token, token_id in vocab.items()}
    whole = set()
    if model.get("ignore_merges"):
        added = {token["content"] for token in content.get("added_tokens") or ()}
        whole = {token_id for token, token_id in vocab.items() if token not in added}

    def units_of(token_id: int) -> list[int]:
        ids = [vocab.get(char) for char in text_of[token_id]]
        return [unit for unit in ids if unit is not None] if None not in ids else []

    merges = list(_merges(model))
    candidates = listed(merges, whole - {made for _, _, made in merges}, units_of)
    return in_order(candidates, lambda i: i in whole and is_text(token_bytes(i)))


def _merges(model: Mapping[str, Any]) -> Iterator[Merge]:
    vocab = model["vocab"]
    for merge in model["merges"]:
        left, right = halves(merge)
        yield vocab[left], vocab[right], vocab[product(model, merge)]
