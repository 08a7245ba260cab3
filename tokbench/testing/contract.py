"""The sentences of the contract, read from :mod:`tokbench.contracts.tokenizer`; every rule quotes one."""

from __future__ import annotations

import re
from typing import Final

from tokbench.contracts import tokenizer as protocol


def _read(docstring: str) -> dict[int, str]:
    r"""Return the numbered sentences of a docstring, each on one line.

    >>> _read("A title.\n\n1. One\n   thing.\n2. Another.\n\nThe end.")
    {1: 'One thing.', 2: 'Another.'}
    """
    found = re.finditer(r"^(\d+)\. (.+(?:\n +\S.*)*)", docstring, re.MULTILINE)
    return {int(match[1]): " ".join(match[2].split()).replace("``", "`") for match in found}


SENTENCES: Final = _read(protocol.__doc__ or "")
"""By number, as they stand in the docstring; none where Python leaves docstrings out (``-OO``)."""
