"""Training with the library's trainers, made to give the same tokenizer each time.

The library breaks ties by the order of hash maps, which differs from run to run. Here rules break them: for the ids of
characters inside words (``##a``), the alphabet, and equally likely characters of Unigram.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import ByteLevel

from tokbench.foundation.errors import BackendError
from tokbench.tokenizers.batch import valid_unicode
from tokbench_plugins.huggingface.options import HuggingFaceTrainOptions
from tokbench_plugins.huggingface.pipeline import BYTE_TOKENS, make_pipeline, make_trainer
from tokbench_plugins.huggingface.tokenizer import HuggingFaceTokenizer, make_tokenizer

_BYTE_NOTE = "the library takes the text <0x41> for the byte token of that name, and decodes it to A"
_STEP = 1e-4  # the library separates by this step the characters that no piece of the model needs
_DECIMALS = 6  # sums that are added up in another order differ from the eleventh on


@dataclass
class _Texts:
    documents: Iterable[str]
    seen: bool = False
    error: Exception | None = None

    def __iter__(self) -> Iterator[str]:
        try:
            for document in self.documents:
                self.seen = self.seen or bool(document)
                yield valid_unicode(document)
        except Exception as error:
            self.error = error
            raise


def train(documents: Iterable[str], vocab_size: int, options: HuggingFaceTrainOptions) -> HuggingFaceTokenizer:
    """Train a tokenizer; ``documents`` is held in memory where the library must read it twice.

    >>> tokenizer = train(["low lower lowest"] * 9, 262, HuggingFaceTrainOptions())
    >>> [tokenizer.decode([i]) for i in tokenizer.encode("slow lower")]
    ['s', 'low', ' lower']
    """
    texts = _Texts(documents)
    try:
        content = _train(texts, vocab_size, options)
    except Exception as error:
        if texts.error is not None:
            raise texts.error from None
        if isinstance(error, BackendError):
            raise
        raise BackendError(f"tokenizers does not train: {' '.join(str(error).split())}") from error
    if not texts.seen:
        raise BackendError("tokenizers has nothing to train on: the training text is empty")
    notes = (_BYTE_NOTE,) if options.model == "unigram" and options.byte_fallback else ()
    tokenizer = make_tokenizer(json.dumps(content, ensure_ascii=False, indent=1), notes)
    if tokenizer.vocab_size > vocab_size:
        remedy = "" if options.model == "byte_bpe" else " or set limit_alphabet or byte_fallback"
        raise BackendError(
            f"special tokens and alphabet alone are {tokenizer.vocab_size} tokens, more than {vocab_size}; "
            f"raise vocab_size{remedy}"
        )
    return tokenizer


def _train(texts: Iterable[str], vocab_size: int, options: HuggingFaceTrainOptions) -> dict[str, Any]:
    special = list(options.special_tokens)
    if options.unknown and options.unknown not in special:
        special.insert(0, options.unknown)
    inside: Sequence[str] = ()
    alphabet: Sequence[str] = ByteLevel.alphabet() if options.model == "byte_bpe" else ()
    limit, prefix = options.limit_alphabet, options.prefix
    if limit or prefix:
        texts = list(texts)
        known = _fit(texts, 0, options, [], []).get_vocab()
        alphabet = _most_frequent((token for token in known if len(token) == 1), texts, options)
        kept = set(alphabet)
        inside = sorted(token for token in known if len(token) > 1 and token.removeprefix(prefix) in kept)
    byte_tokens = BYTE_TOKENS if options.byte_fallback else ()
    first = list(dict.fromkeys([*special, *byte_tokens, *inside]))
    pipeline = _fit(texts, vocab_size, options, first, sorted(alphabet), len(alphabet) if limit else None)
    content: dict[str, Any] = json.loads(pipeline.to_str())
    # All that had to come first was called special; in use it is not.
    content["added_tokens"] = [token for token in content["added_tokens"] if token["content"] in special]
    if options.byte_fallback:
        content["model"]["byte_fallback"] = True
    if options.model == "unigram":
        content["model"]["vocab"] = settled(content["model"]["vocab"], len(first))
    return content


def _fit(
    texts: Iterable[str],
    vocab_size: int,
    options: HuggingFaceTrainOptions,
    first: list[str],
    alphabet: list[str],
    limit: int | None = None,
) -> Tokenizer:
    pipeline = make_pipeline(options)
    trainer = make_trainer(options, vocab_size, first, alphabet, limit)
    pipeline.train_from_iterator(texts, trainer)
    return pipeline


def _most_frequent(characters: Iterable[str], texts: Iterable[str], options: HuggingFaceTrainOptions) -> list[str]:
    letters, limit = set(characters), options.limit_alphabet
    if limit is None or limit >= len(letters):
        return list(letters)
    normalizer = make_pipeline(options).normalizer
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(normalizer.normalize_str(text) if normalizer else text)
    # The mark of a space is in no text, and comes first.
    return sorted(letters, key=lambda letter: (letter in counts, -counts[letter], letter))[:limit]


def settled(vocab: Sequence[Sequence[str | float]], first: int) -> list[list[str | float]]:
    """Return the same pieces with scores that do not depend on the order of a hash map.

    Characters without a score from training get the lowest ones, in order of code point. All scores are rounded natural
    logarithms. The ``first`` pieces keep their place.

    >>> settled([["<unk>", 0.0], ["a", -1.0], ["c", -3.0], ["b", -2.9999]], 1)
    [['<unk>', 0.0], ['a', -1.0], ['c', -2.9999], ['b', -3.0]]
    """
    pieces = {str(piece): round(float(score), _DECIMALS) for piece, score in vocab[first:]}
    lowest = min(pieces.values(), default=0.0)
    letters: dict[int, list[str]] = {}
    for piece, score in pieces.items():
        steps = round((score - lowest) / _STEP)
        if len(piece) == 1 and abs(lowest + steps * _STEP - score) < _STEP / 50:
            letters.setdefault(steps, []).append(piece)
    count = next(k for k in range(len(letters) + 1) if k not in letters)
    scoreless = sorted(piece for k in range(count) for piece in letters[k])
    scores = sorted(pieces[piece] for piece in scoreless)
    pieces.update(zip(scoreless, scores, strict=True))
    ranked: list[list[str | float]] = [[piece, score] for piece, score in pieces.items()]
    ranked.sort(key=lambda entry: (-pieces[str(entry[0])], entry[0]))
    return [*map(list, vocab[:first]), *ranked]
