"""Short texts in many languages with shared names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pydantic import Field

from tokbench.plugin import Document, InputError, Options, did_you_mean

INSTALL: Final = "pip install 'tokbench-research[strings]' (in a clone: pip install -e 'plugins/research[strings]')"

_COVERAGE: Final = 0.8
"""Of all texts a language has at least this share."""

Texts = Mapping[str, Mapping[str, str]]


class AlignedOptions(Options):
    """Options of a source of texts in many languages."""

    locales: tuple[str, ...] = Field(
        default=(), description="the languages to read, such as [en, de, pt_BR]; default: all that are complete enough"
    )


def aligned(texts: Texts, options: AlignedOptions, origin: str) -> Iterator[Document]:
    """Yield the texts that all chosen languages have, by language, each in the same order.

    Raises:
        InputError: a language is missing, or the chosen ones have no text in common.

    >>> texts = {"en": {"yes": "Yes", "no": "No"}, "de": {"yes": "Ja"}, "fr": {}}
    >>> [document[:3] for document in aligned(texts, AlignedOptions(locales=("en", "de")), "here")]
    [('Yes', 'en', 'yes'), ('Ja', 'de', 'yes')]
    """
    chosen = options.locales or _complete(texts)
    for name in chosen:
        if name not in texts:
            raise InputError(f"{origin} has no locale {name!r}; {did_you_mean(name, texts)}")
    keys = sorted(set[str]().union(*texts.values()).intersection(*(texts[name] for name in chosen))) if chosen else []
    if not keys:
        these = f"all of {', '.join(chosen)} have" if chosen else "languages of this coverage have"
        raise InputError(f"{origin} has no text that {these}; name fewer locales")
    for name in chosen:
        for key in keys:
            yield Document(texts[name][key], name, key, f"{origin}:{name}")


def _complete(texts: Texts) -> Sequence[str]:
    known = Counter(key for of_language in texts.values() for key in of_language)
    return sorted(name for name, of_language in texts.items() if len(of_language) >= _COVERAGE * len(known))
