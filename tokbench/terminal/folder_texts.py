"""The texts of a folder or glob pattern as corpora of a configuration."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from tokbench.corpus.corpus import Corpus
from tokbench.corpus.languages import find_language, is_language
from tokbench.corpus.programs import programming_language
from tokbench.foundation.errors import InputError, did_you_mean
from tokbench.report.number_format import byte_size
from tokbench.text.cuts import Cut
from tokbench.text.faults import readable_name
from tokbench.text.find import ONE_GROUP, FoundTexts, file_groups, find_texts, no_text, parts_that_name, template_of
from tokbench.text.formats import Format, ending_of
from tokbench.tokenizers.options import GivenOptions

_MANY: Final = 20
"""Groups that are named."""
_HELD_OUT: Final = 10
"""The least number of held-out files of code; with fewer, documents are paragraphs."""

DOCUMENTS: Final[Mapping[str, str]] = {
    "file": "each file is a document",
    "paragraph": "each paragraph is a document; training sees the blank lines between them",
    "line": "each line is a document; training sees the line ends",
}
_KILOBYTE: Final = 1000


class FolderCorpus(NamedTuple):
    """A corpus with its files by group, and its share of the text in percent."""

    source: str
    keys: Mapping[str, Any]
    is_code: bool
    groups: Mapping[str, Sequence[Path]]
    weight: float = 0.0


class _Kind(NamedTuple):
    """What files of one corpus have in common."""

    is_code: bool
    source: Format
    language: str = ""
    """Of a folder that has its prose in folders."""


class Texts(NamedTuple):
    """The files with text by kind."""

    found: FoundTexts
    pattern: str
    kinds: dict[_Kind, list[Path]]


def read_texts(texts: str, *, complete: bool = False) -> Texts:
    """Read every file of a folder, recursively, or of a glob pattern; an InputError if none has text.

    Files with a fault are left out, unless all text is needed.
    """
    found, root = find_texts([texts], complete=complete), Path(texts)
    pattern = f"{glob.escape(root.as_posix())}/**/*" if root.is_dir() else texts
    inner = {file: Path(os.path.relpath(file, found.root)) for file in found.files}
    deep = {path.parts[0] for path in inner.values() if len(path.parts) > 2 and is_language(path.parts[0])}  # noqa: PLR2004
    read = Texts(found, pattern, {})
    for file, source in list(found.files.items()):
        is_code = source == "text" and bool(programming_language(ending_of(file)))
        first = inner[file].parts[0]
        try:
            kind = _Kind(is_code, source, first if first in deep and source == "text" and not is_code else "")
            _groups(file, source)  # which reads all of it
            read.kinds.setdefault(kind, []).append(file)
        except InputError as error:
            found.fault(file, error)
    if not read.kinds:
        raise found.nothing(texts)
    return read


@cache
def _spec(source: str) -> Any:
    from tokbench.registry.plugins import load_registry

    return load_registry().corpora.get(source)


def opened(source: str, keys: Mapping[str, Any]) -> Any:
    """Return a source; an InputError if no file matches."""
    return _spec(source).open(_spec(source).options(**keys))


@cache
def _groups(path: Path, source: str) -> frozenset[str]:
    """Return the groups of a file; empty for its own. An InputError if it cannot be read."""
    lines = {"document": "line"} if source == "text" else {}
    documents = opened(source, {"path": glob.escape(str(path)), **lines}).documents()
    own = file_groups([path], programs=source == "text")[path]
    if groups := frozenset(document.group if document.group != own else "" for document in documents):
        return groups
    raise no_text(readable_name(path))


def corpora_of(texts: Texts) -> dict[str, FolderCorpus]:
    """Return the corpora of texts: prose and rows by language, and code by programming language."""
    corpora: dict[str, FolderCorpus] = {}
    beside_languages = any(kind.language for kind in texts.kinds)
    for kind, files in sorted(texts.kinds.items()):
        default = file_groups(files, programs=kind.source == "text", each=beside_languages)
        if kind.language:
            default = dict.fromkeys(files, kind.language)
        groups: dict[str, list[Path]] = {}
        for path, own in default.items():
            for group in _groups(path, kind.source):
                groups.setdefault(group or own, []).append(path)
        if {*groups} == {ONE_GROUP}:
            groups = {"prose" if kind.source == "text" else kind.source: files}
            default = dict.fromkeys(files, *groups)
        name = "code" if kind.is_code else kind.source if kind.source != "text" else kind.language or "prose"
        number = 1 + sum(known.partition("_")[0] == name for known in corpora)
        name += f"_{number}" if number > 1 else ""
        inside = texts.found.root / kind.language
        pattern = f"{glob.escape(inside.as_posix())}/**/*" if kind.language else texts.pattern
        keys = {"path": pattern, **_group_key(default, groups)}
        corpora[name] = FolderCorpus(kind.source, keys, kind.is_code, dict(sorted(groups.items())))
    return corpora


def _group_key(files: Mapping[Path, str], groups: Collection[str]) -> dict[str, str]:
    """Return the key of groups in a configuration; none if only the default gives them."""
    if {*groups} != {*files.values()}:
        return {}
    named = [f"{{{part}}}" for part in parts_that_name(files)]
    templates = named or [template_of(group) for group in groups if len(groups) == 1]
    return {"group": templates[0]} if templates else {}


def documents_of_code(files: int, holdout: float) -> str:
    """Return what one document of code is: a file, or a paragraph if too few files would be held out.

    >>> documents_of_code(200, 0.05), documents_of_code(199, 0.05), documents_of_code(1, 0)
    ('file', 'paragraph', 'file')
    """
    return "paragraph" if holdout and files * holdout < _HELD_OUT else "file"


def weigh(corpora: Mapping[str, FolderCorpus], given: Mapping[str, float]) -> dict[str, FolderCorpus]:
    """Return corpora with their shares of the text, in percent; a group with a share becomes its own corpus.

    A language may be called by its code or its name.
    """
    parted = dict(corpora)
    by_file = {place: corpus for place, corpus in parted.items() if corpus.source in {"text", "conllu"}}
    able = {group: place for place, corpus in by_file.items() for group in corpus.groups}
    called = {name: _called(name, [*corpora, *able]) for name in given}
    if len(set(called.values())) < len(called):
        raise InputError(f"--weight: {', '.join(called)}: two of these are one language; give it one weight")
    given = {called[name]: share for name, share in given.items()}
    for name in (name for name in given if name not in corpora):
        whole = parted[able[name]]
        for place, groups in ((able[name], whole.groups.keys() - {name}), (name, {name})):
            own = {group: paths for group, paths in whole.groups.items() if group in groups}
            parted[place] = whole._replace(keys={**whole.keys, "groups": list(own)}, groups=own)
    parted = {name: corpus for name, corpus in parted.items() if corpus.groups}
    even = max(0.0, 100 - sum(given.values())) / max(len(parted.keys() - given.keys()), 1)
    return {name: corpus._replace(weight=round(given.get(name, even), 2)) for name, corpus in parted.items()}


def _called(name: str, known: Sequence[str]) -> str:
    """Return the corpus or group that a user means; an InputError if there is none, or more than one."""
    if name in known:
        return name
    language = find_language(name) if is_language(name) else None
    alike = {group for group in known if language and is_language(group) and _name_of(group) == language.name}
    if len(alike) == 1:
        return alike.pop()
    raise InputError(f"--weight: no corpus or group is called {name!r}; {did_you_mean(name, known)}")


def _name_of(group: str) -> str:
    language = find_language(group)
    return language.name if language else ""


def measurable(corpora: Mapping[str, FolderCorpus], texts: Texts, holdout: float) -> dict[str, FolderCorpus]:
    """Return the corpora that have documents to train and others to measure on, and leave out the rest.

    If there are none, or nothing is held out, all are returned.
    """
    kept = {name: corpus for name, corpus in corpora.items() if not holdout or _parts(corpus, texts, holdout)}
    for name in corpora.keys() - kept.keys() if kept else ():
        files = sorted({path for paths in corpora[name].groups.values() for path in paths})
        size = byte_size(sum(path.stat().st_size for path in files))
        for path in files:
            texts.found.leave_out(path, f"{size}, too little to train and to measure on")
    return kept or dict(corpora)


def _parts(corpus: FolderCorpus, texts: Texts, holdout: float) -> bool:
    """Tell whether some documents would be held out, and some not."""
    keys = entry(corpus, texts, Path(), holdout=holdout)
    source = opened(corpus.source, {key: value for key, value in keys.items() if key not in {"source", "holdout"}})
    divided = Corpus("", source, holdout=holdout)
    parts = (divided.held_out(document, holdout) for document in source.documents())
    first = next(parts, None)
    return any(part != first for part in parts)


def entry(
    corpus: FolderCorpus, texts: Texts, base: Path, *, holdout: float, document: Cut | None = None
) -> GivenOptions:
    """Return the keys of a corpus in a configuration; paths start from the folder ``base``.

    ``document`` is what a document of text is; by default a line, and of code a file or a paragraph.
    """
    files = {path for paths in corpus.groups.values() for path in paths}
    keys: GivenOptions = {**corpus.keys, "endings": sorted(set(map(ending_of, files)))}

    def others(keys: Mapping[str, Any]) -> list[Path]:
        return [path for path in opened(corpus.source, keys).files if path not in files]

    if corpus.source == "text":
        keys = min(keys, {**keys, "groups": list(corpus.groups)}, key=lambda keys: len(others(keys)))
        keys["document"] = document or (_document(files, holdout) if corpus.is_code else "line")
    if left := others(keys):
        keys["leave_out"] = [glob.escape(path.relative_to(texts.found.root).as_posix()) for path in left]
    if "://" not in keys["path"]:
        keys["path"] = (Path(os.path.relpath(".", base)) / corpus.keys["path"]).as_posix()
    return {"source": corpus.source, **keys, **({"holdout": holdout} if holdout else {})}


def _document(files: Collection[Path], holdout: float) -> str:
    """Return what one document of code is; less than a kilobyte has no ten paragraphs, and stays in files."""
    small = sum(path.stat().st_size for path in files) < _KILOBYTE
    return "file" if small else documents_of_code(len(files), holdout or 1.0)


def describe(texts: Texts, corpora: Mapping[str, FolderCorpus]) -> Iterator[str]:
    """Yield lines on the contents of texts, and on what is left out."""
    for name, corpus in corpora.items():
        yield f"  {name:<{max(map(len, corpora))}}  {_contents(corpus)}"
    yield from texts.found.notes()


def _contents(corpus: FolderCorpus) -> str:
    files = {path for paths in corpus.groups.values() for path in paths}
    total = f"{_count(len(files), 'file')}, {byte_size(sum(path.stat().st_size for path in files))}"
    if corpus.is_code:
        programs = (f"{group} {_count(len(paths), 'file')}" for group, paths in corpus.groups.items())
        return f"{', '.join(programs)}; {total}"
    kind = "language" if all(map(is_language, corpus.groups)) else "group"
    more = ", …" if len(corpus.groups) > _MANY else ""
    return f"{_count(len(corpus.groups), kind)}: {', '.join([*corpus.groups][:_MANY])}{more}; {total}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"
