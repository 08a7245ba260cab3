"""A :class:`tiktoken.Encoding` behind tokbench's contract, and where encodings come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from unicodedata import normalize

import tiktoken

from tokbench.foundation.errors import BackendError, BackendUnavailable, did_you_mean
from tokbench.tokenizers.batch import check_id, from_buffers, from_lists, valid_unicode
from tokbench.tokenizers.contract import Encoded, TokenSpans
from tokbench_plugins.bpe import PATTERNS, resolve_pattern
from tokbench_plugins.bpe.formats import write_ranks
from tokbench_plugins.bpe.formats.tiktoken_ranks import write_expression
from tokbench_plugins.bpe.patterns import as_named
from tokbench_plugins.bpe.recovery.order import Merges, merges_of_ranks
from tokbench_plugins.bpe.special import EncodesAroundSpecial, SpecialTokens
from tokbench_plugins.bpe.vocabulary import missing_byte

_LONGEST_REASON = 160


class TiktokenTokenizer(EncodesAroundSpecial):
    """Byte-level BPE in tiktoken's engine; special tokens are recognised only where the caller allows them.

    >>> ranks = {bytes([b]): b for b in range(256)} | {b"ab": 256}
    >>> tokenizer = TiktokenTokenizer(make_encoding("tiny", ranks, "gpt4", {"<end>": 258}))
    >>> tokenizer.encode("cab <end>")
    [99, 256, 32, 60, 101, 110, 100, 62]
    >>> tokenizer.encode_with_special("cab <end>", allowed_special={"<end>"})
    [99, 256, 32, 258]
    >>> tokenizer.vocab_size, tokenizer.token_bytes(256), tokenizer.token_bytes(257), tokenizer.token_bytes(258)
    (259, b'ab', b'', b'<end>')
    """

    identity: str
    file_suffix = ".tiktoken"
    thread_safe = True

    def __init__(self, encoding: tiktoken.Encoding, *, lossless: bool = False, notes: tuple[str, ...] = ()) -> None:
        self._encoding = encoding
        self.notes = notes
        self.lossless = lossless
        self.detours = 0
        self.vocab_size = encoding.n_vocab
        self.special_ids: Mapping[str, int] = {
            name: encoding.encode_single_token(name) for name in sorted(encoding.special_tokens_set)
        }

    def encode(self, text: str, /) -> list[int]:
        try:
            return self._encoding.encode_ordinary(text)
        except BaseException as error:
            if not _is_panic(error):
                raise
            self.detours += 1
            # Hundreds of thousands of spaces in a row are too much for its regular expressions: Python's split then.
            return self._encoding._encode_only_native_bpe(valid_unicode(text))  # noqa: SLF001 - it has no public name

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        encode = self._encoding.encode_to_numpy
        try:
            # No special token allowed and none forbidden: the ids of encode_ordinary.
            return from_buffers([encode(text, disallowed_special=()).tobytes() for text in texts])
        except BaseException as error:
            if not isinstance(error, UnicodeEncodeError) and not _is_panic(error):
                raise
            return from_lists([self.encode(text) for text in texts])  # unlike this, it refuses lone surrogates

    def encode_with_spans(self, text: str, /) -> TokenSpans:
        ids = self.encode(text)
        decoded, starts = self._encoding.decode_with_offsets(ids) if ids else ("", [])
        return TokenSpans(ids, starts, [*starts[1:], len(decoded)] if ids else [])

    def decode(self, ids: Sequence[int], /) -> str:
        try:
            data = self._encoding.decode_bytes(ids)
        except (KeyError, OverflowError):
            data = b"".join(map(self.token_bytes, ids))
        return data.decode("utf-8", errors="replace")

    def token_bytes(self, token_id: int, /) -> bytes:
        check_id(token_id, self.vocab_size)
        try:
            return self._encoding.decode_single_token_bytes(token_id)
        except KeyError:
            return b""

    def save(self, path: Path, /) -> None:
        write_ranks(path, self._ranks())
        write_expression(path, self._encoding._pat_str)  # noqa: SLF001 - it has no public name

    def _ranks(self) -> dict[bytes, int]:
        ids = (i for i in range(self.vocab_size) if not self._encoding.is_special_token(i))
        ranks = {token: i for i in ids if (token := self.token_bytes(i))}
        with suppress(KeyError):  # an empty token and an unused id have the same bytes
            ranks[b""] = self._encoding.encode_single_token(b"")
        return ranks

    @property
    def split(self) -> str:
        return as_named(self._encoding._pat_str)  # noqa: SLF001 - it has no public name

    @property
    def stages(self) -> Mapping[str, str]:
        tokens = sorted(self._ranks().items(), key=lambda item: item[1])
        return {"split": self._encoding._pat_str, "merges": "\n".join(token.hex() for token, _ in tokens)}  # noqa: SLF001 - it has no public name

    @cached_property
    def merges(self) -> Merges:
        """The parts of each merge, recovered from the ranks.

        >>> ranks = {bytes([b]): b for b in range(256)} | {b"ab": 256, b"abc": 257}
        >>> TiktokenTokenizer(make_encoding("tiny", ranks, "gpt4", {})).merges
        ((97, 98), (256, 99))
        """
        return merges_of_ranks(self._ranks())


class NFCTokenizer(TiktokenTokenizer):
    """The same for text that is normalized to NFC first; places in the given text are not known."""

    encode_with_spans = None  # type: ignore[assignment]
    normal_form = "NFC"

    def encode(self, text: str, /) -> list[int]:
        return super().encode(normalize("NFC", text))

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        return super().encode_batch([normalize("NFC", text) for text in texts])

    @property
    def stages(self) -> Mapping[str, str]:
        return {"normalization": '{"type": "NFC"}', **super().stages}


def _is_panic(error: BaseException) -> bool:
    return type(error).__name__ == "PanicException"


def get_encoding(name: str) -> tiktoken.Encoding:
    """Load an encoding that tiktoken knows by name.

    >>> get_encoding("cl100k")
    Traceback (most recent call last):
    tokbench.foundation.errors.BackendError: tiktoken knows no encoding 'cl100k'; did you mean 'cl100k_base'?
    """
    known = tiktoken.list_encoding_names()
    if name not in known:
        raise BackendError(f"tiktoken knows no encoding {name!r}; {did_you_mean(name, known)}")
    try:
        return tiktoken.get_encoding(name)
    except OSError as error:  # requests' exceptions are OSErrors
        raise BackendUnavailable(
            f"the file of {name!r} is not on this machine and cannot be downloaded ({_reason(error)}); set "
            "TIKTOKEN_CACHE_DIR to a folder with the file"
        ) from error
    except (ValueError, AssertionError) as error:
        raise BackendError(f"the file of {name!r} is damaged: {' '.join(str(error).split())}") from error


def _reason(error: OSError) -> str:
    cause = getattr(error.args[0], "reason", None) if error.args else None
    text = str(error) if cause is None else str(cause).rpartition(": ")[2]
    return " ".join(text.split())[:_LONGEST_REASON]


def make_encoding(
    name: str, ranks: Mapping[bytes, int], pattern: str, special_tokens: Mapping[str, int]
) -> tiktoken.Encoding:
    """Make an encoding; ``pattern`` is a named split, or a regular expression for tiktoken's engine."""
    taken = {rank: data for data, rank in ranks.items()}
    for token, token_id in special_tokens.items():
        if token_id in taken:
            raise BackendError(f"special token {token!r} has id {token_id}, the id of {taken[token_id]!r}")
    try:
        return tiktoken.Encoding(
            name,
            pat_str=resolve_pattern(pattern),
            mergeable_ranks=dict(ranks),
            special_tokens=dict(special_tokens),
        )
    except ValueError as error:
        raise BackendError(f"tiktoken refuses the pattern {pattern!r}: {' '.join(str(error).split())}") from error


def with_special_tokens(encoding: tiktoken.Encoding, more: Mapping[str, int] | Iterable[str]) -> tiktoken.Encoding:
    """Return an encoding with further special tokens, made as in tiktoken's documentation.

    >>> tiny = make_encoding("tiny", {bytes([b]): b for b in range(256)}, "gpt4", {"<end>": 256})
    >>> with_special_tokens(tiny, ["fill_in_the_middle"]).n_vocab
    260
    """
    own = encoding._special_tokens  # noqa: SLF001 - tiktoken's documentation extends encodings by these attributes
    if isinstance(more, Mapping):
        wanted = {**own, **more}
        taken = {token_id: name for name, token_id in own.items()}
        for name, token_id in more.items():
            if taken.setdefault(token_id, name) != name:
                raise BackendError(f"special token {name!r} has id {token_id}, the id of {taken[token_id]!r}")
    else:
        wanted = dict(SpecialTokens(own, aliases=True).with_more(more, encoding.n_vocab).ids)
    if wanted == own:
        return encoding
    return make_encoding(encoding.name, encoding._mergeable_ranks, encoding._pat_str, wanted)  # noqa: SLF001


def is_lossless(ranks: Mapping[bytes, int], pattern: str) -> bool:
    """Return True if every byte has a rank, and the pattern matches all of every text, which only named ones surely do.

    >>> is_lossless({bytes([b]): b for b in range(256)}, "gpt2"), is_lossless({b"a": 0}, "gpt2")
    (True, False)
    """
    return missing_byte(ranks) is None and resolve_pattern(pattern) in PATTERNS.values()
