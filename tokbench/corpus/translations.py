"""Tells whether the languages of a corpus are translations, document by document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from tokbench.corpus.contract import Document
from tokbench.corpus.languages import is_language, language_names, reference_language

_NAMED: Final = 3
_FEWEST: Final = 10
_LEAST_CORRELATION: Final = 0.3
"""Of the logarithms of lengths, from ten documents on: translations have .7 to .9, other texts nearly 0."""


class Translations(NamedTuple):
    """The languages of a corpus, and whether they are translations.

    Attributes:
        reference: the language that others are compared with; empty if they are no translations.
        documents: in each language.
        reason: why they are no translations.
    """

    languages: Sequence[str]
    reference: str = ""
    documents: int = 0
    reason: str = ""


def find_translations(documents: Iterable[Document], unit: str = "document") -> Translations:
    """Compare the languages of a corpus; groups that are no languages do not matter.

    Translations have the same keys in the same order in each of at least two languages, which a parallel corpus needs
    anyway: where lines are documents, the same numbers of lines, with the same ones empty. That may be chance, as with
    a thousand sentences of each language; so long documents must have long translations.

    >>> lines = {"en": ["egg", "a white egg"], "de": ["Ei", "ein weißes Ei"], "README": ["x"]}
    >>> rows = [Document(text, group, str(k), group) for group, texts in lines.items() for k, text in enumerate(texts)]
    >>> find_translations(rows)
    Translations(languages=['en', 'de'], reference='en', documents=2, reason='')
    >>> find_translations([*rows[:3], *rows[4:]], "line").reason
    'the languages have 1 to 2 lines'
    """
    keys: dict[str, list[str]] = {}
    sizes: dict[str, list[int]] = {}
    for document in documents:
        keys.setdefault(document.group, []).append(document.parallel_key or document.key)
        sizes.setdefault(document.group, []).append(len(document.text.encode()))
    named = language_names(keys)  # knows more codes, if most groups are such
    languages = [group for group in keys if is_language(group) or group in named]
    if len(languages) < 2:  # noqa: PLR2004 - nothing to compare
        return Translations(languages)
    reference = reference_language(languages)
    count = len(keys[reference])
    keys = {group: keys[group] for group in languages}
    reason = _different_keys(keys, reference, unit) or _different_lengths(sizes, [reference, *languages], unit)
    return Translations(languages, "" if reason or count < 2 else reference, count, reason)  # noqa: PLR2004 - chance


def _different_keys(keys: Mapping[str, Sequence[str]], reference: str, unit: str) -> str:
    counts = Counter(map(len, keys.values()))
    if len(counts) > 1:
        (most, often), *_ = counts.most_common()
        others = [f"{language} has {len(own):,}" for language, own in keys.items() if len(own) != most]
        if often > 1 and len(others) <= _NAMED:
            return f"{often} of {len(keys)} languages have {most:,} {unit}s, {' and '.join(others)}"
        return f"the languages have {min(counts):,} to {max(counts):,} {unit}s"
    for language, own in keys.items():
        for one, other in zip(keys[reference], own, strict=True):
            if one != other:
                return f"{reference} has {unit} {one} where {language} has {unit} {other}"
    return ""


def _different_lengths(sizes: Mapping[str, Sequence[int]], languages: Sequence[str], unit: str) -> str:
    reference, *others = languages
    one = np.log1p(sizes[reference])
    for language in others if len(one) >= _FEWEST else ():
        with np.errstate(invalid="ignore"):  # NaN, where all have one length, is no evidence
            correlation = np.corrcoef(one, np.log1p(sizes[language]))[0, 1]
        if correlation < _LEAST_CORRELATION:
            return f"long {unit}s of {reference} are not long in {language}"
    return ""
