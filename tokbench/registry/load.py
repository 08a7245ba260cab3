"""From what names a tokenizer to the tokenizer."""

from __future__ import annotations

from typing import Any

from tokbench.config.validate import validate_options
from tokbench.foundation.errors import BackendUnavailable, InputError
from tokbench.registry.plugins import load_registry, missing
from tokbench.registry.python_objects import of_object
from tokbench.registry.tokenizer_names import Grammar
from tokbench.tokenizers.contract import Tokenizer


def load(tokenizer: Any, /, **options: Any) -> Tokenizer:
    """Load one tokenizer.

    Args:
        tokenizer: a published name such as ``gpt-4o``, ``backend:value``, the name of a backend, or a file
            (``tokenizer.json``, ``.tiktoken``, ``.model``); or a tokenizer object of ``tokenizers``, ``transformers``,
            ``tiktoken`` or ``sentencepiece``; or a tokenizer of tokbench, which is returned as it is.
        **options: further options of the backend.

    Raises:
        InputError: no such tokenizer or option.
        BackendUnavailable: the backend cannot be used here.
        BackendError: the tokenizer cannot be loaded.

    >>> load("utf16_units").encode("né")
    [110, 233]
    """
    registry = load_registry()
    name = tokenizer if isinstance(tokenizer, str) else type(tokenizer).__name__
    resolved = Grammar(registry).resolve(name) if name is tokenizer else of_object(tokenizer, registry)
    if resolved is None and isinstance(tokenizer, Tokenizer) and not options:
        return tokenizer
    if resolved is None:
        raise InputError(f"{name} is not a tokenizer that a backend knows; give a name, or a file as text")
    backend, given = resolved.with_options(options, name)
    spec = registry.backends.get(backend)
    if spec.load is None:
        raise InputError(f"backend {backend!r} cannot be loaded, only trained")
    if absent := missing(spec):
        raise BackendUnavailable(absent)
    return spec.load(validate_options(spec.load_options, given, name))
