"""Every option of the SentencePiece trainer that has a meaning here, with the library's defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import AliasChoices, Field

from tokbench import plugin

_IDENTITY: Final = {"normalization_rule_name": "identity"}
REPAIRS: Final[Mapping[str, Mapping[str, bool | str]]] = {
    "unknown": {"byte_fallback": True},
    "whitespace": {"remove_extra_whitespaces": False, **_IDENTITY},
    **dict.fromkeys(("nfc", "nfd", "nfkc", "nfkd", "control", "casing"), _IDENTITY),
}
"""By cause of a loss, the options that prevent it."""
WORDS_ALONE: Final[Mapping[str, object]] = {
    "input_sentence_size": 0,
    "normalization_rule_tsv": None,
    "add_dummy_prefix": True,
    "remove_extra_whitespaces": True,
    "split_by_whitespace": True,
    "allow_whitespace_only_pieces": False,
}
"""Options, with the values under which words and their counts give the pieces of their lines."""


def _option(default: Any, description: str, **limits: Any) -> Any:
    return Field(default=default, description=description, **limits)


class SentencePieceTrainOptions(plugin.Options):
    """Options of training ``sentencepiece``; names and defaults are the library's, but for ``hard_vocab_limit``.

    >>> SentencePieceTrainOptions().model_type, SentencePieceTrainOptions().max_sentence_length
    ('unigram', 4192)
    """

    model_type: Literal["unigram", "bpe", "char", "word"] = _option("unigram", "the algorithm")

    # The text that the trainer reads.
    input_sentence_size: int = _option(0, "number of lines drawn at random; 0: all of them", ge=0)
    shuffle_input_sentence: bool = _option(default=True, description="shuffle the lines that are drawn")
    max_sentence_length: int = _option(4192, "longest line, in bytes; longer ones are left out", ge=1)
    train_extremely_large_corpus: bool = _option(default=False, description="64-bit counts in unigram training")
    num_threads: int = _option(16, "threads of unigram training", ge=1, le=1024)

    # Normalization of text, in training and in use.
    normalization_rule_name: Literal["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"] = _option(
        "nmt_nfkc", "normalization by name; only identity round-trips every text"
    )
    normalization_rule_tsv: plugin.LocalPath | None = _option(None, "normalization rules of your own")
    denormalization_rule_tsv: plugin.LocalPath | None = _option(
        None, "rules for decoded text; the bytes of a token are not changed by them"
    )
    add_dummy_prefix: bool = _option(default=True, description="put a space before every text")
    remove_extra_whitespaces: bool = _option(
        default=True, description="drop leading, trailing and repeated spaces: such text does not round-trip"
    )

    # The characters and pieces that are allowed.
    character_coverage: float = _option(0.9995, "share of the text whose characters get a piece", ge=0.98, le=1)
    required_chars: str = _option("", "characters that get a piece however rare they are")
    byte_fallback: bool = _option(default=False, description="256 byte pieces instead of unknown characters")
    max_sentencepiece_length: int = _option(16, "longest piece, in characters", ge=1, le=512)
    split_by_unicode_script: bool = _option(default=True, description="no piece mixes scripts")
    split_by_number: bool = _option(default=True, description="no piece mixes digits and letters")
    split_by_whitespace: bool = _option(default=True, description="no piece crosses a space")
    split_digits: bool = _option(default=False, description="every digit is a piece of its own")
    pretokenization_delimiter: str = _option("", "no piece crosses this string, which is removed in training")
    treat_whitespace_as_suffix: bool = _option(default=False, description="a space belongs to the word before it")
    allow_whitespace_only_pieces: bool = _option(default=False, description="runs of spaces may be pieces")

    # Pieces that are not learned.
    control_symbols: tuple[str, ...] = _option(
        (),
        "pieces that ordinary text never produces and that decode to nothing; special_tokens is another name",
        validation_alias=AliasChoices("control_symbols", "special_tokens"),
    )
    user_defined_symbols: tuple[str, ...] = _option((), "pieces that are always kept whole; text can produce them")
    unk_id: int = _option(0, "id of the unknown piece", ge=0)
    bos_id: int = _option(1, "id of the piece for a beginning; -1: no such piece", ge=-1)
    eos_id: int = _option(2, "id of the piece for an end; -1: no such piece", ge=-1)
    pad_id: int = _option(-1, "id of the piece for padding; -1: no such piece", ge=-1)
    unk_piece: str = _option("<unk>", "name of the unknown piece", min_length=1)
    bos_piece: str = _option("<s>", "name of the piece for a beginning", min_length=1)
    eos_piece: str = _option("</s>", "name of the piece for an end", min_length=1)
    pad_piece: str = _option("<pad>", "name of the piece for padding", min_length=1)
    unk_surface: str = _option(" ⁇ ", "what the unknown piece decodes to")

    # The way to the vocabulary.
    hard_vocab_limit: bool = _option(
        default=False, description="fail where the text is too small for vocab_size; otherwise make fewer pieces"
    )
    use_all_vocab: bool = _option(default=False, description="word and char: keep all pieces, whatever vocab_size is")
    seed_sentencepiece_size: int = _option(1_000_000, "unigram: pieces to begin with", ge=1)
    seed_sentencepieces_file: plugin.LocalPath | None = _option(None, "unigram: a file of pieces to begin with")
    shrinking_factor: float = _option(0.75, "unigram: share of the pieces kept in each round", gt=0, lt=1)
    num_sub_iterations: int = _option(2, "unigram: EM steps in each round", ge=1)

    @property
    def repairs(self) -> dict[str, str]:
        """By cause of a loss (see the family ``roundtrip``), what to set against it."""
        repairs = {
            cause: [f"{name}: {str(value).lower()}" for name, value in set_.items() if getattr(self, name) != value]
            for cause, set_ in REPAIRS.items()
        }
        return {cause: ", ".join(options) for cause, options in repairs.items() if options}

    def arguments(self) -> dict[str, Any]:
        """Return the trainer's arguments that differ from its defaults.

        >>> SentencePieceTrainOptions(byte_fallback=True, control_symbols=("<sep>",)).arguments()
        {'byte_fallback': True, 'control_symbols': ['<sep>'], 'hard_vocab_limit': False}
        """
        changed = self.model_dump(exclude_defaults=True) | {"hard_vocab_limit": self.hard_vocab_limit}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in changed.items()}
