"""Turns: whether ids stay when a conversation goes on; joins of separately encoded messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from tokbench.plugin import Tokenizer
from tokbench.segmentation.chat_templates import CHAT_TEMPLATES, ChatTemplate, prompt_ids
from tokbench.segmentation.conversations import Conversation
from tokbench.tokenizers.contract import EncodesChat

OWN = "own"

_ASSISTANT = "assistant"


class Turns(NamedTuple):
    """The turns of one conversation."""

    drifted: int
    """Turns that changed ids before them."""
    compared: int
    """Turns that the template accepts, before and after."""


def turns_of(conversation: Conversation, encode: Callable[[int, bool], Sequence[int] | None], most: int) -> Turns:
    """Count the turns k after which the ids of the first k messages do not begin the ids of the first k + 1.

    Args:
        conversation: the messages.
        encode: ``encode(count, reply)`` gives the ids of the first messages; ``None`` where the template refuses.
        most: the most turns to compare.

    >>> from tokbench.segmentation.conversations import conversation
    >>> talk = conversation('[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]')
    >>> turns_of(talk, lambda count, reply: [1, 2][:count], 9), turns_of(talk, lambda count, reply: [count], 9)
    (Turns(drifted=0, compared=1), Turns(drifted=1, compared=1))
    """
    drifted = compared = 0
    for count, message in list(enumerate(conversation.plain))[1 : most + 1]:
        before, after = encode(count, message.role == _ASSISTANT), encode(count + 1, False)  # noqa: FBT003
        if before is not None and after is not None:
            compared += 1
            drifted += list(after[: len(before)]) != list(before)
    return Turns(drifted, compared)


def published(tokenizer: Tokenizer, template: ChatTemplate, conversation: Conversation, most: int) -> Turns:
    """Use a published template; control tokens are ids where the vocabulary has them."""

    def encode(count: int, reply: bool) -> list[int]:  # noqa: FBT001
        return prompt_ids(tokenizer, list(template.write(conversation.plain[:count], reply=reply)))

    return turns_of(conversation, encode, most)


def own(tokenizer: EncodesChat, conversation: Conversation, most: int) -> Turns:
    """Use the model's own template."""

    def encode(count: int, reply: bool) -> Sequence[int] | None:  # noqa: FBT001
        try:
            return tokenizer.encode_chat(conversation.messages[:count], reply=reply)
        except ValueError:
            return None

    return turns_of(conversation, encode, most)


def all_turns(tokenizer: Tokenizer, conversation: Conversation, most: int) -> dict[str, Turns]:
    """Return turns by template; :data:`OWN` for the model's."""
    turns = {t.id: published(tokenizer, t, conversation, most) for t in CHAT_TEMPLATES.values()}
    if isinstance(tokenizer, EncodesChat):
        turns[OWN] = own(tokenizer, conversation, most)
    return turns


def joins(texts: Sequence[str], encode: Callable[[str], Sequence[int]]) -> Turns:
    """Count the boundaries between messages at which enc(a) + enc(b) is not enc(a + b).

    >>> joins(["a", "", "b"], lambda text: [len(text)])  # a message without text has no boundary
    Turns(drifted=1, compared=1)
    """
    pairs = list(pairwise(filter(None, texts)))
    apart = (([*encode(a), *encode(b)], list(encode(a + b))) for a, b in pairs)
    return Turns(sum(one != other for one, other in apart), len(pairs))
