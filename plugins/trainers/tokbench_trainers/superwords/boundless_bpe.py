"""The backend ``boundless_bpe``: BoundlessBPE, which also merges neighbouring chunks that are one token each.

No supermerge changes a chunk of several tokens. So all ordinary merges are done first, chunk by chunk with a cache, and
then the supermerges in each run of chunks that are one token.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from tokbench import plugin
from tokbench_plugins.bpe import (
    FIRST_MERGE,
    CorpusDigest,
    Encoder,
    Pair,
    SpecialTokens,
    TrainingRecord,
    Vocabulary,
    merge_ids,
    read_artefact,
    resolve_pattern,
    saved_files,
)
from tokbench_plugins.bpe.engines import check_engine
from tokbench_trainers.ruled import RuledBPE, RuledLoadOptions, RuledTrainOptions, special_behind
from tokbench_trainers.superwords.rules import BoundlessMerges, is_word_like
from tokbench_trainers.superwords.train_boundless import train_boundless
from tokbench_trainers.superwords.wanted import SuperwordTraining, check_table

if TYPE_CHECKING:
    from tokbench_plugins.bpe.artefact import TrainingText


class BoundlessBPE(RuledBPE):
    """A vocabulary with supermerges.

    >>> learned = BoundlessMerges([(105, 110), (32, 97), (256, 257)], [2])
    >>> tokenizer = BoundlessBPE(learned, "gpt4")
    >>> tokenizer.encode("in a in a in"), tokenizer.token_bytes(258)
    ([258, 32, 256, 257, 32, 256], b'in a')
    """

    rule = "BoundlessBPE"
    no_format = "supermerges join whole chunks of the split only, and the format has merges within chunks alone"
    learned: BoundlessMerges

    def __init__(
        self,
        learned: BoundlessMerges,
        pattern: str | None,
        special_tokens: SpecialTokens | Mapping[str, int] | None = None,
        *,
        training: TrainingRecord | None = None,
    ) -> None:
        super().__init__(learned, Vocabulary.trained(learned.merges), pattern, special_tokens, training)

    def _new_encoder(self, pattern: str | None) -> BoundlessEncoder:
        return BoundlessEncoder(self.vocabulary, self.learned.supermerges, pattern)


class BoundlessEncoder(Encoder):
    """Encodes texts with ordinary merges, and then with the ranks ``supermerges``.

    >>> vocabulary = Vocabulary.trained([(105, 110), (32, 97), (256, 257)])
    >>> BoundlessEncoder(vocabulary, [2], "gpt4")("in a in a")
    [258, 32, 256, 257]
    """

    def __init__(self, vocabulary: Vocabulary, supermerges: Collection[int], pattern: str | None) -> None:
        across = set(supermerges)
        ordinary = tuple(merge for rank, merge in enumerate(vocabulary.merges) if rank not in across)
        super().__init__(Vocabulary(vocabulary.tokens, vocabulary.byte_ids, ordinary), pattern)
        joined = [vocabulary.merges[rank] for rank in sorted(across)]
        self._rank_across: dict[Pair, int] = {(left, right): k for k, (left, right, _) in enumerate(joined)}
        self._made_across = [made for _, _, made in joined]
        self._word_like = frozenset(i for i, token in enumerate(vocabulary.tokens) if is_word_like(token))

    def __call__(self, text: str, /) -> list[int]:
        ids: list[int] = []
        run: list[int] = []
        for chunk in map(self._ids_of, self.split(text)):
            if len(chunk) == 1 and chunk[0] in self._word_like:
                run.append(chunk[0])
            else:
                ids += self._joined(run)
                ids += chunk
                run = []
        return ids + self._joined(run)

    def _joined(self, run: list[int]) -> list[int]:
        return merge_ids(run, self._rank_across, self._made_across) if len(run) > 1 else run


def _train(
    documents: Iterable[str], vocab_size: int, options: RuledTrainOptions, progress: plugin.TrainProgress
) -> BoundlessBPE:
    digest = CorpusDigest(documents)
    learned = train_boundless(digest, vocab_size, options.pattern, tie=options.tie, progress=progress)
    return _made(learned, vocab_size, options, digest.corpus)


def _train_counts(
    tables: Mapping[str, plugin.CountsFile], vocab_size: int, options: RuledTrainOptions, progress: plugin.TrainProgress
) -> BoundlessBPE:
    check_engine("numba")
    from tokbench_plugins.counts.read import rows_of_tables, text_of_tables
    from tokbench_trainers.superwords.tables import boundless_of_table

    rows, facts = rows_of_tables(tables, options.tie)
    learned, _ = boundless_of_table(rows, facts, training_of(options, vocab_size), progress)
    return _made(learned, vocab_size, options, text_of_tables(tables))


def _made(learned: BoundlessMerges, vocab_size: int, options: RuledTrainOptions, text: TrainingText) -> BoundlessBPE:
    special = special_behind(FIRST_MERGE + len(learned.merges), options.special_tokens)
    rule = {"supermerges": learned.supermerges}
    record = TrainingRecord(vocab_size, options.tie, text, "boundless_bpe", rule)
    return BoundlessBPE(learned, options.pattern, special, training=record)


def training_of(options: RuledTrainOptions, vocab_size: int) -> SuperwordTraining:
    """Return what a table of counts is for."""
    return SuperwordTraining("boundless_bpe", resolve_pattern(options.pattern), vocab_size, options.tie)


def _check_counts(options: RuledTrainOptions, tables: Mapping[str, plugin.CountsFile]) -> str:
    return check_table(training_of(options, FIRST_MERGE), tables)


def _load(options: RuledLoadOptions) -> BoundlessBPE:
    artefact = read_artefact(options.path, "boundless_bpe")
    learned = BoundlessMerges(artefact.merges, (artefact.training.rule or {})["supermerges"])
    special = artefact.special.with_more(options.special_tokens, FIRST_MERGE + len(artefact.merges))
    loaded = BoundlessBPE(learned, artefact.pattern, special, training=artefact.training)
    loaded.file_notes = artefact.notes
    return loaded


SPEC = plugin.BackendSpec(
    name="boundless_bpe",
    summary="BoundlessBPE: byte-level BPE that merges whole words, too, trained here",
    load=_load,
    load_options=RuledLoadOptions,
    train=_train,
    train_counts=_train_counts,
    check_counts=_check_counts,
    train_options=RuledTrainOptions,
    min_vocab_size=FIRST_MERGE,
    nested=True,
    main="path",
    train_main="pattern",
    files=saved_files("boundless_bpe"),
)
