"""A backend: every ``size`` bytes are a token."""

from pydantic import Field
from tokbench.plugin import BackendSpec, Options, check_id


class ChunkOptions(Options):
    size: int = Field(default=2, ge=1, le=2, description="bytes in a token")


class Chunks:
    lossless = True  # every text decodes to itself

    def __init__(self, options: ChunkOptions) -> None:
        self._size = options.size
        self.vocab_size = 257**options.size

    def encode(self, text: str, /) -> list[int]:  # a byte is a digit from 1 to 256; 0 fills the last chunk
        data = text.encode()
        chunks = (data[i : i + self._size] for i in range(0, len(data), self._size))
        return [sum((byte + 1) * 257**k for k, byte in enumerate(chunk)) for chunk in chunks]

    def token_bytes(self, token_id: int, /) -> bytes:
        check_id(token_id, self.vocab_size)  # raises ValueError
        digits = (token_id // 257**k % 257 for k in range(self._size))
        return bytes(digit - 1 for digit in digits if digit)

    def decode(self, ids, /) -> str:
        return b"".join(map(self.token_bytes, ids)).decode(errors="replace")


SPEC = BackendSpec(name="chunks", summary="fixed chunks", load=Chunks, load_options=ChunkOptions)
