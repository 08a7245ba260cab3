"""Parity-aware BPE: its text by language (Foroutan et al. 2025)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Unpack

from tokbench import plugin
from tokbench.tokenizers.backend import GroupedText
from tokbench_plugins.bpe import FIRST_MERGE, CorpusDigest, Pair, train
from tokbench_plugins.bpe.engines import TrainSettings
from tokbench_plugins.bpe.fast.train import count_chunks
from tokbench_trainers.parity.rule import ParityRule
from tokbench_trainers.parity.train_parity import CountedChunks, LanguageText, train_parity

Unit = Literal["bytes", "documents"]
"""The unit by which the tokens of a language are divided."""

Texts = Mapping[str, Sequence[str]]
"""The documents of each language."""


class ParityTraining(NamedTuple):
    """The measure of parity between languages, and the rule to reach it."""

    unit: Unit

    rule: ParityRule = ParityRule()

    dev: Texts | None = None
    """The measured documents; ``None`` for the training text."""

    @property
    def record(self) -> dict[str, str | int | float]:
        """For the artefact; the development text by its hash."""
        dev = CorpusDigest()
        for language, documents in sorted((self.dev or {}).items()):
            for document in (language, *documents):
                dev.add(document)
        record = {"unit": self.unit, **self.rule._asdict()}
        return record if self.dev is None else {**record, "dev_sha256": dev.corpus.sha256}


def with_languages(documents: Iterable[str], digest: CorpusDigest) -> Iterator[tuple[str, str]]:
    """Yield the documents of a text with their groups, which are its languages."""
    if not isinstance(documents, GroupedText):
        raise plugin.BackendError(
            "parity is between languages, but the training text has no groups; give a corpus with a group for each "
            "language, or a mapping of languages to texts"
        )
    for language, text in documents.grouped():
        digest.add(text)
        yield language, text


def train_with_parity(
    documents: Iterable[tuple[str, str]],
    vocab_size: int,
    pattern: str | None,
    parity: ParityTraining,
    progress: plugin.TrainProgress = plugin.silent,
    **settings: Unpack[TrainSettings],
) -> list[Pair]:
    """Train parity-aware byte-level BPE; all text is held in memory.

    >>> text = [("en", "low low low"), ("xx", "zz")]
    >>> train_with_parity(text, 257, "gpt2", ParityTraining("documents"))
    [(108, 111)]
    >>> train_with_parity(text, 257, "gpt2", ParityTraining("documents", dev={"en": ["low"], "xx": ["zz" * 9]}))
    [(122, 122)]
    """
    held = list(documents)
    texts = _by_language(held)
    if parity.dev is None:
        _units(texts, parity.unit)
    plain = min(FIRST_MERGE + parity.rule.global_merges, vocab_size)
    given = train([text for _, text in held], plain, pattern, plugin.silent, **settings)
    del held
    counted = {language: _count(of_language, pattern) for language, of_language in texts.items()}
    languages = with_units(counted, pattern, parity)
    return train_parity(languages, vocab_size, parity.rule, given, settings.get("tie", "first"), progress)


def with_units(
    training: Mapping[str, CountedChunks], pattern: str | None, parity: ParityTraining
) -> list[LanguageText]:
    """Return counted languages with their units; the documents of translations are equally many, and so count as one.

    >>> [text.units for text in with_units({"en": [(b"low", 2)], "xx": [(b"z", 1)]}, "gpt2", ParityTraining("bytes"))]
    [6, 1]
    """
    if parity.dev is not None:
        apart = _matching(parity.dev, training)
        units = _units(apart, parity.unit)
        return [LanguageText(training[name], units[name], _count(apart[name], pattern)) for name in training]
    by_bytes = parity.unit == "bytes"
    return [
        LanguageText(chunks, sum(len(chunk) * times for chunk, times in chunks) if by_bytes else 1)
        for chunks in training.values()
    ]


def _count(texts: Iterable[str], pattern: str | None) -> CountedChunks:
    return [(chunk.encode(), times) for chunk, times in count_chunks(texts, pattern).items()]


def _by_language(documents: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for language, text in documents:
        texts.setdefault(language, []).append(text)
    if len(texts) < 2:  # noqa: PLR2004 - parity is between two
        raise plugin.BackendError(
            f"parity is between languages, but the training text has {len(texts)}; give a corpus with a group for "
            "each language, or a mapping of languages to texts"
        )
    return texts


def _matching(dev: Texts, texts: Mapping[str, object]) -> Texts:
    for language in sorted(texts.keys() ^ dev.keys()):
        has, lacks = ("the training text", "dev") if language in texts else ("dev", "the training text")
        raise plugin.BackendError(f"{has} has the language {language!r}, and {lacks} does not; both must have the same")
    return {language: dev[language] for language in texts}


def _units(texts: Texts, unit: Unit) -> dict[str, int]:
    if empty := next((language for language, documents in texts.items() if not any(documents)), None):
        raise plugin.BackendError(f"the text of language {empty!r} on which parity is measured is empty")
    if unit == "bytes":
        return {
            language: sum(len(plugin.valid_unicode(text).encode()) for text in documents)
            for language, documents in texts.items()
        }
    numbers = {language: len(documents) for language, documents in texts.items()}
    if len(set(numbers.values())) > 1:
        usual = Counter(numbers.values()).most_common(1)[0][0]
        odd = next(language for language, number in numbers.items() if number != usual)
        other = next((language for language, number in numbers.items() if number == usual), odd)
        raise plugin.BackendError(
            f"unit: documents needs translations, but language {odd!r} has {numbers[odd]:,} documents and {other!r} "
            f"has {numbers[other]:,}; write unit: bytes, or give a parallel text as dev"
        )
    return numbers
