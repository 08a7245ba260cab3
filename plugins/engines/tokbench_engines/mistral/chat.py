"""Conversations encoded by ``mistral-common``, which has no templates."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from tokbench_engines.mistral.files import vocabularies


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
