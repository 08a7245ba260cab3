"""Writes the tokenizers of others into GGUF files, as llama.cpp's converter does."""

from pathlib import Path

import gguf

from tokbench_plugins.bpe.formats.byte_names import name_of_bytes, named_merges
from tokbench_plugins.bpe.recovery.recover import vocabulary_of_ranks
from tokbench_plugins.sentencepiece.proto import read_pieces

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def write(path, model, tokens, **entries):
    """Write a file without tensors: each entry is called as the method of the writer without ``add_``."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(model)
    writer.add_token_list(tokens)
    for name, value in entries.items():
        getattr(writer, f"add_{name}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def of_ranks(path, ranks, pre, special=(), **entries):
    """Write byte-level BPE that is known by its ranks; special tokens have the ids from ``special[1]`` on."""
    vocabulary = vocabulary_of_ranks(ranks)
    tokens = [name_of_bytes(token) for token in vocabulary.tokens]
    types = [NORMAL if token else UNUSED for token in tokens]
    tokens = [token or f"[PAD{number}]" for number, token in enumerate(tokens)]
    for name, token_id in dict(special).items():
        while len(tokens) <= token_id:
            tokens.append(f"[PAD{len(tokens)}]")
            types.append(UNUSED)
        tokens[token_id], types[token_id] = name, CONTROL
    merges = [" ".join(pair) for pair in named_merges(vocabulary)]
    given = {"tokenizer_pre": pre, "token_merges": merges, "token_types": types} | entries
    return write(path, "gpt2", tokens, **{name: value for name, value in given.items() if value is not None})


def types_of(model_file):
    """Return the types of a SentencePiece model's pieces."""
    return [int(piece.type) for piece in read_pieces(Path(model_file).read_bytes())]


def of_sentencepiece(path, model_file, model="llama", **entries):
    """Write a SentencePiece model, with spaces in user-defined pieces."""
    pieces = read_pieces(Path(model_file).read_bytes())
    rows = {
        "token_scores": [piece.score for piece in pieces],
        "token_types": types_of(model_file),
    }
    tokens = [piece.text.replace("\u2581", " ") if piece.type == USER_DEFINED else piece.text for piece in pieces]
    return write(path, model, tokens, **(rows | entries))
