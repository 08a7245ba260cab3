"""The source ``cldr_names``: names of languages, countries and currencies in 300 languages, from Babel's wheel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokbench.plugin import CorpusSpec, Document, InputError
from tokbench_research.sources.aligned import INSTALL, AlignedOptions, aligned

_KINDS: Final = ("languages", "territories", "currencies")


class CldrSource:
    """A document for each name and language."""

    licence = "Unicode-3.0"

    def __init__(self, options: AlignedOptions) -> None:
        self._options = options
        try:
            import babel  # noqa: F401
        except ImportError as error:
            raise InputError(f"the source 'cldr_names' reads Babel's wheel: {INSTALL}") from error

    def documents(self) -> Iterator[Document]:
        from babel import Locale, localedata

        wanted = self._options.locales or [name for name in localedata.locale_identifiers() if "_" not in name]
        texts = {name: self._names(Locale.parse(name)) for name in wanted if localedata.exists(name)}
        yield from aligned(texts, self._options, "cldr")

    def _names(self, locale: object) -> dict[str, str]:
        """Return the names by kind and code, without names that are codes."""
        return {
            f"{kind}/{code}": name
            for kind in _KINDS
            for code, name in getattr(locale, kind).items()
            if isinstance(name, str) and name != code
        }


SPEC: Final = CorpusSpec(
    name="cldr_names",
    summary="names of languages, countries and currencies in up to 300 languages, from Babel's wheel",
    open=CldrSource,
    options=AlignedOptions,
)
