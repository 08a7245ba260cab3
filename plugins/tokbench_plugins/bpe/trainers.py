"""Trainers of ``regex_bpe`` other than plain BPE: merges across words, removal of scaffold tokens, and parity."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench.foundation.errors import BackendError
from tokbench_plugins.bpe.artefact import Artefact, CorpusDigest, TrainingRecord, read_artefact
from tokbench_plugins.bpe.backend import BPELoadOptions, BPETrainOptions, load_saved, train_tokenizer
from tokbench_plugins.bpe.fast.parallel import count_in_processes
from tokbench_plugins.bpe.parity.options import ParityOptions
from tokbench_plugins.bpe.parity.training import train_by_parity
from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.picky.literal_picky import train_picky_literally
from tokbench_plugins.bpe.picky.picky_tokenizer import PickyEvents, PickyTokenizer, read_events
from tokbench_plugins.bpe.picky.train_picky import train_picky
from tokbench_plugins.bpe.sampled import made_with
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.bpe.superword.boundless import train_boundless
from tokbench_plugins.bpe.superword.boundless_tokenizer import BoundlessTokenizer
from tokbench_plugins.bpe.superword.literal_superwords import BoundlessMerges
from tokbench_plugins.bpe.superword.rules import MOST_WORDS, STAGE_TWO
from tokbench_plugins.bpe.superword.superbpe import SuperBPERule, size_of_stage_one, train_superbpe
from tokbench_plugins.bpe.tokenizer import BPETokenizer
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Vocabulary

Superwords = Literal["none", "superbpe", "boundless"]
"""The rules by which merges may cross from one word to the next."""

_IN_PYTHON: Final = ("auto", "python", "literal")
_RULED: Final = ("picky", "superwords: boundless")  # these encode by rules of their own


class TrainerOptions(BPETrainOptions, ParityOptions):
    """Options of trainers other than plain BPE.

    >>> TrainerOptions(superwords="superbpe", stage_one=0.9).is_nested
    False
    """

    superwords: Superwords = Field(
        default="none",
        description="merges across words: none, superbpe (from stage_one on no split at spaces) or boundless (also of "
        "chunks that are one token)",
    )
    stage_one: Annotated[float, Field(gt=0, lt=1)] | Annotated[int, Field(ge=FIRST_MERGE)] = Field(
        default=0.8, description="superbpe: where stage two begins, as a share of vocab_size or as a number of ids"
    )
    most_words: int = Field(default=MOST_WORDS, ge=1, description="superbpe: words in a token of stage two")
    picky: float | None = Field(
        default=None,
        ge=0.5,
        le=1,
        description="PickyBPE: remove a token when a merge takes at least this share of its occurrences, such as 0.9",
    )

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        of_superbpe = self.model_fields_set & {"stage_one", "most_words"}
        if of_superbpe and self.superwords != "superbpe":
            raise ValueError(
                f"{min(of_superbpe)} belongs to superwords: superbpe; add it, or remove {min(of_superbpe)}"
            )
        if self.picky is not None and self.superwords != "none":
            raise ValueError(f"picky and superwords: {self.superwords} cannot be combined; remove one of them")
        rule = "picky" if self.picky is not None else f"superwords: {self.superwords}"
        if rule != "superwords: none" and self.parity != "none":
            raise ValueError(f"{rule} and parity cannot be combined; remove one of them")
        if rule in _RULED and self.sampling:
            raise ValueError(f"{rule} cannot be combined with dropout or stochastok; remove one of them")
        if rule in _RULED and self.engine not in _IN_PYTHON:
            raise ValueError(f"{rule} has no engine {self.engine}; write engine: auto, python or literal")
        return self

    @property
    def is_nested(self) -> bool:
        """True if training to a smaller size gives the first merges of training to a larger one."""
        return self.picky is None and (self.superwords != "superbpe" or self.stage_one >= 1)


def train_by_options(
    documents: Iterable[str],
    vocab_size: int,
    options: TrainerOptions,
    progress: plugin.TrainProgress,
    pattern: str,
) -> BPETokenizer:
    """Train with the trainer that the options name; special tokens come on top of ``vocab_size``."""
    parity = options.parity_training()
    digest = CorpusDigest(documents)

    def record(rule: dict[str, Any] | None = None) -> TrainingRecord:  # after training, when the digest has seen all
        return TrainingRecord(vocab_size, options.tie, digest.corpus, rule=rule)

    if options.picky is not None:
        events = _train_picky(digest, vocab_size, options, progress, pattern)
        special = _special(options, len(events.final_ids))
        return PickyTokenizer(events, pattern, special, engine=options.engine, training=record())
    if options.superwords == "boundless":
        across = train_boundless(digest, vocab_size, pattern, tie=options.tie, engine=options.engine, progress=progress)
        special = _special(options, FIRST_MERGE + len(across.merges))
        return BoundlessTokenizer(across, pattern, special, engine=options.engine, training=record())
    if options.superwords == "superbpe":
        rule = SuperBPERule(pattern, size_of_stage_one(options.stage_one, vocab_size), options.most_words)
        merges = train_superbpe(digest, vocab_size, rule, progress, **options.settings)
        make = made_with(options.sampling, options.engine, record(rule.record))
        return make(merges, STAGE_TWO, _special(options, FIRST_MERGE + len(merges)))
    if parity is not None:
        learned = train_by_parity(documents, vocab_size, pattern, parity, progress, **options.settings)
        make = made_with(options.sampling, options.engine, learned.record)
        return make(learned.merges, pattern, _special(options, FIRST_MERGE + len(learned.merges)))
    return train_tokenizer(documents, vocab_size, options, progress, pattern)


def _special(options: BPETrainOptions, first: int) -> SpecialTokens:
    return SpecialTokens({}).with_more(options.special_tokens, first)


def _train_picky(
    documents: Iterable[str], vocab_size: int, options: TrainerOptions, progress: plugin.TrainProgress, pattern: str
) -> PickyEvents:
    assert options.picky is not None
    if options.engine == "literal":
        split = Splitter(pattern)
        chunks = [chunk.encode() for document in documents for chunk in split(document)]
        return PickyEvents(train_picky_literally(chunks, vocab_size, options.picky, options.tie), options.picky)
    counts = count_in_processes(documents, pattern, options.processes)
    return PickyEvents(train_picky(counts, vocab_size, options.picky, options.tie, progress), options.picky)


def load_by_rule(options: BPELoadOptions) -> BPETokenizer:
    """Return the tokenizer of a file of ``regex_bpe``, whatever trained it."""
    artefact = read_artefact(options.path, "regex_bpe")
    rule = artefact.training.rule
    if rule is None or rule["name"] == "superbpe":
        return load_saved(options, "regex_bpe")
    if options.engine not in _IN_PYTHON:
        raise BackendError(f"{options.path}: {rule['name']} has no engine {options.engine}; write engine: auto")
    if options.sampling:
        raise BackendError(f"{options.path}: {rule['name']} cannot be sampled; remove dropout and stochastok")
    try:
        return _of_rule(artefact, options)
    except (ValueError, KeyError, TypeError) as error:
        raise BackendError(f"{options.path}: damaged: {error}; train again or restore the file") from error


def _of_rule(artefact: Artefact, options: BPELoadOptions) -> BPETokenizer:
    rule = artefact.training.rule or {}
    made: dict[str, Any] = {"engine": options.engine, "training": artefact.training}

    def special(ordinary: list[bytes]) -> SpecialTokens:
        return SpecialTokens(artefact.special.ids, ordinary).with_more(options.special_tokens, len(ordinary))

    if rule["name"] == "picky":
        events = read_events(rule)
        tokens = events.tokens
        return PickyTokenizer(events, artefact.pattern, special([tokens[i] for i in events.final_ids]), **made)
    if rule["name"] == "boundless":
        learned = BoundlessMerges(artefact.merges, sorted(map(int, rule["supermerges"])))
        tokens = list(Vocabulary.trained(learned.merges).tokens)
        return BoundlessTokenizer(learned, artefact.pattern, special(tokens), **made)
    raise ValueError(f"its rule {rule['name']!r} is not known: it is of a newer tokbench")
