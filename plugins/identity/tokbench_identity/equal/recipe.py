"""What a byte-level BPE is made of, in an order that does not depend on its file, and how two of them differ."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any, Final, NamedTuple

from tokbench.plugin import HasMerges, HasSpecialTokens, HasStages, HasTokenBytes, Tokenizer
from tokbench_identity.equal.patterns import UndecidedError, compare_patterns
from tokbench_plugins.bpe import PATTERNS

_SINGLE: Final = [bytes([byte]) for byte in range(256) if byte not in {0xC0, 0xC1, *range(0xF5, 0x100)}]
"""The bytes that UTF-8 has."""

_NO_SPLIT: Final = r"[\s\S]+"
_SHOWN: Final = 3
_AROUND: Final = 6


class BeforeMerges(NamedTuple):
    """The stages before the merges."""

    normalizer: tuple[str, ...]
    """Steps, in JSON if a file has them so; a space that is put before a text is the last one."""
    added: Mapping[str, str]
    """Tokens that are cut out of text before the split, and their settings in JSON."""
    split: tuple[str, ...]
    """Regular expressions, or other steps in JSON."""


@dataclass(frozen=True)
class Recipe:
    """The stages of a byte-level BPE."""

    before: BeforeMerges
    merges: Mapping[bytes, tuple[bytes, bytes]]
    """The two parts of each token that merges make, in order of rank: no token is ever made of two others.

    A part of a text in which a token appears was merged as if it were alone, because no merge crossed its ends. So the
    last merge of the token's own bytes is its only one, and other pairs in a list or of ranks are never used.
    """
    ids: Mapping[bytes, int]
    """The id of each byte and of each token that text can give."""
    listed: frozenset[bytes]
    """All tokens but the special ones, and those that no text gives."""
    looks_up: bool
    """Whether some are made by no merge, but given to chunks of exactly their bytes."""


@dataclass(frozen=True)
class Difference:
    """A stage that differs."""

    stage: str
    text: str
    probes: Iterable[str] = ()
    """Texts in which it may matter."""


class StageComparison(NamedTuple):
    """How the stages of two tokenizers differ, as far as both tell them."""

    differences: list[Difference]
    known: frozenset[str]
    """The stages that were compared."""
    unknown: tuple[str, ...] = ()
    """Why the others were not."""

    @property
    def differing(self) -> dict[str, str]:
        """Return the stages that differ, or of which it cannot be told, and in what."""
        return {one.stage: one.text for one in reversed(self.differences)}

    @property
    def only_cutter(self) -> str:
        """Return the only stage that can be why texts are cut differently; empty if there are several."""
        left = [
            some for some in ("added tokens", "split", "merges") if some in self.differing or some not in self.known
        ]
        return left[0] if len(left) == 1 else ""


_BEFORE: Final = frozenset({"normalizer", "added tokens", "split"})
_AFTER: Final = frozenset({"token", "ids", "merges"})


def compare_stages(pair: Sequence[Tokenizer]) -> StageComparison:
    """Compare the stages of two tokenizers, all if both are byte-level BPEs that list their merges.

    >>> import tokbench
    >>> pair = [tokbench.train(f"regex_bpe:{split}", ["the 12 thin things"], 266) for split in ("gpt2", "gpt4")]
    >>> compare_stages([pair[0], pair[0]]).differing
    {}
    >>> "split" in compare_stages(pair).differing
    True
    """
    same_engine = type(pair[0]) is type(pair[1])
    one, other = (read_recipe(tokenizer) for tokenizer in pair)
    if not isinstance(one, str) and not isinstance(other, str):
        return StageComparison([*compare_recipes(one, other, same_engine=same_engine)], _BEFORE | _AFTER)
    unknown = tuple(
        f"{name}: {recipe}" for name, recipe in zip("AB", (one, other), strict=True) if isinstance(recipe, str)
    )
    told = [_before(tokenizer.stages) for tokenizer in pair if isinstance(tokenizer, HasStages)]
    before = [some for some in told if some and not any(step.startswith("{") for step in some.split)]
    if len(before) < len(pair):
        return StageComparison([], frozenset(), unknown)
    return StageComparison([*_compare_before(before[0], before[1], same_engine=same_engine)], _BEFORE, unknown)


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
    before = _before(stages)
    if before is None:
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
    split = list(_steps(stages["split"]))
    if not any(isinstance(step, str) or step["type"] == "ByteLevel" for step in split):
        return "it is not byte-level"
    if lacking := {*_SINGLE} - ids.keys():
        return f"it is not byte-level, as it has no token for {len(lacking)} bytes of UTF-8, such as {min(lacking)!r}"
    merges: dict[bytes, tuple[bytes, bytes]] = {}
    whole = []
    pairs = _pairs_of_look_ups(stages)
    for parts in listed:
        token = b"".join(data[part] for part in parts)
        if len(parts) == 2 and (pairs is None or tuple(parts) in pairs):  # noqa: PLR2004 - a pair
            merges[token] = (data[parts[0]], data[parts[1]])
        elif text_of(token):  # only text can be a chunk
            whole.append(token)
    return Recipe(
        before=before,
        merges=merges,
        ids={token: ids[token] for token in (*_SINGLE, *merges, *whole)},
        listed=frozenset(ids),
        looks_up=bool(whole),
    )


def _before(stages: Mapping[str, str]) -> BeforeMerges | None:
    """Return the stages before the merges; ``None`` if the split is not told."""
    if "split" not in stages:
        return None
    split = [*_steps(stages["split"])]
    spaced = any(isinstance(step, dict) and _adds_space(step) for step in split)
    normalizer = map(_written, _steps(stages.get("normalization", "null")))
    return BeforeMerges(
        normalizer=(*normalizer, *["a space before the text"] * spaced),
        added=_added(stages.get("added tokens", "")),
        split=(*_patterns(split),),
    )


def _added(stage: str) -> dict[str, str]:
    """Return by added token its rules, empty where a stage has names alone, as of GGUF."""
    if stage.startswith("["):
        return {token["content"]: _written(token) for token in json.loads(stage)}
    return {str(ast.literal_eval(line)): "" for line in stage.splitlines()}


def split_steps(stages: Mapping[str, str]) -> tuple[str, ...]:
    """Return the expressions of a split; none if it is not told, or has other steps."""
    steps = (*_patterns([*_steps(stages.get("split", "null"))]),)
    return () if any(step.startswith("{") for step in steps) else steps


def text_of(token: bytes) -> str:
    """Return the text of a token; none if it is cut inside of a character."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return ""


def _steps(stage: Any) -> Iterator[Any]:
    """Yield the steps of a stage in JSON, out of sequences; any other stage as it is."""
    try:
        step = json.loads(stage) if isinstance(stage, str) else stage
    except ValueError:
        step = stage
    match step:
        case {"type": "Sequence", "pretokenizers": parts} | {"type": "Sequence", "normalizers": parts}:
            for part in parts:
                yield from _steps(part)
        case dict():
            yield step
        case _:
            yield from [stage] * (step is not None)


def _adds_space(step: Mapping[str, Any]) -> bool:
    return step["type"] == "ByteLevel" and bool(step.get("add_prefix_space", True))


def _patterns(split: Sequence[Any]) -> Iterator[str]:
    for step in split:
        match step:
            case str():
                yield _NO_SPLIT if step == "none" else step
            # In Oniguruma ``{1,3}+`` is not possessive, and ``$`` is the end of a line.
            case {"type": "Split", "pattern": {"Regex": str(pattern)}, "behavior": "Isolated", "invert": False} if (
                not re.search(r"\d\}\+|\$", pattern)
            ):
                yield pattern
            case {"type": "ByteLevel"}:
                yield from [PATTERNS["gpt2"]] * bool(step.get("use_regex", True))
            case _:
                yield _written(step)


def _written(step: Any) -> str:
    return step if isinstance(step, str) else json.dumps(step, sort_keys=True)


def _pairs_of_look_ups(stages: Mapping[str, str]) -> set[tuple[int, ...]] | None:
    """Return the pairs in a file whose tokens may be looked up as whole chunks: two parts may be no pair of it."""
    model = stages.get("model", "")
    if not model.startswith("{") or not json.loads(model).get("ignore_merges"):
        return None
    vocabulary = json.loads(stages["vocabulary"])
    pairs = (merge.split(" ") if isinstance(merge, str) else merge for merge in json.loads(stages["merges"]))
    return {tuple(vocabulary.get(part) for part in pair) for pair in pairs}


def compare_recipes(one: Recipe, other: Recipe, *, same_engine: bool) -> Iterator[Difference]:
    """Yield the stages that differ, or of which it is not known; none if both are one function.

    ``same_engine`` says that equal stages are equal in whatever they do to odd input.
    """
    only = len(one.before.split) == 1 and not (one.looks_up or other.looks_up)
    chunks = {*one.merges, *other.merges} if only else None
    yield from _compare_before(one.before, other.before, chunks, same_engine=same_engine)
    for stage, text, tokens in _tokens(one, other):
        yield Difference(stage, text, _joins(tokens, one, other))


def _compare_before(
    one: BeforeMerges, other: BeforeMerges, chunks: Collection[bytes] | None = None, *, same_engine: bool
) -> Iterator[Difference]:
    if one.normalizer != other.normalizer:
        yield Difference(
            "normalizer", " instead of ".join(", ".join(some.normalizer) or "none" for some in (one, other))
        )
    rules = {name: (one.added.get(name), other.added.get(name)) for name in {**one.added, **other.added}}
    if names := [name for name, (a, b) in rules.items() if None in {a, b} or (a != b and "" not in {a, b})]:
        where = "by other rules" if {*names} <= one.added.keys() & other.added.keys() else "by one only"
        yield Difference("added tokens", f"{_some(map(repr, names))} cut out of text before the split {where}", names)
    if one.split != other.split or not same_engine:
        yield from _splits(one.split, other.split, chunks)


def _splits(one: Sequence[str], other: Sequence[str], chunks: Collection[bytes] | None) -> Iterator[Difference]:
    if len(one) != len(other):
        yield Difference("split", f"{len(one)} and {len(other)} steps")
        return
    for a, b in zip(one, other, strict=True):
        try:
            texts = compare_patterns(a, b, chunks)
        except UndecidedError as error:
            yield Difference("split", f"cannot be compared: {error}: {a} and {b}")
        else:
            if texts:
                yield Difference("split", f"{_part(a, b)!r} instead of {_part(b, a)!r}, first in {texts[0]!r}", texts)


def _part(pattern: str, other: str) -> str:
    """Return the part of a pattern that another does not have."""
    first = len(commonprefix([pattern, other]))  # noqa: RUF071 - characters are meant
    last = len(commonprefix([pattern[first:][::-1], other[first:][::-1]]))  # noqa: RUF071 - characters are meant
    return pattern[max(first - _AROUND, 0) : len(pattern) - max(last - _AROUND, 0)]


def _tokens(one: Recipe, other: Recipe) -> Iterator[tuple[str, str, list[bytes]]]:
    """Yield stages, how they differ, and which tokens do."""
    listed = one.listed & other.listed
    alone = [token for token in dict.fromkeys([*one.ids, *other.ids]) if (token in one.ids) != (token in other.ids)]
    both = [token for token in one.ids if token in other.ids]
    common = [token for token in one.merges if one.merges[token] == other.merges.get(token)]
    wanted = [token for token in other.merges if other.merges[token] == one.merges.get(token)]
    moved = [k for k, (a, b) in enumerate(zip(common, wanted, strict=True)) if a != b]
    span = common[moved[0] : moved[-1] + 1] if moved else []
    # Merges that share no token may be done in any order.
    meet = any(count > 1 for count in Counter(part for made in span for part in {made, *one.merges[made]}).values())
    for stage, how, tokens in (
        ("token", "only one has", [token for token in alone if token not in listed]),
        ("merges", "only one makes", [token for token in alone if token in listed]),
        ("ids", "different ids for", [token for token in both if one.ids[token] != other.ids[token]]),
        ("merges", "other parts for", [token for token in both if one.merges.get(token) != other.merges.get(token)]),
        ("merges", "another place in the order for", [common[k] for k in moved] if meet else []),
    ):
        if tokens:
            yield stage, f"{how} {_some(repr(token)[1:] for token in tokens)}", tokens


def _some(words: Iterable[str]) -> str:
    every = [*words]
    more = f" and {len(every) - _SHOWN:,} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more


def _joins(tokens: Iterable[bytes], one: Recipe, other: Recipe) -> Iterator[str]:
    """Yield the texts of tokens, and of merges that compete with the tokens' merges for a part."""
    pairs = dict.fromkeys([*one.merges.values(), *other.merges.values()])
    for token in tokens:
        parts = {token, *one.merges.get(token, ()), *other.merges.get(token, ())}
        rows = [token, *(token + right for left, right in pairs if left in parts)]
        rows += [left + token for left, right in pairs if right in parts]
        for text in filter(None, map(text_of, rows)):
            yield from (text, f" {text}")
