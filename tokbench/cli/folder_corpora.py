"""From the texts of a folder to the corpora of a draft: one for each kind, with languages as groups."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from tokbench.cli.folder_texts import NAMES, FolderTexts, TextFile, documents_of_code, is_language, open_source
from tokbench.report.number_format import byte_size
from tokbench.tokenizers.options import GivenOptions

_GROUPS: Final = 20
"""The most groups that files without a language are parted into."""

_NAMES: Final = 5
"""The most files that are named for a reason why they are left out."""


@dataclass(frozen=True)
class FolderCorpus:
    """A corpus of a draft."""

    name: str
    """Its name."""
    source: str
    """Its source."""
    keys: Mapping[str, Any]
    """Further options of the source."""
    groups: Mapping[str, Sequence[TextFile]]
    """Its files by group."""
    within: str = ""
    """The folder below the folder of all texts in which its files are; empty for the whole."""

    @property
    def files(self) -> list[TextFile]:
        """All files, each once."""
        return list({file.path: file for files in self.groups.values() for file in files}.values())

    @property
    def is_code(self) -> bool:
        """``True`` if it is code."""
        return any(file.program for file in self.files)

    @property
    def can_part(self) -> bool:
        """``True`` if each group has files of its own, so that it can be a corpus of its own."""
        return "groups" in source_options(self.source)


def source_options(source: str) -> Mapping[str, Any]:
    """Return the options of a source, by name."""
    from tokbench.registry.plugins import load_registry

    return load_registry().corpora.get(source).options.model_fields


class _Grouping(NamedTuple):
    """Files of one source, parted by a template of groups."""

    template: str
    groups: dict[str, list[TextFile]]


def corpora_of(texts: FolderTexts) -> list[FolderCorpus]:
    """Return the corpora of a folder: prose by language, other prose, rows by source, and code by its language."""
    corpora: list[FolderCorpus] = []
    kinds: dict[tuple[str, tuple[tuple[str, str], ...], bool], list[TextFile]] = {}
    for file in texts.files:
        kinds.setdefault((file.source, tuple(file.keys.items()), bool(file.program)), []).append(file)
    for (source, keys, programs), files in sorted(kinds.items(), key=lambda kind: (kind[0][2], kind[0][0] != "text")):
        if programs:
            groups = _grouped(files, lambda file: file.program)
            corpora.append(FolderCorpus("code", source, {"group": "{language}"}, groups))
        elif "group" in dict(keys):
            tags = {tag: [file for file in files if tag in file.tags] for tag in sorted(_tags(files))}
            corpora.append(FolderCorpus(source, source, dict(keys), tags))
        else:
            corpora += _prose(texts.folder, source, dict(keys), files)
    return _named(corpora)


def _tags(files: Iterable[TextFile]) -> set[str]:
    return {tag for file in files for tag in file.tags}


def _grouped(files: Iterable[TextFile], name: Any) -> dict[str, list[TextFile]]:
    groups: dict[str, list[TextFile]] = {}
    for file in files:
        groups.setdefault(name(file), []).append(file)
    return dict(sorted(groups.items()))


def _prose(folder: Path, source: str, keys: Mapping[str, str], files: Sequence[TextFile]) -> Iterator[FolderCorpus]:
    """Yield the corpora of prose: one whose groups are languages, and one of what is left."""
    by_folder = _grouped(files, lambda file: _language_folder(folder, file))
    by_folder.pop("", None)
    grouping = _by_language(files)
    in_languages = [file for group in grouping.groups.values() for file in group]
    in_folders = [file for group in by_folder.values() for file in group]
    if len(in_folders) > len(in_languages) and (len(by_folder) > 1 or 2 * len(in_folders) >= len(files)):
        for within, of_language in by_folder.items():
            language = within.rpartition("/")[2]
            yield FolderCorpus(language, source, {**keys, "group": language}, {language: of_language}, within)
        in_languages = in_folders
    elif in_languages:
        yield FolderCorpus(_kind(source), source, {**keys, "group": grouping.template}, grouping.groups)
    known = {file.path for file in in_languages}
    rest = [file for file in files if file.path not in known]
    if rest:
        template = _template(rest)
        groups = _grouped(rest, lambda file: file.names[template])
        name = "documents" if known and source == "text" else _kind(source)
        yield FolderCorpus(name, source, {**keys, "group": f"{{{template}}}"}, groups)


def _kind(source: str) -> str:
    return "prose" if source == "text" else source


def _language_folder(folder: Path, file: TextFile) -> str:
    """Return the outermost folder whose name is a language, from the folder of all texts; empty if there is none."""
    parts = file.path.relative_to(folder).parts[:-1]
    at = next((at for at, part in enumerate(parts) if is_language(part)), None)
    return "" if at is None else "/".join(parts[: at + 1])


def _by_language(files: Sequence[TextFile]) -> _Grouping:
    """Return the files whose language is told by the same part of their paths, and by none if there is no such part.

    The ends of a stem, such as ``it_works``, are no languages unless all files have them.
    """
    best = _Grouping("", {})
    for name in NAMES:
        files_of = [file for file in files if is_language(file.names[name])]
        groups = _grouped(files_of, lambda file, name=name: file.names[name])
        enough = len(groups) > 1 or 2 * len(files_of) >= len(files)
        if name in {"first", "last"}:
            enough = len(files_of) == len(files)
        if enough and len(files_of) > sum(map(len, best.groups.values())):
            best = _Grouping(f"{{{name}}}", groups)
    return best


def _template(files: Sequence[TextFile]) -> str:
    """Return the part of their paths that parts files into some groups, but not into too many."""
    parts = ("stem", "parent")
    return next((part for part in parts if len({file.names[part] for file in files}) <= _GROUPS), "suffix")


def _named(corpora: Sequence[FolderCorpus]) -> list[FolderCorpus]:
    """Return corpora whose names differ.

    >>> [corpus.name for corpus in _named([FolderCorpus("jsonl", "jsonl", {}, {})] * 2)]
    ['jsonl', 'jsonl_2']
    """
    often: dict[str, int] = {}
    named = []
    for corpus in corpora:
        often[corpus.name] = often.get(corpus.name, 0) + 1
        number = often[corpus.name]
        named.append(replace(corpus, name=f"{corpus.name}_{number}") if number > 1 else corpus)
    return named


def entry(corpus: FolderCorpus, texts: FolderTexts, base: Path, *, holdout: float) -> GivenOptions:
    """Return the keys of a corpus in a configuration.

    Args:
        corpus: the corpus.
        texts: all texts of the folder.
        base: the folder of the configuration, from which its paths start.
        holdout: the share of the corpus that is held out.
    """
    from tokbench.registry.plugins import load_registry

    folder = texts.folder / corpus.within
    wanted = {file.path for file in corpus.files}
    endings = sorted({file.ending for file in corpus.files})
    keys: GivenOptions = {"path": _pattern(folder), "endings": endings, **corpus.keys}
    registry = load_registry()

    def beside(keys: Mapping[str, Any]) -> list[Path]:
        return [path for path in open_source(registry, corpus.source, keys).files if path not in wanted]

    others = beside(keys)
    if others and corpus.can_part:
        of_groups = keys | {"groups": list(corpus.groups)}
        fewer = beside(of_groups)
        keys, others = (of_groups, fewer) if len(fewer) < len(others) else (keys, others)
    if others:
        keys["leave_out"] = [glob.escape(path.relative_to(folder).as_posix()) for path in others]
    if corpus.source == "text":
        keys["document"] = documents_of_code(len(wanted), holdout) if corpus.is_code else "line"
    keys["path"] = _pattern(folder if folder.is_absolute() else Path(os.path.relpath(folder, base)))
    return {"source": corpus.source, **keys}


def _pattern(folder: Path) -> str:
    return f"{glob.escape(folder.as_posix())}/**/*"


def describe(texts: FolderTexts, corpora: Sequence[FolderCorpus]) -> Iterator[str]:
    """Yield what a folder has, and what is left out, in lines."""
    width = max(len(corpus.name) for corpus in corpora)
    for corpus in corpora:
        yield f"  {corpus.name:<{width}}  {_contents(corpus)}"
    if texts.left_out:
        yield "left out:"
    for reason, names in texts.left_out.items():
        more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
        yield f"  {', '.join(names[:_NAMES])}{more}: {reason}"


def _contents(corpus: FolderCorpus) -> str:
    """Return the groups, files and bytes of a corpus in words."""
    files = corpus.files
    total = f"{_count(len(files), 'file')}, {byte_size(sum(file.n_bytes for file in files))}"
    if corpus.is_code:
        parts = (f"{group} {_count(len(of_group), 'file')}" for group, of_group in corpus.groups.items())
        return f"{', '.join(parts)}; {total}"
    kind = "language" if all(map(is_language, corpus.groups)) else "group"
    shown = list(corpus.groups)[:_GROUPS]
    more = ", …" if len(shown) < len(corpus.groups) else ""
    return f"{_count(len(corpus.groups), kind)}: {', '.join(shown)}{more}; {total}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
