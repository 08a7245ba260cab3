"""What conversations cost as they are billed: with each reply the whole prompt is sent again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tokbench.corpus.contract import DOCUMENT_LIMIT
from tokbench.foundation.errors import InputError, Problem
from tokbench.segmentation.conversations import message_text, messages_in, messages_of, prompt_tokens, template_of
from tokbench.tokenizers.contract import Tokenizer

if TYPE_CHECKING:
    from tokbench.text.cuts import TextReader
    from tokbench.text.find import FoundTexts

Messages = Sequence[Mapping[str, Any]]

_COLUMN: Final = "messages"
_EXAMPLE: Final = json.dumps([{"role": "user", "content": "Hi"}])


class Turn(NamedTuple):
    """One reply of the assistant, in tokens."""

    sent: int
    """The whole prompt."""
    new: int
    """Tokens of the prompt after the beginning that it shares with the prompt before, which a cache may have."""
    reply: int
    """The reply with its end mark; 0 where the conversation ends before it."""


class ChatCost(NamedTuple):
    """What conversations cost under one tokenizer."""

    template: str
    text: int
    """The tokens of the messages alone, each encoded by itself."""
    turns: tuple[Turn, ...]

    @property
    def sent(self) -> int:
        return sum(turn.sent for turn in self.turns)

    @property
    def new(self) -> int:
        return sum(turn.new for turn in self.turns)

    @property
    def replies(self) -> int:
        return sum(turn.reply for turn in self.turns)


def chat_cost(tokenizer: Tokenizer, *, name: str, conversations: Sequence[Messages], template: str = "") -> ChatCost:
    """Count conversations turn by turn.

    Args:
        tokenizer: the tokenizer.
        name: its name, which decides the template where the tokenizer has none of its own.
        conversations: lists of messages with ``role`` and ``content``.
        template: the name of a template instead.

    Raises:
        InputError: no template is known.
        ValueError: the template refuses a conversation.

    >>> import tokbench
    >>> talk = [{"role": role, "content": "Hi"} for role in ("user", "assistant", "user")]
    >>> chat_cost(tokbench.load("utf8_bytes"), name="", conversations=[talk], template="Mistral").turns
    (Turn(sent=5, new=5, reply=3), Turn(sent=12, new=7, reply=0))
    """
    template = template or template_of(name, tokenizer)
    turns = tuple(turn for messages in conversations for turn in _turns(tokenizer, template, messages))
    texts = [message_text(message) for messages in conversations for message in messages]
    return ChatCost(template, sum(len(tokenizer.encode(text)) for text in texts), turns)


def _turns(tokenizer: Tokenizer, template: str, messages: Messages) -> list[Turn]:
    replies = [at for at, message in enumerate(messages) if message["role"] == "assistant" and at]
    if not replies or replies[-1] != len(messages) - 1:
        replies.append(len(messages))
    turns: list[Turn] = []
    before: list[int] = []
    for at in replies:
        prompt = prompt_tokens(tokenizer, template, messages[:at], reply=True)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, prompt, strict=False)))
        whole = prompt_tokens(tokenizer, template, messages[: at + 1], reply=False) if at < len(messages) else prompt
        turns.append(Turn(len(prompt), len(prompt) - shared, len(whole) - len(prompt)))
        before = prompt
    return turns


class ReadConversations(NamedTuple):
    """The conversations of files, and what was left out."""

    conversations: list[Messages]
    found: FoundTexts


def read_conversations(names: Sequence[str]) -> ReadConversations:
    """Read the conversations of files: one as a JSON array of messages, or one in each line or row of a table.

    What is none is left out of a folder.

    Raises:
        InputError: there is none, or something else, with its place.
    """
    from tokbench.text.cuts import reading
    from tokbench.text.find import find_texts

    read = ReadConversations([], find_texts(names))
    for path in list(read.found.files):
        try:
            with reading(path, most=DOCUMENT_LIMIT) as reader:
                read.conversations.extend(list(_conversations(reader)))
        except InputError as error:
            read.found.fault(path, error)
    if not read.conversations:
        if read.found.left_out:
            raise read.found.nothing(", ".join(names))
        raise InputError(f"{', '.join(names)}: no conversation; write {_EXAMPLE} in each line")
    return read


def _conversations(reader: TextReader) -> Iterator[Messages]:
    from tokbench.text.rows import RowForm, rows_as_they_are

    if reader.form in {"csv", "parquet"}:
        rows = rows_as_they_are(reader, RowForm(_COLUMN))
        read = [(row.number, _messages_of_cell(row.values.get(_COLUMN))) for row in rows]
    else:
        lines = list(reader.documents("line"))
        whole = messages_of("".join(line.text + line.end for line in lines))
        read = [(1, whole)] if whole else [(one.line, messages_of(one.text)) for one in lines if one.text.strip()]
    for number, messages in read:
        where = f"{reader.place}:{number}"
        if not messages:
            raise InputError([Problem(where, f"not a conversation; write {_EXAMPLE}")])
        for message in messages:
            reader.faults.without_surrogates(message_text(message), lambda: where, "a message")  # noqa: B023
        yield messages


def _messages_of_cell(cell: Any) -> Messages | None:
    return messages_of(cell) if isinstance(cell, str) else messages_in(cell)
