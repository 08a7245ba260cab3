"""Parity-aware BPE: its text by language, and the choice of an engine (Foroutan et al. 2025)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Unpack

from tokbench.foundation.errors import BackendError
from tokbench.foundation.progress import silent
from tokbench.tokenizers.backend import GroupedText, TrainProgress
from tokbench.tokenizers.batch import valid_unicode
from tokbench_plugins.bpe.artefact import CorpusDigest, TrainingRecord
from tokbench_plugins.bpe.engines import TrainSettings, train
from tokbench_plugins.bpe.fast.train import count_chunks
from tokbench_plugins.bpe.parity.literal_parity import LanguageChunk, MeasuredText, train_parity_literally
from tokbench_plugins.bpe.parity.options import ParityTraining, Texts, Unit
from tokbench_plugins.bpe.parity.train_parity import CountedChunks, LanguageText, train_parity
from tokbench_plugins.bpe.patterns import Splitter
from tokbench_plugins.bpe.vocabulary import FIRST_MERGE, Pair

_log = logging.getLogger("tokbench")


class ParityMerges(NamedTuple):
    """The result of parity-aware training."""

    merges: list[Pair]
    """In order of rank."""

    record: TrainingRecord
    """For the artefact."""


def train_by_parity(
    documents: Iterable[str],
    vocab_size: int,
    pattern: str | None,
    parity: ParityTraining,
    progress: TrainProgress = silent,
    **settings: Unpack[TrainSettings],
) -> ParityMerges:
    """Train on the groups of a text, which are its languages, and record what the artefact needs."""
    digest = CorpusDigest()
    text = list(_with_languages(documents, digest))
    merges = train_with_parity(text, vocab_size, pattern, parity, progress, **settings)
    return ParityMerges(merges, TrainingRecord(vocab_size, settings.get("tie", "first"), digest.corpus, parity.record))


def _with_languages(documents: Iterable[str], digest: CorpusDigest) -> Iterator[tuple[str, str]]:
    if not isinstance(documents, GroupedText):
        raise BackendError(
            "parity is between languages, but the training text has no groups; give a corpus whose groups are "
            "languages, or tokbench.train a mapping of languages to texts"
        )
    for language, text in documents.grouped():
        digest.add(text)
        yield language, text


def train_with_parity(
    documents: Iterable[tuple[str, str]],
    vocab_size: int,
    pattern: str | None,
    parity: ParityTraining,
    progress: TrainProgress = silent,
    **settings: Unpack[TrainSettings],
) -> list[Pair]:
    """Train parity-aware byte-level BPE; all text is held in memory.

    >>> text = [("en", "low low low"), ("xx", "zz")]
    >>> train_with_parity(text, 257, "gpt2", ParityTraining("documents"))
    [(108, 111)]
    >>> train_with_parity(text, 257, "gpt2", ParityTraining("documents", dev={"en": ["low"], "xx": ["zz" * 9]}))
    [(122, 122)]
    """
    tie, engine = settings.get("tie", "first"), settings.get("engine", "auto")
    held = list(documents)
    texts = _ParityTexts.of(held, parity)
    if engine == "literal":
        split = Splitter(pattern)
        measured = MeasuredText(texts.units, None if texts.apart is None else _chunks(split, _in_turn(texts.apart)))
        on_merge = _logged(vocab_size - FIRST_MERGE, progress)
        return train_parity_literally(_chunks(split, held), vocab_size, parity.rule, measured, tie, on_merge)
    plain = min(FIRST_MERGE + parity.rule.global_merges, vocab_size)
    given = train([text for _, text in held], plain, pattern, silent, **settings)
    del held
    return train_parity(texts.counted(pattern), vocab_size, parity.rule, given, tie, progress)


class _ParityTexts(NamedTuple):
    training: Texts

    apart: Texts | None
    """The text on which parity is measured; ``None`` for the training text."""

    units: Mapping[str, int]
    """The bytes or documents of the measured text of each language."""

    @classmethod
    def of(cls, documents: Iterable[tuple[str, str]], parity: ParityTraining) -> _ParityTexts:
        training = _by_language(documents)
        apart = None if parity.dev is None else _matching(parity.dev, training)
        return cls(training, apart, _units(training if apart is None else apart, parity.unit))

    def counted(self, pattern: str | None) -> list[LanguageText]:
        def count(texts: Texts, language: str) -> CountedChunks:
            return [(chunk.encode(), times) for chunk, times in count_chunks(texts[language], pattern).items()]

        return [
            LanguageText(
                count(self.training, language), units, None if self.apart is None else count(self.apart, language)
            )
            for language, units in self.units.items()
        ]


def _in_turn(texts: Texts) -> Iterator[tuple[str, str]]:
    return ((language, text) for language, documents in texts.items() for text in documents)


def _chunks(split: Splitter, documents: Iterable[tuple[str, str]]) -> list[LanguageChunk]:
    return [(language, chunk.encode()) for language, text in documents for chunk in split(text)]


def _logged(total: int, progress: TrainProgress) -> Callable[[Pair, str], None]:
    done = 0

    def on_merge(pair: Pair, language: str) -> None:
        nonlocal done
        done += 1
        _log.info("merge %d of %d: %d + %d = id %d, chosen by %s", done, total, *pair, FIRST_MERGE + done - 1, language)
        progress(done, total)

    return on_merge


def _by_language(documents: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for language, text in documents:
        texts.setdefault(language, []).append(text)
    if len(texts) < 2:  # noqa: PLR2004 - parity is between two
        raise BackendError(
            f"parity is between languages, but the training text has {len(texts)}; give a corpus whose groups are "
            "languages, such as a file for each, or tokbench.train a mapping of languages to texts"
        )
    return texts


def _matching(dev: Texts, texts: Texts) -> Texts:
    for language in sorted(texts.keys() ^ dev.keys()):
        has, lacks = ("the training text", "parity_dev") if language in texts else ("parity_dev", "the training text")
        raise BackendError(f"{has} has the language {language!r}, and {lacks} does not; both must have the same")
    return {language: dev[language] for language in texts}


def _units(texts: Texts, unit: Unit) -> dict[str, int]:
    if empty := next((language for language, documents in texts.items() if not any(documents)), None):
        raise BackendError(f"the text of language {empty!r} on which parity is measured is empty")
    if unit == "bytes":
        return {
            language: sum(len(valid_unicode(text).encode()) for text in documents)
            for language, documents in texts.items()
        }
    numbers = {language: len(documents) for language, documents in texts.items()}
    if len(set(numbers.values())) > 1:
        usual = Counter(numbers.values()).most_common(1)[0][0]
        odd = next(language for language, number in numbers.items() if number != usual)
        other = next((language for language, number in numbers.items() if number == usual), odd)
        raise BackendError(
            f"parity: documents needs translations, but language {odd!r} has {numbers[odd]:,} documents and {other!r} "
            f"has {numbers[other]:,}; write parity: bytes, or give a parallel text as parity_dev"
        )
    return numbers
