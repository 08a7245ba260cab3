"""The texts of a folder or glob pattern: their corpora, and what is left out, with reasons."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from tokbench.corpus.languages import is_language
from tokbench.corpus.programs import programming_language
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.foundation.files import not_text
from tokbench.report.number_format import byte_size
from tokbench.terminal.documents import documents_of_code
from tokbench.tokenizers.options import GivenOptions

_PROSE: Final = (False, False, "text")
_ENDINGS: Final = frozenset("txt text md markdown rst adoc asciidoc org".split())
_ROWS: Final = {
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "conllu": "conllu",
    "csv": "csv",
    "tsv": "csv",
}
_KILOBYTE: Final = 1000
_MANY, _FEW = 20, 5  # groups, and files that are left out for one reason, that are named


class FolderCorpus(NamedTuple):
    """A corpus with its files by group, and its share of the text in percent."""

    source: str
    keys: Mapping[str, Any]
    is_code: bool
    groups: Mapping[str, Sequence[Path]]
    weight: float = 0.0


class Texts(NamedTuple):
    """Files by source and its options, and files left out by reason."""

    root: Path
    pattern: str
    kinds: dict[tuple[Any, ...], list[Path]]
    left_out: dict[str, list[str]]


def read_texts(texts: str) -> Texts:
    """Read every file of a folder, recursively, or of a glob pattern; an InputError if none has text."""
    path = Path(texts)
    root = next(place for place in (path, *path.parents) if place.is_dir())
    found = Texts(root, f"{glob.escape(path.as_posix())}/**/*" if path.is_dir() else texts, {}, {})
    for hidden in sorted(root.rglob(".*")) if path.is_dir() else ():
        if not any(place.name.startswith(".") for place in hidden.relative_to(root).parents):
            found.left_out.setdefault("hidden", []).append(hidden.relative_to(root).as_posix())
    files = {file: file.relative_to(root) for file in opened("text", {"path": found.pattern}).files}
    deep = {inner.parts[0] for inner in files.values() if len(inner.parts) > 2 and is_language(inner.parts[0])}  # noqa: PLR2004
    for file, inner in files.items():
        try:
            kind = _kind(file)
        except InputError as error:
            found.left_out.setdefault(error.problems[0].message, []).append(inner.as_posix())
        else:
            language = inner.parts[0] if inner.parts[0] in deep and kind == _PROSE else ""
            found.kinds.setdefault((*kind[:3], language, *kind[3:]), []).append(file)
    if not found.kinds:
        reasons = "; ".join(f"{reason}: {names[0]}" for reason, names in found.left_out.items())
        raise InputError([Problem(texts, f"there is no text that can be read ({reasons})")])
    return found


@cache
def _spec(source: str) -> Any:
    from tokbench.registry.plugins import load_registry

    return load_registry().corpora.get(source)


def opened(source: str, keys: Mapping[str, Any]) -> Any:
    """Return a source; an InputError if no file matches."""
    return _spec(source).open(_spec(source).options(**keys))


def _kind(path: Path) -> tuple[Any, ...]:
    ending = parts_of(path)["ending"]
    if path.stat().st_size == 0:
        raise InputError("empty")
    if ending in _ROWS:
        return (False, True, _ROWS[ending], *_fields(path, _ROWS[ending]))
    if ending in _ENDINGS or programming_language(ending) or is_language(ending):
        _groups(path, "text", (("document", "line"),))
        return (True, False, "text") if programming_language(ending) else _PROSE
    with path.open("rb") as file:
        kind = not_text(file.read(8192))
    known = f"unknown ending .{ending}" if ending else "no ending"
    unknown = f"{known}; rename prose to .txt, and code to the ending of its language"
    raise InputError("binary" if "binary" in kind else kind or unknown)


def parts_of(path: Path) -> dict[str, str]:
    """Return the parts of a path by which sources name groups; ``language`` is the programming language."""
    plain = path.with_suffix("") if path.suffix in {".gz", ".zst"} else path
    ends, suffix = re.split("[._]", plain.stem), plain.suffix[1:]
    names = {"parent": path.parent.name, "stem": plain.stem, "suffix": suffix, "last": ends[-1], "first": ends[0]}
    return {**names, "ending": suffix.lower(), "language": programming_language(suffix.lower())}


def _fields(path: Path, source: str) -> tuple[tuple[str, str], ...]:
    """Return the options of a file of rows: the text field, and the language field if every row has one."""
    fields, groups = ("text", "content", "body", "sentence"), ("{lang}", "{language}", "{stem}")
    errors = []
    for field, group in product(fields, groups) if source != "conllu" else [("text", "{stem}")]:
        options = (("text", field),) * (field != "text") + (("group", group),) * (group != "{stem}")
        try:
            _groups(path, source, options)
        except InputError as error:
            errors += [error] * (group == "{stem}")
        else:
            return options
    raise errors[0]


@cache
def _groups(path: Path, source: str, options: tuple[tuple[str, str], ...]) -> frozenset[str]:
    documents = opened(source, {"path": glob.escape(str(path)), **dict(options)}).documents()
    if groups := frozenset(document.group for document in documents):
        return groups
    raise InputError("empty")


def file_texts(texts: Texts) -> Iterator[tuple[str, str]]:
    """Yield the path and the whole text of each file, rows joined by line ends."""
    for (_, has_rows, source, _, *options), files in texts.kinds.items():
        keys = dict(options) if has_rows else {"document": "file"}
        for path in files:
            documents = opened(source, {"path": glob.escape(str(path)), **keys}).documents()
            yield str(path), "\n".join(document.text for document in documents)


def corpora_of(texts: Texts) -> dict[str, FolderCorpus]:
    """Return the corpora of texts: prose and rows by language, and code by programming language."""
    corpora: dict[str, FolderCorpus] = {}
    languages = any(language for _, _, _, language, *_ in texts.kinds)
    for (is_code, has_rows, source, language, *options), files in sorted(texts.kinds.items()):
        part = "language" if is_code else _naming_part([parts_of(path) for path in files], beside_languages=languages)
        one = language or ("" if part else source if has_rows else "prose")  # the one group of all its files
        groups: dict[str, list[Path]] = {}
        for path in files:
            named = "group" in dict(options)
            for group in _groups(path, source, tuple(options)) if named else [one or parts_of(path)[part]]:
                groups.setdefault(group, []).append(path)
        name = "code" if is_code else source if has_rows else language or "prose"
        number = 1 + sum(known.partition("_")[0] == name for known in corpora)
        name += f"_{number}" * (number > 1)
        pattern = f"{glob.escape((texts.root / language).as_posix())}/**/*" if language else texts.pattern
        keys = {"path": pattern, "group": one or f"{{{part}}}", **dict(options)}
        corpora[name] = FolderCorpus(source, keys, is_code, dict(sorted(groups.items())))
    return corpora


def _naming_part(files: Sequence[Mapping[str, str]], *, beside_languages: bool) -> str:
    """Return the part of the paths that names the language of most files; of all files if it ends the stem.

    Empty if none does: then all files are one group. Beside folders of languages the stem picks them from the others.
    """
    best, most = "stem" if beside_languages or len(files) == 1 else "", 0
    for part in ("parent", "stem", "suffix", "last", "first"):
        languages = [parts[part] for parts in files if is_language(parts[part])]
        needed = len(files) if part in {"first", "last"} else 0 if len(set(languages)) > 1 else len(files) / 2
        if most < len(languages) >= needed:
            best, most = part, len(languages)
    return best


def weigh(corpora: Mapping[str, FolderCorpus], given: Mapping[str, float]) -> dict[str, FolderCorpus]:
    """Return corpora with their shares of the text, in percent; a group with a share becomes its own corpus."""
    parted = dict(corpora)
    for name in (name for name in given if name not in corpora):
        able = {group: place for place, x in parted.items() if x.source in {"text", "conllu"} for group in x.groups}
        if name not in able:
            near = did_you_mean(name, [*parted, *able])
            raise InputError(f"--weight: no corpus or group is called {name!r}; {near}")
        whole = parted[able[name]]
        for place, groups in ((able[name], whole.groups.keys() - {name}), (name, {name})):
            own = {group: paths for group, paths in whole.groups.items() if group in groups}
            parted[place] = whole._replace(keys={**whole.keys, "groups": list(own)}, groups=own)
    parted = {name: corpus for name, corpus in parted.items() if corpus.groups}
    even = max(0.0, 100 - sum(given.values())) / max(len(parted.keys() - given.keys()), 1)
    return {name: corpus._replace(weight=round(given.get(name, even), 2)) for name, corpus in parted.items()}


def entry(corpus: FolderCorpus, texts: Texts, base: Path, *, holdout: float) -> GivenOptions:
    """Return the keys of a corpus in a configuration; paths start from the folder ``base``."""
    files = {path for paths in corpus.groups.values() for path in paths}
    keys: GivenOptions = {**corpus.keys, "endings": sorted({parts_of(path)["ending"] for path in files})}

    def others(keys: Mapping[str, Any]) -> list[Path]:
        return [path for path in opened(corpus.source, keys).files if path not in files]

    if corpus.source == "text":
        keys = min(keys, {**keys, "groups": list(corpus.groups)}, key=lambda keys: len(others(keys)))
        keys["document"] = _document(files, holdout) if corpus.is_code else "line"
    if left := others(keys):
        keys["leave_out"] = [glob.escape(path.relative_to(texts.root).as_posix()) for path in left]
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
    yield from left_out(texts)


def left_out(texts: Texts) -> Iterator[str]:
    """Yield lines on the files that are left out, with the reasons."""
    if texts.left_out:
        yield "left out:"
    for reason, names in texts.left_out.items():
        more = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
        yield f"  {', '.join(names[:_FEW])}{more}: {reason}"


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
    return f"{number:,} {what}{'s' * (number != 1)}"
