"""The source ``kit``: the texts of the kits that ship, which notice wrong versions of tokenizers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pydantic import Field

from tokbench.plugin import CorpusSpec, Document, InputError, Options, did_you_mean
from tokbench_identity.kit import kit_of, shipped_names


class KitOptions(Options):
    """Options of ``source: kit``."""

    of: str = Field(default="", description="the published name whose texts are read; empty for the texts of all kits")


class KitSource:
    """The texts, a group for each kit."""

    licence = "CC0-1.0"

    def __init__(self, options: KitOptions) -> None:
        names = shipped_names()
        if options.of and options.of not in names:
            raise InputError(f"no kit of {options.of!r} ships; {did_you_mean(options.of, names)}")
        self._names = [options.of] if options.of else names

    def documents(self) -> Iterator[Document]:
        """Yield each text once."""
        seen = set[str]()
        for name in self._names:
            for number, (text, *_) in enumerate(kit_of(name).texts, 1):
                if text not in seen:
                    seen.add(text)
                    yield Document(text, name, f"{number}", f"kit of {name}:{number}")


SPEC: Final = CorpusSpec(
    name="kit", summary="texts that notice wrong versions of published tokenizers", open=KitSource, options=KitOptions
)
