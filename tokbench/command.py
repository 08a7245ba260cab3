"""What a command of a package is made of: options and output as those of tokbench, and the texts that users name.

>>> [*texts_by_group("sample")][:3]
['am', 'ar', 'bn']
"""

from __future__ import annotations

import glob
from itertools import chain
from typing import TYPE_CHECKING, Final

from tokbench.terminal.number_table import print_numbers
from tokbench.terminal.options import TOKENIZER, common_options, examples, json_option, print_json, say

if TYPE_CHECKING:
    from tokbench.terminal.folder_texts import FolderCorpus

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
    from tokbench.terminal.folder_texts import corpora_of, opened, read_texts

    if where == _SAMPLE:
        sources = [opened(_SAMPLE, {"part": "all"})]
    else:
        sources = [
            opened(corpus.source, {**corpus.keys, "path": glob.escape(str(path)), **_unit(corpus)})
            for corpus in corpora_of(read_texts(where)).values()
            for path in dict.fromkeys(chain(*corpus.groups.values()))
        ]
    groups: dict[str, list[str]] = {}
    for source in sources:
        for document in source.documents():
            groups.setdefault(document.group, []).append(document.text)
    return groups


def _unit(corpus: FolderCorpus) -> dict[str, str]:
    return {"document": "file" if corpus.is_code else "line"} if corpus.source == "text" else {}
