"""The limit on the size of a document, which bounds memory."""

from __future__ import annotations

from typing import Final

from tokbench.foundation.errors import InputError, Problem

DOCUMENT_LIMIT: Final = 256 * 10**6
"""Bytes in UTF-8."""


def too_long(where: str, most: int) -> InputError:
    """Return the error about a document that begins at ``where`` and has more than ``most`` bytes.

    >>> print(too_long("a.txt.gz:7", 256 * 10**6))
    a.txt.gz:7: a document of more than 256 MB; cut it into smaller ones, or allow more with 'limits: {document: 512MB}'
    """
    more = f"allow more with 'limits: {{document: {2 * most // 10**6}MB}}'"
    message = f"a document of more than {most // 10**6} MB; cut it into smaller ones, or {more}"
    return InputError([Problem(where, message)])
