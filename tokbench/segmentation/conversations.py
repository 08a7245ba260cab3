"""Conversations: the messages of JSON documents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tokbench.foundation.errors import InputError, did_you_mean
from tokbench.foundation.parsing import TextError, parse_json
from tokbench.segmentation.chat_templates import CHAT_TEMPLATES, Message, prompt_ids, special_ids_of
from tokbench.tokenizers.contract import EncodesChat, Tokenizer

OWN_TEMPLATE: Final = "own"
"""The template that a tokenizer has itself."""

_MODELS_OF: Final = {
    "ChatML": ("qwen-",),
    "DeepSeek V3": ("deepseek-v3",),
    "Gemma": ("gemma-2", "gemma-3"),
    "Harmony (gpt-oss)": ("gpt-oss",),
    "Llama 2": ("llama-2",),
    "Llama 3": ("llama-3", "llama-4"),
    "Mistral": ("mistral-", "tekken"),
    "Phi-4": ("phi-4", "gpt-3.5", "gpt-4", "gpt-5"),  # OpenAI counts a start, the role, a separator, the text, an end
}
"""How the names of models begin that have a template, or one with as many control tokens."""


class Conversation(NamedTuple):
    """The messages of one document."""

    messages: Sequence[Mapping[str, Any]]
    """For chat templates of models."""
    plain: Sequence[Message]
    """For published templates."""


def conversation(text: str) -> Conversation:
    """Return the conversation of a document; a document in any other form is one message of a user.

    A JSON array of messages, or an object with such an array under ``messages``. A message has a ``role`` and a
    ``content``: a text, a list of parts with texts, or ``null`` together with ``tool_calls``.

    >>> conversation('{"messages": [{"role": "user", "content": "Hi"}]}').plain
    [Message(role='user', content='Hi')]
    >>> conversation('["Hi"]').plain
    [Message(role='user', content='["Hi"]')]
    """
    messages = messages_of(text)
    if messages is None:
        messages = [{"role": "user", "content": text}]
    return Conversation(messages, [Message(message["role"], message_text(message)) for message in messages])


def messages_of(text: str) -> list[Mapping[str, Any]] | None:
    """Return the messages of a JSON array, or under ``messages`` of an object; ``None`` for anything else."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return None
    try:
        return messages_in(parse_json(text))
    except TextError:
        return None


def messages_in(content: Any) -> list[Mapping[str, Any]] | None:
    """Return the messages of what JSON or a table holds; ``None`` for anything else."""
    messages = content.get("messages") if isinstance(content, dict) else content
    if not isinstance(messages, list) or not messages:
        return None
    return messages if all(map(_is_message, messages)) else None


def _is_message(row: Any) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("role"), str):
        return False
    return isinstance(row.get("content"), str | list) or bool(row.get("tool_calls"))


def message_text(message: Mapping[str, Any]) -> str:
    r"""Return the content, and a line of JSON for each tool call.

    >>> message_text({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]})
    'ab'
    >>> message_text({"content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]})
    '{"name": "f", "arguments": "{}"}'
    """
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    calls = (call.get("function", call) for call in message.get("tool_calls") or ())
    return "\n".join(filter(None, [content, *(json.dumps(call, ensure_ascii=False) for call in calls)]))


def template_of(name: str, tokenizer: Tokenizer) -> str:
    """Return the name of the template for a tokenizer: its own, else that of the model whose name it has.

    Raises:
        InputError: neither is known.

    >>> import tokbench
    >>> template_of("gpt-4o", tokbench.load("utf8_bytes"))
    'Phi-4'
    """
    if isinstance(tokenizer, EncodesChat):
        return OWN_TEMPLATE
    for template, models in _MODELS_OF.items():
        if name.startswith(models):
            return template
    raise InputError(f"{name} has no chat template; name one with --template: {', '.join(CHAT_TEMPLATES)}")


def check_template(template: str) -> None:
    """Raise an InputError unless a template has that name, or it is the tokenizer's own."""
    if template not in {OWN_TEMPLATE, *CHAT_TEMPLATES}:
        raise InputError(f"no chat template is called {template!r}; {did_you_mean(template, CHAT_TEMPLATES)}")


def prompt_tokens(
    tokenizer: Tokenizer, template: str, messages: Sequence[Mapping[str, Any]], *, reply: bool
) -> list[int]:
    """Return the ids of a conversation; a control token that the vocabulary lacks is one token, below zero.

    Raises:
        ValueError: the template refuses the conversation.

    >>> import tokbench
    >>> prompt_tokens(tokbench.load("utf8_bytes"), "Mistral", [{"role": "user", "content": "Hi"}], reply=True)
    [-1, -2, 72, 105, -3]
    """
    if template == OWN_TEMPLATE:
        if not isinstance(tokenizer, EncodesChat):
            raise InputError("the tokenizer has no chat template of its own")
        return list(map(int, tokenizer.encode_chat(messages, reply=reply)))
    check_template(template)
    plain = [Message(message["role"], message_text(message)) for message in messages]
    parts = list(CHAT_TEMPLATES[template].write(plain, reply=reply))
    own, marks = special_ids_of(tokenizer), dict.fromkeys(part.text for part in parts if part.control)
    return prompt_ids(tokenizer, parts, {name: own.get(name, -k) for k, name in enumerate(marks, 1)})
