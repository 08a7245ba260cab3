"""BERT's ``vocab.txt`` as the ``tokenizer.json`` that it stands for."""

from __future__ import annotations

import json
from typing import Final

_SPECIAL: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_SWITCHES: Final = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def bert_json(text: str, *, lowercase: bool) -> str:
    r"""Make the pipeline of a BERT, whose file holds nothing but the pieces.

    Args:
        text: the content of ``vocab.txt``: a piece a line, its id the number of the line from 0.
        lowercase: small letters without accents, as the uncased models have them.

    Raises:
        ValueError: a piece is there twice, or there is none for unknown words.

    >>> json.loads(bert_json("[UNK]\nlow\n##er\n", lowercase=True))["model"]["vocab"]
    {'[UNK]': 0, 'low': 1, '##er': 2}
    """
    pieces = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    vocab = {piece: token_id for token_id, piece in enumerate(pieces)}
    if len(vocab) < len(pieces):
        line, piece = next((k + 1, piece) for k, piece in enumerate(pieces) if vocab[piece] != k)
        raise ValueError(f"the piece {piece!r} of line {line} is there again in line {vocab[piece] + 1}")
    if "[UNK]" not in vocab:
        raise ValueError("not a vocab.txt of a BERT: it has no piece [UNK]")
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": vocab[name], "content": name, **_SWITCHES} for name in _SPECIAL if name in vocab],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocab,
        },
    }
    return json.dumps(content, ensure_ascii=False)
