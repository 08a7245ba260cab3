"""Reading of files with the reason in the error, and atomic writing."""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from tokbench.foundation.errors import BackendError, NotWritten

UNFINISHED: Final = ".tmp"

_OF_PROCESS: Final = re.compile(rf"\.(\d+)-\w+{re.escape(UNFINISHED)}")


def unfinished_prefix(path: Path) -> str:
    """Return the beginning of the temporary name; random characters follow."""
    return f".{path.name}.{os.getpid()}-"


def remove_unfinished(folder: Path) -> None:
    """Delete the temporary files of killed processes of this machine."""
    for path in folder.glob(f".*{UNFINISHED}"):
        match = _OF_PROCESS.search(path.name)
        if match and not _is_alive(int(match[1])):
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Yield the name of a file to write, which then replaces ``path``: no reader, kill or full disk leaves half of it.

    A link stays one. The folder must exist.

    Raises:
        NotWritten: the disk is full, read-only or gone, or ``path`` is no regular file; it names ``path``.

    >>> with writing(Path("/dev/null")) as unfinished:
    ...     pass
    Traceback (most recent call last):
    tokbench.foundation.errors.NotWritten: /dev/null: cannot be written: not a regular file; give the name of a file
    """
    target = Path(os.path.realpath(path))
    # In the same folder, because a rename is atomic only within one file system.
    unfinished = target.with_name(f"{unfinished_prefix(target)}{secrets.token_hex(8)}{UNFINISHED}")
    try:
        with naming(path):
            if target.exists() and not target.is_file() and not target.is_dir():
                raise OSError(errno.EINVAL, "not a regular file")
            yield unfinished
            unfinished.replace(target)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Raise :class:`NotWritten` for an OSError of the block, which names another file or none."""
    try:
        yield
    except OSError as error:
        raise NotWritten(error.errno or 0, error.strerror or str(error), str(path)) from error


def write_atomically(path: Path, data: bytes, *, survive_power_cut: bool = True, mode: int = 0o666) -> None:
    """Replace a file by :func:`writing`.

    Args:
        path: where to.
        data: all of the content.
        survive_power_cut: wait milliseconds for the disk; else a power cut may leave less content.
        mode: permissions, less the umask.

    Raises:
        NotWritten: as :func:`writing`.
    """
    with (
        writing(path) as unfinished,
        open(unfinished, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file,
    ):
        file.write(data)
        file.flush()
        if survive_power_cut:
            os.fsync(file.fileno())  # or a power cut could leave the new name with no content


def open_regular(path: Path) -> io.FileIO:
    """Open a regular file to read; never wait for a pipe, a device or the kernel.

    Raises:
        OSError: unreadable, or not regular; ``strerror`` is the reason.
    """
    return io.FileIO(path, opener=_opened_if_regular)


def _opened_if_regular(name: str, flags: int) -> int:
    """Look at what was opened, without waiting: another process may replace the file in between."""
    descriptor = os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and not os.path.realpath(name).startswith(("/proc/", "/sys/"))):
        return descriptor  # FileIO itself refuses a folder
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file", str(name))


def read_regular(path: Path, most: int | None = None) -> bytes:
    """Read a regular file of at most ``most`` bytes.

    Raises:
        OSError: unreadable, not regular, or larger; ``strerror`` is the reason.

    >>> read_regular(Path("/dev/zero"))
    Traceback (most recent call last):
    OSError: [Errno 22] not a regular file: '/dev/zero'
    """
    with io.BufferedReader(open_regular(path)) as file:
        data = file.read() if most is None else file.read(most + 1)
    if most is not None and len(data) > most:
        raise OSError(errno.EFBIG, f"larger than {most:,} bytes", str(path))
    return data


class Kind(NamedTuple):
    """What is not text, and how to make text of it."""

    name: str
    advice: str


_EXTRACT: Final = "extract the text first"
_UNPACK: Final = "unpack it first"
_SIGNATURES: Final = {
    b"%PDF": Kind("a PDF file", f"{_EXTRACT}, such as with: pdftotext"),
    b"\x89PNG": Kind("a PNG image", _EXTRACT),
    b"\xff\xd8\xff": Kind("a JPEG image", _EXTRACT),
    b"GIF8": Kind("a GIF image", _EXTRACT),
    **dict.fromkeys([b"II*\0", b"MM\0*"], Kind("a TIFF image", _EXTRACT)),
    **dict.fromkeys([b"\xd0\xcf\x11\xe0", b"{\\rtf"], Kind("an office document", _EXTRACT)),
    **dict.fromkeys([b"RIFF", b"ID3", b"OggS", b"fLaC"], Kind("sound, video or an image", _EXTRACT)),
    b"PK\x03\x04": Kind("a ZIP file", _UNPACK),
    b"7z\xbc\xaf": Kind("a 7z file", _UNPACK),
    b"Rar!": Kind("a RAR file", _UNPACK),
    b"\x1f\x8b": Kind("packed with gzip", _UNPACK),
    b"\x28\xb5\x2f\xfd": Kind("packed with Zstandard", _UNPACK),
    b"BZh91AY&SY": Kind("packed with bzip2", _UNPACK),
    b"\xfd7zXZ": Kind("packed with xz", _UNPACK),
    b"PAR1\x15": Kind("a Parquet file", "let a source of such files read it"),
    b"SQLite format 3\0": Kind("a database", "write its texts to a file first"),
    **dict.fromkeys(
        [b"\xff\xfe\0\0", b"\0\0\xfe\xff"],
        Kind("UTF-32 text", "convert it with: iconv -f UTF-32 -t UTF-8, or write encoding: utf-32"),
    ),
    **dict.fromkeys(
        [b"\xff\xfe", b"\xfe\xff"],
        Kind("UTF-16 text", "convert it with: iconv -f UTF-16 -t UTF-8, or write encoding: utf-16"),
    ),
}
_UNMARKED: Final = {
    rb"(?:[^\0]\0\0\0){2}": "utf-32-le",
    rb"(?:\0\0\0[^\0]){2}": "utf-32-be",
    rb"(?:[^\0]\0){4}": "utf-16-le",
    rb"(?:\0[^\0]){4}": "utf-16-be",
}
"""How text begins that has no byte order mark: with ASCII."""
_OFFICE: Final = re.compile(rb"word/|xl/|ppt/|\[Content_Types\]|mimetypeapplication/")
_TAR: Final = slice(257, 262)


def kind_of_bytes(data: bytes) -> Kind | None:
    r"""Return what a file is by its first few thousand bytes, if it is not text; text in any encoding gives ``None``.

    >>> kind_of_bytes(b"\x89PNG rest").advice, kind_of_bytes("déjà vu".encode("latin-1"))
    ('extract the text first', None)
    """
    kind = next((kind for signature, kind in _SIGNATURES.items() if data.startswith(signature)), None)
    if data.startswith(b"PK") and kind and _OFFICE.search(data):
        return _SIGNATURES[b"{\\rtf"]
    name = next((name for form, name in _UNMARKED.items() if re.match(form, data)), "")
    if name and not kind:
        advice = f"convert it with: iconv -f {name.upper()} -t UTF-8, or write encoding: {name}"
        return Kind(f"{name[:6].upper()} text", advice)
    return Kind("a tar file", _UNPACK) if data[_TAR] == b"ustar" else kind


def not_text(data: bytes) -> str:
    """Name a binary format from the first few thousand bytes; empty for text in any encoding.

    >>> not_text(bytes(9)), not_text(b"text")
    ('a binary file (byte 1 is zero)', '')
    """
    if kind := kind_of_bytes(data):
        return kind.name if "text" in kind.name else f"a binary file ({kind.name})"
    zero = data.find(0)
    return f"a binary file (byte {zero + 1:,} is zero)" if zero >= 0 else ""


def read_file(path: Path, *, text: bool = False) -> bytes:
    """Return the bytes of a file; with ``text``, refuse binary ones.

    Raises:
        BackendError: with the file and the reason.

    >>> read_file(Path("nowhere.model"))
    Traceback (most recent call last):
    tokbench.foundation.errors.BackendError: nowhere.model: No such file or directory
    """
    try:
        data = read_regular(path)
    except OSError as error:
        raise BackendError(f"{path}: {error.strerror}") from error
    kind = not_text(data) if text else ""
    if "binary" in kind and not is_utf8(data):
        raise BackendError(f"{path}: {kind}, and not text; is it the right file?")
    return data


def is_utf8(data: bytes) -> bool:
    """Tell whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
