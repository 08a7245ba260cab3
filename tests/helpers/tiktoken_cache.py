"""The folder of tiktoken's files: tests get links to those that are there, and write into a folder of their own."""

import os
import tempfile
from pathlib import Path

VARIABLE = "TIKTOKEN_CACHE_DIR" if "TIKTOKEN_CACHE_DIR" in os.environ else "DATA_GYM_CACHE_DIR"
"""The variable that names the folder; without the first one, tests of published files are left out."""

GIVEN = Path(os.environ.get(VARIABLE) or Path(tempfile.gettempdir(), "data-gym-cache")).resolve()
"""The folder that tiktoken would use."""


def listing(folder):
    """Return the names, sizes and times of the files of a folder, which may not be there."""
    files = [(path, path.lstat()) for path in sorted(folder.glob("*"))]
    return [(path.name, facts.st_size, facts.st_mtime_ns) for path, facts in files]


def link_files(folder):
    """Let a folder have links to all files of the given one, and nothing else."""
    given = {path.name: path.resolve() for path in GIVEN.glob("*")}
    for path in folder.glob("*"):
        if not path.is_symlink() or path.resolve() != given.pop(path.name, None):
            path.unlink()
    for name, path in given.items():
        (folder / name).symlink_to(path)
