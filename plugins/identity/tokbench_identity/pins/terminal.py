"""A checked lock as lines for a terminal, and for the message of a failed test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokbench_identity.pins.check import LockCheck, TokenizerCheck

_BAR: Final = "\u2502"


def lines(checked: LockCheck) -> Iterator[str]:
    """Yield the outcome for every tokenizer of a lock."""
    for tokenizer in checked.tokenizers:
        yield ": ".join([tokenizer.name, *filter(None, ["; ".join(tokenizer.updates)]), _verdict(tokenizer)])
        yield from (f"  {line}" for line in _details(tokenizer))
    for name in checked.not_pinned:
        yield f"{name}: not in the lock; pin again to add it"


def _verdict(tokenizer: TokenizerCheck) -> str:
    documents = f"{tokenizer.texts:,} document{'s' if tokenizer.texts != 1 else ''}"
    if tokenizer.reason:
        return f"not checked: {tokenizer.reason}"
    if tokenizer.changed:
        return f"{len(tokenizer.changed):,} of {documents} {'have' if len(tokenizer.changed) > 1 else 'has'} other ids"
    if tokenizer.same and not tokenizer.updates:
        return f"same ({documents})"
    return f"same ids ({documents})" if tokenizer.same else f"same ids ({documents}), but not the same tokenizer"


def _details(tokenizer: TokenizerCheck) -> Iterator[str]:
    if tokenizer.same or tokenizer.reason:
        return
    yield f"encoded by: {tokenizer.backend} ({', '.join(tokenizer.packages) or 'no package'})"
    if first := tokenizer.first:
        at = "" if first.byte is None else f", byte {first.byte:,}"
        yield f"first: {first.place}{at}"
        yield f"  before: {_tokens(first.before)}"
        yield f"  now:    {_tokens(first.now)}"
    for cause in tokenizer.causes:
        yield f"cause: {cause}"


def _tokens(tokens: tuple[str, ...]) -> str:
    return _BAR.join(token.replace("\n", "\u23ce") for token in tokens) if tokens else "(the lock does not say)"
