"""Facts about languages; ``languages.tsv`` and ``language_names.tsv`` name their sources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tokbench.foundation.errors import did_you_mean

FACETS: Final = ("script", "family", "resource class")
"""Properties by which languages are grouped into slices."""

_SCRIPTS: Final = {
    "arab": "Arabic", "beng": "Bengali", "cyrl": "Cyrillic", "deva": "Devanagari", "guru": "Gurmukhi", "hans": "Han",
    "hant": "Han", "hebr": "Hebrew", "latn": "Latin", "mong": "Mongolian", "tibt": "Tibetan",
}  # fmt: skip
"""ISO 15924 codes."""

_FOUR = 4

_CODE: Final = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?")

_PROGRAMS: Final = frozenset("ada as asm bas bin cs ext lua mak man mk ml new pl pro sas sc src ts".split())
"""Codes that are also file endings of programs: alone they do not mean languages."""


class Language(NamedTuple):
    """Properties; empty if not known."""

    name: str
    """In English."""
    script: str
    """The usual one."""
    family: str
    """The widest that is accepted."""
    resource_class: str
    """``0`` to ``5``, by Joshi et al. 2020."""

    def facet(self, name: str) -> str:
        """Return one of :data:`FACETS`."""
        return {"script": self.script, "family": self.family, "resource class": self.resource_class}[name]


class Slice(NamedTuple):
    """Groups with the same value of a facet; ``value`` is empty if not known."""

    facet: str
    value: str
    groups: tuple[str, ...]


@cache
def _table() -> dict[str, Language]:
    """Return languages by each code, and by name in small letters."""
    table = {}
    for line in Path(__file__).with_name("languages.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        *codes, name, script, family, resource_class = ("" if field == "-" else field for field in line.split("\t"))
        table.update({key: Language(name, script, family, resource_class) for key in (*codes, name.lower()) if key})
    return table


def find_language(group: str) -> Language | None:
    """Find a group by its ISO 639-1 or 639-3 code, with or without a script, or by its English name.

    >>> find_language("zho-CN").script, find_language("srp_Latn").script, find_language("python")
    ('Han', 'Latin', None)
    >>> find_language("Greek").script
    'Greek'
    """
    code, *subtags = group.lower().replace("_", "-").split("-")
    language = _table().get(code)
    scripts = [_SCRIPTS[tag] for tag in subtags if len(tag) == _FOUR and tag in _SCRIPTS]
    return language._replace(script=scripts[0]) if language and scripts else language


def is_language(name: str) -> bool:
    """Tell whether a name is a language code, with or without script or country, or the English name.

    >>> [is_language(name) for name in ("de", "zho-CN", "es-419", "German", "it_works")]
    [True, True, True, True, False]
    """
    return bool(_CODE.fullmatch(name) or name.isalpha()) and find_language(name) is not None


@cache
def _names() -> dict[str, str]:
    lines = Path(__file__).with_name("language_names.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {code.lower(): name for *codes, name in rows for code in codes if code != "-"}


def language_names(groups: Iterable[str]) -> dict[str, str]:
    """Return English names, and scripts where groups share a language, if at least half of the groups are codes.

    >>> language_names(["hi", "srp_Cyrl", "srp_Latn", "other"])
    {'hi': 'Hindi', 'srp_Cyrl': 'Serbian, Cyrillic', 'srp_Latn': 'Serbian, Latin'}
    >>> language_names(["cs", "python", "lua", "java"])
    {}
    """
    codes = {group: group.lower().replace("_", "-").split("-") for group in groups}
    names = {group: name for group, (code, *_) in codes.items() if (name := _name(code))}
    certain = [group for group, (code, *_) in codes.items() if code not in _PROGRAMS]
    if 2 * sum(group in names for group in certain) < max(len(certain), 1):
        return {}
    often = Counter(names.values())
    return {group: name + _script(codes[group], alone=often[name] == 1) for group, name in names.items()}


def _name(code: str) -> str:
    language = _table().get(code)
    return language.name if language else _names().get(code, "") if len(code) < _FOUR else ""


def _script(tags: Sequence[str], *, alone: bool) -> str:
    scripts = [] if alone else [_names()[tag] for tag in tags[1:] if len(tag) == _FOUR and tag in _names()]
    return f", {scripts[0]}" if scripts else ""


LANGUAGE_FIELDS: Final = ("lang", "language")


def row_language(row: Mapping[str, object]) -> str:
    """Return the language that a row names; empty if none.

    >>> row_language({"lang": "", "language": "de"}), row_language({"lang": 1})
    ('de', '')
    """
    return next((value for name in LANGUAGE_FIELDS if isinstance(value := row.get(name), str) and value), "")


def same_language(name: str, groups: Iterable[str]) -> list[str]:
    """Return the groups in the language that a code or a name means, the shortest first.

    >>> same_language("English", ["deu", "eng-GB", "eng"]), same_language("de", ["python", "en"])
    (['eng', 'eng-GB'], [])
    """
    languages = {group: _name(re.split("[-_]", group.lower())[0]) for group in (name, *groups)}
    same = [group for group in groups if languages[name] and languages[group] == languages[name]]
    return sorted(same, key=lambda group: (len(group), group))


def reference_language(groups: Sequence[str]) -> str:
    """Return the group that translations are compared with: English, or else a language with much text in the world.

    That is the highest class of resources (Joshi et al. 2020); of several the first by name.

    >>> reference_language(["deu", "eng_Latn"]), reference_language(["swa", "deu", "amh"]), reference_language(["tlh"])
    ('eng_Latn', 'deu', 'tlh')
    """
    classes = {group: language.resource_class for group in groups if (language := find_language(group))}
    most = max(classes.values(), default="")
    return [*same_language("en", groups), *sorted(group for group in groups if classes.get(group, "") == most)][0]


def did_you_mean_group(name: str, groups: Iterable[str]) -> str:
    """Return the group of the same language, or else what :func:`~tokbench.foundation.errors.did_you_mean` has.

    >>> did_you_mean_group("en", ["den", "eng_Latn"])
    "did you mean 'eng_Latn'?"
    """
    known = list(groups)
    return f"did you mean {same[0]!r}?" if (same := same_language(name, known)) else did_you_mean(name, known)


def slices(groups: Iterable[str]) -> list[Slice]:
    """Return slices by facet; the last one of a facet has the unknown values.

    >>> [tuple(part) for part in slices(["en", "tlh"]) if part.facet == "script"]
    [('script', 'Latin', ('en',)), ('script', '', ('tlh',))]
    """
    languages = {group: find_language(group) for group in groups}
    parts = []
    for facet in FACETS:
        by_value: dict[str, list[str]] = {}
        for group, language in languages.items():
            by_value.setdefault(language.facet(facet) if language else "", []).append(group)
        parts += [Slice(facet, value, tuple(by_value[value])) for value in sorted(by_value, key=lambda v: (not v, v))]
    return parts
