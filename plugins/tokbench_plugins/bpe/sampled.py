"""A BPE tokenizer that samples at encoding: BPE dropout and StochasTok, see :mod:`..fast.sample`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NoReturn

from pydantic import Field

from tokbench import plugin
from tokbench_plugins.bpe.artefact import TrainingRecord
from tokbench_plugins.bpe.engines import Engine
from tokbench_plugins.bpe.fast.sample import SEEDS, Sampler, Sampling
from tokbench_plugins.bpe.recovery.order import NoMergesError
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.bpe.tokenizer import BPETokenizer
from tokbench_plugins.bpe.vocabulary import Pair, Vocabulary


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
        default=0, ge=0, lt=SEEDS, description="of dropout and stochastok: a text has the same ids with the same seed"
    )

    @property
    def sampling(self) -> Sampling:
        return Sampling(self.dropout, self.stochastok, self.seed)


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
        engine: Engine = "auto",
        training: TrainingRecord | None = None,
    ) -> None:
        self.sampling = sampling
        super().__init__(vocabulary, pattern, special_tokens, engine=engine, training=training)

    def _new_encoder(self, pattern: str | None) -> Sampler:
        return Sampler(self.vocabulary, pattern, self.sampling)

    @property
    def notes(self) -> tuple[str, ...]:
        return (
            *super().notes,
            (
                f"samples its ids ({self.sampling.described}): a text always has the same ids, but its numbers are "
                "those of one sample; a part of a text has other ids than within the text, which prompts and streams "
                "count as unstable; its speed is that of a loop in Python"
            ),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(type(self), sampling=self.sampling, engine=self.engine, training=self.training)
        return made, *super().__reduce__()[1:]

    @property
    def merges(self) -> NoReturn:
        raise NoMergesError("its ids are sampled, so those of a smaller vocabulary do not follow from them")

    def _not_written_as(self, name: str) -> str:
        return (
            f"the format {name!r} cannot hold sampling ({self.sampling.described}); export the same tokenizer "
            "without dropout and stochastok"
        )


def made_with(
    sampling: Sampling, engine: Engine, training: TrainingRecord | None = None
) -> Callable[..., BPETokenizer]:
    """Return a function that makes a tokenizer of a vocabulary, a split and special tokens.

    >>> type(made_with(Sampling(), "python")([])).__name__
    'BPETokenizer'
    """
    if sampling:
        return partial(SampledBPE, sampling=sampling, engine=engine, training=training)
    return partial(BPETokenizer, engine=engine, training=training)
