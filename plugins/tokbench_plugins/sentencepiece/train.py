"""Training with the library's trainer, with readable error messages."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sentencepiece import SentencePieceTrainer

from tokbench import plugin
from tokbench.foundation.errors import BackendError, shortened
from tokbench_plugins.sentencepiece.options import SentencePieceTrainOptions
from tokbench_plugins.sentencepiece.tokenizer import SentencePieceTokenizer, make_tokenizer

_ERRORS_ONLY = 2
_RESERVED = "\u2585"  # the trainer marks unknown characters with it and leaves out lines that have it

# A code, sometimes a place in the source and the condition that does not hold there, sometimes a message.
_MESSAGE = re.compile(r"[A-Z_]+: (?:\S+\.cc\(\d+\) \[(?P<condition>.*)\] )?(?P<message>.*)", re.DOTALL)

_REMEDIES = {
    "Vocabulary size too high": "lower vocab_size, train on more text, or set hard_vocab_limit: false",
    "Vocabulary size is smaller": "raise vocab_size or lower character_coverage",
}


@dataclass
class _Lines:
    documents: Iterable[str]
    longest: int
    seen: int = 0
    too_long: int = 0
    reserved: int = 0
    error: Exception | None = None

    def __iter__(self) -> Iterator[str]:
        try:
            for document in self.documents:
                for line in document.split("\n"):
                    if line and self._takes(line):
                        yield line
        except Exception as error:
            self.error = error
            raise

    def _takes(self, line: str) -> bool:
        self.seen += 1
        too_long = len(line.removesuffix("\r").encode()) > self.longest
        reserved = not too_long and _RESERVED in line
        self.too_long += too_long
        self.reserved += reserved
        return not (too_long or reserved)

    @property
    def notes(self) -> tuple[str, ...]:
        reasons = {
            f"longer than max_sentence_length={self.longest} bytes": self.too_long,
            "with the reserved character U+2585": self.reserved,
        }
        return tuple(
            f"{count:,} of {self.seen:,} lines {reason} were left out by the trainer"
            for reason, count in reasons.items()
            if count
        )


def train(
    documents: Iterable[str], vocab_size: int, options: SentencePieceTrainOptions, input_format: str = ""
) -> SentencePieceTokenizer:
    r"""Train a model on the lines of the documents.

    No piece holds a line feed, and none is learned from lines that are too long; the tokenizer's ``notes`` count these.
    ``vocab_size`` includes control, unknown and byte pieces.

    >>> tokenizer = train(["low lower lowest\nslow slower"] * 9, 15, SentencePieceTrainOptions(model_type="bpe"))
    >>> [tokenizer.token_bytes(i) for i in tokenizer.encode("slow")]
    [b' s', b'low']
    """
    lines = _Lines(documents, options.max_sentence_length)
    model = io.BytesIO()
    try:
        SentencePieceTrainer.Train(
            sentence_iterator=iter(lines),
            model_writer=model,
            vocab_size=vocab_size,
            minloglevel=_ERRORS_ONLY,
            input_format=input_format,
            **options.arguments(),
        )
    except (RuntimeError, ValueError) as error:
        if lines.error is not None:
            raise lines.error from None
        if lines.seen == lines.too_long + lines.reserved:
            reason = "; ".join(lines.notes) or "the training text is empty"
            raise BackendError(f"sentencepiece has no line to train on: {reason}") from error
        raise BackendError(f"sentencepiece does not train: {_readable(str(error))}") from error
    return make_tokenizer(model.getvalue(), lines.notes)


def train_on_counts(
    tables: Mapping[str, plugin.CountsFile], vocab_size: int, options: SentencePieceTrainOptions
) -> SentencePieceTokenizer:
    """Train a BPE model on words and their counts: the pieces are the same as from the text, if no line is too long.

    The order of words decides nothing: of equally frequent pairs the library takes the shorter, then the smaller.

    Raises:
        BackendError: a word has a tab, and the normalization does not make it a space.
    """
    from tokbench_plugins.counts.read import counts_of_tables

    words = counts_of_tables(tables, "smallest").chunks()
    return train(_rows(words, options.normalization_rule_name), vocab_size, options, "tsv")


def _rows(words: Iterable[tuple[bytes, int]], normalization: str) -> Iterator[str]:
    for data, count in words:
        word = data.decode()
        if "\t" in word and not normalization.startswith("nmt"):
            message = (
                f"the word {shortened(word, 40)!r} has a tab, which normalization_rule_name: {normalization} keeps"
            )
            raise plugin.BackendError(f"{message}; train on the text, or with nmt_nfkc")
        if word[0] not in " \r\n":
            yield word.replace("\t", " ") + f"\t{count}"


def _readable(message: str) -> str:
    """Shorten the library's message, and add what to do about it.

    >>> _readable("INTERNAL: src/x.cc(7) [a == b] Vocabulary size is smaller than required_chars. 5 vs 7.")
    'Vocabulary size is smaller than required_chars. 5 vs 7; raise vocab_size or lower character_coverage'
    >>> _readable("INTERNAL: src/x.cc(95) [has_unk] ")
    'has_unk does not hold'
    """
    match = _MESSAGE.fullmatch(" ".join(message.split()) + " ")
    text = match["message"] if match else message
    if match and not text.strip():
        return f"{match['condition']} does not hold"
    text = text.partition(" Increase vocab_size")[0].strip().rstrip(".")  # it speaks of command line options
    remedy = next((remedy for start, remedy in _REMEDIES.items() if text.startswith(start)), None)
    return f"{text}; {remedy}" if remedy else text
