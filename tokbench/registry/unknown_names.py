"""What to say of a name that no backend knows: closed, without its organisation, of another version, or misspelled."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tokbench.foundation.errors import close_name

_FAMILIES: Final = Path(__file__).with_name("families.json")
"""By the beginning of the names of models: who does not publish their vocabularies, and who does so on the hub."""

_MODEL: Final = re.compile(
    r"[-_.\d](\d+(\.\d+)?[bm]|[ax]\d+b|base|chat|instruct|it|large|mini|small|v\d+\.\d+)(?![a-z])"
)


def closed(name: str, published: Iterable[str]) -> str:
    """Return that a vocabulary is not published, and by what it can be counted; empty for other names.

    >>> closed("claude-sonnet-4", ["claude-3", "gpt-4"])
    'Anthropic does not publish its vocabulary; others of its family: claude-3'
    >>> closed("clod", [])
    ''
    """
    family, owner = _family(name, "closed")
    if not family:
        return ""
    others = ", ".join(sorted(known for known in published if known.startswith(family)))
    said = f"{owner} does not publish its vocabulary"
    return f"{said}; others of its family: {others}" if others else f"{said}; no tokenizer can be loaded"


def name_on_the_hub(name: str) -> str:
    """Return the name of a model with its organisation; empty if it is not the name of a model.

    >>> name_on_the_hub("Qwen3-8B"), name_on_the_hub("llama-9")
    ('Qwen/Qwen3-8B', '')
    """
    _, owner = _family(name, "organisations")
    return f"{owner}/{name}" if owner and _MODEL.search(name.lower()) else ""


def _family(name: str, kind: str) -> tuple[str, str]:
    families = json.loads(_FAMILIES.read_text(encoding="utf-8"))[kind]
    fitting = [family for family in families if re.match(rf"{family}(?![a-z])", name.lower())]
    family = max(fitting, key=len, default="")
    return family, families.get(family, "")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that is meant, which is never one of another version; empty if there is none.

    >>> nearest("gpt4o", ["gpt-4o"]), nearest("gpt-5", ["gpt-4"]), nearest("lama-3", ["llama-2", "llama-3"])
    ('gpt-4o', '', 'llama-3')
    """
    version = re.findall(r"\d+", name)
    return close_name(name, [one for one in known if re.findall(r"\d+", one)[: len(version)] == version])
