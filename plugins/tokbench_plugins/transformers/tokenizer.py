"""Tokenizers that ``AutoTokenizer`` loads from a folder or by name, behind tokbench's contract."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import read_file
from tokbench.foundation.parsing import parse_json
from tokbench.tokenizers.batch import check_highest, check_id, check_ids
from tokbench.tokenizers.contract import Encoded
from tokbench_plugins.bpe.special import EncodesAroundSpecial, SpecialTokens
from tokbench_plugins.hub.fetch import quiet, reason
from tokbench_plugins.huggingface.chat import JinjaChat
from tokbench_plugins.huggingface.tokenizer import HuggingFaceTokenizer, make_tokenizer, with_special


class NoVocabularyError(BackendError):
    """``AutoTokenizer`` does not look for what a folder has."""


def auto_tokenizer(path: Path, said: str, *, trust_remote_code: bool) -> Any:
    """Return what the library makes of a folder, or of one tokenizer.json; messages begin with what a user ``said``.

    Raises:
        NoVocabularyError: its class reads no file that is there.
        BackendError: it makes nothing of it, or a tokenizer without a vocabulary.
    """
    if not path.exists():
        raise BackendError(f"{path}: no such folder")
    with quiet(), _ranks_not_cached():
        try:
            from transformers import AutoTokenizer, PreTrainedTokenizerFast

            if path.is_file():
                return PreTrainedTokenizerFast(tokenizer_file=str(path))
            foreign = AutoTokenizer.from_pretrained(
                str(path), trust_remote_code=trust_remote_code, local_files_only=True
            )
        except Exception as error:  # a damaged file may raise anything
            raise _refusal(error, said) from error
    if getattr(foreign, "is_fast", False) and set(foreign.get_vocab()) <= set(foreign.all_special_tokens):
        read = " or ".join(type(foreign).vocab_files_names.values())
        raise BackendError(f"{said}: no vocabulary: {type(foreign).__name__} reads {read}; is a file missing?")
    return foreign


@contextmanager
def _ranks_not_cached() -> Iterator[None]:
    """Let tiktoken keep no copy of a file of ranks, which it would read again when the file has changed."""
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = ""
    try:
        yield
    finally:
        del os.environ["TIKTOKEN_CACHE_DIR"]
        if before is not None:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


def _refusal(error: Exception, said: str) -> BackendError:
    if "`trust_remote_code=True`" in str(error):
        option = "path" if Path(said).exists() else "name"
        given = f"{{backend: transformers, {option}: {said}, trust_remote_code: true}}"
        return BackendError(f"{said}: brings Python code of its own; look at that, then load {given}")
    if "Couldn't instantiate the backend tokenizer" in str(error):
        return NoVocabularyError(f"{said}: AutoTokenizer finds no vocabulary that its class reads; is a file missing?")
    return BackendError(f"{said}: AutoTokenizer fails ({reason(error)}); do its files belong together?")


def rewritten(foreign: Any, file: Path) -> tuple[str, ...]:
    """Return a warning if ``AutoTokenizer`` normalizes or splits differently from its file."""
    if not file.is_file() or not getattr(foreign, "is_fast", False):
        return ()
    content = {**parse_json(read_file(file, text=True)), "added_tokens": []}
    content["model"] = {"type": "BPE", "vocab": {}, "merges": []}
    theirs, made = Tokenizer.from_str(json.dumps(content)), foreign.backend_tokenizer
    parts = " and ".join(name for name in ("normalizer", "pre_tokenizer") if _part(theirs, name) != _part(made, name))
    said = f"caution: {type(foreign).__name__} of transformers has a different {parts} from the file {file.name}"
    return (f"{said}; the backend huggingface runs the file itself",) if parts else ()


def _part(pipeline: Tokenizer, name: str) -> Any:
    """Return a part of a pipeline without what changes offsets alone."""
    part = getattr(pipeline, name)
    text = "null" if part is None else part.__getstate__().decode()
    return json.loads(text, object_hook=lambda item: {k: v for k, v in item.items() if k != "trim_offsets"})


def behind_the_contract(
    foreign: Any, notes: tuple[str, ...], special_tokens: tuple[str, ...] = ()
) -> HuggingFaceTokenizer | PythonTokenizer:
    """Put a pipeline of ``tokenizers``, or a tokenizer in Python, behind the contract.

    Raises:
        BackendError: it is of neither kind; or special tokens cannot be added.
    """
    if not hasattr(foreign, "is_fast"):
        hint = "; the backend mistral has Mistral's own vocabularies" if "Mistral" in type(foreign).__name__ else ""
        raise BackendError(f"AutoTokenizer makes a {type(foreign).__name__} of it, which another library runs{hint}")
    if not foreign.is_fast:
        if special_tokens:
            raise BackendError(
                f"{type(foreign).__name__} is written in Python, where special tokens cannot be added; leave "
                "special_tokens out"
            )
        return PythonTokenizer(foreign, notes)
    try:
        source = with_special(foreign.backend_tokenizer.to_str(), special_tokens)
        if has_own_decode(foreign):
            return OwnDecodeTokenizer(source, notes, foreign).with_chat(_chat(foreign))
        return make_tokenizer(source, notes, _chat(foreign))
    except ValueError as error:
        raise BackendError(f"its pipeline: {error}") from error


def has_own_decode(foreign: Any) -> bool:
    """Tell whether a class, or its pipeline as CLIP's, decodes otherwise than the pipeline's file."""
    from transformers import PreTrainedTokenizerFast

    own = (getattr(type(foreign), name) is not getattr(PreTrainedTokenizerFast, name) for name in ("decode", "_decode"))
    return any(own) or "decode" in getattr(foreign.backend_tokenizer, "__dict__", {})


def _chat(foreign: Any) -> JinjaChat | None:
    try:
        template = foreign.get_chat_template()
    except ValueError:
        return None
    names = {name: token for name, token in foreign.special_tokens_map.items() if isinstance(token, str)}
    return JinjaChat(template, tuple(names.items()))


class _DecodesAsItsClass:
    """What the class of the library decodes; the bytes of its ids are unknown."""

    _foreign: Any
    vocab_size: int
    lossless = False

    def decode(self, ids: Sequence[int], /) -> str:
        check_ids(ids, self.vocab_size)
        text: str = self._foreign.decode(list(ids), **_given(self._foreign.decode))
        return text

    def decode_batch(self, encoded: Encoded, /) -> list[str]:
        ids, ends = encoded.ids.tolist(), encoded.offsets.tolist()
        return [self.decode(ids[start:end]) for start, end in pairwise(ends)]

    def decode_stream(self, ids: Iterable[int], /) -> Iterator[str]:
        from transformers.generation.streamers import TextStreamer

        shown: list[str] = []
        stream = TextStreamer(self._foreign, **_given(self._foreign.decode))
        stream.on_finalized_text = lambda text, stream_end=False: shown.append(text)  # noqa: ARG005 - it would print
        for token_id in ids:
            check_id(token_id, self.vocab_size)
            stream.put(np.array([token_id]))
            yield shown.pop()
        stream.end()
        yield shown.pop()


def _given(decode: Callable[..., str]) -> dict[str, bool]:
    """Return what a ``decode`` takes of the options under which it leaves the text as it is."""
    names = signature(decode).parameters
    every = any(parameter.kind is parameter.VAR_KEYWORD for parameter in names.values())
    options = ("skip_special_tokens", "clean_up_tokenization_spaces")
    return {option: False for option in options if every or option in names}


class OwnDecodeTokenizer(_DecodesAsItsClass, HuggingFaceTokenizer):
    """A pipeline of ``tokenizers`` whose class decodes by itself."""

    def __init__(self, source: str, notes: tuple[str, ...], foreign: Any) -> None:
        super().__init__(source, notes)
        self._foreign = foreign
        self.lossless = False

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _own_decode, (self._source, self._given_notes, self._foreign, self.chat)


def _own_decode(source: str, notes: tuple[str, ...], foreign: Any, chat: JinjaChat | None) -> HuggingFaceTokenizer:
    return OwnDecodeTokenizer(source, notes, foreign).with_chat(chat)


class PythonTokenizer(_DecodesAsItsClass, EncodesAroundSpecial):
    """Ordinary text through a tokenizer that is written in Python, such as ByT5's.

    Special tokens are recognised only where the caller allows them. Added tokens that are not special are found here,
    because the library has one switch for both.
    """

    encode_chat: Callable[..., list[int]]
    identity: str
    thread_safe = False
    """Unknown for Python code."""

    def __init__(self, foreign: Any, notes: tuple[str, ...] = ()) -> None:
        self._foreign = foreign
        self.notes = notes
        ids = foreign.get_vocab().values()
        self.vocab_size = max(len(foreign), max(ids, default=-1) + 1)
        check_highest(self.vocab_size - 1, len(ids))
        self.unk_id: int | None = foreign.unk_token_id
        special_names = foreign.all_special_tokens
        special = zip(special_names, foreign.all_special_ids, strict=True)
        self.special_ids: Mapping[str, int] = {name: k for name, k in special if k != self.unk_id}
        added = {token.content: k for k, token in foreign.added_tokens_decoder.items() if not token.special}
        self._defined = SpecialTokens({name: added[name] for name in added.keys() - special_names}, aliases=True)
        if _chat(foreign) is not None:
            self.encode_chat = self._encode_chat

    def _encode_chat(self, messages: Sequence[Mapping[str, Any]], /, *, reply: bool) -> list[int]:
        copied = json.loads(json.dumps(list(messages)))  # a template may change what it is given
        try:
            ids: list[int] = self._foreign.apply_chat_template(copied, add_generation_prompt=reply, return_dict=False)
        except Exception as error:  # a template may raise anything
            raise ValueError(f"the chat template refuses the conversation: {error}") from error
        return ids

    def encode(self, text: str, /) -> list[int]:
        if self._defined.in_text(text):
            return self._defined.encode(text, self.encode, allowed_special="all")
        ids: list[int] = self._foreign.encode(text, add_special_tokens=False, split_special_tokens=True, verbose=False)
        return ids
