"""Says in plain words what is wrong with a value, for every pydantic error."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from tokbench.foundation.errors import close_name

_TEXT: Final = "must be text"
_WHOLE: Final = "must be a whole number"
_NUMBER: Final = "must be a number"
_LIST: Final = "must be a list"
_MAPPING: Final = "must be a mapping of keys to values"
_MUST_BE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("string_type", "string_unicode", "path_type"), _TEXT),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), _WHOLE),
    "int_parsing_size": "must be a whole number of fewer digits",
    **dict.fromkeys(("float_type", "float_parsing"), _NUMBER),
    "finite_number": "must be a finite number",
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type"), _LIST),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"), _MAPPING),
    **dict.fromkeys(("none_required", "missing_sentinel_error"), "must be left out"),
}
"""By kind of error; pydantic has words for the others."""

_LONGEST: Final = 40


def wrong_value(error: Mapping[str, Any]) -> str:
    r"""Return what a value must be, what it is, and the fix.

    Args:
        error: one of the errors of a pydantic ValidationError, with ``type``, ``msg``, ``ctx`` and ``input``.

    >>> wrong_value({"type": "int_type", "input": "big"})
    'must be a whole number, but is "big"'
    >>> error = {"type": "literal_error", "msg": "Input should be 'line' or 'file'", "input": "lime"}
    >>> wrong_value({**error, "ctx": {"expected": "'line' or 'file'"}})
    'must be \'line\' or \'file\', but is "lime"; did you mean \'line\'?'
    """
    kind, context, given = error["type"], error.get("ctx", {}), error["input"]
    if kind in {"value_error", "assertion_error"}:  # words of tokbench or a plugin
        return " ".join(str(context.get("error", "")).split()) or "is not allowed here"
    if kind in {"too_short", "string_too_short"} and context.get("min_length") == 1:
        return "must not be empty"
    begin = _MUST_BE.get(kind) or re.sub(r"^(Input|\w+) should ", "must ", error["msg"])
    return f"{begin}, but is {_shown(given)}{_remedy(begin, context, given)}"


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _remedy(begin: str, context: Mapping[str, Any], given: Any) -> str:
    """Return what to write instead."""
    simple = isinstance(given, str | int | float)
    if begin == _TEXT and simple:
        return f'; write it in quotes: "{_shown(given)}"'
    if begin == _LIST and simple:
        return f"; write it in brackets: [{_shown(given)}]"
    if begin in {_WHOLE, _NUMBER} and isinstance(given, str) and re.fullmatch(r"[-+]?\d+(\.\d+)?", given):
        return "; write it without quotes"
    if "expected" in context and isinstance(given, str):
        known = re.findall(r"'([^']*)'", str(context["expected"]))
        close = close_name(given, known)
        return f"; did you mean {close!r}?" if close else ""
    return ""
