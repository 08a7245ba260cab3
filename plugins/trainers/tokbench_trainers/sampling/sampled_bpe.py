"""The backend ``sampled_bpe``: byte-level BPE that samples at encoding; see :mod:`.sample`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final, NoReturn, Self

from pydantic import Field, model_validator

from tokbench import plugin
from tokbench_plugins.bpe import FILE_SUFFIX, FIRST_MERGE, BPETokenizer, Pair, read_artefact, train
from tokbench_plugins.bpe.artefact import CorpusDigest, TrainingRecord
from tokbench_plugins.bpe.backend import saved_files
from tokbench_plugins.bpe.recovery.order import NoMergesError
from tokbench_plugins.bpe.special import SPECIAL_OPTION, SpecialTokens
from tokbench_plugins.bpe.vocabulary import Vocabulary
from tokbench_plugins.regex_bpe import RegexBPETrainOptions
from tokbench_plugins.tokbench_bpe.vocabulary import EncodingName, FileOptions, load_vocabulary
from tokbench_trainers.ruled import special_behind
from tokbench_trainers.sampling.sample import SEEDS, Sampler, Sampling

_KIND: Final = "sampled_bpe"


class SamplingOptions(plugin.Options):
    """Options of sampling at encoding.

    >>> SamplingOptions(dropout=0.1, seed=7).sampling.described
    'dropout 0.1, seed 7'
    """

    dropout: float = Field(
        default=0.0,
        ge=0.0,
        le=1.0,
        description="BPE dropout: the probability that encoding leaves out a possible merge",
    )
    stochastok: float = Field(
        default=0.0,
        ge=0.0,
        le=1.0,
        description="StochasTok: random splits of finished tokens into two others, as a share of their number",
    )
    seed: int = Field(
        default=0, ge=0, lt=SEEDS, description="seed of dropout and stochastok: the same seed gives a text the same ids"
    )

    @property
    def sampling(self) -> Sampling:
        return Sampling(self.dropout, self.stochastok, self.seed)


class SampledLoadOptions(SamplingOptions):
    """Options of a saved or published vocabulary; a file of this backend has its sampling, unless it is set here."""

    encoding: EncodingName | None = Field(
        default=None, description="one of OpenAI's: gpt2 (r50k_base is the same), cl100k_base, o200k_base; or llama3"
    )
    path: plugin.LocalPath | None = Field(
        default=None,
        description=f"a file saved by this backend ({FILE_SUFFIX}), a .tiktoken file, or a tokenizer.json with "
        "byte-level BPE",
    )
    special_tokens: tuple[str, ...] = SPECIAL_OPTION

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.encoding is None) == (self.path is None):
            raise ValueError("give either 'encoding' or 'path'")
        return self


class SampledTrainOptions(RegexBPETrainOptions, SamplingOptions):
    """Options of training, which does not sample."""


class SampledBPE(BPETokenizer):
    """Byte-level BPE that samples its ids, which decode to the text.

    >>> tokenizer = SampledBPE([(108, 111), (256, 119)], "gpt2", sampling=Sampling(dropout=0.5, seed=4))
    >>> ids = tokenizer.encode("low low low")
    >>> ids == tokenizer.encode("low low low"), len(ids) > 5, tokenizer.decode(ids)
    (True, True, 'low low low')
    >>> SampledBPE([(104, 105)], sampling=Sampling(dropout=1.0)).encode_batch(["hi", "ohi"]).ids.tolist()
    [104, 105, 111, 104, 105]
    """

    python_only = True

    def __init__(
        self,
        vocabulary: Vocabulary | Iterable[Pair],
        pattern: str | None = None,
        special_tokens: SpecialTokens | Mapping[str, int] | None = None,
        *,
        sampling: Sampling,
        training: TrainingRecord | None = None,
    ) -> None:
        self.sampling = sampling
        training = (training or TrainingRecord())._replace(kind=_KIND, rule=sampling._asdict())
        super().__init__(vocabulary, pattern, special_tokens, training=training)

    def _new_encoder(self, pattern: str | None) -> Sampler:
        return Sampler(self.vocabulary, pattern, self.sampling)

    @property
    def notes(self) -> tuple[str, ...]:
        return (
            *super().notes,
            (
                f"samples its ids ({self.sampling.described}): a text always has the same ids, but its numbers come "
                "from one sample; a part of a text has other ids than within the text, which prompts and streams "
                "count as unstable; its speed is that of a loop in Python"
            ),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(type(self), sampling=self.sampling, training=self.training)
        return made, *super().__reduce__()[1:]

    @property
    def merges(self) -> NoReturn:
        raise NoMergesError("its ids are sampled, so the ids of a smaller vocabulary do not follow from them")

    def _not_written_as(self, name: str) -> str:
        return (
            f"the format {name!r} cannot hold sampling ({self.sampling.described}); export the same tokenizer "
            "without dropout and stochastok"
        )


def _train(
    documents: Iterable[str], vocab_size: int, options: SampledTrainOptions, progress: plugin.TrainProgress
) -> SampledBPE:
    digest = CorpusDigest(documents)
    merges = train(digest, vocab_size, options.pattern, progress, **options.settings)
    special = special_behind(FIRST_MERGE + len(merges), options.special_tokens)
    record = TrainingRecord(vocab_size, options.tie, digest.corpus)
    return SampledBPE(merges, options.pattern, special, sampling=options.sampling, training=record)


def _load(options: SampledLoadOptions) -> SampledBPE:
    if options.path is not None and options.path.name.endswith(FILE_SUFFIX):
        merges, pattern, special, training = read_artefact(options.path, _KIND)
        special = special.with_more(options.special_tokens, FIRST_MERGE + len(merges))
        sampling = options.sampling or Sampling(**(training.rule or {}))
        return SampledBPE(merges, pattern, special, sampling=sampling, training=training)
    file = FileOptions(encoding=options.encoding, path=options.path, special_tokens=options.special_tokens)
    given = load_vocabulary(file)
    tokenizer = SampledBPE(given.vocabulary, given.pattern, given.special, sampling=options.sampling)
    tokenizer.file_notes = given.notes
    return tokenizer


SPEC = plugin.BackendSpec(
    name=_KIND,
    summary="byte-level BPE that samples at encoding: BPE dropout and StochasTok, trained here or published",
    load=_load,
    load_options=SampledLoadOptions,
    train=_train,
    train_options=SampledTrainOptions,
    min_vocab_size=FIRST_MERGE,
    nested=True,
    main="path",
    train_main="pattern",
    files=saved_files(_KIND),
)
