"""The library's objects, made from options: normalizer, pre-tokenizer, model, decoder and trainer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from tokbench_plugins.bpe.patterns import PATTERNS
from tokbench_plugins.huggingface.options import HuggingFaceTrainOptions

BYTE_TOKENS: Final = tuple(f"<0x{byte:02X}>" for byte in range(256))

_NORMALIZERS: Final[dict[str, Callable[[], Any]]] = {
    "nfc": normalizers.NFC,
    "nfd": normalizers.NFD,
    "nfkc": normalizers.NFKC,
    "nfkd": normalizers.NFKD,
    "nmt": normalizers.Nmt,
    "lowercase": normalizers.Lowercase,
    "strip": normalizers.Strip,
    "strip_accents": normalizers.StripAccents,
    "bert_cased": lambda: normalizers.BertNormalizer(lowercase=False),
    "bert_uncased": lambda: normalizers.BertNormalizer(lowercase=True),
}
_MARK: Final = "\u2581"


def make_pipeline(options: HuggingFaceTrainOptions) -> Tokenizer:
    """Make the pipeline without the vocabulary."""
    pipeline = Tokenizer(_model(options))
    if options.normalizer:
        pipeline.normalizer = normalizers.Sequence([_NORMALIZERS[name]() for name in options.normalizer])
    splits = _splits(options)
    if splits:
        pipeline.pre_tokenizer = pre_tokenizers.Sequence(splits)
    decoder = _decoder(options)
    if decoder is not None:
        pipeline.decoder = decoder
    return pipeline


def _model(options: HuggingFaceTrainOptions) -> Any:
    match options.model:
        case "byte_bpe":
            return models.BPE()
        case "bpe":
            return models.BPE(unk_token=options.unknown)
        case "wordpiece":
            return models.WordPiece(unk_token=str(options.unknown), continuing_subword_prefix=options.prefix)
    return models.Unigram()


def _splits(options: HuggingFaceTrainOptions) -> list[Any]:
    byte_level = options.model == "byte_bpe"
    split = options.split
    steps: list[Any] = [pre_tokenizers.Digits(individual_digits=True)] if options.split_digits else []
    match split:
        case "none":
            pass
        case "whitespace":
            steps.append(pre_tokenizers.Whitespace())
        case "whitespace_split":
            steps.append(pre_tokenizers.WhitespaceSplit())
        case "bert":
            steps.append(pre_tokenizers.BertPreTokenizer())
        case "metaspace":
            # It finds spaces by their place in the text, so it must see the text first.
            steps.insert(0, pre_tokenizers.Metaspace(replacement=_MARK, prepend_scheme=options.prepend_scheme))
        case "gpt2" if byte_level:
            pass
        case _:
            steps.append(pre_tokenizers.Split(Regex(PATTERNS.get(split, split)), "isolated"))
    if byte_level:
        steps.append(pre_tokenizers.ByteLevel(add_prefix_space=options.add_prefix_space, use_regex=split == "gpt2"))
    return steps


def _decoder(options: HuggingFaceTrainOptions) -> Any:
    fallback = [decoders.ByteFallback()] if options.byte_fallback else []
    if options.model == "byte_bpe":
        return decoders.ByteLevel()
    if options.prefix:
        return decoders.WordPiece(prefix=options.prefix, cleanup=False)
    if options.split == "metaspace":
        strip = [] if options.prepend_scheme == "never" else [decoders.Strip(" ", 1, 0)]
        return decoders.Sequence([decoders.Replace(_MARK, " "), *fallback, decoders.Fuse(), *strip])
    if options.split in {"whitespace", "whitespace_split", "bert"}:
        return None
    return decoders.Sequence([*fallback, decoders.Fuse()])


def make_trainer(
    options: HuggingFaceTrainOptions, vocab_size: int, first: list[str], alphabet: list[str], limit: int | None
) -> Any:
    """Make the trainer; ``first`` come before all other tokens, ``alphabet`` are always tokens, at most ``limit``."""
    common: dict[str, Any] = {
        "vocab_size": vocab_size,
        "special_tokens": first,
        "initial_alphabet": alphabet,
        "show_progress": False,
    }
    if options.model == "unigram":
        return trainers.UnigramTrainer(
            unk_token=str(options.unknown),
            max_piece_length=options.max_piece_length,
            shrinking_factor=options.shrinking_factor,
            n_sub_iterations=options.n_sub_iterations,
            **common,
        )
    common["min_frequency"] = options.min_frequency
    if limit is not None:
        common["limit_alphabet"] = limit
    if options.model == "wordpiece":
        return trainers.WordPieceTrainer(continuing_subword_prefix=options.prefix, **common)
    return trainers.BpeTrainer(**common)
