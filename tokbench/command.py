"""What a command of a package is made of: the options and output of all others, and the texts that users name.

>>> [*texts_by_group("sample")][:3]
['am', 'ar', 'bn']
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tokbench.terminal.number_table import print_numbers
from tokbench.terminal.options import TOKENIZER, common_options, examples, json_option, print_json, say

__all__ = [
    "TOKENIZER",
    "common_options",
    "examples",
    "json_option",
    "local_names",
    "print_json",
    "print_numbers",
    "say",
    "texts_by_group",
]

_SAMPLE: Final = "sample"


def local_names() -> list[str]:
    """Return the published names of tokenizers that need no network and no further package.

    >>> "gpt-4o" in local_names()
    True
    """
    from tokbench.registry import local_names as names
    from tokbench.registry.plugins import load_registry

    return names.local_names(load_registry()).usable


def texts_by_group(where: str) -> dict[str, list[str]]:
    """Return the documents of a file, a folder or a glob pattern by language and programming language.

    Prose has a document in each line, a row is one, and so is a file of code. ``sample`` is the text that ships with
    tokbench. Raises InputError if there is no text.
    """
    from tokbench.terminal.folder_texts import corpora_of, entry, opened, read_texts

    if where == _SAMPLE:
        sources = [opened(_SAMPLE, {"part": "all"})]
    else:
        texts = read_texts(where)
        entries = [entry(corpus, texts, Path(), holdout=0.0) for corpus in corpora_of(texts).values()]
        sources = [opened(str(keys.pop("source")), keys) for keys in entries]
    groups: dict[str, list[str]] = {}
    for source in sources:
        for document in source.documents():
            groups.setdefault(document.group, []).append(document.text)
    return groups
