"""The files of ``mistral-common``, and conversations encoded by it, as it has no templates."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any


def vocabularies() -> dict[str, Path]:
    """Return the files of the installed package by their vocabulary: ``tokenizer.model.v1`` is v1."""
    spec = importlib.util.find_spec("mistral_common")
    folders = spec.submodule_search_locations if spec else None
    files = [file for folder in folders or () for file in sorted(Path(folder, "data").glob("*"))]
    models = {file.name.rpartition(".model.")[2]: file for file in files if ".model." in file.name}
    tekken = {file.stem: file for file in files if file.match("tekken_*.json")}
    return dict(sorted(models.items())) | tekken


@cache
def _library(vocabulary: str, mode: str) -> Any:
    from mistral_common.protocol.instruct.validator import ValidationMode
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    return MistralTokenizer.from_file(str(vocabularies()[vocabulary]), mode=ValidationMode(mode))


class EncodesMistralChat:
    """A vocabulary of the package whose conversations the library encodes."""

    vocabulary: str

    def encode_chat(self, messages: Sequence[Mapping[str, Any]], /, *, reply: bool) -> list[int]:  # noqa: ARG002
        """Encode a conversation. No mark opens a reply: what follows a message of the user is one."""
        from mistral_common.protocol.instruct.request import ChatCompletionRequest

        try:
            copied = json.loads(json.dumps(list(messages)))  # the library may change what it is given
            answered = bool(copied) and copied[-1]["role"] == "assistant"
            library = _library(self.vocabulary, "finetuning" if answered else "test")
            request = ChatCompletionRequest.from_openai(copied)
            ids: list[int] = library.encode_chat_completion(request).tokens
        except Exception as error:  # the library's own errors, pydantic's, and what damaged messages raise in it
            raise ValueError(f"mistral-common refuses the conversation: {error}") from error
        return ids
