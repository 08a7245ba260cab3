"""Docstrings as mkdocstrings shows them: Sphinx's roles become links, and examples become blocks of code."""

from __future__ import annotations

import re
from typing import Any

import griffe


def markdown(text: str) -> str:
    """Return a docstring with Markdown for its roles and examples.

    >>> markdown("Like :func:`~tokbench.api.run`.")
    'Like <autoref optional identifier="tokbench.api.run">`run`</autoref>.'
    """
    text = re.sub(r":[a-z]+:`(~?)([\w.]+)`", _link, text)
    return re.sub(r"(?m)^( *)>>> (?:.*\n?)(?:\1\S.*\n?| *\n(?=\1>>> ))*", _example, text)


def _link(match: re.Match[str]) -> str:
    name = match[2].rpartition(".")[2] if match[1] else match[2]
    return f'<autoref optional identifier="{match[2]}">`{name}`</autoref>'


def _example(match: re.Match[str]) -> str:
    indent = match[1]
    body = re.sub(r" *# doctest:.*", "", match[0].rstrip("\n")).replace("<BLANKLINE>", "")
    after = "\n" if match[0].endswith("\n") else ""
    return f"{indent}```pycon\n{body}\n{indent}```{after}"


class DocstringText(griffe.Extension):
    """Rewrites every docstring of tokbench."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)
