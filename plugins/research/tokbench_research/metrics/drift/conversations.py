"""Conversations: the messages of JSON documents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tokbench.segmentation.chat_templates import Message


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
    messages = _messages(text)
    if messages is None:
        messages = [{"role": "user", "content": text}]
    return Conversation(messages, [Message(message["role"], message_text(message)) for message in messages])


def _messages(text: str) -> list[Mapping[str, Any]] | None:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
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
