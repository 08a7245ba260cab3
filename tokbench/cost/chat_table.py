"""What ``tokbench cost --chat`` shows."""

from __future__ import annotations

from collections.abc import Sequence

from tokbench.command import local_names, print_json, print_numbers, say
from tokbench.cost.chat import ChatCost, Messages, chat_cost, read_conversations
from tokbench.foundation.failures import Failure
from tokbench.segmentation.conversations import check_template
from tokbench.terminal.session import session
from tokbench.tokenizers.contract import Tokenizer


class _Count:
    """The step of a tokenizer's process."""

    def __init__(self, name: str, conversations: Sequence[Messages], template: str) -> None:
        self._name, self._conversations, self._template = name, conversations, template

    def __call__(self, tokenizer: Tokenizer) -> ChatCost:
        return chat_cost(tokenizer, name=self._name, conversations=self._conversations, template=self._template)


def count_chats(files: Sequence[str], names: Sequence[str], template: str, *, as_json: bool) -> int:
    """Print what conversations cost, the cheapest tokenizer first, and return the exit code.

    Raises:
        InputError: a file has no conversation, or a name is unknown.
    """
    if template:
        check_template(template)
    conversations, found = read_conversations(files)
    for line in found.notes():
        say(line, err=True)
    with session(names or local_names(), named=bool(names)) as ready:
        answers = {name: ready.ask(_Count(name, conversations, template), names=[name])[name] for name in ready.names}
    failed = {name: answer.reason for name, answer in answers.items() if isinstance(answer, Failure)}
    counted = {name: answer for name, answer in answers.items() if not isinstance(answer, Failure)}
    ranked = sorted(counted, key=lambda name: (counted[name].sent + counted[name].replies, name))
    if as_json:
        rows = [{"tokenizer": name, **_facts(counted[name])} for name in ranked]
        print_json({"conversations": len(conversations), "tokenizers": rows, "failed": failed})
    else:
        if ranked:
            _show(len(conversations), {name: counted[name] for name in ranked})
        for name, reason in failed.items() if names else ():
            say(f"{name}: {reason}", err=True)
    return int(bool(names and failed) or not counted)


def _facts(cost: ChatCost) -> dict[str, object]:
    total = {"sent": cost.sent, "new": cost.new, "replies": cost.replies}
    return {"template": cost.template, "text": cost.text, **total, "turns": [turn._asdict() for turn in cost.turns]}


def _show(conversations: int, counted: dict[str, ChatCost]) -> None:
    heads = ["tokenizer (template)", "text", "sent", "new", "replies"]
    rows = [
        [f"{name} ({cost.template})", *(f"{number:,}" for number in (cost.text, cost.sent, cost.new, cost.replies))]
        for name, cost in counted.items()
    ]
    replies = len(next(iter(counted.values())).turns)
    print_numbers(heads, rows, f"tokens of {conversations:,} conversations with {replies:,} replies")
    say("text: the messages alone; sent: all prompts, each with the messages before it")
    say("new: what no prompt before begins with, which a cache cannot have; replies: with their end marks")
