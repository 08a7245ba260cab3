"""The source ``python``: the standard library of the running interpreter."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import Field

from tokbench.corpus.contract import CorpusSpec, Document
from tokbench.foundation.errors import InputError, did_you_mean
from tokbench.tokenizers.options import Options

_NOT_LIBRARY = frozenset({"site-packages", "test", "tests", "idle_test", "__pycache__", "lib2to3"})


class StdlibOptions(Options):
    """Options of ``source: python``."""

    packages: tuple[str, ...] = Field(
        default=(), description="top-level modules and packages to read, such as [json, asyncio]; default: all"
    )
    indentation: bool = Field(
        default=False, description="keep only the indentation of each indented line, with x for the code"
    )


class StdlibSource:
    """A document for each source file, without tests; the group is ``python``."""

    licence = "PSF-2.0"

    def __init__(self, options: StdlibOptions) -> None:
        self._root = Path(sysconfig.get_path("stdlib"))
        known = {path.stem for path in self._root.glob("*.py")}
        known |= {path.parent.name for path in self._root.glob("*/__init__.py")}
        for name in options.packages:
            if name not in known:
                msg = f"the standard library of Python {sys.version.split()[0]} has no {name!r}; "
                raise InputError(msg + did_you_mean(name, known))
        self._packages = frozenset(options.packages)
        self._indentation = options.indentation

    def documents(self) -> Iterator[Document]:
        for path in self._files():
            inside = path.relative_to(self._root)
            text = _source_text(path)
            if self._indentation:
                text = _indentation(text)
            if text:
                yield Document(text, "python", inside.as_posix(), f"{inside.as_posix()}:1")

    def _files(self) -> list[Path]:
        """Return the files, sorted, without folders such as site-packages."""
        paths = []
        for folder, inside, names in os.walk(self._root):
            inside[:] = [name for name in inside if name not in _NOT_LIBRARY]
            sources = [name for name in names if name.endswith(".py")]
            if self._packages and Path(folder) == self._root:
                inside[:] = [name for name in inside if name in self._packages]
                sources = [name for name in sources if name.removesuffix(".py") in self._packages]
            paths += [Path(folder, name) for name in sources]
        return sorted(paths)


def _source_text(path: Path) -> str:
    """Return the text in its declared encoding, with its line ends."""
    data = path.read_bytes()
    with path.open("rb") as file:
        encoding, _ = tokenize.detect_encoding(file.readline)
    return data.decode(encoding)


def _indentation(text: str) -> str:
    """Return the indented lines with x for code, to measure white space."""
    return "".join(f"{space}x\n" for space in re.findall(r"^([ \t]+)\S", text, re.MULTILINE))


SPEC: Final = CorpusSpec(
    name="python",
    summary="the standard library's sources of the running Python",
    open=StdlibSource,
    options=StdlibOptions,
)
