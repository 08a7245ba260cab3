"""What to say of a name that no backend knows: closed, without its organisation, of another version, or misspelled."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from tokbench.foundation.errors import close_name

_CLOSED: Final = {"claude": "Anthropic", "gemini": "Google", "grok": "xAI", "nova": "Amazon", "palm": "Google"}
"""Families whose vocabularies are not published, by the beginning of their names."""

_ORGANISATIONS: Final = {
    **dict.fromkeys(("bert", "electra"), "google-bert"),
    **dict.fromkeys(("gemma", "t5", "mt5", "byt5", "flan"), "google"),
    **dict.fromkeys(("gpt-oss", "whisper"), "openai"),
    **dict.fromkeys(("llama", "meta-llama", "codellama"), "meta-llama"),
    **dict.fromkeys(("mistral", "mixtral", "ministral", "codestral", "devstral"), "mistralai"),
    **dict.fromkeys(("pythia", "gpt-neo", "gpt-j"), "EleutherAI"),
    **dict.fromkeys(("roberta", "xlm-roberta"), "FacebookAI"),
    "bloom": "bigscience",
    "command": "CohereLabs",
    "deepseek": "deepseek-ai",
    "falcon": "tiiuae",
    "glm": "zai-org",
    "granite": "ibm-granite",
    "kimi": "moonshotai",
    "minimax": "MiniMaxAI",
    "nemotron": "nvidia",
    "olmo": "allenai",
    "phi": "microsoft",
    "qwen": "Qwen",
    "qwq": "Qwen",
    "smollm": "HuggingFaceTB",
    "starcoder": "bigcode",
    "yi": "01-ai",
}
"""Who publishes on the hub, by the beginning of the names of models."""

_MODEL: Final = re.compile(
    r"[-_.\d](\d+(\.\d+)?[bm]|[ax]\d+b|base|chat|instruct|it|large|mini|small|v\d+\.\d+)(?![a-z])"
)


def closed(name: str, published: Iterable[str]) -> str:
    """Return that a vocabulary is not published, and by what it can be counted; empty for other names.

    >>> closed("claude-sonnet-4", ["claude-3", "gpt-4"])
    'Anthropic does not publish the vocabulary of claude-sonnet-4; others of its family: claude-3'
    >>> closed("clod", [])
    ''
    """
    family = next((family for family in _CLOSED if re.match(rf"{family}(?![a-z])", name.lower())), "")
    if not family:
        return ""
    others = ", ".join(sorted(known for known in published if known.startswith(family)))
    said = f"{_CLOSED[family]} does not publish the vocabulary of {name}"
    return f"{said}; others of its family: {others}" if others else f"{said}; no tokenizer can be loaded"


def name_on_the_hub(name: str) -> str:
    """Return the name of a model with its organisation; empty if it is not the name of a model.

    >>> name_on_the_hub("Qwen3-8B"), name_on_the_hub("llama-9")
    ('Qwen/Qwen3-8B', '')
    """
    lower = name.lower()
    families = sorted(_ORGANISATIONS, key=len, reverse=True)
    family = next((family for family in families if re.match(rf"{family}(?![a-z])", lower)), "")
    return f"{_ORGANISATIONS[family]}/{name}" if family and _MODEL.search(lower) else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that is meant, which is never one of another version; empty if there is none.

    >>> nearest("gpt4o", ["gpt-4o"]), nearest("gpt-5", ["gpt-4"]), nearest("lama-3", ["llama-2", "llama-3"])
    ('gpt-4o', '', 'llama-3')
    """
    version = re.findall(r"\d+", name)
    return close_name(name, [one for one in known if re.findall(r"\d+", one)[: len(version)] == version])
