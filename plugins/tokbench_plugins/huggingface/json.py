"""The content of a ``tokenizer.json``: its merges, and the changes to it that keep ordinary text ordinary."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final, NamedTuple

from tokbench.foundation.files import is_utf8
from tokbench_plugins.bpe.formats.tokenizer_json import SWITCHES, left_out, pipeline
from tokbench_plugins.bpe.patterns import PATTERNS, as_named
from tokbench_plugins.bpe.recovery.order import Merges, in_order, listed
from tokbench_plugins.bpe.special import SpecialTokens, names_of_sets
from tokbench_plugins.bpe.vocabulary import Merge

_FAR_BEYOND = "\uffff"  # a noncharacter: no text has it
_MOST_GROWTH: Final = 64
_LONGEST_WORD = 100  # what WordPiece takes for the longest word where the file does not say

_FORMS: Final = frozenset({"NFC", "NFD", "NFKC", "NFKD"})
_SPECIAL: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


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


def check_growth(normalizer: Mapping[str, Any] | None) -> None:
    """Raise ValueError if replacements may make a text more than 64 times as long.

    >>> check_growth({"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 65})
    Traceback (most recent call last):
    ValueError: its normalizer makes a text up to 65 times as long, and 64 are allowed; is the file damaged?
    """
    growth = 1.0
    for step in steps(normalizer, "normalizers"):
        if step["type"] == "Replace":  # a regular expression may match a character, or nothing
            growth *= max(1.0, len(step["content"]) / max(1, len(step["pattern"].get("String", ""))))
    if growth > _MOST_GROWTH:
        message = f"its normalizer makes a text up to {growth:.0f} times as long, and {_MOST_GROWTH} are allowed"
        raise ValueError(f"{message}; is the file damaged?")


def check_prefix(content: Mapping[str, Any]) -> None:
    """Raise ValueError if the second part of a merge lacks the prefix of a BPE's pieces: the library would end there.

    >>> model = {"vocab": {"a": 0, "b": 1}, "merges": [["a", "b"]], "continuing_subword_prefix": "##"}
    >>> check_prefix({"model": model})
    Traceback (most recent call last):
    ValueError: model.continuing_subword_prefix is '##', and the merge 'a' 'b' has it not; get the file again
    """
    prefix = content["model"].get("continuing_subword_prefix")
    if not prefix or model_kind(content) != "BPE":
        return
    for left, right in map(halves, content["model"]["merges"]):
        if not right.startswith(prefix):
            where = f"model.continuing_subword_prefix is {prefix!r}, and the merge {left!r} {right!r} has it not"
            raise ValueError(f"{where}; get the file again")


class OrdinaryFile(NamedTuple):
    """A file without what changes the ids of a text for reasons outside the text."""

    content: dict[str, Any]
    notes: tuple[str, ...]


def ordinary(content: Mapping[str, Any]) -> OrdinaryFile:
    """Leave out what changes the ids of a text for reasons outside the text: length limits, padding and dropout.

    >>> ordinary({"padding": None, "truncation": {"max_length": 8}, "model": {"dropout": 0.1}}).notes
    ('the file cuts texts at 8 tokens; here they are whole', 'dropout 0.1 of the file is off: ids are not random')
    """
    changed = copy.copy(dict(content))
    notes = [*left_out(changed)]
    if truncation := content.get("truncation"):
        notes.append(f"the file cuts texts at {truncation['max_length']} tokens; here they are whole")
    changed["truncation"] = changed["padding"] = None
    if dropout := content["model"].get("dropout"):
        notes.append(f"dropout {dropout} of the file is off: ids are not random")
        changed["model"] = {**content["model"], "dropout": None}
    for token in content.get("added_tokens") or ():
        sides = [side for side, key in (("before", "lstrip"), ("after", "rstrip")) if token.get(key)]
        if token.get("special") and sides:
            notes.append(f"special token {token['content']!r} swallows the spaces {' and '.join(sides)} it")
    return OrdinaryFile(changed, tuple(notes))


def special_names(content: Mapping[str, Any]) -> list[str]:
    """Return the names of special added tokens."""
    return [token["content"] for token in content.get("added_tokens") or () if token.get("special")]


class Split(NamedTuple):
    """How a pipeline splits text before its model."""

    expression: str = ""
    """Cuts alike; empty if none is known."""

    form: str | None = None
    """The Unicode normalization before it."""

    why_not: str = ""


def split_of(content: Mapping[str, Any]) -> Split:
    """Return the split of a pipeline whose model sees nothing but its chunks.

    >>> from tokbench_plugins.bpe.patterns import pattern_name
    >>> gpt2 = {"model": {"type": "BPE"}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False}}
    >>> pattern_name(split_of(gpt2).expression), split_of({"model": {"type": "Unigram"}}).why_not
    ('gpt2', 'its model is Unigram and not BPE')
    """
    if (kind := model_kind(content)) != "BPE":
        return Split(why_not=f"its model is {kind} and not BPE")
    before = list(steps(content.get("normalizer"), "normalizers"))
    if len(before) > 1 or any(step["type"] not in _FORMS for step in before):
        return Split(why_not="its normalizer changes text in more than its Unicode form")
    if added := [token["content"] for token in content.get("added_tokens") or () if not token.get("special")]:
        return Split(why_not=f"it looks for added tokens such as {added[0]!r} before it splits")
    match list(steps(content.get("pre_tokenizer"), "pretokenizers")):
        case [{"type": "ByteLevel", "add_prefix_space": False, **more}] if more.get("use_regex", True):
            expression = PATTERNS["gpt2"]
        case [
            {"type": "Split", "pattern": {"Regex": str(published)}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
        ]:
            expression = as_named(published)
        case _:
            return Split(why_not="its pre-tokenizer is not a single expression")
    return Split(expression, before[0]["type"] if before else None)


def file_faults(content: Mapping[str, Any], ids: Mapping[str, int]) -> dict[int, str]:
    """Return faults by id: the library gives it to another token than the file, or two tokens have it.

    >>> model = {"vocab": {"a": 0, "b": 1, "c": 1}, "merges": []}
    >>> file_faults({"model": model, "added_tokens": [{"content": "<x>", "id": 9}]}, {"a": 0, "b": 1, "c": 1, "<x>": 3})
    {1: "the file has this id for 'b' and 'c'", 3: "the file has id 9 for '<x>'"}
    """
    vocab = content["model"]["vocab"]
    rows = vocab.items() if isinstance(vocab, dict) else ((piece, k) for k, (piece, _) in enumerate(vocab))
    added = ((token["content"], token.get("id")) for token in content.get("added_tokens") or ())
    names, faults = dict[int, str](), dict[int, str]()
    for name, token_id in chain(rows, added):
        if token_id is not None and ids.get(name) != token_id:
            faults[ids.get(name, token_id)] = f"the file has id {token_id} for {name!r}"
        elif token_id is not None and names.setdefault(token_id, name) != name:
            faults[token_id] = f"the file has this id for {names[token_id]!r} and {name!r}"
    return faults


def without_special(content: Mapping[str, Any], but: Collection[str] = ()) -> dict[str, Any] | None:
    """Return a vocabulary in which the model gives no special token except ``but``; ``None`` if it is so already.

    A model that has special tokens among its pieces finds them even if the library does not look for them. So these get
    names that no text spells.

    >>> without_special({"added_tokens": [{"content": "</s>", "special": True}],
    ...                  "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["</s>", 0], ["a", -1]]}})
    {'added_tokens': [], 'model': {'type': 'Unigram', 'unk_id': 0, 'vocab': [['', 0], ['', 0], ['a', -1]]}}
    """
    model, special = content["model"], set(special_names(content)).difference(but)
    if model_kind(content) == "Unigram":
        unknown = model.get("unk_id")
        named = model["vocab"][unknown][0] if unknown is not None else ""
        # A class may call an ordinary piece the unknown one, which its texts then have.
        special |= set() if named.strip("\u2581").isalnum() else {named} - {""}
        hidden = special.intersection(piece for piece, _ in model["vocab"])
        # An empty piece keeps its id, and is a prefix that the library's search never ends at.
        changed = {"vocab": [["" if piece in hidden else piece, score] for piece, score in model["vocab"]]}
    else:
        special |= {model["unk_token"]} if model.get("unk_token") else set()
        hidden = special & model["vocab"].keys()
        hidden &= given_by_model(content) if hidden else hidden
        changed = _renamed(model, hidden) if hidden else {}
    if not hidden:
        return None
    added = [token for token in content.get("added_tokens") or () if token["content"] not in hidden]
    return {**content, "added_tokens": added, "model": {**model, **changed}}


def with_special_only(content: Mapping[str, Any], allowed: Collection[str]) -> dict[str, Any]:
    """Return a vocabulary in which text gives only the allowed special tokens; others get names that no text spells.

    >>> tokens = [{"content": "<a>", "special": True}, {"content": "<b>", "special": True}]
    >>> content = {"added_tokens": tokens, "model": {"type": "BPE", "vocab": {"<a>": 0}, "merges": []}}
    >>> [token["content"] for token in with_special_only(content, ["<a>"])["added_tokens"]]
    ['<a>', '\uffff1']
    """
    changed = without_special(content, but=allowed) or dict(content)
    vocab = changed["model"]["vocab"]
    names = {piece for piece, _ in vocab} if isinstance(vocab, list) else vocab
    tokens = []
    for number, token in enumerate(changed.get("added_tokens") or ()):
        if not token.get("special") or token["content"] in allowed:
            tokens.append(token)
        elif token["content"] not in names:  # the id is its own, and leaving it out would move the others
            tokens.append({**token, "content": f"{_FAR_BEYOND}{number}"})
    return {**changed, "added_tokens": tokens}


def with_more_special(content: Mapping[str, Any], ids: Mapping[str, int], names: Iterable[str]) -> dict[str, Any]:
    """Return a vocabulary with more special tokens, whose ids are above all others.

    The library numbers added tokens as they come, unless the vocabulary of the model has them, too. So all of them are
    put there, except in a Unigram model, whose list has no free id.

    >>> content = {"added_tokens": [], "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}
    >>> with_more_special(content, {"a": 0}, ["<x>"])["model"]["vocab"]
    {'a': 0, '<x>': 1}
    >>> with_more_special(content, {"a": 0}, ["a"])
    Traceback (most recent call last):
    ValueError: 'a' cannot be added as a special token: it is an ordinary token, id 0; give another name
    """
    wanted = names_of_sets(names)
    added = [
        {**token, "special": True} if token["content"] in wanted else token
        for token in content.get("added_tokens") or ()
    ]
    own = {token["content"] for token in added}
    for name in wanted:
        if name in ids and name not in own:
            taken = f"it is an ordinary token, id {ids[name]}; give another name"
            raise ValueError(f"{name!r} cannot be added as a special token: {taken}")
    more = SpecialTokens({}).with_more((name for name in wanted if name not in own), max(ids.values(), default=-1) + 1)
    added += [{"id": token_id, "content": name, **SWITCHES} for name, token_id in more.ids.items()]
    model, numbers = content["model"], {**ids, **more.ids}
    if not isinstance(model["vocab"], list):
        listed = {token["content"]: numbers[token["content"]] for token in added if token["content"] in numbers}
        model = {**model, "vocab": {**model["vocab"], **listed}}
    return {**content, "added_tokens": added, "model": model}


def given_by_model(content: Mapping[str, Any]) -> set[str]:
    """Return the tokens that the model can give to a text without the library looking for them.

    >>> model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "<s>": 3}, "merges": [["a", "b"]]}
    >>> sorted(given_by_model({"model": model}))
    ['a', 'ab', 'b']
    """
    model = content["model"]
    if model_kind(content) == "Unigram":
        return {piece for piece, _ in model["vocab"]}
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
    """Return both halves of a merge, one string until 2024."""
    return merge.split(" ") if isinstance(merge, str) else merge


def product(model: Mapping[str, Any], merge: str | list[str]) -> str:
    """Return the token that a merge makes."""
    left, right = halves(merge)
    return left + right.removeprefix(model.get("continuing_subword_prefix") or "")


def has_merges(content: Mapping[str, Any]) -> bool:
    """Return True if the model is BPE that adds no marks to its tokens: these are not in the bytes of the parts.

    >>> has_merges({"model": {"vocab": {"a": 0}, "merges": []}}), has_merges({"model": {"type": "WordPiece"}})
    (True, False)
    """
    marks = ("continuing_subword_prefix", "end_of_word_suffix")
    return model_kind(content) == "BPE" and not any(content["model"].get(mark) for mark in marks)


def merges_of_content(content: Mapping[str, Any], token_bytes: Callable[[int], bytes]) -> Merges:
    """Return the parts of each merge, in order of rank.

    A token with several listed pairs is made of the one that the merges before leave of it. With ``ignore_merges`` any
    token is a whole chunk where no merge builds it; it has the rank of the first merge that makes a higher id.

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
    return in_order(candidates, lambda i: i in whole and is_utf8(token_bytes(i)))


def _merges(model: Mapping[str, Any]) -> Iterator[Merge]:
    vocab = model["vocab"]
    for merge in model["merges"]:
        left, right = halves(merge)
        yield vocab[left], vocab[right], vocab[product(model, merge)]


def bert_json(text: str, *, lowercase: bool) -> str:
    r"""Make the pipeline of a BERT from the content of ``vocab.txt``; ``lowercase`` also removes accents.

    >>> json.loads(bert_json("[UNK]\nlow\n##er\n", lowercase=True))["model"]["vocab"]
    {'[UNK]': 0, 'low': 1, '##er': 2}
    """
    pieces = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    vocab = {piece: token_id for token_id, piece in enumerate(pieces)}
    if len(vocab) < len(pieces):
        line, piece = next((k + 1, piece) for k, piece in enumerate(pieces) if vocab[piece] != k)
        raise ValueError(f"the piece {piece!r} of line {line} is there again in line {vocab[piece] + 1}")
    if "[UNK]" not in vocab:
        raise ValueError("not a vocab.txt of a BERT: it has no piece [UNK]")
    switches = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": lowercase}
    content = pipeline(
        {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocab,
        },
        {name: vocab[name] for name in _SPECIAL if name in vocab},
        normalizer={"type": "BertNormalizer", **switches},
        pre_tokenizer={"type": "BertPreTokenizer"},
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
    )
    return json.dumps(content, ensure_ascii=False)
