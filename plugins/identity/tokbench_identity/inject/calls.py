"""How the engines call a tokenizer for a conversation, and which marks they then cut out of text."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import ByteLevel

from tokbench import InputError, TokbenchError
from tokbench.command import load_named
from tokbench.plugin import HasSpecialTokens, read_file
from tokbench_identity.equal.patterns import UndecidedError
from tokbench_identity.inject.machines import LeftStripped, Machine, Mapped, Replaced, RightStripped
from tokbench_plugins.huggingface.chat import JinjaChat, jinja_chat
from tokbench_plugins.huggingface.json import given_by_model, ordinary, steps

_BLANK: Final = " \t\r\n\u2581"
_PER_CHARACTER: Final = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "BertNormalizer", "Nmt"}
_WRITTEN: Final = re.compile(r"<[|\uff5c][^\s<>]{1,60}[|\uff5c]>|\[/?[A-Z][A-Z_]+\]")
_EMPTY: Final = (("bos_token", ""), ("eos_token", ""))
"""What a template may name, where nothing says which they are."""


class EngineCall(NamedTuple):
    """A call of an engine: which marks it cuts out of text, and how."""

    key: str
    marks: str
    """``all``, ``not special``, ``special``, ``refused``, or ``none``."""
    by_file: bool = False
    """Whether marks are found by the rules of ``tokenizer.json``, which may normalize; else as they are written."""


CALLS: Final = (
    EngineCall("transformers", "all", by_file=True),
    EngineCall("split", "not special", by_file=True),  # transformers and vLLM with split_special_tokens
    EngineCall("llama.cpp", "all"),
    EngineCall("llama.cpp-text", "not special"),  # parse_special = false
    EngineCall("tiktoken-all", "special"),
    EngineCall("tiktoken", "refused"),
    EngineCall("tiktoken-ordinary", "none"),
    EngineCall("mistral-common", "none"),
)


class Mark(NamedTuple):
    """A token that an engine cuts out of text."""

    text: str
    id: int
    special: bool
    normalized: bool = False


class Matching(NamedTuple):
    """Marks that are looked for in a text after some machines; ``undecided`` says why these are not all."""

    marks: tuple[Mark, ...]
    machines: tuple[Machine, ...] = ()
    undecided: str = ""


@dataclass(frozen=True)
class ChatModel:
    """What there is to know of a model: its marks, its template, and what encodes."""

    name: str
    marks: tuple[Mark, ...]
    chat: JinjaChat | None
    content: Mapping[str, Any] | None = None
    """A ``tokenizer.json``."""
    encode: Callable[[str, str], list[int]] | None = None
    """Encodes a text with some marks, where there is no such file."""
    not_special_known: bool = True
    ids_known: bool = True
    given_chat: bool = False
    """Whether the template is not its own, but one that was given."""
    _engines: dict[Any, Tokenizer] = field(default_factory=dict)

    @cached_property
    def controls(self) -> frozenset[int]:
        return frozenset(mark.id for mark in self.marks)

    def matchings(self, call: EngineCall) -> list[Matching]:
        """Return what a call looks for."""
        if call.marks == "refused":
            return []
        if call.marks == "not special" and not self.not_special_known:
            reason = f"which added tokens are not special is not known of {self.name}; name its tokenizer.json"
            return [Matching((), (), reason)]
        marks = [mark for mark in self.marks if self._cut_out(mark, call)]
        rows = [Matching(tuple(mark for mark in marks if not (call.by_file and mark.normalized)))]
        if normal := [mark for mark in marks if call.by_file and mark.normalized]:
            rows.append(self._normalized(normal))
        return [row for row in rows if row.marks or row.undecided]

    def _cut_out(self, mark: Mark, call: EngineCall) -> bool:
        kinds = {"all": True, "not special": not mark.special, "special": mark.special, "none": False}
        return kinds[call.marks] or mark.text in self._given

    @cached_property
    def _given(self) -> frozenset[str]:
        """The special tokens that the model itself gives to text that spells them."""
        special = {mark.text for mark in self.marks if mark.special}
        return frozenset(special & given_by_model(self.content)) if self.content and special else frozenset()

    def _normalized(self, marks: Sequence[Mark]) -> Matching:
        machines = list[Machine]()
        undecided = ""
        assert self.content is not None
        for step in steps(self.content.get("normalizer"), "normalizers"):
            kind, pattern = step["type"], step.get("pattern", {})
            if kind in _PER_CHARACTER:
                machines.append(Mapped(json.dumps(step), _alone(step)))
            elif kind == "Replace" and pattern.get("String"):
                machines.append(Replaced(pattern["String"], step["content"]))
            elif kind == "Strip":
                machines += [LeftStripped()] * step["strip_left"]
                machines += [RightStripped()] * step["strip_right"]
            elif kind != "Prepend":
                undecided = f"its normalizer {kind} is not followed"
        normal = self._engine(CALLS[0]).normalizer
        texts = [mark._replace(text=normal.normalize_str(mark.text) if normal else mark.text) for mark in marks]
        return Matching(tuple(texts), tuple(machines), undecided)

    def ids(self, text: str, call: EngineCall) -> list[int]:
        """Return the ids that a call gives."""
        if self.encode is not None:
            return self.encode(text, call.marks)
        return list(self._engine(call).encode(text, add_special_tokens=False).ids)

    def _engine(self, call: EngineCall) -> Tokenizer:
        key = (call.marks, call.by_file)
        if key not in self._engines:
            assert self.content is not None
            content = dict(self.content)
            added = [token for token in content.get("added_tokens") or () if self._kept(token, call)]
            if not call.by_file:
                switches = dict.fromkeys(("normalized", "lstrip", "rstrip", "single_word"), False)
                added = [{**token, **switches} for token in added]
            engine = Tokenizer.from_str(json.dumps({**content, "added_tokens": added}))
            engine.encode_special_tokens = call.marks in {"not special", "none"}
            self._engines[key] = engine
        return self._engines[key]

    def _kept(self, token: Mapping[str, Any], call: EngineCall) -> bool:
        return bool(token.get("special")) or call.marks not in {"special", "none"}


def _alone(step: Mapping[str, Any]) -> Callable[[str], str]:
    """Return what a step of a normalizer makes of a character alone."""
    content = {"model": {"type": "BPE", "vocab": {}, "merges": []}, "normalizer": step, "added_tokens": []}
    normalizer = Tokenizer.from_str(json.dumps(content)).normalizer
    return lambda char: str(normalizer.normalize_str(char))


def read_chat(template: Path) -> JinjaChat:
    """Read a chat template.

    Raises:
        InputError: it cannot be read, or is not Jinja.
    """
    try:
        chat = jinja_chat(read_file(template, text=True).decode())
    except TokbenchError as error:
        raise InputError(str(error)) from error
    except (OSError, ValueError) as error:
        raise InputError(f"{template}: {error}") from error
    return chat._replace(names=(*_EMPTY, *chat.names))


def read_model(name: str | None, template: Path | None = None, marks: Sequence[str] = ()) -> ChatModel:
    """Read a model by name, folder or file, or by its template alone: then the marks are what the template writes.

    Raises:
        InputError: there is no such model or template, or it tells no marks.
    """
    chat = read_chat(template) if template is not None else None
    if name is None:
        if chat is None:
            raise InputError("name a model, or give --template FILE")
        return model_of_template(chat, marks)
    return replace(model_of_tokenizer(load_named(name), name, chat), given_chat=chat is not None)


def model_of_tokenizer(tokenizer: Any, name: str, chat: JinjaChat | None = None) -> ChatModel:
    """Return what there is to know of a tokenizer, with its own chat template or another.

    Raises:
        InputError: it tells no special tokens.
    """
    content = _content(tokenizer)
    chat = chat or getattr(tokenizer, "chat", None)
    if content is not None:
        added = content.get("added_tokens") or ()
        rows = (Mark(t["content"], t["id"], bool(t["special"]), bool(t["normalized"])) for t in added)
        return ChatModel(name, tuple(row for row in rows if row.text.strip(_BLANK)), chat, content)
    special = tokenizer.special_ids if isinstance(tokenizer, HasSpecialTokens) else {}
    if not special:
        raise InputError(f"{name} tells no special tokens; name its tokenizer.json or folder")
    known = tuple(Mark(text, token_id, special=True) for text, token_id in special.items())
    return ChatModel(name, known, chat, encode=_encoding(tokenizer), not_special_known=hasattr(tokenizer, "stages"))


def _encoding(tokenizer: Any) -> Callable[[str, str], list[int]]:
    def encode(text: str, marks: str) -> list[int]:
        if marks in {"all", "special"}:
            return list(map(int, tokenizer.encode_with_special(text, allowed_special="all")))
        return list(map(int, tokenizer.encode(text)))

    return encode


def _content(tokenizer: Any) -> dict[str, Any] | None:
    if getattr(tokenizer, "file_suffix", "") != ".tokenizer.json":
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        tokenizer.save(path)
        return ordinary(json.loads(path.read_bytes())).content


def marks_written(chat: JinjaChat) -> list[str]:
    """Return the marks that a template writes, as far as their form tells them.

    >>> marks_written(JinjaChat("{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}"))
    ['<|im_start|>']
    """
    from tokbench_identity.inject.conversations import conversations
    from tokbench_identity.inject.render import WrittenWay, rendered

    texts = dict.fromkeys(text for _, text in chat.names if text)
    for build in (build for slot in ("user", "assistant", "tool result") for build in conversations(slot)):
        try:
            ways = [way for way in rendered(chat, build) if isinstance(way, WrittenWay)]
        except UndecidedError:
            continue
        for part in (part for way in ways for part in way.parts if isinstance(part, str)):
            texts.update(dict.fromkeys(_WRITTEN.findall(part)))
    return [*texts]


def model_of_template(chat: JinjaChat, marks: Sequence[str] = ()) -> ChatModel:
    """Return a model of bytes whose special tokens are the marks that a template writes."""
    texts = list(dict.fromkeys([*marks, *marks_written(chat)]))
    if not texts:
        raise InputError("the template writes no marks that are known by their form; give them by --mark, or a model")
    letters = sorted(ByteLevel.alphabet())
    added = [
        {"id": 256 + k, "content": text, "special": True, "normalized": False, "lstrip": False, "rstrip": False,
         "single_word": False} for k, text in enumerate(texts)
    ]  # fmt: skip
    content = {
        "model": {"type": "BPE", "vocab": {char: k for k, char in enumerate(letters)}, "merges": []},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False},
        "added_tokens": added,
    }
    found = tuple(Mark(text, 256 + k, special=True) for k, text in enumerate(texts))
    name = "the template"
    return ChatModel(name, found, chat, content, not_special_known=False, ids_known=False, given_chat=True)
