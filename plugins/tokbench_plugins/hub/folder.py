"""The tokenizer of a folder, and of a name of the hub, whose files are a folder, too.

What is in the folder decides, not what it is called:

1. Ranks whose split is known are read by it, if nothing adds tokens. ``AutoTokenizer`` knows one split.
2. ``AutoTokenizer`` makes a tokenizer: its class, its configuration and its added tokens decide the ids.
3. Where it makes none, or is not installed, a vocabulary is read as if it were named itself, if nothing in the folder
   could change its ids; a ``tokenizer.json`` is read in any case, with a caution.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tokbench import plugin
from tokbench.registry.plugins import lacking
from tokbench.registry.tokenizer_files import Reader, readers_of
from tokbench.tokenizers.facts import CAUTION
from tokbench_plugins import gpt2_files
from tokbench_plugins.bpe.formats import RANKS_FILES, known_split
from tokbench_plugins.bpe.formats.json_files import read_json_object
from tokbench_plugins.bpe.patterns import PATTERNS, resolve_pattern
from tokbench_plugins.huggingface import backend as huggingface
from tokbench_plugins.sentencepiece import backend as sentencepiece
from tokbench_plugins.tiktoken import backend as tiktoken

if TYPE_CHECKING:
    from tokbench_plugins.hub.backend import HubLoadOptions

_BACKENDS: Final = (tiktoken.SPEC, sentencepiece.SPEC, gpt2_files.SPEC, huggingface.SPEC)
_JSON, _CONFIG, _ADDED, _MODEL = "tokenizer.json", "tokenizer_config.json", "added_tokens.json", "config.json"
_BERT: Final = "vocab.txt"
_SHOWN: Final = 4
_HARMLESS: Final = {"model_max_length", "clean_up_tokenization_spaces", "chat_template"}
"""Keys of the configuration that change no ids."""
_GENERAL: Final = {None, "PreTrainedTokenizerFast", "PreTrainedTokenizer", "TokenizersBackend"}
"""Classes that are none of a model."""


class _Vocabulary(NamedTuple):
    path: Path
    reader: Reader

    def load(self, special_tokens: tuple[str, ...]) -> Any:
        spec, kind = self.reader
        assert spec.load is not None
        return spec.load(spec.load_options.model_validate({kind.option: self.path, "special_tokens": special_tokens}))


def load_folder(options: HubLoadOptions, folder: Path, said: str) -> Any:
    """Load the tokenizer of a folder, which messages call what a user ``said``.

    Raises:
        BackendUnavailable: there is no tokenizer, or a package is missing.
        BackendError: the tokenizer cannot be loaded.
    """
    vocabularies = _vocabularies(folder)
    found = min(vocabularies, key=lambda one: _BACKENDS.index(one.reader.spec), default=None)
    if not any((folder / name).is_file() for name in (_JSON, _CONFIG, _MODEL)):
        _check_one(folder, vocabularies, said)
    if found is None and not any((folder / name).is_file() for name in (_JSON, _CONFIG, _MODEL)):
        raise plugin.BackendUnavailable(f"{said}: no tokenizer there; name another model, or the file of a tokenizer")
    config = _read(folder / _CONFIG)
    alone = found if found and _alone(found, folder, config) else None
    split = known_split(found.path) if found and found.reader.kind in RANKS_FILES else None
    if alone and split:
        return alone.load(options.special_tokens)
    if found and split and resolve_pattern(split) != PATTERNS["gpt4"] and "auto_map" not in config:
        raise plugin.BackendError(f"{said}: AutoTokenizer would split it as gpt4; name the file itself: {found.path}")
    if absent := lacking(("transformers",), "pip install 'tokbench[transformers]'"):
        return _without_transformers(folder, alone, options, f"AutoTokenizer decides the ids of {said}, and {absent}")
    from tokbench_plugins.transformers.tokenizer import NoVocabularyError

    try:
        return load_auto(options, folder, said)
    except plugin.BackendError as error:
        for name in (_JSON, _ADDED, _MODEL):
            _read(folder / name)  # says where it is damaged
        if alone and isinstance(error, NoVocabularyError):
            return alone.load(options.special_tokens)
        advice = f"; or name the file itself: {found.path}" if found else ""
        raise plugin.BackendError(f"{error}{advice}") from error


def load_auto(options: HubLoadOptions, path: Path, said: str) -> Any:
    """Load what ``AutoTokenizer`` makes of a folder, or the pipeline of a tokenizer.json.

    Raises:
        BackendError: it makes nothing of it, or nothing that has a vocabulary.
    """
    from tokbench_plugins.transformers.tokenizer import auto_tokenizer, behind_the_contract, rewritten

    trust, tekken = options.trust_remote_code, path / "tekken.json"
    foreign = auto_tokenizer(path, said, trust_remote_code=trust)
    if not hasattr(foreign, "is_fast") and tekken.is_file():  # which mistral-common would run
        return _Vocabulary(tekken, Reader(tiktoken.SPEC, tiktoken.TEKKEN)).load(options.special_tokens)
    code = "trust_remote_code is on: Python code that comes with the tokenizer may have been run"
    return behind_the_contract(foreign, (code,) * trust + rewritten(foreign, path / _JSON), options.special_tokens)


def _without_transformers(folder: Path, alone: _Vocabulary | None, options: HubLoadOptions, reason: str) -> Any:
    if alone:
        return alone.load(options.special_tokens)
    if not (folder / _JSON).is_file():
        raise plugin.BackendUnavailable(reason)
    given: Any = {"path": folder / _JSON, "special_tokens": options.special_tokens}
    tokenizer: Any = huggingface.load(huggingface.HuggingFaceLoadOptions(**given))
    tokenizer.notes = (*tokenizer.notes, f"{CAUTION}{_JSON} alone was read; {reason}")
    return tokenizer


def _check_one(folder: Path, found: list[_Vocabulary], said: str) -> None:
    """Raise BackendError if a folder has several tokenizers, and nothing says which one is meant."""
    pair = [one.path.name for one in found if one.reader.spec is gpt2_files.SPEC]
    names = [one.path.name for one in found if one.path.name not in pair[1:]]
    names += [path.name for end in (_JSON, _BERT) for path in folder.glob(f"*.{end}") if path.name not in names]
    if len(names) > 1:
        named = ", ".join(sorted(names)[:_SHOWN]) + ", …" * (len(names) > _SHOWN)
        raise plugin.BackendError(f"{said} has {len(names)} tokenizers: {named}; name the file of one")


def _vocabularies(folder: Path) -> list[_Vocabulary]:
    """Return the vocabularies of a folder without a tokenizer.json: ranks, pieces, the files of a pair."""
    found = []
    for path in sorted(folder.glob("*")) if not (folder / _JSON).is_file() else ():
        if path.is_file() and path.name != _ADDED:
            backends = _BACKENDS if path.name == _BERT else _BACKENDS[:-1]
            readers = plugin.attempt(lambda path=path, some=backends: readers_of(path.name, path, some))  # type: ignore[misc]
            found += [] if isinstance(readers, plugin.Failure) else [_Vocabulary(path, readers[0])]
    return found


def _alone(found: _Vocabulary, folder: Path, config: dict[str, Any]) -> bool:
    """Tell whether nothing else in a folder decides the ids of a vocabulary; a class says the case of a vocab.txt."""
    pieces = found.reader.spec is sentencepiece.SPEC and (config or (folder / _MODEL).is_file())
    general = config.get("tokenizer_class") in _GENERAL and config.keys() <= _HARMLESS | {"tokenizer_class"}
    return general and not pieces and found.path.name != _BERT and not (folder / _ADDED).is_file()


def _read(path: Path) -> dict[str, Any]:
    return read_json_object(path) if path.is_file() else {}
