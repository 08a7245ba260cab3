"""The source ``django_messages``: Django's messages, from its wheel, in 98 languages.

They are short, have placeholders such as ``%(name)s``, and are translated by hand. Messages with plural forms are left
out.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tokbench.plugin import CorpusSpec, Document, InputError
from tokbench_research.sources.aligned import INSTALL, AlignedOptions, aligned

_MAGIC: Final = 0x950412DE
_ENGLISH: Final = "en"
_CONTEXT: Final = "\x04"
_PLURAL: Final = "\0"


def read_catalogue(data: bytes) -> dict[str, str]:
    """Return the messages of a ``.mo`` file (*The Format of GNU MO Files*, GNU gettext manual) with their translations.

    Raises:
        ValueError: it is not such a file.
    """
    if len(data) < 20 or struct.unpack_from("<I", data)[0] != _MAGIC:  # noqa: PLR2004 - the size of the header
        raise ValueError("not a .mo file of little-endian byte order")
    count, originals, translations = struct.unpack_from("<3I", data, 8)

    def entry(table: int, k: int) -> str:
        length, start = struct.unpack_from("<2I", data, table + 8 * k)
        return data[start : start + length].decode()

    return {entry(originals, k): entry(translations, k) for k in range(count)}


class DjangoSource:
    """A document for each message and language; English is the programmers' text."""

    licence = "BSD-3-Clause"

    def __init__(self, options: AlignedOptions) -> None:
        self._options = options
        spec = find_spec("django")
        if spec is None or not spec.submodule_search_locations:
            raise InputError(f"the source 'django_messages' reads Django's wheel: {INSTALL}")
        self._root = Path(spec.submodule_search_locations[0])

    def documents(self) -> Iterator[Document]:
        texts: dict[str, dict[str, str]] = defaultdict(dict)
        for path in sorted(self._root.glob("**/locale/*/LC_MESSAGES/*.mo")):
            part = path.relative_to(self._root)
            for message, translation in read_catalogue(path.read_bytes()).items():
                if message and translation and _PLURAL not in message:
                    key = f"{'/'.join(part.parts[:-4])}/{part.stem}/{message.replace(_CONTEXT, '|')}"
                    texts[part.parts[-3]][key] = translation
                    texts[_ENGLISH][key] = message.rpartition(_CONTEXT)[2]
        yield from aligned(texts, self._options, "django")


SPEC: Final = CorpusSpec(
    name="django_messages",
    summary="messages of Django in up to 98 languages, translations of one another, from its wheel",
    open=DjangoSource,
    options=AlignedOptions,
)
