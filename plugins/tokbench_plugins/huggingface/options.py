"""Options of training with Hugging Face's ``tokenizers``, and the models to which each of them belongs."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from tokbench import plugin
from tokbench_plugins.bpe.patterns import PATTERNS

Model = Literal["byte_bpe", "bpe", "wordpiece", "unigram"]
Normalizer = Literal[
    "nfc", "nfd", "nfkc", "nfkd", "nmt", "lowercase", "strip", "strip_accents", "bert_cased", "bert_uncased"
]

NAMED_SPLITS: Final = (*PATTERNS, "whitespace", "whitespace_split", "metaspace", "bert", "none")

_DEFAULT_SPLIT: Final = {"byte_bpe": "gpt2", "bpe": "metaspace", "wordpiece": "bert", "unigram": "metaspace"}
_DEFAULT_UNKNOWN: Final = {"bpe": "<unk>", "wordpiece": "[UNK]", "unigram": "<unk>"}

# Byte-level BPE must see spaces. WordPiece must not, because its decoder puts them between words.
_DROPS_SPACES: Final = {"whitespace", "whitespace_split", "bert"}
_REFUSED: Final = {
    "byte_bpe": {*_DROPS_SPACES, "metaspace"},
    "wordpiece": {*NAMED_SPLITS} - _DROPS_SPACES,
}

# The models of an option; an option that is not here belongs to all models.
_BELONGS_TO: Final = {
    "add_prefix_space": {"byte_bpe"},
    "min_frequency": {"byte_bpe", "bpe", "wordpiece"},
    "unk_token": {"bpe", "wordpiece", "unigram"},
    "byte_fallback": {"bpe", "unigram"},
    "limit_alphabet": {"bpe", "wordpiece"},
    "max_piece_length": {"unigram"},
    "shrinking_factor": {"unigram"},
    "n_sub_iterations": {"unigram"},
}


def _option(default: Any, description: str, **limits: Any) -> Any:
    return Field(default=default, description=description, **limits)


class HuggingFaceTrainOptions(plugin.Options):
    """Options of training ``huggingface``; an option of another model is refused.

    >>> HuggingFaceTrainOptions().split, HuggingFaceTrainOptions(model="wordpiece").unknown
    ('gpt2', '[UNK]')
    >>> HuggingFaceTrainOptions(model="unigram", min_frequency=2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pydantic_core._pydantic_core.ValidationError: 1 validation error for HuggingFaceTrainOptions
      Value error, 'min_frequency' is an option of byte_bpe, bpe, wordpiece, not of unigram ...
    """

    model: Model = _option("byte_bpe", "the algorithm: byte_bpe, bpe, wordpiece or unigram")
    normalizer: tuple[Normalizer, ...] = _option(
        (), ("normalizations, in this order; default: none, so that every text round-trips")
    )
    pre_tokenization: str = _option("", f"the split: a name ({', '.join(NAMED_SPLITS)}) or an expression")
    split_digits: bool = _option(default=False, description="every digit is a token of its own")
    add_prefix_space: bool = _option(default=False, description="byte_bpe: put a space before every text")
    prepend_scheme: Literal["always", "first", "never"] = _option("always", "metaspace: where a space is added")
    special_tokens: tuple[str, ...] = _option(
        (), "special tokens, which get the first ids; ordinary text never produces them"
    )
    unk_token: str = _option("", "name of the unknown token; <unk>, or [UNK] for wordpiece")
    limit_alphabet: int | None = _option(None, "number of different characters, the most frequent ones", ge=1)
    min_frequency: int = _option(0, "minimum frequency of a merged pair", ge=0)
    byte_fallback: bool = _option(default=False, description="256 byte tokens instead of unknown characters")
    max_piece_length: int = _option(16, "unigram: longest piece, in characters", ge=1)
    shrinking_factor: float = _option(0.75, "unigram: share of the pieces kept in each round", gt=0, lt=1)
    n_sub_iterations: int = _option(2, "unigram: EM steps in each round", ge=1)

    @field_validator("pre_tokenization")
    @classmethod
    def _can_split(cls, value: str) -> str:
        if value in NAMED_SPLITS or not value:
            return value
        # As an expression a bare word would match nothing but itself: it must be a name, misspelled.
        if re.fullmatch(r"[\w.-]*", value):
            raise ValueError(f"unknown split {value!r}; {plugin.did_you_mean(value, NAMED_SPLITS)}")
        try:
            from tokenizers import Regex
        except ImportError:  # the backend is unavailable then, and says so
            return value
        try:
            Regex(value)
        except Exception as error:  # the library raises nothing more special
            raise ValueError(f"{value!r} is not an expression of Oniguruma: {error}") from error
        return value

    @model_validator(mode="after")
    def _fits_the_model(self) -> Self:
        for name in sorted(self.model_fields_set & _BELONGS_TO.keys()):
            if self.model not in _BELONGS_TO[name]:
                owners = ", ".join(model for model in _DEFAULT_SPLIT if model in _BELONGS_TO[name])
                raise ValueError(f"{name!r} is an option of {owners}, not of {self.model}")
        if "prepend_scheme" in self.model_fields_set and self.split != "metaspace":
            raise ValueError("'prepend_scheme' goes with pre_tokenization: metaspace")
        refused = _REFUSED.get(self.model, set())
        if self.split in refused or (self.model == "wordpiece" and self.split not in NAMED_SPLITS):
            fitting = ", ".join(name for name in NAMED_SPLITS if name not in refused)
            raise ValueError(f"pre_tokenization {self.split!r} does not fit {self.model}; it takes {fitting}")
        return self

    @property
    def split(self) -> str:
        return self.pre_tokenization or _DEFAULT_SPLIT[self.model]

    @property
    def unknown(self) -> str | None:
        return self.unk_token or _DEFAULT_UNKNOWN.get(self.model)

    @property
    def prefix(self) -> str:
        """The mark of a token inside a word."""
        return "##" if self.model == "wordpiece" else ""
