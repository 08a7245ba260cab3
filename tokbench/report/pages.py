"""The environment in which HTML templates are rendered."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Any

from tokbench.foundation.visible_text import visible

if TYPE_CHECKING:
    import jinja2


def html_environment(package: str = "tokbench.report") -> jinja2.Environment:
    """Return an environment for a package's templates, which escapes all text but markup."""
    import jinja2

    return jinja2.Environment(
        # Every template is escaped, whatever its name ends in; script and style hold no text of the run.
        autoescape=True,
        finalize=_finalize,
        keep_trailing_newline=True,
        loader=jinja2.PackageLoader(package),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def _finalize(value: Any) -> Any:
    return value if hasattr(value, "__html__") or not isinstance(value, str) else visible(value)


def packed(markup: str) -> str:
    """Return markup as base64 of zlib, for the page's script."""
    return base64.b64encode(zlib.compress(markup.encode("utf-8", "backslashreplace"), 9)).decode()
