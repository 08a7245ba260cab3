"""A backend: a text is split at white space; listed words are tokens, everything else is bytes."""

import re

from tokbench.plugin import BackendSpec, Options, check_id


class WordOptions(Options):
    words: tuple[str, ...] = ("the", "of", "and")


class Words:
    lossless = True  # every text decodes to itself

    def __init__(self, options: WordOptions) -> None:
        words = [space + word for word in options.words for space in ("", " ")]
        self._tokens = [bytes([byte]) for byte in range(256)] + [word.encode() for word in words]
        self._ids = {token: token_id for token_id, token in enumerate(self._tokens)}
        self.vocab_size = len(self._tokens)

    def encode(self, text: str, /) -> list[int]:
        pieces = [piece.encode() for piece in re.findall(r"\s?\S+|\s", text)]
        return [token_id for piece in pieces for token_id in ([self._ids[piece]] if piece in self._ids else piece)]

    def token_bytes(self, token_id: int, /) -> bytes:
        check_id(token_id, self.vocab_size)  # raises ValueError
        return self._tokens[token_id]

    def decode(self, ids, /) -> str:
        return b"".join(map(self.token_bytes, ids)).decode(errors="replace")


SPEC = BackendSpec(name="words", summary="listed words, and bytes", load=Words, load_options=WordOptions)
