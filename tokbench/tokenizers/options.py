"""The base class of all options, and types of options that name something."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationInfo

GivenOptions = dict[str, Any]
"""Unchecked options."""


class Options(BaseModel):
    """Base of every options class: it refuses unknown keys, checks values, and is frozen. Each field is one key."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", frozen=True, protected_namespaces=(), defer_build=True
    )


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def _expand(match: re.Match[str]) -> str:
    value = os.environ.get(match[1])
    if not value:
        raise ValueError(f"the environment variable {match[1]} is not set; set it with: export {match[1]}=...")
    return value


def _resolve(value: Any, info: ValidationInfo) -> Any:
    if not isinstance(value, str):
        return value
    context = info.context or {}
    base = context.get("bases", {}).get(info.field_name) or context.get("base", Path())
    # A string again: strict validation takes a path from a string only.
    return str(local_path(value, base))


def local_path(text: str, base: Path) -> Path:
    """Resolve a text relative to a folder, with environment variables and ``~``.

    Raises:
        ValueError: an environment variable is not set.

    >>> local_path("a/b.txt", Path("texts")).as_posix()
    'texts/a/b.txt'
    """
    return Path(base, Path(_VARIABLE.sub(_expand, text)).expanduser())


LocalPath = Annotated[Path, BeforeValidator(_resolve)]
"""A path relative to the folder of its configuration file; ``${NAME}`` is an environment variable."""


def _resolve_unless_address(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, str) and _ADDRESS.match(value):
        return _VARIABLE.sub(_expand, value)
    return _resolve(value, info)


def _path_or_address(value: Path | str) -> Path | str:
    return value if isinstance(value, str) and _ADDRESS.match(value) else Path(value)


_ADDRESS = re.compile(r"[a-z][a-z0-9+]*://")

FilesPath = Annotated[str | Path, BeforeValidator(_resolve_unless_address), AfterValidator(_path_or_address)]
"""A :data:`LocalPath`, or an address of files elsewhere, such as ``s3://bucket/*.txt``."""


@dataclass(frozen=True)
class _NameOf:
    kind: Literal["tokenizer", "corpus", "group"]


TokenizerName = Annotated[str, _NameOf("tokenizer")]
"""A tokenizer of the configuration; an unknown name is refused with its place."""

CorpusName = Annotated[str, _NameOf("corpus")]
"""A corpus of the configuration."""

GroupName = Annotated[str, _NameOf("group")]
"""A group of some corpus of the configuration."""


def names_in(options: Options) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield kind, name and path of every option that names something.

    >>> class Example(Options):
    ...     reference: TokenizerName
    ...     corpora: tuple[CorpusName, ...] = ()
    ...     units: dict[GroupName, str] = {}
    >>> for name in names_in(Example(reference="gpt2", corpora=("en",), units={"ko": "uax29"})):
    ...     print(name)
    ('tokenizer', 'gpt2', ('reference',))
    ('corpus', 'en', ('corpora',))
    ('group', 'ko', ('units', 'ko'))
    """
    for name, field in type(options).model_fields.items():
        # pydantic splits the outermost annotation into the type and its field.
        declared = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
        yield from _names(declared, getattr(options, name), (name,))


def _names(declared: Any, value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    marks = [mark for mark in getattr(declared, "__metadata__", ()) if isinstance(mark, _NameOf)]
    if marks and isinstance(value, str):
        if value:
            yield marks[0].kind, value, path
    elif isinstance(value, Mapping):
        of_key, of_value = (*get_args(declared), Any, Any)[:2]
        for key, inner in value.items():
            yield from _names(of_key, key, (*path, str(key)))
            yield from _names(of_value, inner, (*path, str(key)))
    elif isinstance(value, list | tuple):
        of_item = next(iter(get_args(declared)), Any)
        for item in value:
            yield from _names(of_item, item, path)
    elif get_origin(declared) is not None and value is not None:  # one of several types: X | None
        for choice in get_args(declared):
            yield from _names(choice, value, path)
