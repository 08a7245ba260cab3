"""What a byte-level BPE is made of, in an order that does not depend on its file, and how two of them differ."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from os.path import commonprefix
from typing import Any, Final

from tokbench.plugin import HasMerges, HasSpecialTokens, HasStages, HasTokenBytes, Tokenizer
from tokbench_questions.equal.patterns import UndecidedError, compare_patterns

_SINGLE: Final = frozenset(bytes([byte]) for byte in range(256))
_NO_SPLIT: Final = r"[\s\S]+"
_GPT2: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The split inside of the step ``ByteLevel`` of a tokenizer.json."""

_SHOWN: Final = 3
_AROUND: Final = 6
_MOST_JOINS: Final = 2000


@dataclass(frozen=True)
class Recipe:
    """The stages of a byte-level BPE."""

    normalizer: tuple[str, ...]
    prefix: bool
    """Whether a space is put before a text."""
    split: tuple[str, ...]
    """Regular expressions, or other steps in JSON."""
    added: str
    """Tokens that are cut out of text before the split."""
    merges: Mapping[bytes, tuple[bytes, bytes]]
    """The two parts of each token that merges make, in order of rank: no token is ever made of two others.

    A part of a text in which a token appears was merged as if it were alone, because no merge crossed its ends. So the
    last merge of the token's own bytes is its only one, and other pairs in a list or of ranks are never used.
    """
    whole: frozenset[bytes]
    """Tokens that no merge makes, given to chunks of exactly their bytes."""
    ids: Mapping[bytes, int]
    """The id of each byte and of each token that text can give."""


@dataclass(frozen=True)
class Difference:
    """A stage that differs."""

    stage: str
    text: str
    probes: tuple[str, ...] = field(default=(), repr=False)
    """Texts in which it may matter."""


def read_recipe(tokenizer: Tokenizer) -> Recipe | str:
    """Return what a tokenizer is made of, or why that is not known.

    >>> import tokbench
    >>> recipe = read_recipe(tokbench.train("regex_bpe:gpt4", ["aaabdaaabac"], 259))
    >>> recipe.merges[b"aaab"], recipe.ids[b"aaab"]
    ((b'aaa', b'b'), 258)
    >>> read_recipe(tokbench.load("utf8_bytes"))
    'it does not tell its split'
    """
    stages = tokenizer.stages if isinstance(tokenizer, HasStages) else {}
    if "split" not in stages:
        return "it does not tell its split"
    try:
        listed = tokenizer.merges if isinstance(tokenizer, HasMerges) else None
    except AttributeError as error:
        return str(error)
    if listed is None or not isinstance(tokenizer, HasTokenBytes):
        return "it does not list merges in order of rank, or the bytes of ids"
    data = [tokenizer.token_bytes(k) for k in range(tokenizer.vocab_size)]
    special = set(tokenizer.special_ids.values()) if isinstance(tokenizer, HasSpecialTokens) else set()
    ids = {token: k for k, token in reversed([*enumerate(data)]) if token and k not in special}
    split = _steps(stages["split"], "pretokenizers")
    split = [_NO_SPLIT if split == "none" else split] if isinstance(split, str) else split
    if not ids.keys() >= _SINGLE or not any(isinstance(step, str) or step["type"] == "ByteLevel" for step in split):
        return "it is not byte-level"
    merges: dict[bytes, tuple[bytes, bytes]] = {}
    whole = set()
    looked_up = _looked_up(stages)
    for parts in listed:
        made = [data[part] for part in parts]
        if len(made) == 2 and not looked_up(parts):  # noqa: PLR2004 - a pair
            merges[b"".join(made)] = (made[0], made[1])
        else:
            whole.add(b"".join(made))
    normalizer = _steps(stages.get("normalization", "null"), "normalizers")
    given = {*_SINGLE, *merges, *whole}
    return Recipe(
        normalizer=(normalizer,) if isinstance(normalizer, str) else tuple(map(_written, normalizer)),
        prefix=any(isinstance(step, dict) and _adds_space(step) for step in split),
        split=tuple(_patterns(split)),
        added=_added(stages.get("added tokens", "[]")),
        merges=merges,
        whole=frozenset(whole),
        ids={token: token_id for token, token_id in ids.items() if token in given},
    )


def _steps(stage: str, plural: str) -> list[Any] | str:
    """Return the steps of a stage in JSON, out of sequences; any other stage as it is."""
    try:
        step = json.loads(stage)
    except ValueError:
        return stage
    if step is None:
        return []
    if not isinstance(step, dict):
        return stage
    parts = step.get(plural, []) if step["type"] == "Sequence" else None
    return [step] if parts is None else [inner for part in parts for inner in _steps(json.dumps(part), plural)]


def _adds_space(step: Mapping[str, Any]) -> bool:
    return step["type"] == "ByteLevel" and bool(step.get("add_prefix_space", True))


def _patterns(split: Sequence[Any]) -> Iterator[str]:
    for step in split:
        match step:
            case str():
                yield step
            case {"type": "Split", "pattern": {"Regex": str(pattern)}, "behavior": "Isolated", "invert": False}:
                # In Oniguruma ``{1,3}+`` is not possessive, and ``$`` is the end of a line.
                yield _written(step) if re.search(r"\d\}\+|\$", pattern) else pattern
            case {"type": "ByteLevel"}:
                yield from [_GPT2] * bool(step.get("use_regex", True))
            case _:
                yield _written(step)


def _written(step: Any) -> str:
    return step if isinstance(step, str) else json.dumps(step, sort_keys=True)


def _added(stage: str) -> str:
    """Return added tokens in one order; where they were written and their other names do not matter."""
    tokens = _steps(stage, "")
    listed = json.loads(stage) if isinstance(tokens, str) and stage.startswith("[") else None
    return stage if listed is None else json.dumps(sorted(listed, key=lambda token: str(token["content"])))


def _looked_up(stages: Mapping[str, str]) -> Any:
    """Return what tells a token that is only looked up from one of two parts: its pair is not in the file."""
    model = stages.get("model", "")
    if not model.startswith("{") or not json.loads(model).get("ignore_merges"):
        return lambda _: False
    vocabulary = json.loads(stages["vocabulary"])
    pairs = (merge.split(" ") if isinstance(merge, str) else merge for merge in json.loads(stages["merges"]))
    known = {(vocabulary.get(left), vocabulary.get(right)) for left, right in pairs}
    return lambda parts: tuple(parts) not in known


def compare_recipes(one: Recipe, other: Recipe, *, same_engine: bool) -> list[Difference]:
    """Return the stages that differ, or of which it is not known; none if both are one function.

    ``same_engine`` says that equal stages are equal in whatever they do to odd input.
    """
    found = []
    if one.normalizer != other.normalizer:
        found.append(Difference("normalizer", f"{_named(one.normalizer)} and {_named(other.normalizer)}"))
    if one.prefix != other.prefix:
        found.append(Difference("prefix space", "only one puts a space before a text"))
    if one.added != other.added:
        found.append(Difference("added tokens", "other tokens are cut out of text before the split"))
    found += _splits(one, other, same_engine=same_engine)
    found += _tokens(one, other)
    return [*found, *_orders(one, other)]


def _named(steps: tuple[str, ...]) -> str:
    return ", ".join(steps) or "none"


def _splits(one: Recipe, other: Recipe, *, same_engine: bool) -> Iterator[Difference]:
    if one.split == other.split and same_engine:
        return
    if len(one.split) != len(other.split):
        yield Difference("split", f"{len(one.split)} and {len(other.split)} steps")
        return
    only = len(one.split) == 1 and not (_looked(one) or _looked(other))
    for a, b in zip(one.split, other.split, strict=True):
        try:
            word = compare_patterns(a, b)
            word = compare_patterns(a, b, {*one.merges, *other.merges}) if word and only else word
        except UndecidedError as error:
            yield Difference("split", f"cannot be compared: {error}: {a} and {b}")
            continue
        if word:
            samples = tuple(islice(_samples(word), _MOST_JOINS))
            yield Difference("split", f"{_part(a, b)!r} and {_part(b, a)!r}, first in {samples[0]!r}", samples)


def _part(pattern: str, other: str) -> str:
    """Return the part of a pattern that another does not have."""
    first = len(commonprefix([pattern, other]))  # noqa: RUF071 - characters are meant
    last = len(commonprefix([pattern[first:][::-1], other[first:][::-1]]))  # noqa: RUF071 - characters are meant
    return pattern[max(first - _AROUND, 0) : len(pattern) - max(last - _AROUND, 0)]


def _samples(word: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    """Yield texts of some classes, with the same place of the examples first."""
    for k in range(max(map(len, word))):
        for j in range(max(map(len, word))):
            yield "".join(some[(k + i * j) % len(some)] for i, some in enumerate(word))


def _looked(recipe: Recipe) -> frozenset[bytes]:
    return frozenset(token for token in recipe.whole if _text(token))


def _text(token: bytes) -> str:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return ""


def _tokens(one: Recipe, other: Recipe) -> Iterator[Difference]:
    every = [*one.ids, *(token for token in other.ids if token not in one.ids)]
    wholes = _looked(one) ^ _looked(other)
    differing = [token for token in every if one.ids.get(token) != other.ids.get(token)]
    reached = {*one.merges, *other.merges, *_looked(one), *_looked(other)}  # only text can be a chunk that is looked up
    lacking = [token for token in differing if (token in one.ids) != (token in other.ids)]
    for stage, tokens in (
        ("token", [token for token in lacking if token in reached]),
        ("ids", [token for token in differing if token in one.ids and token in other.ids]),
        ("whole chunks", [token for token in wholes if token not in differing]),
        ("merges", [token for token in one.merges if other.merges.get(token, one.merges[token]) != one.merges[token]]),
    ):
        if tokens:
            shown = ", ".join(repr(token)[1:] for token in tokens[:_SHOWN])
            more = f" and {len(tokens) - _SHOWN:,} more" if len(tokens) > _SHOWN else ""
            yield Difference(stage, f"{shown}{more}", tuple(_joins(tokens, one, other)))


def _orders(one: Recipe, other: Recipe) -> Iterator[Difference]:
    """Compare the orders of merges; some that share no token may be done in any order."""
    common = [token for token in one.merges if one.merges[token] == other.merges.get(token)]
    wanted = [token for token in other.merges if other.merges[token] == one.merges.get(token)]
    moved = [k for k, (a, b) in enumerate(zip(common, wanted, strict=True)) if a != b]
    if not moved:
        return
    span = common[moved[0] : moved[-1] + 1]
    if any(count > 1 for count in Counter(t for made in span for t in {made, *one.merges[made]}).values()):
        text = f"{len(moved):,} of {len(common):,} merges are at another place, first {repr(span[0])[1:]}"
        yield Difference("merges", text, tuple(_joins([common[k] for k in moved], one, other)))


def _joins(tokens: Sequence[bytes], one: Recipe, other: Recipe) -> Iterator[str]:
    """Yield the texts of tokens, and of merges that compete with the tokens' merges for a part."""
    begins: dict[bytes, list[bytes]] = defaultdict(list)
    ends: dict[bytes, list[bytes]] = defaultdict(list)
    for left, right in (*one.merges.values(), *other.merges.values()):
        begins[left].append(right)
        ends[right].append(left)
    for token in tokens[:_MOST_JOINS]:
        rows = [token]
        for left, right in (recipe.merges[token] for recipe in (one, other) if token in recipe.merges):
            rows += [token + more for part in (right, token) for more in begins[part][:_MOST_JOINS]]
            rows += [more + token for part in (left, token) for more in ends[part][:_MOST_JOINS]]
        for text in filter(None, map(_text, rows)):
            yield from (text, f" {text}")
