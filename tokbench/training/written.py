"""What ``tokbench train`` writes: files for other libraries, each read back by its library and compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from tokbench.engine.folder import save_whole
from tokbench.foundation.errors import BackendError, InputError, did_you_mean
from tokbench.foundation.files import write_atomically
from tokbench.registry.plugins import load_registry
from tokbench.tokenizers.contract import Exports, HasSpecialTokens, Saves, Tokenizer

OWN_FORMAT: Final = "tokbench"
"""The format that the backend itself loads."""

TRANSFORMERS: Final = "transformers"
"""A folder for ``AutoTokenizer``, with ranks for tiktoken where they can hold the tokenizer."""

_JSON: Final = "huggingface"
_JSON_SUFFIX: Final = ".tokenizer.json"
_RANKS: Final = "tiktoken"

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
        names = tokenizer.special_ids if isinstance(tokenizer, HasSpecialTokens) else {}
        for role, name in self.roles.items():
            if name not in names:
                raise InputError(f"--{role} {name}: not a special token of it; {did_you_mean(name, names)}")
        found = {role: next(filter(names.__contains__, known), "") for role, known in WELL_KNOWN.items()}
        return {role: name for role, name in {**found, **self.roles}.items() if name}


OWN: Final = Wanted()
"""The backend's own format alone."""


def formats_of(tokenizer: Tokenizer) -> dict[str, str]:
    """Return the endings of files by format."""
    own = {OWN_FORMAT: tokenizer.file_suffix} if isinstance(tokenizer, Saves) else {}
    found = {**own, **(tokenizer.exports if isinstance(tokenizer, Exports) else {})}
    if _JSON in found or _JSON_SUFFIX in own.values():
        found = {**found, _JSON: _JSON_SUFFIX, TRANSFORMERS: ""}
    return found


def format_of_file(path: Path, suffixes: Mapping[str, str]) -> str | None:
    """Return the format of a file by its name, or ``None`` for the name of a folder.

    >>> format_of_file(Path("out/x.json"), {"tokbench": ".bpe.json", "huggingface": ".tokenizer.json"})
    'huggingface'
    >>> format_of_file(Path("x.bpe.json"), {"tokbench": ".bpe.json", "huggingface": ".tokenizer.json"})
    'tokbench'
    """
    files = [(form, suffix) for form, suffix in reversed(list(suffixes.items())) if suffix and path.suffix]
    exact = [form for form, suffix in files if path.name.endswith(suffix)]
    return next(iter([*exact, *(form for form, suffix in files if suffix.endswith(path.suffix))]), None)


def write(tokenizer: Tokenizer, form: str, path: Path, wanted: Wanted) -> list[Path]:
    """Write a tokenizer in one format, or raise InputError or BackendError."""
    suffixes = formats_of(tokenizer)
    if form not in suffixes:
        raise InputError(f"cannot be written as {form!r}; {did_you_mean(form, suffixes)}")
    if form == TRANSFORMERS:
        return _write_folder(tokenizer, path, wanted)
    if form == OWN_FORMAT or not (isinstance(tokenizer, Exports) and form in tokenizer.exports):
        assert isinstance(tokenizer, Saves)
        return [save_whole(path, tokenizer.save).path]
    if hasattr(tokenizer, "roles"):
        tokenizer.roles = wanted.roles_of(tokenizer)
    tokenizer.export(form, path)
    return [path]


def _write_folder(tokenizer: Tokenizer, folder: Path, wanted: Wanted) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    files = write(tokenizer, _JSON, folder / "tokenizer.json", wanted)
    config: dict[str, Any] = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    config |= {"unk_token": unknown} if (unknown := _unknown_token(files)) else {}
    config |= {f"{role}_token": name for role, name in wanted.roles_of(tokenizer).items()}
    config |= {"chat_template": wanted.chat_template} if wanted.chat_template else {}
    config |= {"model_max_length": wanted.model_max_length} if wanted.model_max_length else {}
    files.append(folder / "tokenizer_config.json")
    write_atomically(files[-1], (json.dumps(config, ensure_ascii=False, indent=1) + "\n").encode())
    if isinstance(tokenizer, Exports) and _RANKS in tokenizer.exports:
        ranks = folder / "tokenizer.tiktoken"
        try:
            tokenizer.export(_RANKS, ranks)
        except BackendError:  # ranks hold fewer vocabularies
            return files
        files.append(ranks)
    return files


Encode = Callable[[str], Sequence[int]]


def readers(tokenizer: Tokenizer, form: str, files: Sequence[Path]) -> dict[str, Encode]:
    """Load files with the libraries they are for; an encoder of each, special tokens included.

    Raises:
        BackendError: the library is not installed.
    """
    special = dict(tokenizer.special_ids) if isinstance(tokenizer, HasSpecialTokens) else {}
    found = dict[str, Encode]()
    try:
        for path in files:
            if form == TRANSFORMERS and path.name == "tokenizer_config.json":
                from transformers import AutoTokenizer

                auto = AutoTokenizer.from_pretrained(path.parent)
                found["AutoTokenizer"] = partial(auto.encode, add_special_tokens=False)
            elif form in {TRANSFORMERS, _JSON} and path.suffix == ".json":
                import tokenizers

                found["tokenizers"] = partial(_ids, tokenizers.Tokenizer.from_file(str(path)))
            elif form in {TRANSFORMERS, _RANKS}:
                found["tiktoken"] = partial(_tiktoken(path, special).encode, allowed_special="all")
            elif form == "gguf":
                found["gguf"] = _own("gguf", special, path=path)
            elif form == "gpt2":
                names = {"encoder": path / "encoder.json", "vocab": path / "vocab.bpe"}
                found["GPT-2's files"] = _own("gpt2_files", special, **names, special_tokens=list(special))
    except ImportError as error:
        raise BackendError(
            f"{form} is not written where it cannot be read: {error}; pip install {error.name}"
        ) from error
    return found


def _ids(library: Any, text: str) -> list[int]:
    ids: list[int] = library.encode(text, add_special_tokens=False).ids
    return ids


def _tiktoken(path: Path, special: Mapping[str, int]) -> Any:
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    pattern = Path(f"{path}.pattern").read_text(encoding="utf-8").partition("\n")[2]
    ranks = load_tiktoken_bpe(str(path))
    return tiktoken.Encoding(path.stem, pat_str=pattern, mergeable_ranks=ranks, special_tokens=dict(special))


def _own(backend: str, special: Collection[str], **options: object) -> Encode:
    spec = load_registry().backends.get(backend)
    assert spec.load is not None
    tokenizer: Any = spec.load(spec.load_options.model_validate(options))
    return partial(tokenizer.encode_with_special, allowed_special="all") if special else tokenizer.encode


def compare(tokenizer: Any, encoders: Mapping[str, Encode], texts: Sequence[str]) -> int:
    """Compare the ids of texts, special tokens included, and return how many there were, or raise BackendError."""
    special = isinstance(tokenizer, HasSpecialTokens) and bool(tokenizer.special_ids)
    encode = partial(tokenizer.encode_with_special, allowed_special="all") if special else tokenizer.encode
    for text in texts:
        expected = list(encode(text))
        for library, other in encoders.items():
            if (got := list(other(text))) != expected:
                raise BackendError(
                    f"{library} gives other ids for {text[:60]!r}: {got[:9]}, not {expected[:9]}; do not use the files"
                )
    return len(texts)


def texts_to_compare(tokenizer: Tokenizer, texts: Sequence[str], files: Sequence[Path]) -> list[str]:
    """Return texts, the shipped sentences and stress tests, and each special token between letters and spaces.

    Texts that spell an unknown token are left out: to the library it is a special token, to tokbench text.
    """
    shipped = load_registry().corpora.get("sample")
    for part in ("hostile", "languages", "code"):
        source = shipped.open(shipped.options.model_validate({"part": part}))
        texts = [*texts, *(document.text for document in source.documents())]
    special = tokenizer.special_ids if isinstance(tokenizer, HasSpecialTokens) else ()
    names = [form.format(name) for name in special for form in ("{}", "a{0}b", " {0} {0}\n", "\n\n{0}'s")]
    lines = [line for text in texts for line in text.splitlines(keepends=True)]
    unknown = _unknown_token(files)
    return [
        text for text in (*texts, *names, *lines[:_LINES]) if not unknown or unknown in special or unknown not in text
    ]


def _unknown_token(files: Sequence[Path]) -> str:
    """Return the unknown token of a tokenizer.json, which its library finds in text, or an empty string."""
    if files[0].suffix != ".json":
        return ""
    model = json.loads(files[0].read_bytes()).get("model", {})
    name: str = model.get("unk_token") or ""
    number = model.get("unk_id")
    return name if number is None else str(model["vocab"][number][0])
