"""Keeps compiled templates from run to run: to compile those of a report takes longer than to render it."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import jinja2
import platformdirs
from jinja2.bccache import Bucket

_RENDERED_BY: Final = ("pages.py", "escaping.py")
"""The files whose functions jinja2 calls already while it compiles, where a template has a constant."""


class TemplateCache(jinja2.FileSystemBytecodeCache):
    """A folder of compiled templates, each with a hash of its source and of what compiled it.

    Runs may share the folder. What is missing, damaged or of another version is compiled again, and a folder that
    cannot be written costs nothing but that time.

    Args:
        folder: it is made when it is not there; by default one in the platform's place for caches, beside the store.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = TemplateCache(Path(folder, "templates"))
    ...     loader = jinja2.DictLoader({"page": "Hello {{ name }}"})
    ...     page = jinja2.Environment(autoescape=True, loader=loader, bytecode_cache=cache).get_template("page")
    ...     page.render(name="you"), len(list(Path(folder, "templates").iterdir()))
    ('Hello you', 1)
    """

    def __init__(self, folder: Path | None = None) -> None:
        if folder is None:
            folder = Path(platformdirs.user_cache_dir("tokbench", appauthor=False), "templates")
        super().__init__(str(folder), "%s.template")

    def get_source_checksum(self, source: str) -> str:
        """Return a hash of a template and of what compiles it."""
        return hashlib.sha256(f"{_compiler()}\n{source}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read a compiled template, if it is there and sound."""
        try:
            super().load_bytecode(bucket)
        except Exception:  # noqa: BLE001 - the bytes of a damaged file may be anything
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template, if the folder can be written."""
        with suppress(OSError):
            Path(self.directory).mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)


@cache
def _compiler() -> str:
    """Return the version of jinja2, and a hash of the code that it calls while it compiles."""
    files = b"".join(Path(__file__).with_name(name).read_bytes() for name in _RENDERED_BY)
    return f"jinja2 {jinja2.__version__} {hashlib.sha256(files).hexdigest()}"
