r"""Wrong versions of a split: its expression as a tree, with one place changed.

>>> [words for words, _ in wrong_splits(r"\p{N}{1,3}|\s+")][:3]
['without the alternative \\p{N}{1,3}', 'without the alternative \\s+', '\\s+ before \\p{N}{1,3}']
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

import regex

from tokbench_plugins.bpe import PATTERNS

_ITEM: Final = r"\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\."
_TOKEN: Final = regex.compile(
    rf"(?P<open>\((?:\?[a-z-]*:|\?<?[=!])?)|(?P<close>\))|(?P<or>\|)|(?P<repeat>(?:[*+?]|\{{\d+(?:,\d*)?\}})[+?]?)"
    rf"|(?P<atom>\[\^?(?:{_ITEM}|\[(?:{_ITEM}|[^\]])*\]|[^\]])*\]|{_ITEM}|.)",
    regex.DOTALL,
)
_IN_SET: Final = regex.compile(rf"{_ITEM}|[^\\]-[^\\]|.", regex.DOTALL)

_ASCII_SPACE: Final = r" \t\n\r\f\v"
_ITEMS: Final = {
    r"\p{L}": ("A-Za-z", "A-Za-zÀ-ÖØ-öø-ÿ", r"\p{L}\p{M}", r"\p{L}_", r"\p{L}\p{Nl}", r"\p{Ll}\p{Lu}"),
    r"\p{N}": ("0-9", r"\d", r"\p{Nd}\p{No}", r"\p{Nd}\p{Nl}", "0-9²³¹¼-¾"),
    r"\s": (_ASCII_SPACE, " ", r"\s\x1c-\x1f", r"\s\u200b\ufeff", r"\p{Zs}\t\n\r", _ASCII_SPACE + r"\xa0"),
    r"\S": (r"\p{L}\p{N}\p{P}\p{S}", "!-~", r"\w"),
    r"\p{M}": (r"\p{Mn}", r"\u0300-\u036f"),
    r"\p{Lu}": ("A-Z", r"\p{Lu}\p{Lt}"),
    r"\p{Ll}": ("a-z", r"\p{L}"),
    r"\p{Lo}": (r"\p{Lo}\p{Nl}",),
    r"\p{Han}": (r"\u4e00-\u9fff", r"\p{Lo}"),
    r"\n": (r"\n\x0b\x0c", r"\n\x85\u2028\u2029"),
    " ": (r"\s", r" \xa0", r" \t"),
    "'": ("'’", "’"),
}
"""What a set of characters is mistaken for."""

_REPEATS: Final = {
    "?": ("", "*"),
    "*": ("?", "+", ""),
    "+": ("", "{1,2}", "{2,}"),
    "{1,3}": ("", "{1,2}", "{1,4}", "{3}", "+"),
    "": ("{1,2}", "{1,3}", "+", "?"),
}
"""What a number of repetitions is mistaken for."""

_NAMES: Final = {
    r"\p{N} for \p{N}{1,3}": "digits one by one",
    r"\p{N}{1,2} for \p{N}{1,3}": "digits two by two",
    r"\p{N}+ for \p{N}{1,3}": "digits in runs of any length",
    r"\p{N}{1,3} for \p{N}": "digits three by three",
    "without the look-ahead (?!\\S)": "a run of spaces keeps its last one",
}


class SplitPart(NamedTuple):
    """A set, a look-around or a group, and how often it is repeated."""

    atom: str | Group
    repeat: str = ""

    def __str__(self) -> str:
        return f"{self.atom}{self.repeat}"


class Group(NamedTuple):
    """Alternatives in order."""

    open: str
    branches: tuple[tuple[SplitPart, ...], ...]

    def __str__(self) -> str:
        inside = "|".join("".join(map(str, branch)) for branch in self.branches)
        return f"{self.open}{inside})" if self.open else inside


def read_split(pattern: str) -> Group:
    r"""Return the tree of an expression; its text is the expression.

    >>> tree = read_split(r"(?i:'s|'t)| ?\p{L}+")
    >>> len(tree.branches), str(tree)
    (2, "(?i:'s|'t)| ?\\p{L}+")
    """
    return _group(_TOKEN.finditer(pattern), "")


def _group(tokens: Iterator[regex.Match[str]], opened: str) -> Group:
    branches: list[list[SplitPart]] = [[]]
    for token in tokens:
        if token["close"]:
            break
        if token["or"]:
            branches.append([])
        elif token["repeat"] and branches[-1]:
            branches[-1][-1] = branches[-1][-1]._replace(repeat=token[0])
        else:
            branches[-1].append(SplitPart(_group(tokens, token["open"]) if token["open"] else token[0]))
    return Group(opened, tuple(map(tuple, branches)))


def wrong_splits(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield wrong versions of an expression, each with words; none twice, and none that cannot be compiled."""
    seen = {pattern}
    tree = read_split(pattern)
    for words, changed in (*_wrong_groups(tree), *_everywhere(pattern)):
        written = str(changed)
        if written not in seen and _compiles(written):
            seen.add(written)
            yield _NAMES.get(words, words), written


def known_splits(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the splits of other models."""
    others = {**PATTERNS, "llama3": PATTERNS["gpt4"].replace(r"\s*[\r\n]|", r"\s*[\r\n]+|")}
    others["qwen"] = others["llama3"].replace(r"\p{N}{1,3}", r"\p{N}")
    others["white space"] = r"\s+|\S+"
    others["no split"] = r"[\s\S]+"
    others["one character each"] = r"[\s\S]"
    for name, other in others.items():
        if other != pattern:
            yield f"the split of {name}" if name in PATTERNS else f"the split {name}", other


def _compiles(pattern: str) -> bool:
    try:
        regex.compile(pattern, regex.VERSION1)
    except regex.error:
        return False
    return True


def _everywhere(pattern: str) -> Iterator[tuple[str, str]]:
    for item, others in _ITEMS.items():
        for other in others if item in pattern and item.startswith("\\p") else ():
            yield f"{other} for {item} everywhere", _replaced(item, other, pattern)
    for flag in ("(?i:", "(?:"):
        if flag in pattern:
            yield f"every {flag} is another", pattern.replace(flag, {"(?i:": "(?:", "(?:": "(?i:"}[flag])
    yield "no possessive repetition", regex.sub(r"(?<=[*+?}])\+", "", pattern)
    yield "the end of a text is a line end", pattern.replace("$", r"(?=\r?\n|$)")


def _replaced(item: str, other: str, pattern: str) -> str:
    def set_of(match: regex.Match[str]) -> str:
        return f"{match[1]}{other}" if match[1] else f"[{other}]"

    return regex.sub(rf"(\[[^\]]*)?{regex.escape(item)}", set_of, pattern)


def _wrong_groups(group: Group) -> Iterator[tuple[str, Group]]:
    branches = group.branches
    for k, branch in enumerate(branches):
        if len(branches) > 1:
            yield (
                f"without the alternative {_short(branch)}",
                group._replace(branches=(*branches[:k], *branches[k + 1 :])),
            )
    for k, (one, other) in enumerate(pairwise(branches)):
        swapped = (*branches[:k], other, one, *branches[k + 2 :])
        yield f"{_short(other)} before {_short(one)}", group._replace(branches=swapped)
    if len(branches) > 2:  # noqa: PLR2004 - else it is the swap above
        yield "alternatives in reverse order", group._replace(branches=branches[::-1])
    if group.open in {"(?i:", "(?:"}:
        yield (
            f"{group} in one case only" if group.open == "(?i:" else f"{group} in any case",
            group._replace(open={"(?i:": "(?:", "(?:": "(?i:"}[group.open]),
        )
    if group.open == "(?i:":
        letters = regex.sub(r"(?<![\\\[])[a-z]", lambda m: f"[{m[0]}{m[0].upper()}]", str(group)[4:-1])
        yield f"{group} without Unicode's case folding", read_split(f"(?:{letters})").branches[0][0].atom  # type: ignore[misc]
    for k, branch in enumerate(branches):
        for words, changed in _wrong_branches(branch):
            yield words, group._replace(branches=(*branches[:k], changed, *branches[k + 1 :]))


def _wrong_branches(branch: tuple[SplitPart, ...]) -> Iterator[tuple[str, tuple[SplitPart, ...]]]:
    for k, part in enumerate(branch):
        before, after = branch[:k], branch[k + 1 :]
        look = isinstance(part.atom, Group) and part.atom.open.startswith(("(?=", "(?!", "(?<"))
        if len(branch) > 1:
            yield f"without {'the look-ahead ' if look else ''}{part}", (*before, *after)
        for words, changed in _wrong_parts(part, look=look):
            yield words, (*before, changed, *after)


def _wrong_parts(part: SplitPart, *, look: bool) -> Iterator[tuple[str, SplitPart]]:
    if not look:
        plain = part.repeat.removesuffix("+") if len(part.repeat) > 1 else part.repeat
        possessive = part.repeat != plain
        for repeat in () if part.repeat == "" and str(part.atom).isalpha() else _REPEATS.get(plain, ()):
            changed = part._replace(repeat=repeat)
            yield f"{changed} for {part}", changed
        if part.repeat:
            changed = part._replace(repeat=plain if possessive else f"{plain}+")
            yield f"{changed} for {part}", changed
    if isinstance(part.atom, Group):
        for words, group in _wrong_groups(part.atom):
            yield words, part._replace(atom=group)
        return
    for atom in _wrong_sets(part.atom):
        changed = part._replace(atom=atom)
        yield f"{changed} for {part}", changed


def _wrong_sets(atom: str) -> Iterator[str]:
    if not atom.startswith("["):
        yield from (f"[{other}]" for other in _ITEMS.get(atom, ()))
        return
    sign = "[^" if atom.startswith("[^") else "["
    yield from [atom.partition("&&")[0] + "]"] * ("&&" in atom)
    items = _IN_SET.findall(atom[len(sign) : -1]) if "&&" not in atom else []
    for k, item in enumerate(items):
        for other in ("", *_ITEMS.get(item, ())):
            inside = "".join((*items[:k], other, *items[k + 1 :]))
            yield f"{sign}{inside}]" if inside else r"[\s\S]" if sign == "[^" else r"[^\s\S]"
    if items:
        yield from (f"{sign}{''.join(items)}{more}]" for more in ("/", "'", "_", r"\t", r"\p{M}") if more not in items)


def _short(branch: tuple[SplitPart, ...]) -> str:
    text = "".join(map(str, branch))
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - a line
