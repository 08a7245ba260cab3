"""The contract of a report format: what a plugin registers for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokbench.results.model import Results


@dataclass(frozen=True, kw_only=True)
class ReporterSpec:
    """The description of a report format, which a plugin registers."""

    name: str
    """The word under ``report: formats:`` in a configuration."""
    summary: str
    """One line for ``tokbench list``."""
    filename: str
    """The name of the file in the folder of the run."""
    render: Callable[[Results], str | bytes]
    """``render(results)`` returns the text of the file, or its bytes if it is not text. It is a pure function and
    measures nothing."""
    needs: str = ""
    """A metric family or a study. A run with it writes the file, named or not; without it the format is refused. Empty
    for a format of any run, which is written where it is named."""
    requires: tuple[str, ...] = ()
    """Distributions that it needs; a run with the format is refused without them."""
    install: str = ""
    """The command that installs them; default: ``pip install`` with their names."""

    def content(self, results: Results) -> bytes:
        r"""Return the content of the file; text is UTF-8, and halves of surrogate pairs are written out.

        >>> spec = ReporterSpec(name="n", summary="s", filename="n.txt", render=lambda results: "na\u00efve \ud800")
        >>> spec.content(None)
        b'na\xc3\xafve \\ud800'
        """
        rendered = self.render(results)
        return rendered if isinstance(rendered, bytes) else rendered.encode("utf-8", "backslashreplace")
