"""A vocabulary of PickyBPE as a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tokbench_plugins.bpe.artefact import TrainingRecord, write_artefact
from tokbench_plugins.bpe.engines import Engine
from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.picky.encode_picky import PickyEncoder
from tokbench_plugins.bpe.picky.literal_picky import Event, encode_picky_literally
from tokbench_plugins.bpe.recovery.order import Merges, NoMergesError
from tokbench_plugins.bpe.ruled_tokenizer import RuledTokenizer
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair, Vocabulary, token_bytes_of


@dataclass(frozen=True)
class PickyEvents:
    """The events of PickyBPE, in order, and the tokens that they make.

    >>> learned = PickyEvents([Event((97, 98), (256,)), Event((256, 99), (257,)), Event((256,), (97, 98))], 0.9)
    >>> learned.halves, learned.tokens[256:], learned.final_ids[257], 256 in learned.final_ids
    ([(97, 98), (256, 99)], [b'ab', b'abc'], 256, False)
    """

    events: Sequence[Event]

    threshold: float
    """The intersection over self at which a token was removed."""

    @cached_property
    def halves(self) -> list[Pair]:
        """The pair that first made each id of training; entry ``k`` belongs to id ``256 + k``."""
        halves: list[Pair] = []
        for event in self.events:
            if event.is_merge and event.after[0] == FIRST_MERGE + len(halves):
                halves.append((event.before[0], event.before[1]))
        return halves

    @cached_property
    def tokens(self) -> list[bytes]:
        return token_bytes_of(self.halves)

    @cached_property
    def final_ids(self) -> dict[int, int]:
        """The id of each final token, by its id of training."""
        present = set(range(FIRST_MERGE))
        for event in self.events:
            if event.is_merge:
                present.add(event.after[0])
            else:
                present.remove(event.before[0])
        return {token: final for final, token in enumerate(sorted(present))}


class PickyTokenizer(RuledTokenizer):
    """A vocabulary from which scaffold tokens were removed.

    >>> learned = PickyEvents([Event((97, 98), (256,)), Event((256, 99), (257,)), Event((256,), (97, 98))], 0.9)
    >>> tokenizer = PickyTokenizer(learned, "gpt4")
    >>> tokenizer.encode("abc ab"), tokenizer.vocab_size, tokenizer.token_bytes(256)
    ([256, 32, 97, 98], 257, b'abc')
    """

    rule = "PickyBPE"
    no_format = "its ids come from merges and removals in order, and the format has merges alone"
    learned: PickyEvents

    def __init__(
        self,
        learned: PickyEvents,
        pattern: str | None,
        special_tokens: SpecialTokens | Mapping[str, int] | None = None,
        *,
        engine: Engine = "auto",
        training: TrainingRecord | None = None,
    ) -> None:
        tokens = learned.tokens
        vocabulary = Vocabulary(tuple(tokens[i] for i in learned.final_ids), tuple(range(FIRST_MERGE)), ())
        super().__init__(learned, vocabulary, pattern, special_tokens, engine=engine, training=training)

    def _new_encoder(self, pattern: str | None) -> PickyEncoder | _LiteralPickyEncoder:
        encoder = _LiteralPickyEncoder if self.engine == "literal" else PickyEncoder
        return encoder(self.learned.events, pattern, self.learned.final_ids)

    @property
    def merges(self) -> Merges:
        raise NoMergesError("tokens were removed while it was trained: its first merges are not a smaller tokenizer")

    def save(self, path: Path, /) -> None:
        events = [[list(event.before), list(event.after)] for event in self.learned.events]
        rule = {"name": "picky", "threshold": self.learned.threshold, "events": events}
        write_artefact(path, self.learned.halves, self.pattern, self.special_tokens, self.training._replace(rule=rule))


class _LiteralPickyEncoder:
    def __init__(self, events: Sequence[Event], pattern: str | None, final_ids: dict[int, int]) -> None:
        self.split = Splitter(pattern)
        self._events, self._final_ids = events, final_ids

    def __call__(self, text: str, /) -> list[int]:
        chunks = (encode_picky_literally(chunk.encode(), self._events) for chunk in self.split(text))
        return [self._final_ids[token] for chunk in chunks for token in chunk]


def read_events(rule: Mapping[str, Any]) -> PickyEvents:
    """Read the events of an artefact's rule.

    >>> read_events({"name": "picky", "threshold": 0.9, "events": [[[97, 98], [256]]]}).events
    [Event(before=(97, 98), after=(256,))]
    >>> read_events({"name": "picky", "threshold": 0.9, "events": [[[97, 300], [256]]]})
    Traceback (most recent call last):
    ValueError: event 0 is [[97, 300], [256]], not a merge or a removal of ids that exist
    """
    tokens = token_bytes_of(())
    present = set(range(FIRST_MERGE))
    events: list[Event] = []
    for number, given in enumerate(rule["events"]):
        match given:
            case [[int(left), int(right)], [int(made)]] if (
                {left, right} <= present
                and made <= len(tokens)
                and (made == len(tokens) or tokens[made] == tokens[left] + tokens[right])
            ):
                tokens += [tokens[left] + tokens[right]] * (made == len(tokens))
                present.add(made)
            case [[int(token)], [*parts]] if (
                token in present - set(range(FIRST_MERGE))
                and present.issuperset(parts)
                and b"".join(tokens[part] for part in parts) == tokens[token]
            ):
                present.remove(token)
            case _:
                raise ValueError(f"event {number} is {given!r}, not a merge or a removal of ids that exist")
        events.append(Event(tuple(given[0]), tuple(given[1])))
    return PickyEvents(events, rule["threshold"])
