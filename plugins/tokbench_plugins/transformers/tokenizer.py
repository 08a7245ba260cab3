"""A tokenizer of ``transformers`` behind tokbench's contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokbench.plugin import BackendError
from tokbench_plugins.huggingface.tokenizer import HuggingFaceTokenizer, make_tokenizer


def behind_the_contract(found: Any, notes: tuple[str, ...]) -> HuggingFaceTokenizer | PythonTokenizer:
    """Put a tokenizer behind the contract: a pipeline of ``tokenizers`` with all its capabilities, or Python.

    Raises:
        BackendError: the pipeline has no file that describes it, or it is of neither kind.
    """
    if not hasattr(found, "is_fast"):
        hint = "; the backend mistral has Mistral's own vocabularies" if "Mistral" in type(found).__name__ else ""
        raise BackendError(f"AutoTokenizer makes a {type(found).__name__} of it, which is run by another library{hint}")
    if not found.is_fast:
        return PythonTokenizer(found, notes)
    try:
        return make_tokenizer(found.backend_tokenizer.to_str(), notes)
    except ValueError as error:
        raise BackendError(f"its pipeline is not a tokenizer.json: {error}") from error


class PythonTokenizer:
    """Ordinary text through a tokenizer that is written in Python, such as that of ByT5.

    Special tokens are neither added nor recognised. Added tokens that are not special are not recognised
    either: the library has one switch for both. Which bytes an id stands for is not known.

    Args:
        found: what ``AutoTokenizer`` returned.
        notes: remarks for the report.

    Attributes:
        vocab_size: the highest id and one.
        special_ids: special tokens by name, but for the unknown token.
        unk_id: the unknown token; ``None`` if the vocabulary has none.
        lossless: never claimed of foreign code.
        thread_safe: likewise.
        notes: remarks for the report.
    """

    lossless = False
    thread_safe = False

    def __init__(self, found: Any, notes: tuple[str, ...] = ()) -> None:
        self._found = found
        self.notes = notes
        ids = found.get_vocab().values()
        self.vocab_size = max(len(found), max(ids, default=-1) + 1)
        self.unk_id: int | None = found.unk_token_id
        special = zip(found.all_special_tokens, found.all_special_ids, strict=True)
        self.special_ids: Mapping[str, int] = {name: k for name, k in special if k != self.unk_id}

    def encode(self, text: str, /) -> list[int]:
        """Encode ordinary text, without a warning that it is longer than the model's longest."""
        ids: list[int] = self._found.encode(text, add_special_tokens=False, split_special_tokens=True, verbose=False)
        return ids

    def decode(self, ids: Sequence[int], /) -> str:
        """Decode ids, special tokens by name, spaces not tidied up."""
        text: str = self._found.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text
