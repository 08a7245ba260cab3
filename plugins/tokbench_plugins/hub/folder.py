"""The tokenizer of a folder, and of a name of the hub, whose files are a folder, too.

What is in the folder decides, not what it is called:

1. Ranks whose split is known are read by it, if nothing adds tokens. ``AutoTokenizer`` knows one split.
2. ``AutoTokenizer`` makes a tokenizer: its class, its configuration and its added tokens decide the ids.
3. Where it makes none, or is not installed, a vocabulary is read as if it were named itself, if nothing in the folder
   could change its ids; a ``tokenizer.json`` is read in any case, with a caution.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from tokbench import plugin
from tokbench.registry.plugins import missing
from tokbench.registry.tokenizer_files import Reader, readers_of
from tokbench.tokenizers.facts import CAUTION
from tokbench_plugins import gpt2_files
from tokbench_plugins.bpe.formats import RANKS_FILES, known_split
from tokbench_plugins.bpe.formats.json_files import read_json_object
from tokbench_plugins.bpe.patterns import PATTERNS, resolve_pattern
from tokbench_plugins.hub.fetch import Fetched
from tokbench_plugins.huggingface import backend as huggingface
from tokbench_plugins.sentencepiece import backend as sentencepiece
from tokbench_plugins.tiktoken import backend as tiktoken
from tokbench_plugins.transformers import backend as transformers

_BACKENDS: Final = (tiktoken.SPEC, sentencepiece.SPEC, gpt2_files.SPEC)
_JSON, _CONFIG, _ADDED, _MODEL = "tokenizer.json", "tokenizer_config.json", "added_tokens.json", "config.json"
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


def load_folder(options: transformers.TransformersLoadOptions, fetched: Fetched | None) -> Any:
    """Load the tokenizer of a folder, or of a name whose files were fetched.

    Raises:
        BackendUnavailable: there is no tokenizer under this name, or a package is missing.
        BackendError: the tokenizer cannot be loaded.
    """
    folder = fetched.folder if fetched else options.path
    assert folder is not None
    said = options.name or str(folder)
    found = _vocabulary(folder)
    if found is None and not any((folder / name).is_file() for name in (_JSON, _CONFIG, _MODEL)):
        raise plugin.BackendUnavailable(f"{said}: no tokenizer there; name another model, or the file of a tokenizer")
    alone = found if found and _alone(found, folder) else None
    split = known_split(found.path) if found and found.reader.kind in RANKS_FILES else None
    if alone and split:
        return alone.load(options.special_tokens)
    if found and split and resolve_pattern(split) != PATTERNS["gpt4"]:
        raise plugin.BackendError(f"{said}: AutoTokenizer would split it as gpt4; name the file itself: {found.path}")
    if absent := missing(transformers.SPEC):
        return _without_transformers(folder, alone, options, f"AutoTokenizer decides the ids of {said}, and {absent}")
    from tokbench_plugins.transformers.tokenizer import NoVocabularyError

    try:
        return transformers.load_folder(options, folder)
    except plugin.BackendError as error:
        for name in (_JSON, _CONFIG, _ADDED, _MODEL):
            if (folder / name).is_file():
                read_json_object(folder / name)  # says where it is damaged
        if alone and isinstance(error, NoVocabularyError):
            return alone.load(options.special_tokens)
        advice = f"; or name the file itself: {found.path}" if found else ""
        raise plugin.BackendError(f"{error}{advice}") from error


def _without_transformers(
    folder: Path, alone: _Vocabulary | None, options: transformers.TransformersLoadOptions, lacking: str
) -> Any:
    if alone:
        return alone.load(options.special_tokens)
    if not (folder / _JSON).is_file():
        raise plugin.BackendUnavailable(lacking)
    given: Any = {"path": folder / _JSON, "special_tokens": options.special_tokens}
    tokenizer: Any = huggingface.load(huggingface.HuggingFaceLoadOptions(**given))
    tokenizer.notes = (*tokenizer.notes, f"{CAUTION}{_JSON} alone was read; {lacking}")
    return tokenizer


def _vocabulary(folder: Path) -> _Vocabulary | None:
    """Return the vocabulary of a folder without a tokenizer.json, the surest first: ranks, pieces, a pair of files."""
    found = []
    for path in sorted(folder.glob("*")):
        if path.is_file() and path.name != _ADDED and not (folder / _JSON).is_file():
            readers = plugin.attempt(lambda path=path: readers_of(path.name, path, _BACKENDS))  # type: ignore[misc]
            found += [] if isinstance(readers, plugin.Failure) else [_Vocabulary(path, readers[0])]
    return min(found, key=lambda one: _BACKENDS.index(one.reader.spec), default=None)


def _alone(found: _Vocabulary, folder: Path) -> bool:
    """Tell whether nothing else in a folder decides the ids of a vocabulary."""
    config = read_json_object(folder / _CONFIG) if (folder / _CONFIG).is_file() else {}
    pieces = found.reader.spec is sentencepiece.SPEC and (config or (folder / _MODEL).is_file())
    general = config.pop("tokenizer_class", None) in _GENERAL and config.keys() <= _HARMLESS
    return general and not pieces and not (folder / _ADDED).is_file()
