"""The special tokens of a model by their roles, from the files in the folder of its tokenizer.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tokbench.plugin import InputError, TextError, Tokenizer, decode_utf8, parse_json, read_file

_FILES: Final = ("config.json", "generation_config.json")
_NAMES: Final = "tokenizer_config.json"
_ROLES: Final = ("bos", "eos", "pad", "unk", "sep", "cls", "mask")


@dataclass(frozen=True)
class Roles:
    """The ids of roles by what says so, and what does not fit together."""

    ids: Mapping[str, Mapping[str, tuple[int, ...]]]
    """By file and role."""
    faults: tuple[str, ...] = ()

    def of(self, role: str) -> tuple[int, ...]:
        """Return the ids of a role in the first file that has it."""
        return next((roles[role] for roles in self.ids.values() if role in roles), ())


def read_roles(name: str, tokenizer: Tokenizer) -> Roles:
    """Return the roles that the files next to a tokenizer give; none for a name.

    >>> import tokbench
    >>> read_roles("utf8_bytes", tokbench.load("utf8_bytes"))
    Roles(ids={}, faults=())
    """
    path = Path(name)
    folder = path if path.is_dir() else path.parent if path.is_file() else None
    if folder is None:
        return Roles({})
    special: Mapping[str, int] = getattr(tokenizer, "special_ids", {})
    ids, faults = _said(folder, special)
    for file in _FILES:
        content = _read(folder / file)
        size = content.get("vocab_size")
        if isinstance(size, int) and size < tokenizer.vocab_size:
            faults.append(f"{file}: vocab_size is {size:,}, but the tokenizer has {tokenizer.vocab_size:,} ids")
    names = {token_id: text for text, token_id in special.items()}
    for file, roles in ids.items():
        for role, some in roles.items():
            outside = [token_id for token_id in some if not 0 <= token_id < tokenizer.vocab_size]
            faults += [f"{file}: {role} is id {token_id}, which the tokenizer does not have" for token_id in outside]
            said = ids.get(_NAMES, {}).get(role)
            if said and not {*said} & {*some}:
                shown = ", ".join(f"{token_id} {names.get(token_id, '')}".strip() for token_id in some)
                faults.append(f"{file}: {role} is {shown}; {_NAMES}: {said[0]} {names[said[0]]}")
    return Roles(ids, tuple(faults))


def _said(folder: Path, special: Mapping[str, int]) -> tuple[dict[str, dict[str, tuple[int, ...]]], list[str]]:
    ids: dict[str, dict[str, tuple[int, ...]]] = {}
    faults = []
    for role, token in _roles(_read(folder / _NAMES), "_token").items():
        text = token.get("content") if isinstance(token, dict) else token
        if isinstance(text, str) and text in special:
            ids.setdefault(_NAMES, {})[role] = (special[text],)
        elif text and role != "unk":
            faults.append(f"{_NAMES}: {role} is {text!r}, which is not a special token of the tokenizer")
    for file in _FILES:
        for role, value in _roles(_read(folder / file), "_token_id").items():
            ids.setdefault(file, {})[role] = tuple(value) if isinstance(value, list) else (value,)
    return ids, faults


def _roles(content: Mapping[str, Any], end: str) -> dict[str, Any]:
    return {role: content[f"{role}{end}"] for role in _ROLES if content.get(f"{role}{end}") is not None}


def _read(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = parse_json(decode_utf8(read_file(path, text=True)))
    except TextError as error:
        raise InputError(f"{error.at(path)}; correct the file") from error
    return content if isinstance(content, dict) else {}
