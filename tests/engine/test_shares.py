"""Workers keep to their share of the tokenizers, and take over what is worth it."""

import pytest

from tokbench.corpus.contract import Document
from tokbench.corpus.shards import Shard
from tokbench.engine.evaluate import WORTH_LOADING, Backlog
from tokbench.engine.workers.pool import InMemory

NAMES = ("a", "b", "c", "d")


def backlog(shards=3):
    made = Backlog()
    for first in range(shards):
        shard = Shard("corpus", "en", first, [Document("text", "en", str(first), "o")], by_key=False)
        made.add(shard, dict.fromkeys(NAMES, ("family",)))
    return made


def taken(part):
    return part and (part.shard.first, "".join(part.asked))


def everything(made, *memories, known=()):
    """Let workers ask in turns until none has anything to do; return what each of them got."""
    made.seconds_left.update(known)
    got = [[] for _ in memories]
    idle = 0
    while idle < len(memories):
        idle = 0
        for number, here in enumerate(memories):
            others = set().union(*(memory for k, memory in enumerate(memories) if k != number))
            part = made.take(InMemory(here, others, len(memories))) or made.take_over()
            if part is None:
                idle += 1
                continue
            here |= set(part.asked)
            got[number].append(taken(part))
    return got


def test_each_worker_goes_on_with_what_it_has():
    got = everything(backlog(), {"a", "c"}, {"b", "d"})
    assert got == [[(0, "ac"), (1, "ac"), (2, "ac")], [(0, "bd"), (1, "bd"), (2, "bd")]]


def test_what_no_worker_has_is_shared_evenly():
    got = everything(backlog(), set(), set())
    assert got == [[(0, "ab"), (1, "ab"), (2, "ab")], [(0, "cd"), (1, "cd"), (2, "cd")]]


@pytest.mark.parametrize(("seconds", "shared"), [(WORTH_LOADING, True), (WORTH_LOADING / 2, False)])
def test_a_worker_without_work_loads_what_is_worth_it(seconds, shared):
    made = backlog()
    made.seconds_left = dict.fromkeys(NAMES, 0.0) | {"c": seconds}
    idle = InMemory({"e"}, set(NAMES), 2)
    assert made.take(idle) is None
    assert taken(made.take_over()) == ((0, "c") if shared else None)
