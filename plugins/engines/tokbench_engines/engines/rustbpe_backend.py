"""The backend ``rustbpe``: byte-level BPE trained by rustbpe, then run by tokbench's BPE.

rustbpe counts on several threads, and ties go to the smallest ids: the merges are the same as in ``regex_bpe`` with
``tie: smallest``, and only the time of training differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from pydantic import Field

from tokbench import plugin
from tokbench_engines.engines.tokenizer import calling
from tokbench_plugins.bpe import FIRST_MERGE, BPETokenizer, resolve_pattern
from tokbench_plugins.bpe.artefact import CorpusDigest, TrainingRecord
from tokbench_plugins.bpe.backend import BPELoadOptions, SplitPattern, load_saved, saved_files
from tokbench_plugins.bpe.patterns import SPLIT_NAMES


class RustBPETrainOptions(plugin.Options):
    """Options of training ``rustbpe``."""

    pattern: SplitPattern = Field(
        default="gpt4",
        description=f"the pre-tokenization split: {SPLIT_NAMES} or a regular expression; "
        "what it does not match is not trained on",
    )


def _train(
    documents: Iterable[str], vocab_size: int, options: RustBPETrainOptions, progress: plugin.TrainProgress
) -> BPETokenizer:
    import rustbpe

    digest = CorpusDigest(documents)
    native = rustbpe.Tokenizer()
    texts = map(plugin.valid_unicode, digest)
    pattern = resolve_pattern(options.pattern)
    calling("rustbpe", lambda: native.train_from_iterator(texts, vocab_size, pattern=pattern))
    ranks = {bytes(data): rank for data, rank in native.get_mergeable_ranks()}
    tokenizer = BPETokenizer.from_ranks(ranks, options.pattern)
    tokenizer.training = TrainingRecord(vocab_size, "smallest", digest.corpus)
    progress(1, 1)  # it does not say how far it is
    return tokenizer


SPEC = plugin.BackendSpec(
    name="rustbpe",
    summary="byte-level BPE trained by rustbpe, encoded by tokbench's own BPE",
    load=partial(load_saved, kind="regex_bpe"),
    load_options=BPELoadOptions,
    train=_train,
    train_options=RustBPETrainOptions,
    min_vocab_size=FIRST_MERGE,
    nested=True,
    requires=("rustbpe",),
    install="pip install 'tokbench[engines]'",
    main="path",
    train_main="pattern",
    files=saved_files("regex_bpe"),
    precedence=-2,
)
