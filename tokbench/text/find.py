"""Finds the files of texts: of a name, a folder, a pattern or an address; and names their groups."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tokbench.corpus.languages import is_language, language_names
from tokbench.corpus.programs import programming_language
from tokbench.foundation.errors import InputError, Problem
from tokbench.text.cuts import reading
from tokbench.text.faults import Faults, kind_of_path, readable_name
from tokbench.text.formats import Format, NotTextError, ending_of, named_format, refuse_zeros
from tokbench.text.opening import STDIN, plain_name
from tokbench.text.remote_files import fetch

_FEW: Final = 5
"""Files that are left out for one reason, that are named."""


@dataclass
class FoundTexts:
    """The files of texts with their formats, and what was left out by reason."""

    root: Path = field(default_factory=Path)
    files: dict[Path, Format] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    named: frozenset[Path] = frozenset()
    complete: bool = False
    """Whether all text is needed, because a table or a tokenizer is made of it."""

    def fault(self, path: Path, error: InputError) -> None:
        """Leave out a file of a folder or a pattern, with the reason.

        The error is raised if the file is named itself, or if all text is needed and the file is not merely no text.
        """
        if path in self.named or (self.complete and not isinstance(error, NotTextError)):
            raise error
        self.leave_out(path, error.problems[0].message.removeprefix("is "))

    def leave_out(self, path: Path, reason: str) -> None:
        self.files.pop(path, None)
        name = readable_name(path.relative_to(self.root) if path.is_relative_to(self.root) else path)
        self.left_out.setdefault(reason, []).append(name)

    def notes(self) -> Iterator[str]:
        """Yield lines on the files that are left out, with the reasons."""
        if self.left_out:
            yield f"left out ({sum(map(len, self.left_out.values())):,}):"
        for reason, names in self.left_out.items():
            more = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
            yield f"  {', '.join(names[:_FEW])}{more}: {reason}"

    def nothing(self, name: str) -> InputError:
        """Return the error that no text is left."""
        reasons = "; ".join(f"{reason}: {names[0]}" for reason, names in self.left_out.items())
        return InputError(
            [Problem(name, f"there is no text that can be read ({reasons})" if reasons else "has no files")]
        )


def no_text(name: str) -> InputError:
    """Return the error about a file without text."""
    return NotTextError([Problem(name, "is empty: no text in it")])


def find_texts(names: Sequence[str], *, complete: bool = False) -> FoundTexts:
    """Find the files with text of names: files, folders, patterns, addresses, and ``-`` for standard input.

    Of a folder, files are left out that are hidden, empty, not text, or of an unknown ending; of a pattern those that
    are empty or not text. What is named itself must be text. :meth:`FoundTexts.fault` decides on files with a fault.

    Raises:
        InputError: nothing is there, or no text in it.
    """
    named = frozenset(map(Path, names))
    whole = FoundTexts(_root(Path(names[0])) if len(names) == 1 else Path(), named=named, complete=complete)
    for name in names:
        found = FoundTexts(_root(Path(name)), named=named, complete=complete)
        _find(name, found)
        if not found.files:
            raise found.nothing(name)
        whole.files |= found.files
        for reason, left in found.left_out.items():
            whole.left_out.setdefault(reason, []).extend(left)
    return whole


def _root(path: Path) -> Path:
    return next(place for place in (path, *path.parents) if place.is_dir())


def _find(name: str, found: FoundTexts) -> None:
    path = Path(name)
    if path == STDIN:
        found.files[path] = "text"  # what it is shows when it is read
        return
    is_folder, faults = path.is_dir(), Faults()
    for hidden in sorted(path.rglob(".*")) if is_folder else ():
        if not any(place.name.startswith(".") for place in hidden.relative_to(path).parents):
            found.leave_out(hidden, "hidden")
    try:
        paths = find_files(path / "**" if is_folder else name, faults=faults)
    except InputError as error:
        raise found.nothing(name) if is_folder else error from None
    for kind, met in faults.met.items():
        found.leave_out(Path(met.where), kind)
    for file in paths:
        try:
            found.files[file] = _format_of(file, in_folder=is_folder)
        except InputError as error:
            found.fault(file, error)


def _format_of(file: Path, *, in_folder: bool) -> Format:
    """Return the format of a file; an InputError if it has no text, or its ending is unknown in a folder."""
    with reading(file) as reader:
        if not reader.head:
            raise no_text(reader.place)
        if in_folder and reader.form == "text" and not named_format(file):
            refuse_zeros(reader.head, reader.place)
            known = f"unknown ending .{ending_of(file)}" if ending_of(file) else "no ending"
            message = f"{known}; rename prose to .txt and code to its ending, or name files by a pattern"
            raise NotTextError([Problem(reader.place, message)])
        return reader.form


def find_files(pattern: Path | str, get: str = "", faults: Faults | None = None) -> list[Path]:
    """Return the files that match a path or a glob pattern, or copies of the files of an address, sorted.

    An existing name with ``[``, ``*`` or ``?`` is that file or folder. ``**`` goes into no folder that is a symbolic
    link, and a file with several names is read once. The error if no file matches ends with ``get``, the command that
    gets the files. ``faults`` learns what matches and is neither a file nor a folder, such as a link to nothing.
    """
    if isinstance(pattern, str) and "://" in pattern:
        return fetch(pattern)
    pattern = Path(pattern)
    taken: dict[str, Path] = {}
    matching = sorted(_matches(pattern), key=lambda path: (path.is_symlink(), path))
    for path in filter(Path.is_file, matching):
        taken.setdefault(os.path.realpath(path), path)
    others = [path for path in matching if not path.is_file() and (path == pattern or not path.is_dir())]
    if not taken and pattern.name == STDIN.name:
        raise InputError("'-' is standard input, and this is read more than once; write it to a file: cat >texts.txt")
    if not taken:
        start = "a relative path starts at the configuration file, or without one at the current folder"
        advice = f"get the files with: {get}" if get else start
        found = f"{str(others[0])!r} is {kind_of_path(others[0])}, and not a file" if others else _no_match(pattern)
        raise InputError(f"{found}; {advice}")
    for path in others:
        if faults is not None:
            faults.add(f"{kind_of_path(path)}, left out", readable_name(path))
    return sorted(taken.values())


def _no_match(pattern: Path) -> str:
    folder = next((place for place in pattern.parents if place.is_dir()), pattern)
    is_all = {*pattern.relative_to(folder).parts} <= {"*", "**"}
    return f"{str(folder)!r} has no files" if is_all else f"no file matches {str(pattern)!r}"


def _matches(pattern: Path) -> Iterator[Path]:
    """Yield what a pattern matches below the last folder that exists; hidden names match only if they are written."""
    known = (path for path in (pattern, *pattern.parents) if os.path.lexists(path))
    start = next(known, Path())
    parts = [part if part == "**" else re.sub(r"\*\*+", "*", part) for part in pattern.relative_to(start).parts]
    if not parts:
        yield start
        return
    hidden = any(part.startswith(".") for part in parts)
    for path in start.glob("/".join([*parts, "*"] if parts[-1] == "**" else parts)):
        if hidden or not any(part.startswith(".") for part in path.relative_to(start).parts):
            yield path


def file_names(path: Path) -> dict[str, object]:
    """Return the names for templates of a file; the stem has neither ``.gz`` nor ``.zst``.

    Dots and underscores separate its parts; ``first`` and ``last`` are its ends.

    >>> file_names(Path("pud/en.conllu.gz"))
    {'stem': 'en', 'name': 'en.conllu.gz', 'suffix': 'conllu', 'parent': 'pud', 'first': 'en', 'last': 'en'}
    >>> file_names(Path("newstest2019-ref.zho-CN.txt"))["last"], file_names(Path("de_pud-ud-test.conllu"))["first"]
    ('zho-CN', 'de')
    """
    path = Path(readable_name(path))
    plain = plain_name(path)
    parts = re.split("[._]", plain.stem)
    names = {"stem": plain.stem, "name": path.name, "suffix": plain.suffix[1:], "parent": path.parent.name}
    return {**names, "first": parts[0], "last": parts[-1]}


def group_names(path: Path) -> dict[str, object]:
    """Return the names for the group template of a file; ``language`` is by the suffix, or the suffix."""
    names = file_names(path)
    suffix = str(names["suffix"])
    return {**names, "language": programming_language(suffix) or suffix}


_PARTS: Final = ("parent", "stem", "suffix", "last", "first")

ONE_GROUP: Final = "files"
"""Not a language code."""


def file_groups(paths: Sequence[Path], *, programs: bool = True, each: bool = False) -> dict[Path, str]:
    """Return the groups of files for which none is given: by the language in their names, and all others as one.

    With ``programs``, these are grouped by programming language. With ``each``, other files are a group each.

    >>> list(file_groups([Path(name) for name in ("de.txt", "en.txt", "faq.txt", "log.txt", "a.py")]).values())
    ['de', 'en', 'files', 'files', 'python']
    >>> list(file_groups([Path("faq.txt"), Path("log.txt")], each=True).values()), file_groups([Path("x/log.txt")])
    (['faq', 'log'], {PosixPath('x/log.txt'): 'log'})
    """
    named = {path: group_names(path) for path in paths}
    code = [path for path in paths if programs and programming_language(str(named[path]["suffix"]))]
    others = [path for path in paths if path not in set(code)]
    part = _naming_part([named[path] for path in others])
    called = {path: str(named[path][part]) for path in others}
    known = language_names(called.values())
    rest = {path for path, name in called.items() if not is_language(name) and name not in known}
    if len(rest) > 1 and not each:
        called |= dict.fromkeys(rest, ONE_GROUP)
    return {path: called.get(path) or str(named[path]["language"]) for path in paths}


def parts_that_name(groups: Mapping[Path, str]) -> list[str]:
    """Return the parts of the files' names that are their groups.

    >>> parts_that_name({Path("x/de.txt"): "de", Path("x/en.txt"): "en"})
    ['stem', 'last', 'first']
    """
    named = [(group_names(path), group) for path, group in groups.items()]
    return [part for part in (*_PARTS, "language") if all(names[part] == group for names, group in named)]


def template_of(group: str) -> str:
    """Return the template of a group that is always the same."""
    return group.replace("{", "{{").replace("}", "}}")


def _naming_part(files: Sequence[Mapping[str, object]]) -> str:
    """Return the part of the paths that names the language of most files; of all files if it ends the stem."""
    best, most = "stem", 0
    for part in _PARTS:
        languages = [name for parts in files if is_language(name := str(parts[part]))]
        needed = len(files) if part in {"first", "last"} else 0 if len(set(languages)) > 1 else len(files) / 2
        if most < len(languages) >= needed:
            best, most = part, len(languages)
    return best
