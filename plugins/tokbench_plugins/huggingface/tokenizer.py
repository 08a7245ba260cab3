"""A ``tokenizers`` pipeline behind tokbench's contract."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Final

from tokenizers import Encoding, Tokenizer
from tokenizers.decoders import DecodeStream

from tokbench import plugin
from tokbench.foundation.files import write_atomically
from tokbench.foundation.parsing import parse_json
from tokbench.tokenizers.batch import check_highest, check_ids, check_span, from_lists, valid_unicode
from tokbench.tokenizers.contract import Encoded, Offsets, TokenSpans
from tokbench_plugins.bpe.recovery.order import Merges
from tokbench_plugins.bpe.special import Chosen, SpecialTokens
from tokbench_plugins.huggingface.bytes import ByteRule, byte_rule, is_lossless
from tokbench_plugins.huggingface.chat import JinjaChat
from tokbench_plugins.huggingface.json import (
    Split,
    check_growth,
    check_prefix,
    file_faults,
    has_merges,
    merges_of_content,
    model_kind,
    ordinary,
    special_names,
    split_of,
    with_more_special,
    with_special_only,
    without_special,
)

_ENGINES: Final = 4  # each holds the whole vocabulary
_OFF: Final = {"", "off", "false", "f", "no", "n", "0"}  # as the library reads its variable


class HuggingFaceTokenizer:
    """Ordinary text through the pipeline of a ``tokenizer.json``; its length limits, padding and dropout are ignored.

    Only the special tokens that a caller allows are recognised, even by models that have them among their pieces. The
    library's calls for many texts start threads unless ``TOKENIZERS_PARALLELISM`` is ``false``; otherwise texts are
    encoded one by one.
    """

    identity: str

    encode_chat: Callable[..., list[int]]

    file_suffix = ".tokenizer.json"
    returns = "lists"
    thread_safe = True
    chat: JinjaChat | None = None

    def __init__(self, source: str, notes: tuple[str, ...] = ()) -> None:
        content, changes = ordinary(_content(source))
        check_growth(content.get("normalizer"))
        self._source, self._given_notes = source, notes
        self._decoder = self._encoder = _engine(content)
        plain = without_special(content)
        if plain is not None:
            self._encoder = _engine(plain)
        self._encoder.encode_special_tokens = True
        self._with_special: dict[frozenset[str], Tokenizer] = {}  # by the names that were allowed, the last few
        self._ids = self._decoder.get_vocab(with_added_tokens=True)
        self.vocab_size = max(self._ids.values(), default=-1) + 1
        check_highest(self.vocab_size - 1, len(self._ids))
        self.lossless = is_lossless(content)
        model = content["model"]
        unknown = model.get("unk_id") if model_kind(content) == "Unigram" else self._ids.get(model.get("unk_token"))
        self.unk_id: int | None = None if self.lossless else unknown
        special = {name: self._ids[name] for name in special_names(content) if name in self._ids}
        self.special_ids: Mapping[str, int] = {name: k for name, k in special.items() if k != self.unk_id}
        self.notes = (*changes, *notes)

    @property
    def split(self) -> str:
        return self._split.expression

    @property
    def normal_form(self) -> str | None:
        return self._split.form

    @property
    def why_no_split(self) -> str:
        return self._split.why_not

    @cached_property
    def _split(self) -> Split:
        return split_of(_content(self._source))

    @property
    def file_faults(self) -> Mapping[int, str]:
        return file_faults(_content(self._source), self._ids)

    def __reduce__(self) -> tuple[Callable[..., HuggingFaceTokenizer], tuple[Any, ...]]:
        return make_tokenizer, (self._source, self._given_notes, self.chat)

    def with_chat(self, chat: JinjaChat | None) -> HuggingFaceTokenizer:
        self.chat = chat
        if chat is not None:
            self.encode_chat = self._encode_chat
        return self

    def _encode_chat(self, messages: Sequence[Mapping[str, Any]], /, *, reply: bool) -> list[int]:
        assert self.chat is not None
        return self.encode_with_special(self.chat.render(messages, reply=reply), allowed_special="all")

    def encode(self, text: str, /) -> list[int]:
        return self._encode(text).ids

    def _encode(self, text: str) -> Encoding:
        try:
            return self._encoder.encode(text, add_special_tokens=False)
        except TypeError:  # how the library refuses lone surrogates
            return self._encoder.encode(valid_unicode(text), add_special_tokens=False)

    def encode_with_special(self, text: str, /, *, allowed_special: Chosen = "all") -> list[int]:
        """Encode a text with the rules of the file: ``<mask>`` of RoBERTa swallows the spaces around it."""
        allowed = frozenset(SpecialTokens(self.special_ids, aliases=True).chosen(allowed_special))
        if not allowed:
            return self.encode(text)
        engine = self._with_special.get(allowed)
        if engine is None:
            engine = _engine(with_special_only(ordinary(_content(self._source)).content, allowed))
            # Another thread may allow other names meanwhile, so the value written here is not read again.
            self._with_special = dict([*self._with_special.items(), (allowed, engine)][-_ENGINES:])
        return engine.encode(valid_unicode(text), add_special_tokens=False).ids

    def encode_batch(self, texts: Sequence[str], /) -> Encoded:
        if not _has_one_thread():
            return from_lists([self._encode(text).ids for text in texts])
        try:
            encodings = self._encoder.encode_batch_fast(list(texts), add_special_tokens=False)
        except TypeError:
            encodings = self._encoder.encode_batch_fast(list(map(valid_unicode, texts)), add_special_tokens=False)
        return from_lists([encoding.ids for encoding in encodings])

    def encode_with_offsets(self, text: str, /) -> Offsets:
        """Say at which byte of a text each id ends.

        Of several tokens in one character, all but the last end at its beginning.
        """
        text = valid_unicode(text)
        encoding = self._encode(text)
        starts_at = list(accumulate((len(char.encode()) for char in text), initial=0))
        spans = encoding.offsets
        following = [start for start, _ in spans[1:]] + [len(text)]
        # Spaces that were trimmed off a token's span lie before its start.
        ends = (min(end, max(start, next_start)) for (start, end), next_start in zip(spans, following, strict=False))
        return Offsets(encoding.ids, list(accumulate((starts_at[end] for end in ends), max)))

    def encode_with_spans(self, text: str, /) -> TokenSpans:
        encoding = self._encode(text)
        starts, ends = zip(*encoding.offsets, strict=True) if encoding.offsets else ((), ())
        return TokenSpans(encoding.ids, starts, ends)

    def decode_stream(self, ids: Iterable[int], /) -> Iterator[str]:
        stream = DecodeStream(skip_special_tokens=False)
        for token_id in ids:
            plugin.check_id(token_id, self.vocab_size)
            try:
                shown = stream.step(self._decoder, token_id)
            except Exception as error:  # the library raises nothing more special
                raise plugin.BackendError(f"DecodeStream of tokenizers fails at id {token_id}: {error}") from error
            yield shown or ""
        yield ""

    def decode(self, ids: Sequence[int], /) -> str:
        check_ids(ids, self.vocab_size)  # the library passes over ids that it does not have
        return self._decoder.decode(ids, skip_special_tokens=False)

    def decode_batch(self, encoded: Encoded, /) -> list[str]:
        check_span(0, int(encoded.ids.max(initial=0)), self.vocab_size)
        ids, ends = encoded.ids.tolist(), encoded.offsets.tolist()
        documents = [ids[start:end] for start, end in pairwise(ends)]
        if _has_one_thread():
            return self._decoder.decode_batch(documents, skip_special_tokens=False)
        return [self._decoder.decode(document, skip_special_tokens=False) for document in documents]

    @property
    def stages(self) -> Mapping[str, str]:
        content = ordinary(_content(self._source)).content
        model = dict(content["model"])
        stages = {
            "normalization": content.get("normalizer"),
            "split": content.get("pre_tokenizer"),
            "merges": model.pop("merges", None),
            "vocabulary": model.pop("vocab", None),
            "model": model,
            "added tokens": [token for token in content.get("added_tokens") or () if not token.get("special")],
            "decoding": content.get("decoder"),
        }
        return {name: json.dumps(value, ensure_ascii=False, sort_keys=True) for name, value in stages.items()}

    def save(self, path: Path, /) -> None:
        write_atomically(path, self._source.encode())


class HuggingFaceBytes(HuggingFaceTokenizer):
    """The same, where the decoder turns each token into bytes by ``rule``."""

    def __init__(self, source: str, notes: tuple[str, ...], rule: ByteRule) -> None:
        super().__init__(source, notes)
        self._rule = rule
        self.dummy_prefix = rule.dummy_prefix

    def token_bytes(self, token_id: int, /) -> bytes:
        plugin.check_id(token_id, self.vocab_size)
        token = self._decoder.id_to_token(token_id)
        return b"" if token is None else self._rule.bytes_of(token)

    def encode_with_offsets(self, text: str, /) -> Offsets:
        if not self.lossless:
            return super().encode_with_offsets(text)
        ids = self.encode(text)
        return Offsets(ids, list(accumulate(len(self.token_bytes(token_id)) for token_id in ids)))


class HuggingFaceBPE(HuggingFaceBytes):
    """The same, where the model merges tokens whose bytes are the joined bytes of their parts."""

    @cached_property
    def merges(self) -> Merges:
        content = ordinary(_content(self._source)).content
        return merges_of_content(without_special(content) or content, self.token_bytes)


def make_tokenizer(source: str, notes: tuple[str, ...] = (), chat: JinjaChat | None = None) -> HuggingFaceTokenizer:
    """Make the tokenizer of a ``tokenizer.json``, with ``token_bytes`` and ``merges`` where it has them."""
    try:
        content = _content(source)
        rule = byte_rule(content)
        if rule is None:
            return HuggingFaceTokenizer(source, notes).with_chat(chat)
        return (HuggingFaceBPE if has_merges(content) else HuggingFaceBytes)(source, notes, rule).with_chat(chat)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"a damaged tokenizer.json: {error!r}") from error


def with_special(source: str, names: Sequence[str]) -> str:
    """Return a ``tokenizer.json`` with more special tokens, or itself for no names."""
    if not names:
        return source
    content = _content(source)
    ids = _engine(content).get_vocab(with_added_tokens=True)
    return json.dumps(with_more_special(content, ids, names), ensure_ascii=False)


def _content(source: str) -> dict[str, Any]:
    content = parse_json(source)
    model = content.get("model") if isinstance(content, dict) else None
    if not isinstance(model, dict) or not isinstance(model.get("vocab"), dict | list):
        raise ValueError("not a tokenizer.json: it has no 'model' with a 'vocab'")  # noqa: TRY004 - a fault of the file
    return dict(content)


def _engine(content: Mapping[str, Any]) -> Tokenizer:
    check_prefix(content)
    try:
        return Tokenizer.from_str(json.dumps(content, ensure_ascii=False))
    except Exception as error:  # the library raises nothing more special
        raise ValueError(f"tokenizers does not read it: {' '.join(str(error).split())}") from error


def _has_one_thread() -> bool:
    return os.environ.get("TOKENIZERS_PARALLELISM", "true").lower() in _OFF
