"""Options that choose among files, by ending and by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from tokbench.foundation.errors import InputError, Problem
from tokbench.sources.compressed import plain_name
from tokbench.tokenizers.options import Options


class FileChoice(Options):
    """Options that choose among the files that match a path."""

    endings: tuple[str, ...] = Field(
        default=(), description="endings of the files to take, such as [txt, md]; default: all"
    )
    leave_out: tuple[str, ...] = Field(
        default=(), description="files to leave out: ends of their paths, such as [es/notes.txt, draft*]"
    )

    def chosen(self, paths: Sequence[Path], pattern: Path | str) -> list[Path]:
        """Return the chosen files; ``pattern`` is for the message.

        Raises:
            InputError: none is chosen.
        """
        endings = {ending.lower().removeprefix(".") for ending in self.endings}
        taken = [path for path in paths if not endings or plain_name(path).suffix[1:].lower() in endings]
        taken = [path for path in taken if not any(path.match(part) for part in self.leave_out)]
        if not taken:
            files = f"{len(paths):,} files" if len(paths) > 1 else "1 file"
            msg = f"{files} match {str(pattern)!r}, and 'endings' and 'leave_out' leave none of them"
            raise InputError([Problem("", msg)])
        return taken
