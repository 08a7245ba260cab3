"""The base of all options, and the types by which an option says what it names."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo

__all__ = ["LocalPath", "Options"]


class Options(BaseModel):
    """Base of every options class: unknown keys are refused, values are checked, nothing changes later.

    A field is one key in the configuration file; its type, default and description are what the
    user is told. Paths typed :data:`tokbench.LocalPath` are relative to the configuration file.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def _expand(match: re.Match[str]) -> str:
    value = os.environ.get(match[1])
    if not value:
        msg = f"the environment variable {match[1]} is not set; set it with: export {match[1]}=..."
        raise ValueError(msg)
    return value


def _resolve(value: Any, info: ValidationInfo) -> Any:
    if not isinstance(value, str):
        return value
    base = (info.context or {}).get("base", Path())
    # A string again: strict validation takes a path from a string only.
    return str(Path(base, Path(_VARIABLE.sub(_expand, value)).expanduser()))


LocalPath = Annotated[Path, BeforeValidator(_resolve)]
"""A path relative to the configuration file's folder; ``${NAME}`` is an environment variable."""
