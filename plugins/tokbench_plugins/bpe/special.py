"""Special tokens: ids that ordinary text can never produce, used only where the caller allows it.

The rules are tiktoken's with ``disallowed_special=()``, with one exception: where one name begins another, ``<a`` and
``<a>``, the longest name wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from os.path import commonprefix
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field

from tokbench.foundation.errors import did_you_mean
from tokbench.tokenizers.batch import check_id, check_span, valid_unicode
from tokbench.tokenizers.contract import Encoded, Tokenizer

SPECIAL_SETS: Final[dict[str, tuple[str, ...]]] = {
    "end_of_text": ("<|endoftext|>",),
    "chat": ("<|im_start|>", "<|im_end|>", "<|im_sep|>"),
    "fill_in_the_middle": ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"),
}

SPECIAL_OPTION: Any = Field(
    default=(),
    description=f"special tokens to add, by name or set ({', '.join(SPECIAL_SETS)}); they get the highest ids",
)

_TOO_LARGE: Final = 10**7  # a table by id must fit the memory
_NOT_TAKEN_OVER: Final = {"save", "decode_batch"}


Chosen = Collection[str] | Literal["all"]
"""Names of special tokens, or ``"all"`` of them."""


def names_of_sets(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of special tokens; a set of :data:`SPECIAL_SETS` is replaced by its tokens."""
    return tuple(token for name in names for token in SPECIAL_SETS.get(name, (name,)))


class SpecialTokens:
    """Special tokens by name, and the encoding of text in which some of them are allowed. Immutable.

    Args:
        ids: for each name its id.
        ordinary: the bytes of each ordinary id, ``b""`` for a gap: ids that special tokens cannot have.
        aliases: allows several names of one id, as in published vocabularies.

    >>> special = SpecialTokens({"<|endoftext|>": 300})
    >>> ordinary = lambda text: list(text.encode())
    >>> special.encode("a<|endoftext|>b", ordinary, allowed_special="all")
    [97, 300, 98]
    """

    def __init__(self, ids: Mapping[str, int], ordinary: Sequence[bytes] = (), *, aliases: bool = False) -> None:
        name_of: dict[int, str] = {}
        for name, token_id in ids.items():
            if not name or valid_unicode(name) != name:
                raise ValueError(f"{name!r} cannot be a special token: its name must be text, and not empty")
            if not 0 <= token_id < _TOO_LARGE:
                raise ValueError(f"special token {name!r} has id {token_id}, not between 0 and {_TOO_LARGE - 1}")
            if name_of.setdefault(token_id, name) != name and not aliases:
                raise ValueError(f"special token {name!r} has the id of {name_of[token_id]!r}: {token_id}")
            if token_id < len(ordinary) and ordinary[token_id]:
                raise ValueError(f"special token {name!r} has id {token_id}, the id of {ordinary[token_id]!r}")
        self.ids: Mapping[str, int] = MappingProxyType(dict(ids))
        self.names: Mapping[int, str] = MappingProxyType(name_of)
        self._any = _any_of(frozenset(ids))

    def with_more(self, names: Iterable[str], first: int) -> SpecialTokens:
        """Return these tokens and others, whose ids begin at ``first`` and are above all existing ones.

        >>> special = SpecialTokens({"<|endoftext|>": 500}).with_more(["<|endoftext|>", "<|pad|>"], 300)
        >>> dict(special.ids)
        {'<|endoftext|>': 500, '<|pad|>': 501}
        """
        ids = dict(self.ids)
        following = max([first - 1, *ids.values()]) + 1
        for name in names_of_sets(names):
            if name not in ids:
                ids[name] = following
                following += 1
        return SpecialTokens(ids, aliases=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(SpecialTokens, aliases=True), (dict(self.ids),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpecialTokens) and self.ids == other.ids

    def __hash__(self) -> int:
        return hash(frozenset(self.ids.items()))

    def encode(
        self,
        text: str,
        encode_ordinary: Callable[[str], Iterable[int]],
        *,
        allowed_special: Chosen,
        encode_after: Callable[[str], Iterable[int]] | None = None,
    ) -> list[int]:
        """Encode a text in which special tokens are recognised.

        Args:
            text: lone surrogates become U+FFFD.
            encode_ordinary: encodes the text between special tokens.
            allowed_special: names that become their ids; others are ordinary text.
            encode_after: encodes text after a special token, without a dummy prefix.
        """
        allowed = self.chosen(allowed_special)
        text = valid_unicode(text)
        ids: list[int] = []
        encode = encode_ordinary
        done = 0
        for start, end in self._places(text, allowed):
            if done < start:
                ids += encode(text[done:start])
            ids.append(self.ids[text[start:end]])
            done, encode = end, encode_after or encode_ordinary
        if done < len(text):
            ids += encode(text[done:])
        return ids

    def in_text(self, text: str) -> bool:
        """Return True if a text spells one of the names."""
        return self._any is not None and self._any.search(text) is not None

    def chosen(self, chosen: Chosen) -> Collection[str]:
        """Return the chosen names, or raise ValueError for one that is not there."""
        if isinstance(chosen, str):
            if chosen != "all":
                raise ValueError(f"allowed_special is {chosen!r}; give 'all' or a set of names: {{{chosen!r}}}")
            return self.ids.keys()
        for name in chosen:
            if name not in self.ids:
                raise ValueError(f"unknown special token {name!r}; {did_you_mean(name, self.ids)}")
        return frozenset(chosen)

    def _places(self, text: str, allowed: Collection[str]) -> Iterator[tuple[int, int]]:
        position = 0
        while allowed and self._any is not None and (match := self._any.search(text, position)) is not None:
            if match[0] in allowed:
                yield match.span()
                position = match.end()
            else:
                # Ordinary text, and the next name may begin in the middle of it.
                position = match.start() + 1


@lru_cache
def _any_of(names: frozenset[str]) -> re.Pattern[str] | None:
    return re.compile(_longest_of(names)) if names else None


def _longest_of(names: Collection[str]) -> str:
    """Return an expression that branches where names part: thousands of names compile and match fast."""
    by_head: dict[str, list[str]] = {}
    for name in filter(None, names):
        by_head.setdefault(name[0], []).append(name)
    shared = [(commonprefix(some), some) for some in by_head.values()]  # noqa: RUF071 - characters are meant
    ways = [re.escape(prefix) + _longest_of([name[len(prefix) :] for name in some]) for prefix, some in shared]
    return f"(?:{'|'.join(ways)}){'?' if '' in names else ''}" if ways else ""


NO_SPECIAL: Final = SpecialTokens({})


class EncodesAroundSpecial:
    """The capability ``encode_with_special`` of a tokenizer that has ``encode`` and ``special_ids``.

    >>> class Bytes(EncodesAroundSpecial):
    ...     special_ids = {"<end>": 256}
    ...
    ...     def encode(self, text, /):
    ...         return list(text.encode())
    >>> Bytes().encode_with_special("a<end>", allowed_special={"<end>"})
    [97, 256]
    >>> len(Bytes().encode_with_special("a<end>", allowed_special=()))
    6
    """

    if TYPE_CHECKING:

        def encode(self, text: str, /) -> Sequence[int]: ...

        @property
        def special_ids(self) -> Mapping[str, int]: ...

    @cached_property
    def special_tokens(self) -> SpecialTokens:
        return SpecialTokens(self.special_ids, aliases=True)

    def encode_with_special(self, text: str, /, *, allowed_special: Chosen = "all") -> list[int]:
        """Arguments as :meth:`SpecialTokens.encode`."""
        return self.special_tokens.encode(
            text, self.encode, allowed_special=allowed_special, encode_after=self._encode_after
        )

    def _encode_after(self, text: str) -> Sequence[int]:
        return self.encode(text)


def with_added_special(tokenizer: Tokenizer, names: Sequence[str]) -> Tokenizer:
    """Return a tokenizer with more special tokens; itself for no names."""
    return AddedSpecial(tokenizer, names) if names else tokenizer


class AddedSpecial(EncodesAroundSpecial):
    """A tokenizer with more special tokens than its own, for libraries whose vocabularies are closed.

    The added tokens decode to their names if all special tokens of the tokenizer do and it has no dummy prefix, else to
    nothing. The tokenizer cannot be saved.
    """

    def __init__(self, tokenizer: Any, names: Iterable[str]) -> None:
        self._tokenizer = tokenizer
        self._added = tuple(names)
        self._own_size: int = tokenizer.vocab_size
        own = SpecialTokens(tokenizer.special_ids, aliases=True)
        self.special_ids: Mapping[str, int] = own.with_more(self._added, self._own_size).ids
        self._names = {i: name for name, i in self.special_ids.items() if i >= self._own_size}
        self._shows_names = not getattr(tokenizer, "dummy_prefix", b"") and all(
            tokenizer.token_bytes(token_id) == name.encode() for name, token_id in own.ids.items()
        )
        self.vocab_size = max([self._own_size - 1, *self.special_ids.values()]) + 1

    def __getattr__(self, name: str) -> Any:
        """Return a capability that the added tokens do not break."""
        if name.startswith("_") or name in _NOT_TAKEN_OVER:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return getattr(self._tokenizer, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return AddedSpecial, (self._tokenizer, self._added)

    def encode(self, text: str, /) -> Sequence[int]:
        ids: Sequence[int] = self._tokenizer.encode(text)
        return ids

    def _encode_after(self, text: str) -> Sequence[int]:
        ids: Sequence[int] = self._tokenizer._encode_after(text)  # noqa: SLF001 - of the same base
        return ids

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        encoded: Encoded = self._tokenizer.encode_batch(texts)
        return encoded

    def decode(self, ids: Sequence[int], /) -> str:
        check_span(0, max(ids, default=0), self.vocab_size)
        parts: list[str] = []
        own: list[int] = []
        for token_id in ids:
            if token_id < self._own_size:
                own.append(token_id)
            elif self._shows_names:
                parts += [self._tokenizer.decode(own), self._names[token_id]]
                own = []
        return "".join([*parts, self._tokenizer.decode(own)])

    def token_bytes(self, token_id: int, /) -> bytes:
        check_id(token_id, self.vocab_size)
        if token_id < self._own_size:
            data: bytes = self._tokenizer.token_bytes(token_id)
            return data
        return self._names[token_id].encode() if self._shows_names else b""
