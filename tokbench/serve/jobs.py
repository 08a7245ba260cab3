"""The questions of the page about a tokenizer, answered in JSON by the tokenizer's own process."""

from __future__ import annotations

import json
import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

import numpy as np

from tokbench.corpus.contract import Document
from tokbench.corpus.shards import Shard
from tokbench.engine.workers.worker import WorkerContext
from tokbench.foundation.errors import InputError
from tokbench.foundation.failures import Failure, attempt, doing
from tokbench.foundation.visible_text import visible
from tokbench.inspect.tokens import TokenKind, TokenListing, kind_of, list_tokens
from tokbench.measuring.encoded_shard import EncodedShard, LoadedTokenizer
from tokbench.measuring.job import Job
from tokbench.measuring.round_trip import Loss
from tokbench.report.escaping import cut
from tokbench.segmentation.chat_templates import PromptPart, Stretch
from tokbench.segmentation.chat_templates import stretches as stretches_of
from tokbench.segmentation.segment import MergeSteps, own_bytes, text_sums
from tokbench.tokenizers.batch import check_encoded, encode_batch, vocab_size_of
from tokbench.tokenizers.contract import EncodesWithSpecial, HasDummyPrefix, HasSpecialTokens, Tokenizer

SearchBy = Literal["text", "bytes", "id"]

_MOST_FOUND: Final = 200

_LONGEST_BACK: Final = 200


@dataclass(frozen=True)
class PageJob(Job):
    """A question about one tokenizer, answered in JSON."""

    name: str
    verb: ClassVar[str] = "encoding"

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[bytes | Failure]:
        with doing(self.verb, tokenizer=self.name, place=""):
            yield attempt(lambda: as_json({"tokenizer": self.name, **self.answer(context)}))

    @abstractmethod
    def answer(self, context: WorkerContext) -> dict[str, object]:
        """Return the answer, without the name of the tokenizer."""


def as_json(value: object) -> bytes:
    r"""Return compact JSON in ASCII.

    >>> as_json({"a": [1, 2], "b": "é"})
    b'{"a":[1,2],"b":"\\u00e9"}'
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


@dataclass(frozen=True)
class CutPrompt(PageJob):
    """Cut a prompt into tokens.

    The answer has ``ids``; ``lengths``, the bytes of the prompt per token, or, if the tokens cannot be aligned,
    ``pieces``, the bytes of each id in hexadecimal; ``special``, the places of special tokens; ``missing``, the control
    tokens that are spelled as text; ``round_trip``, such as ``exact``, and ``ranked`` by the rule of loss; ``back``,
    the decoded text if it differs; ``seconds``; and ``alone``, the tokens of the message by itself, or ``null``.
    """

    parts: tuple[PromptPart, ...]
    special: bool = False
    """Recognise special tokens in ordinary text, too."""
    message: str | None = None
    """The message inside a template, whose own tokens are counted."""

    def answer(self, context: WorkerContext) -> dict[str, object]:
        loaded = context.loaded(self.name)
        alone = None if self.message is None else len(loaded.tokenizer.encode(self.message))
        return cut_prompt(loaded, self.parts, special=self.special) | {"alone": alone}


def cut_prompt(loaded: LoadedTokenizer, parts: Sequence[PromptPart], *, special: bool) -> dict[str, object]:
    """Return the tokens of a prompt; see :class:`CutPrompt`.

    Raises:
        ContractError: the tokenizer breaks its contract.

    >>> import tokbench
    >>> answer = cut_prompt(LoadedTokenizer("bytes", tokbench.load("utf8_bytes")), [PromptPart("né")], special=False)
    >>> answer["ids"], answer["lengths"], answer["round_trip"]
    ([110, 195, 169], [1, 1, 1], 'exact')
    """
    began = time.perf_counter()
    tokenizer = loaded.tokenizer
    known = dict(tokenizer.special_ids) if isinstance(tokenizer, HasSpecialTokens) else {}
    missing = list(dict.fromkeys(part.text for part in parts if part.control and part.text not in known))
    stretches = stretches_of(parts, known, special=special)
    texts = [stretch.text for stretch in stretches if stretch.token is None]
    arrays = encode_batch(tokenizer, texts)
    check_encoded(arrays, len(texts), vocab_size_of(tokenizer))
    documents = [Document(text, "page", str(k), "page") for k, text in enumerate(texts)]
    shard = EncodedShard(loaded, Shard("page", "page", 0, documents, by_key=False), arrays)
    round_trip = Loss.of(text_sums(shard)).round_trip()
    ids, ends, marked = _without_prefixes(tokenizer, stretches) or _laid(stretches, shard)
    answer: dict[str, object] = {
        "ids": ids,
        "lengths": np.diff(ends, prepend=0).tolist() if len(ends) == len(ids) else [],
        "special": marked,
        "missing": missing,
        "round_trip": round_trip.value,
        "ranked": round_trip.ranked,
        "back": "" if shard.exact.all() else cut(visible("".join(shard.decoded)), _LONGEST_BACK),
        "seconds": round(time.perf_counter() - began, 4),
    }
    if ids and not answer["lengths"]:
        answer["pieces"] = {str(token): own_bytes(tokenizer, token).hex() for token in set(ids)}
    return answer


def _without_prefixes(
    tokenizer: Tokenizer, stretches: Sequence[Stretch]
) -> tuple[list[int], list[int], list[int]] | None:
    """Return :func:`_laid` if the tokenizer puts a prefix before a text but not after a special token."""
    prefix = tokenizer.dummy_prefix if isinstance(tokenizer, HasDummyPrefix) else b""
    names = {stretch.text for stretch in stretches if stretch.token is not None}
    spelled = any(name in stretch.text for stretch in stretches if stretch.token is None for name in names)
    if not prefix or not names or spelled or not isinstance(tokenizer, EncodesWithSpecial):
        return None
    ids = list(tokenizer.encode_with_special("".join(stretch.text for stretch in stretches), allowed_special=names))
    sizes = {stretch.token: len(stretch.text.encode()) for stretch in stretches if stretch.token is not None}
    ends, end = list[int](), 0 if stretches[0].token is not None else -len(prefix)
    for token in ids:
        end += sizes[token] if token in sizes else len(own_bytes(tokenizer, token))
        ends.append(end)
    whole = sum(len(stretch.text.encode()) for stretch in stretches)
    return ids, ends if end == whole else [], [k for k, token in enumerate(ids) if token in sizes]


def _laid(stretches: Sequence[Stretch], shard: EncodedShard) -> tuple[list[int], list[int], list[int]]:
    """Return all ids, where each token ends in bytes of the prompt if aligned, and the places of special tokens."""
    ids: list[int] = []
    ends: list[int] = []
    marked: list[int] = []
    all_ends, aligned = shard.token_ends
    offsets, starts = shard.offsets.tolist(), shard.shard.byte_offsets.tolist()
    document = at = 0
    for text, token in stretches:
        if token is not None:
            marked.append(len(ids))
            ids.append(token)
            at += len(text.encode())
            ends.append(at)
            continue
        first, last = offsets[document], offsets[document + 1]
        ids += shard.ids[first:last].tolist()
        if aligned.all():
            ends += (all_ends[first:last] + (at - starts[document])).tolist()
        at += starts[document + 1] - starts[document]
        document += 1
    return ids, ends, marked


@dataclass(frozen=True)
class DescribeToken(PageJob):
    """Describe one id: its bytes, its kind, and its merges.

    The answer has ``id``, ``bytes`` in hexadecimal, ``kind``, ``name`` for a special token, ``steps``, the parts of the
    token after each merge, and ``unmerged``, the reason for no steps.
    """

    token: int
    merges: bool = False
    """Find the steps, too, which may take seconds."""
    verb: ClassVar[str] = "looking up an id"

    def answer(self, context: WorkerContext) -> dict[str, object]:
        tokenizer = context.tokenizer(self.name)
        if not 0 <= self.token < tokenizer.vocab_size:
            raise InputError(f"id {self.token} is not in the vocabulary; give one from 0 to {tokenizer.vocab_size - 1}")
        special = tokenizer.special_ids.items() if isinstance(tokenizer, HasSpecialTokens) else ()
        name = next((name for name, token in special if token == self.token), "")
        data = own_bytes(tokenizer, self.token)
        kind = TokenKind.SPECIAL if name else kind_of(data)
        answer = {"id": self.token, "bytes": data.hex(), "kind": kind.value, "name": name, "steps": [], "unmerged": ""}
        if name or not self.merges:
            return answer
        steps = _merge_steps(context, self.name)
        if isinstance(steps, Failure):
            return answer | {"unmerged": steps.reason}
        merges = steps.of(self.token)
        return answer | {"steps": parts_after_each(data.hex(), merges) if merges else []}


def parts_after_each(token: str, merges: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the parts of a hexadecimal token before its first merge and after each.

    ``merges`` are the parts of each merge in BPE's order: by rank, then left to right.

    >>> parts_after_each("616262", [["61", "62"], ["6162", "62"]])
    [['61', '62', '62'], ['6162', '62'], ['616262']]
    """
    states = [[token]]
    for parts in reversed(merges):
        made, before = "".join(parts), states[-1]
        if made not in before:
            break
        at = len(before) - 1 - before[::-1].index(made)  # of equals the last one was made last
        states.append([*before[:at], *parts, *before[at + 1 :]])
    return states[::-1]


@dataclass(frozen=True)
class SearchVocabulary(PageJob):
    """Find tokens by their text, their bytes or their id.

    The answer has ``found``, rows of id, hexadecimal bytes, kind, and name; ``total``, how many there are; and
    ``vocab_size``. Exact hits come first, then short tokens, then low ids.
    """

    query: str
    by: SearchBy
    verb: ClassVar[str] = "searching the vocabulary"

    def answer(self, context: WorkerContext) -> dict[str, object]:
        listing = _listing(context, self.name)
        hits = find_tokens(listing, self.query, self.by)
        names = {token: name for name, token in listing.special.items()}
        rows = [
            [token, listing.data[token].hex(), listing.kinds[token].value, names.get(token, "")]
            for token in hits[:_MOST_FOUND]
        ]
        return {"found": rows, "total": len(hits), "vocab_size": len(listing.data)}


def find_tokens(listing: TokenListing, query: str, by: SearchBy) -> list[int]:
    """Return the ids of the tokens that fit a query, the best first.

    Raises:
        InputError: the query is not a number, or not hexadecimal digits.

    >>> import tokbench
    >>> listing = list_tokens(tokbench.load("utf8_bytes"))
    >>> find_tokens(listing, "A", "text"), find_tokens(listing, "41", "bytes"), find_tokens(listing, "65", "id")
    ([65], [65], [65])
    """
    if by == "id":
        if not (query.isascii() and query.isdigit()):
            raise InputError(f"{query!r} is not an id; write a number, such as 42")
        return [int(query)] if len(query) < 10 and int(query) < len(listing.data) else []  # noqa: PLR2004 - ids have 32 bits
    try:
        needle = query.encode() if by == "text" else bytes.fromhex(query)
    except ValueError as error:
        raise InputError(f"{query!r} is not a row of bytes; write two hexadecimal digits for each: e2 82 ac") from error
    if not needle:
        return []
    hits = [token for token, data in enumerate(listing.data) if needle in data]
    if by == "text":
        named = (token for name, token in listing.special.items() if query in name)
        hits += [token for token in named if needle not in listing.data[token]]
    return sorted(hits, key=lambda token: (listing.data[token] != needle, len(listing.data[token]), token))


def _listing(context: WorkerContext, name: str) -> TokenListing:
    listing: TokenListing = _kept(context, f"listing of {name}", lambda: list_tokens(context.tokenizer(name)))
    return listing


def _merge_steps(context: WorkerContext, name: str) -> MergeSteps | Failure:
    make = lambda: attempt(lambda: MergeSteps(context.tokenizer(name)))  # noqa: E731 - a step of a step
    steps: MergeSteps | Failure = _kept(context, f"merges of {name}", make)
    return steps


def _kept(context: WorkerContext, key: str, make: Any) -> Any:
    if key not in context.kept:
        context.kept[key] = make()
    return context.kept[key]
