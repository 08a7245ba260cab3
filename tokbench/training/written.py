"""What ``tokbench train`` writes: files for other libraries, each read back by its library and compared."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from tokbench.engine.folder import save_whole
from tokbench.foundation.errors import BackendError, InputError, did_you_mean
from tokbench.foundation.files import write_atomically
from tokbench.registry.plugins import load_registry, missing
from tokbench.tokenizers.contract import Exports, HasSpecialTokens, Saves, Tokenizer

OWN_FORMAT: Final = "tokbench"
"""The format that the backend itself loads."""

TRANSFORMERS: Final = "transformers"
"""A folder for ``AutoTokenizer``, with ranks for tiktoken where they can hold the tokenizer."""

_JSON: Final = "huggingface"
_JSON_SUFFIX: Final = ".tokenizer.json"
_RANKS: Final = "tiktoken"
_READ_BY: Final[Mapping[str, str]] = {
    TRANSFORMERS: "transformers",
    _JSON: "huggingface",
    _RANKS: "tiktoken",
    "gguf": "gguf",
    "gpt2": "gpt2_files",
}
"""Formats, and the backends of the libraries that read them."""

_LINES: Final = 1000

WELL_KNOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "eos": ("<|endoftext|>", "<|end_of_text|>", "<|eos|>", "<eos>", "</s>"),
    "bos": ("<|begin_of_text|>", "<|bos|>", "<bos>", "<s>"),
    "pad": ("<|pad|>", "<pad>", "[PAD]"),
    "unk": ("<|unk|>", "<unk>", "[UNK]"),
}
"""Names of special tokens by what they are for; the first that a vocabulary has is taken."""


@dataclass(frozen=True)
class Wanted:
    """What to write of a trained tokenizer."""

    formats: tuple[str, ...] = ()
    """:data:`OWN_FORMAT`, :data:`TRANSFORMERS`, or what the tokenizers export; without any, the first."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """Special tokens by ``eos``, ``bos``, ``pad`` and ``unk``; others are found by :data:`WELL_KNOWN`."""
    chat_template: str = ""
    model_max_length: int | None = None
    output: Path | None = None
    """The file, or the folder for ``AutoTokenizer``, of a single tokenizer."""

    def roles_of(self, tokenizer: Tokenizer) -> dict[str, str]:
        """Return the special token for each role that one has, or raise InputError for an unknown name."""
        names = _special(tokenizer)
        for role, name in self.roles.items():
            if name not in names:
                raise InputError(f"--{role} {name}: not a special token of it; {did_you_mean(name, names)}")
        found = {role: next(filter(names.__contains__, known), "") for role, known in WELL_KNOWN.items()}
        return {role: name for role, name in {**found, **self.roles}.items() if name}

    def paths(self, tokenizer: Tokenizer, folder: Path, name: str) -> dict[str, Path]:
        """Return where each format goes: :attr:`formats`, or what the name of the file or folder says."""
        suffixes = formats_of(tokenizer)
        file = format_of_file(self.output, suffixes) if self.output else None
        default = (OWN_FORMAT, *[TRANSFORMERS] * (self.output is not None and TRANSFORMERS in suffixes))
        folder = folder if file or self.output is None else self.output
        paths = {
            form: folder / (name + suffixes.get(form, "")) for form in self.formats or (file and [file]) or default
        }
        return paths | {form: self.output for form in (TRANSFORMERS, file) if self.output and form in paths}


OWN: Final = Wanted()
"""The backend's own format alone."""


def _special(tokenizer: Tokenizer) -> dict[str, int]:
    return dict(tokenizer.special_ids) if isinstance(tokenizer, HasSpecialTokens) else {}


def formats_of(tokenizer: Tokenizer) -> dict[str, str]:
    """Return the endings of files by format."""
    own = {OWN_FORMAT: tokenizer.file_suffix} if isinstance(tokenizer, Saves) else {}
    found = {**own, **(tokenizer.exports if isinstance(tokenizer, Exports) else {})}
    if _JSON in found or _JSON_SUFFIX in own.values():
        found |= {_JSON: _JSON_SUFFIX, TRANSFORMERS: ""}
    return found


def format_of_file(path: Path, suffixes: Mapping[str, str]) -> str | None:
    """Return the format of a file by its name, or ``None`` for the name of a folder.

    >>> format_of_file(Path("out/x.json"), {"tokbench": ".bpe.json", "huggingface": ".tokenizer.json"})
    'huggingface'
    >>> format_of_file(Path("x.bpe.json"), {"tokbench": ".bpe.json", "huggingface": ".tokenizer.json"})
    'tokbench'
    """
    fitting = [form for form, suffix in suffixes.items() if path.suffix and suffix.endswith(path.suffix)]
    return max(reversed(fitting), key=lambda form: path.name.endswith(suffixes[form]), default=None)


def write(tokenizer: Tokenizer, form: str, path: Path, wanted: Wanted) -> dict[str, Path]:
    """Write a tokenizer in one format, and return the files by format, or raise InputError or BackendError."""
    suffixes = formats_of(tokenizer)
    if form not in suffixes:
        raise InputError(f"cannot be written as {form!r}; {did_you_mean(form, suffixes)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    if form == TRANSFORMERS:
        return _write_folder(tokenizer, path, wanted)
    if isinstance(tokenizer, Exports) and form in tokenizer.exports:
        if hasattr(tokenizer, "roles"):
            tokenizer.roles = wanted.roles_of(tokenizer)
        tokenizer.export(form, path)
        return {form: path}
    assert isinstance(tokenizer, Saves)
    return {form: save_whole(path, tokenizer.save).path}


def _write_folder(tokenizer: Tokenizer, folder: Path, wanted: Wanted) -> dict[str, Path]:
    files = write(tokenizer, _JSON, folder / "tokenizer.json", wanted)
    config: dict[str, object] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "unk_token": _unknown_token(_model(files)),
        **{f"{role}_token": name for role, name in wanted.roles_of(tokenizer).items()},
        "chat_template": wanted.chat_template,
        "model_max_length": wanted.model_max_length,
    }
    content = {key: value for key, value in config.items() if value not in {None, ""}}
    files[TRANSFORMERS] = folder / "tokenizer_config.json"
    write_atomically(files[TRANSFORMERS], (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())
    if isinstance(tokenizer, Exports) and _RANKS in tokenizer.exports:
        with suppress(BackendError):  # ranks hold fewer vocabularies
            files |= write(tokenizer, _RANKS, folder / "tokenizer.tiktoken", wanted)
    return files


Encode = Callable[[str], Sequence[int]]


def _encoder(tokenizer: Any) -> Encode:
    return partial(tokenizer.encode_with_special, allowed_special="all") if _special(tokenizer) else tokenizer.encode


def _reader(form: str, path: Path, backend: str, special: dict[str, int]) -> Encode:
    """Load a file with the library it is for; its ids include special tokens."""
    spec = load_registry().backends.get(_READ_BY.get(form, backend))
    if absent := missing(spec):
        raise BackendError(f"{form} is not written where it cannot be read: it {absent}")
    if form == _JSON:
        from tokenizers import Tokenizer as Library

        library = Library.from_file(str(path))
        return lambda text: library.encode(text, add_special_tokens=False).ids
    options: dict[str, object] = {"path": path.parent if form == TRANSFORMERS else path}
    if form == _RANKS:  # without special tokens, as GPT-2's files
        options["special_tokens"] = special
    if form == "gpt2":
        options = {"encoder": path / "encoder.json", "vocab": path / "vocab.bpe", "special_tokens": list(special)}
    assert spec.load is not None
    return _encoder(spec.load(spec.load_options.model_validate(options)))


def compare(tokenizer: Any, others: Mapping[str, Encode], texts: Sequence[str], found: str = "(?!)") -> str:
    """Compare the ids of texts, special tokens included, and say how many are the same, or raise BackendError.

    The tokenizer's ``why_other_ids(text, ids, others)`` excuses a difference. What ``found`` matches is a token to
    the others, and text to the tokenizer.
    """
    encode, why = _encoder(tokenizer), getattr(tokenizer, "why_other_ids", lambda *_: "")
    left_out = Counter[str]()
    for text in texts:
        if match := re.search(found, text):
            left_out[f"{match[0]} in the text, which is a token there"] += 1
            continue
        expected = list(encode(text))
        differing = ((name, ids) for name, other in others.items() if (ids := list(other(text))) != expected)
        for name, ids in differing:
            if not (reason := why(text, expected, ids)):
                raise BackendError(
                    f"{name} gives other ids for {text[:60]!r}: {ids[:9]}, not {expected[:9]}; do not use the files"
                )
            left_out[reason] += 1
            break
    same = f"the same ids on {len(texts) - left_out.total():,} texts when read as {' and '.join(others)}"
    return "; ".join([same, *(f"not on {number:,}: {reason}" for reason, number in left_out.most_common())])


def check(tokenizer: Tokenizer, files: Mapping[str, Path], backend: str, texts: Sequence[str]) -> list[str]:
    """Read files with their libraries, :func:`compare`, and say so; ``backend`` reads its own format."""
    special = _special(tokenizer)
    model = _model(files)
    names = [re.escape(name) for name in [_unknown_token(model)] if name and name not in special]
    names += ["<0x[0-9A-F]{2}>"] * bool(
        model.get("byte_fallback") and (model.get("type") == "Unigram" or model.get("ignore_merges"))
    )
    own = load_registry().backends.get(backend)
    known = {*_READ_BY, *[OWN_FORMAT] * (own.load is not None and "path" in own.load_options.model_fields)}
    others = {form: _reader(form, path, backend, special) for form, path in files.items() if form in known}
    if not others:
        return []
    same = compare(tokenizer, others, texts, "|".join(names) or "(?!)")
    if TRANSFORMERS not in files:
        return [same]
    config = json.loads(files[TRANSFORMERS].read_bytes())
    roles = ", ".join(f"{role} {config.get(f'{role}_token', 'none')}" for role in WELL_KNOWN)
    return [same, f"special tokens of the folder: {roles}"]


def texts_to_compare(tokenizer: Tokenizer, texts: Sequence[str]) -> list[str]:
    """Return texts and their lines, the shipped sample with its stress tests, and special tokens between letters."""
    shipped = load_registry().corpora.get("sample")
    for part in ("hostile", "languages", "code"):
        source = shipped.open(shipped.options.model_validate({"part": part}))
        texts = [*texts, *(document.text for document in source.documents())]
    forms = ("{}", "a{0}b", " {0} {0}\n", "\n\n{0}'s")
    lines = [line for text in texts for line in text.splitlines(keepends=True)][:_LINES]
    return list(dict.fromkeys([*texts, *lines, *(form.format(name) for name in _special(tokenizer) for form in forms)]))


def _model(files: Mapping[str, Path]) -> Mapping[str, Any]:
    file = files.get(_JSON)
    model: Mapping[str, Any] = json.loads(file.read_bytes())["model"] if file else {}
    return model


def _unknown_token(model: Mapping[str, Any]) -> str:
    """Return the unknown token of a tokenizer.json, which its library finds in text, or an empty string."""
    number = model.get("unk_id")
    return str(model.get("unk_token") or "") if number is None else str(model["vocab"][number][0])
