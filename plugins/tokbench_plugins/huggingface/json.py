"""The content of a ``tokenizer.json``, and the changes to it that keep ordinary text ordinary.

The file describes a pipeline: added tokens, normalizer, pre-tokenizer, model, post-processor, decoder. The
library reads it; here only what the contract forbids is taken out of it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

_FAR_BEYOND = "\uffff"  # a noncharacter: no text has it
_LONGEST_WORD = 100  # what WordPiece takes for the longest word where the file does not say


def model_kind(content: Mapping[str, Any]) -> str:
    """Return ``BPE``, ``WordPiece``, ``WordLevel`` or ``Unigram``; files from before 2020 do not name it.

    >>> model_kind({"model": {"vocab": {"a": 0}, "merges": []}})
    'BPE'
    """
    model = content["model"]
    if "type" in model:
        return str(model["type"])
    if "merges" in model:
        return "BPE"
    if isinstance(model.get("vocab"), list):
        return "Unigram"
    return "WordPiece" if "max_input_chars_per_word" in model else "WordLevel"


def steps(part: Mapping[str, Any] | None, plural: str) -> Iterator[Mapping[str, Any]]:
    """List the steps of a normalizer, pre-tokenizer or decoder, out of sequences.

    >>> sequence = {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Sequence", "decoders": []}]}
    >>> list(steps(sequence, "decoders"))
    [{'type': 'Fuse'}]
    """
    if part is None:
        return
    if part["type"] == "Sequence":
        for step in part[plural]:
            yield from steps(step, plural)
    else:
        yield part


def ordinary(content: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Leave out what changes the ids of a text for reasons outside the text; return the rest, and notes on it.

    Texts are not cut or filled up to a length, dropout is off, and a WordPiece decoder does not tidy up.

    >>> ordinary({"padding": None, "truncation": {"max_length": 8}, "model": {"dropout": 0.1}})[1]
    ('the file cuts texts at 8 tokens; here they are whole', 'dropout 0.1 of the file is off: ids are not random')
    """
    changed = copy.copy(dict(content))
    notes = []
    if truncation := content.get("truncation"):
        notes.append(f"the file cuts texts at {truncation['max_length']} tokens; here they are whole")
    changed["truncation"] = changed["padding"] = None
    if dropout := content["model"].get("dropout"):
        notes.append(f"dropout {dropout} of the file is off: ids are not random")
        changed["model"] = {**content["model"], "dropout": None}
    if content.get("decoder"):
        changed["decoder"] = copy.deepcopy(content["decoder"])
        for step in steps(changed["decoder"], "decoders"):
            if step["type"] == "WordPiece":
                step["cleanup"] = False  # type: ignore[index]
    return changed, tuple(notes)


def special_names(content: Mapping[str, Any]) -> list[str]:
    """Return the special ones among the added tokens."""
    return [token["content"] for token in content.get("added_tokens") or () if token.get("special")]


def without_special(content: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a vocabulary in which the model itself gives no special token; ``None`` if it is so already.

    The library has a switch that turns off the search for special tokens in text. Yet a model that has them among its
    pieces finds them there by itself: Unigram takes ``</s>`` for one piece, WordPiece the word ``[UNK]``. So
    these get names that no text spells.

    >>> without_special({"added_tokens": [{"content": "</s>", "special": True}],
    ...                  "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["</s>", 0], ["a", -1]]}})
    {'added_tokens': [], 'model': {'type': 'Unigram', 'unk_id': 0, 'vocab': [['', 0], ['', 0], ['a', -1]]}}
    """
    model, special = content["model"], set(special_names(content))
    if model_kind(content) == "Unigram":
        unknown = model.get("unk_id")
        special |= {model["vocab"][unknown][0]} if unknown is not None else set()
        hidden = special.intersection(piece for piece, _ in model["vocab"])
        # An empty piece keeps its id, and is a prefix that the library's search never ends at.
        changed = {"vocab": [["" if piece in hidden else piece, score] for piece, score in model["vocab"]]}
    else:
        special |= {model["unk_token"]} if model.get("unk_token") else set()
        hidden = special & model["vocab"].keys() & _given_by_model(content)
        changed = _renamed(model, hidden)
    if not hidden:
        return None
    added = [token for token in content.get("added_tokens") or () if token["content"] not in hidden]
    return {**content, "added_tokens": added, "model": {**model, **changed}}


def _given_by_model(content: Mapping[str, Any]) -> set[str]:
    """Return the tokens of a vocabulary that its model may find in a text."""
    model = content["model"]
    if model_kind(content) != "BPE" or model.get("ignore_merges"):
        return set(model["vocab"])
    return {token for token in model["vocab"] if len(token) == 1} | {product(model, merge) for merge in model["merges"]}


def _renamed(model: Mapping[str, Any], hidden: set[str]) -> dict[str, Any]:
    # Longer than any word that WordPiece looks up.
    far = _FAR_BEYOND * (int(model.get("max_input_chars_per_word", _LONGEST_WORD)) + 1)
    names = {name: f"{far}{model['vocab'][name]}" for name in hidden}
    changed: dict[str, Any] = {"vocab": {names.get(token, token): k for token, k in model["vocab"].items()}}
    if "unk_token" in model:
        changed["unk_token"] = names.get(model["unk_token"], model["unk_token"])
    if "merges" in model:
        changed["merges"] = [
            merge for merge in model["merges"] if not hidden.intersection((*halves(merge), product(model, merge)))
        ]
    return changed


def halves(merge: str | list[str]) -> list[str]:
    """Return both halves of a merge, which until 2024 was one string."""
    return merge.split(" ") if isinstance(merge, str) else merge


def product(model: Mapping[str, Any], merge: str | list[str]) -> str:
    """Return the token that a merge makes."""
    left, right = halves(merge)
    return left + right.removeprefix(model.get("continuing_subword_prefix") or "")
