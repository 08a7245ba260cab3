"""Chat templates of common models: a message with the control tokens that a model expects around it.

Text of a message is never a control part, whatever it spells. The forms are those that the makers document:

- ChatML: OpenAI's *Chat Markup Language* (2023), and Qwen's model cards.
- DeepSeek V3: the template in the model's ``tokenizer_config.json`` (2024).
- Gemma: Google's *Gemma formatting and system instructions* (2024).
- Harmony: OpenAI's *Harmony response format* (2025).
- Llama 2 and Llama 3: Meta's reference code (2023), and *Llama 3 model card and prompt formats* (2024).
- Mistral: *Tokenization* in Mistral's documentation, version 3 (2024).
- Phi-4: Microsoft's model card (2024).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from tokbench.foundation.errors import InputError, did_you_mean
from tokbench.tokenizers.contract import HasSpecialTokens, Tokenizer


class Message(NamedTuple):
    """One message of a conversation; the role is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


class PromptPart(NamedTuple):
    """A stretch of a prompt; ``control`` means the special token of that name."""

    text: str
    control: bool = False


_control = partial(PromptPart, control=True)


def chatml(messages: Sequence[Message], *, reply: bool = True) -> Iterator[PromptPart]:
    r"""Yield the prompt in ChatML, which Qwen and many others use.

    >>> "".join(part.text for part in chatml([Message("user", "Hi")]))
    '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n'
    """
    for role, content in messages:
        yield from (
            _control("<|im_start|>"),
            PromptPart(f"{role}\n{content}"),
            _control("<|im_end|>"),
            PromptPart("\n"),
        )
    if reply:
        yield from (_control("<|im_start|>"), PromptPart("assistant\n"))


def llama_3(messages: Sequence[Message], *, reply: bool = True) -> Iterator[PromptPart]:
    r"""Yield the prompt of Llama 3.

    >>> "".join(part.text for part in llama_3([Message("user", "Hi")]))[:75]
    '<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|st'
    """
    yield _control("<|begin_of_text|>")
    for role, content in messages:
        yield from (*_llama_3_head(role), PromptPart(f"\n\n{content}"), _control("<|eot_id|>"))
    if reply:
        yield from (*_llama_3_head("assistant"), PromptPart("\n\n"))


def _llama_3_head(role: str) -> tuple[PromptPart, ...]:
    return _control("<|start_header_id|>"), PromptPart(role), _control("<|end_header_id|>")


def llama_2(messages: Sequence[Message], *, reply: bool = True) -> Iterator[PromptPart]:  # noqa: ARG001 - nothing opens a reply
    r"""Yield the prompt of Llama 2; its ``[INST]`` is ordinary text.

    >>> "".join(part.text for part in llama_2([Message("system", "Be brief."), Message("user", "Hi")]))
    '<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST]'
    """
    system, rest = _system_and_rest(messages)
    begun = f"<<SYS>>\n{system}\n<</SYS>>\n\n" if system else ""
    for message in rest:
        if message.role == "assistant":
            yield from (PromptPart(f" {message.content} "), _control("</s>"))
        else:
            yield from (_control("<s>"), PromptPart(f"[INST] {begun}{message.content} [/INST]"))
            begun = ""


def mistral(messages: Sequence[Message], *, reply: bool = True) -> Iterator[PromptPart]:  # noqa: ARG001 - nothing opens a reply
    """Yield the prompt of Mistral's models of version 3, whose ``[INST]`` is a special token.

    Each text is encoded by itself, so that SentencePiece puts its own space before it, and Tekken none.

    >>> "".join(part.text for part in mistral([Message("user", "Hi")]))
    '<s>[INST]Hi[/INST]'
    """
    system, rest = _system_and_rest(messages)
    last = max((k for k, message in enumerate(rest) if message.role != "assistant"), default=-1)
    yield _control("<s>")
    for k, message in enumerate(rest):
        if message.role == "assistant":
            yield from (PromptPart(message.content), _control("</s>"))
        else:
            content = f"{system}\n\n{message.content}" if system and k == last else message.content
            yield from (_control("[INST]"), PromptPart(content), _control("[/INST]"))


def gemma(messages: Sequence[Message], *, reply: bool = True) -> Iterator[PromptPart]:
    r"""Yield the prompt of Gemma, which has no role for a system message: it begins the first turn.

    >>> "".join(part.text for part in gemma([Message("user", "Hi")]))
    '<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n'
    """
    start, end = _control("<start_of_turn>"), _control("<end_of_turn>")
    system, rest = _system_and_rest(messages)
    yield _control("<bos>")
    for k, message in enumerate(rest):
        content = f"{system}\n\n{message.content}" if system and not k else message.content
        role = "model" if message.role == "assistant" else "user"
        yield from (start, PromptPart(f"{role}\n{content}"), end, PromptPart("\n"))
    if reply:
        yield from (start, PromptPart("model\n"))


def phi_4(messages: Sequence[Message], *, reply: bool = True) -> Iterator[PromptPart]:
    """Yield the prompt of Phi-4.

    >>> "".join(part.text for part in phi_4([Message("user", "Hi")]))
    '<|im_start|>user<|im_sep|>Hi<|im_end|><|im_start|>assistant<|im_sep|>'
    """
    start, sep = _control("<|im_start|>"), _control("<|im_sep|>")
    for role, content in messages:
        yield from (start, PromptPart(role), sep, PromptPart(content), _control("<|im_end|>"))
    if reply:
        yield from (start, PromptPart("assistant"), sep)


def harmony(messages: Sequence[Message], *, reply: bool = True) -> Iterator[PromptPart]:
    """Yield the prompt of gpt-oss in Harmony, without the system message that OpenAI's own renderer adds.

    >>> "".join(part.text for part in harmony([Message("user", "Hi")]))
    '<|start|>user<|message|>Hi<|end|><|start|>assistant'
    """
    for role, content in messages:
        yield from (_control("<|start|>"), PromptPart(role))
        yield from (_control("<|message|>"), PromptPart(content), _control("<|end|>"))
    if reply:
        yield from (_control("<|start|>"), PromptPart("assistant"))


def deepseek_v3(messages: Sequence[Message], *, reply: bool = True) -> Iterator[PromptPart]:
    """Yield the prompt of DeepSeek V3, whose special tokens have full-width bars.

    >>> [part.text for part in deepseek_v3([Message("user", "Hi")]) if not part.control]
    ['Hi']
    """
    system, rest = _system_and_rest(messages)
    yield _barred("begin▁of▁sentence")
    if system:
        yield PromptPart(system)
    for message in rest:
        if message.role == "assistant":
            yield from (_barred("Assistant"), PromptPart(message.content), _barred("end▁of▁sentence"))
        else:
            yield from (_barred("User"), PromptPart(message.content))
    if reply:
        yield _barred("Assistant")


def _barred(name: str) -> PromptPart:
    return _control(f"<\uff5c{name}\uff5c>")


def _system_and_rest(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    return system, [message for message in messages if message.role != "system"]


class WritesPrompt(Protocol):
    """A function that writes a conversation as a model expects it."""

    def __call__(self, messages: Sequence[Message], *, reply: bool = True) -> Iterator[PromptPart]:
        """Yield the parts; ``reply`` opens the reply of the assistant at the end, where the template has a mark."""


class ChatTemplate(NamedTuple):
    """A template, and its name in the ids of metrics."""

    id: str
    write: WritesPrompt


CHAT_TEMPLATES: Final[Mapping[str, ChatTemplate]] = MappingProxyType(
    {
        "ChatML": ChatTemplate("chatml", chatml),
        "DeepSeek V3": ChatTemplate("deepseek_v3", deepseek_v3),
        "Gemma": ChatTemplate("gemma", gemma),
        "Harmony (gpt-oss)": ChatTemplate("harmony", harmony),
        "Llama 2": ChatTemplate("llama2", llama_2),
        "Llama 3": ChatTemplate("llama3", llama_3),
        "Mistral": ChatTemplate("mistral", mistral),
        "Phi-4": ChatTemplate("phi4", phi_4),
    }
)


def prompt(template: str, text: str, system: str = "") -> list[PromptPart]:
    """Return the text alone, or as a user's message in a template of :data:`CHAT_TEMPLATES` with a system message.

    Raises:
        InputError: no template has that name.

    >>> prompt("", "Hi"), len(prompt("ChatML", "Hi"))
    ([PromptPart(text='Hi', control=False)], 6)
    """
    if not template:
        return [PromptPart(text)]
    if template not in CHAT_TEMPLATES:
        raise InputError(f"no chat template is called {template!r}; {did_you_mean(template, CHAT_TEMPLATES)}")
    messages = [Message("system", system)] if system else []
    return list(CHAT_TEMPLATES[template].write([*messages, Message("user", text)]))


class Stretch(NamedTuple):
    """A special token, or ordinary text between two; ``token`` is ``None`` for text."""

    text: str
    token: int | None


def stretches(parts: Sequence[PromptPart], known: Mapping[str, int], *, special: bool = False) -> list[Stretch]:
    """Return the special tokens of a prompt, and the text between them: texts side by side are one stretch.

    A control part that is not in ``known`` (ids by name) is text. ``special`` finds special tokens in text, too.

    >>> parts = [PromptPart("<s>", control=True), PromptPart("[INST]", control=True), PromptPart("Hi <s>")]
    >>> stretches(parts, {"<s>": 1})
    [Stretch(text='<s>', token=1), Stretch(text='[INST]Hi <s>', token=None)]
    """
    names = sorted(filter(None, known), key=len, reverse=True)
    find = re.compile(f"({'|'.join(map(re.escape, names))})") if special and names else None
    joined: list[Stretch] = []
    for part in parts:
        pieces = find.split(part.text) if find and not part.control else [part.text]
        for k, piece in enumerate(pieces):
            if (part.control and piece in known) or k % 2:
                joined.append(Stretch(piece, known[piece]))
            elif piece and joined and joined[-1].token is None:
                joined[-1] = Stretch(joined[-1].text + piece, None)
            elif piece:
                joined.append(Stretch(piece, None))
    return joined


def prompt_ids(tokenizer: Tokenizer, parts: Sequence[PromptPart], known: Mapping[str, int] | None = None) -> list[int]:
    """Return the ids of a prompt: one for each control token that is known, and the ids of the text between.

    ``known`` are ids by name, by default those of the vocabulary. Any other control token is text, together with the
    text around it.

    >>> import tokbench
    >>> prompt_ids(tokbench.load("utf8_bytes"), [PromptPart("<s>", control=True), PromptPart("Hi")])
    [60, 115, 62, 72, 105]
    """
    ids: list[int] = []
    for text, token in stretches(parts, special_ids_of(tokenizer) if known is None else known):
        ids += list(map(int, tokenizer.encode(text))) if token is None else [token]
    return ids


def special_ids_of(tokenizer: Tokenizer) -> Mapping[str, int]:
    """Return the special tokens of a tokenizer; none if it has none."""
    return tokenizer.special_ids if isinstance(tokenizer, HasSpecialTokens) else {}
