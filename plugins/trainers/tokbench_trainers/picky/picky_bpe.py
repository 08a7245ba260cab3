"""The backend ``picky_bpe``: PickyBPE, which removes tokens that are only steps to longer ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe import (
    FIRST_MERGE,
    CorpusDigest,
    Merges,
    Pair,
    SpecialTokens,
    TrainingRecord,
    Vocabulary,
    count_in_processes,
    read_artefact,
    saved_files,
)
from tokbench_plugins.bpe.recovery.order import NoMergesError
from tokbench_plugins.bpe.vocabulary import token_bytes_of
from tokbench_trainers.picky.encode_picky import PickyEncoder
from tokbench_trainers.picky.events import PickyEvent
from tokbench_trainers.picky.train_picky import train_picky
from tokbench_trainers.ruled import RuledBPE, RuledLoadOptions, RuledTrainOptions, special_behind


class PickyTrainOptions(RuledTrainOptions):
    """Options of training."""

    share: float = Field(
        default=0.9,
        ge=0.5,
        le=1,
        description="remove a token when a merge takes at least this share of its occurrences",
    )
    processes: int = Field(
        default=1, ge=1, le=64, description="processes that split and count; the merges are the same"
    )


@dataclass(frozen=True)
class PickyEvents:
    """The events of PickyBPE, in order, and the tokens that they make.

    >>> events = [PickyEvent((97, 98), (256,)), PickyEvent((256, 99), (257,)), PickyEvent((256,), (97, 98))]
    >>> learned = PickyEvents(events)
    >>> learned.halves, learned.tokens[256:], learned.final_ids[257], 256 in learned.final_ids
    ([(97, 98), (256, 99)], [b'ab', b'abc'], 256, False)
    """

    events: Sequence[PickyEvent]

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


class PickyBPE(RuledBPE):
    """A vocabulary from which scaffold tokens were removed.

    >>> events = [PickyEvent((97, 98), (256,)), PickyEvent((256, 99), (257,)), PickyEvent((256,), (97, 98))]
    >>> learned = PickyEvents(events)
    >>> tokenizer = PickyBPE(learned, "gpt4")
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
        training: TrainingRecord | None = None,
    ) -> None:
        tokens = learned.tokens
        vocabulary = Vocabulary(tuple(tokens[i] for i in learned.final_ids), tuple(range(FIRST_MERGE)), ())
        super().__init__(learned, vocabulary, pattern, special_tokens, training)

    def _new_encoder(self, pattern: str | None) -> PickyEncoder:
        return PickyEncoder(self.learned.events, pattern, self.learned.final_ids)

    @property
    def merges(self) -> Merges:
        raise NoMergesError("tokens were removed while it was trained: its first merges are not a smaller tokenizer")


def read_events(written: Sequence[Any]) -> PickyEvents:
    """Read the events of a saved file.

    >>> read_events([[[97, 98], [256]]]).events
    [PickyEvent(before=(97, 98), after=(256,))]
    >>> read_events([[[97, 300], [256]]])
    Traceback (most recent call last):
    ValueError: event 0 is [[97, 300], [256]], not a merge or a removal of ids that exist
    """
    tokens = token_bytes_of(())
    present = set(range(FIRST_MERGE))
    events: list[PickyEvent] = []
    for number, given in enumerate(written):
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
        events.append(PickyEvent(tuple(given[0]), tuple(given[1])))
    return PickyEvents(events)


def _train(
    documents: Iterable[str], vocab_size: int, options: PickyTrainOptions, progress: plugin.TrainProgress
) -> PickyBPE:
    digest = CorpusDigest(documents)
    counts = count_in_processes(digest, options.pattern, options.processes)
    learned = PickyEvents(train_picky(counts, vocab_size, options.share, options.tie, progress))
    special = special_behind(len(learned.final_ids), options.special_tokens)
    rule = {"share": options.share, "events": [[list(event.before), list(event.after)] for event in learned.events]}
    record = TrainingRecord(vocab_size, options.tie, digest.corpus, "picky_bpe", rule)
    return PickyBPE(learned, options.pattern, special, training=record)


def _load(options: RuledLoadOptions) -> PickyBPE:
    artefact = read_artefact(options.path, "picky_bpe")
    try:
        learned = read_events((artefact.training.rule or {})["events"])
    except (ValueError, KeyError) as error:
        raise plugin.BackendError(f"{options.path}: damaged: {error}; train again or restore the file") from error
    special = artefact.special.with_more(options.special_tokens, len(learned.final_ids))
    loaded = PickyBPE(learned, artefact.pattern, special, training=artefact.training)
    loaded.file_notes = artefact.notes
    return loaded


SPEC = plugin.BackendSpec(
    name="picky_bpe",
    summary="PickyBPE: byte-level BPE without tokens that are only steps to longer ones, trained here",
    load=_load,
    load_options=RuledLoadOptions,
    train=_train,
    train_options=PickyTrainOptions,
    min_vocab_size=FIRST_MERGE,
    main="path",
    train_main="pattern",
    files=saved_files("picky_bpe"),
)
