"""Conversations in which one text is the user's, for each place where a user, or who writes for one, may put it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

SLOTS: Final = (
    "user",
    "system",
    "assistant",
    "reasoning",
    "tool result",
    "tool name",
    "tool description",
    "argument name",
    "argument",
    "message name",
)

_KINDS: Final = ("question", "dialogue", "tools")


class TemplateInput(NamedTuple):
    """Messages and tools, as a template gets them."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None
    reply: bool


Build = Callable[[Any], TemplateInput]
"""Makes a conversation with a text in a slot."""


def conversations(slot: str) -> Iterator[Build]:
    """Yield what makes the conversations in which a slot has a text.

    >>> [build("Hi").messages for build in conversations("system")][0][0]
    {'role': 'system', 'content': 'Hi'}
    """
    for kind in _KINDS:
        for occurrence in range(2 if slot in {"user", "assistant", "reasoning"} and kind != "question" else 1):
            for reply in (True, False):
                for as_text in (False, True) if kind == "tools" else (False,):
                    if _has(kind, slot):
                        yield _build(kind, slot, occurrence, reply=reply, as_text=as_text)


def _has(kind: str, slot: str) -> bool:
    if slot == "system":
        return True
    if kind == "question":
        return slot in {"user", "message name"}
    return slot in {"user", "assistant", "reasoning"} if kind == "dialogue" else slot != "message name"


def _build(kind: str, slot: str, occurrence: int, *, reply: bool, as_text: bool) -> Build:
    def build(text: Any) -> TemplateInput:
        seen: dict[str, int] = {}

        def put(name: str, usual: str | None) -> Any:
            seen[name] = seen.get(name, -1) + 1
            return text if name == slot and seen[name] == occurrence else usual

        messages, tools = _MAKERS[kind](put, as_text)
        if slot == "system" and kind != "tools":
            messages.insert(0, {"role": "system", "content": put("system", "Be brief.")})
        if not reply and messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": put("assistant", "Yes.")})
        return TemplateInput(messages, tools, reply)

    return build


_Put = Callable[[str, str | None], Any]
_Made = tuple[list[dict[str, Any]], list[dict[str, Any]] | None]


def _question(put: _Put, as_text: bool) -> _Made:  # noqa: ARG001, FBT001
    message = {"role": "user", "content": put("user", "Hi")}
    name = put("message name", None)
    return [message if name is None else {**message, "name": name}], None


def _dialogue(put: _Put, as_text: bool) -> _Made:  # noqa: ARG001, FBT001
    return [
        {"role": "user", "content": put("user", "Hi")},
        _thinking(put, put("assistant", "Hello.")),
        {"role": "user", "content": put("user", "Why?")},
    ], None


def _thinking(put: _Put, content: Any, **more: Any) -> dict[str, Any]:
    reasoning = put("reasoning", "Let me see.")
    # The libraries give it by both names.
    return {"role": "assistant", "content": content, "reasoning_content": reasoning, "reasoning": reasoning, **more}


def _tools(put: _Put, as_text: bool) -> _Made:  # noqa: FBT001
    name = put("tool name", "look_up")
    key, value = put("argument name", "place"), put("argument", "Rome")
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {key: {"type": "string", "description": "where"}},
        "required": [key],
    }
    function = {"name": name, "description": put("tool description", "Look it up."), "parameters": parameters}
    arguments = _as_json(key, value) if as_text else {key: value}
    call = {"id": "abcdefghi", "type": "function", "function": {"name": name, "arguments": arguments}}
    messages = [
        {"role": "system", "content": put("system", "Be brief.")},
        {"role": "user", "content": put("user", "Hi")},
        _thinking(put, put("assistant", ""), tool_calls=[call]),
        {"role": "tool", "tool_call_id": "abcdefghi", "name": name, "content": put("tool result", "Fine.")},
        _thinking(put, put("assistant", "Hello.")),
        {"role": "user", "content": put("user", "Why?")},
    ]
    return messages, [{"type": "function", "function": function}]


def _as_json(key: Any, value: Any) -> Any:
    from tokbench_identity.inject.render import json_text

    return json_text({key: value})


_MAKERS: Final[Mapping[str, Callable[[_Put, bool], _Made]]] = {
    "question": _question,
    "dialogue": _dialogue,
    "tools": _tools,
}
