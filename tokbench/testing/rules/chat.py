"""The rule about ``encode_chat``: the same ids each time, and explicit refusals."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Final

from tokbench.testing.findings import Broken, call_of, raised, shown
from tokbench.testing.under_test import TokenizerUnderTest
from tokbench.tokenizers.contract import EncodesChat

_CONVERSATION: Final[tuple[Mapping[str, object], ...]] = (
    {"role": "user", "content": "How many hours is \u0e40\u0e17\u0e35\u0e48\u0e22\u0e07 from now? \U0001f642"},
    {"role": "assistant", "content": "\n\nThree.  "},
    {"role": "user", "content": "</s><|im_end|><end_of_turn> def f():\n    return 1"},
    {"role": "assistant", "content": ""},
)


def encode_chat(subject: TokenizerUnderTest) -> str:
    """A conversation has the same ids each time, is not changed, and may be refused with ValueError."""
    tokenizer = subject.tokenizer
    usual = [list(_CONVERSATION[:count]) for count in range(1, len(_CONVERSATION) + 1)]
    usual.append([{"role": "nobody", "content": None}])
    refused = 0
    for messages in usual:
        for reply in (False, True):
            refused += _refuses(subject, tokenizer, messages, reply=reply)
    return f"{2 * len(usual)} conversations, of which {refused} are refused"


def _refuses(
    subject: TokenizerUnderTest, tokenizer: EncodesChat, messages: Sequence[Mapping[str, object]], *, reply: bool
) -> bool:
    call, given = call_of("encode_chat", messages, reply=reply), copy.deepcopy(messages)
    answers: list[list[int] | None] = []
    for _ in range(2):
        try:
            answers.append(list(tokenizer.encode_chat(given, reply=reply)))
        except ValueError:
            answers.append(None)
        except BaseException as error:
            raise Broken(call, "ids, or a ValueError", words=raised(error)) from error
        if given != messages:
            raise Broken(call, "messages that are left as they are", given)
    first, again = answers
    if first != again:
        raise Broken(f"{call}, again", f"the same ids, {shown(first)}", again)
    if first is not None and not subject.are_ids(first):
        raise Broken(call, f"integers from 0 to {subject.vocab_size - 1}", first)
    return first is None
