"""A vocabulary of BoundlessBPE as a tokenizer.

No supermerge changes a chunk of several tokens. So all ordinary merges are done first, chunk by chunk with a cache, and
then the supermerges in each run of chunks that are one token.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from tokbench_plugins.bpe.artefact import TrainingRecord, write_artefact
from tokbench_plugins.bpe.engines import Engine
from tokbench_plugins.bpe.fast.encode import Encoder, merge_ids
from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.recovery.order import Merges
from tokbench_plugins.bpe.ruled_tokenizer import RuledTokenizer
from tokbench_plugins.bpe.special import SpecialTokens
from tokbench_plugins.bpe.superword.literal_superwords import BoundlessMerges, encode_boundless_literally
from tokbench_plugins.bpe.superword.rules import is_word_like
from tokbench_plugins.bpe.vocabulary import Pair, Vocabulary


class BoundlessTokenizer(RuledTokenizer):
    """A vocabulary with supermerges.

    >>> learned = BoundlessMerges([(105, 110), (32, 97), (256, 257)], [2])
    >>> tokenizer = BoundlessTokenizer(learned, "gpt4")
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
        engine: Engine = "auto",
        training: TrainingRecord | None = None,
    ) -> None:
        vocabulary = Vocabulary.trained(learned.merges)
        super().__init__(learned, vocabulary, pattern, special_tokens, engine=engine, training=training)

    def _new_encoder(self, pattern: str | None) -> Encoder | _LiteralEncoder:
        if self.engine == "literal":
            return _LiteralEncoder(self.learned, pattern)
        return BoundlessEncoder(self.vocabulary, self.learned.supermerges, pattern)

    @property
    def merges(self) -> Merges:
        return tuple(self.learned.merges)

    def save(self, path: Path, /) -> None:
        rule = {"name": "boundless", "supermerges": self.learned.supermerges}
        write_artefact(path, self.learned.merges, self.pattern, self.special_tokens, self.training._replace(rule=rule))


class _LiteralEncoder:
    def __init__(self, learned: BoundlessMerges, pattern: str | None) -> None:
        self.split = Splitter(pattern)
        self._learned = learned

    def __call__(self, text: str, /) -> list[int]:
        return encode_boundless_literally([chunk.encode() for chunk in self.split(text)], *self._learned)


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
