"""Hugging Face's ``tokenizer.json``, read: byte-level BPE, or a reason why not.

The format is a description of a pipeline: normalizer, pre-tokenizer, model, post-processor, decoder. What
changes the ids of ordinary text and has no counterpart here is refused. What does not (markers put
around a text, padding) is left out, and noted. Files from before 2020 do not name the model's type, and
until 2024 merges were strings; both are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokbench.plugin import BackendError
from tokbench_plugins.bpe.fast.encode import not_merged
from tokbench_plugins.bpe.formats.byte_names import vocabulary_of_names
from tokbench_plugins.bpe.formats.dialect import check_shared_dialect
from tokbench_plugins.bpe.formats.json_files import ids_by_name, read_json_object
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.patterns import PATTERNS, resolve_pattern
from tokbench_plugins.bpe.special import SpecialTokens


def read_tokenizer_json(path: Path) -> Parts:
    """Return the parts of the tokenizer that a file describes.

    Args:
        path: a ``tokenizer.json`` whose model is byte-level BPE.

    Raises:
        BackendError: the file cannot be read, is damaged, or describes what byte-level BPE alone cannot
            do; the message names the file, the place in it and the reason.

    >>> read_tokenizer_json(Path("tokenizer.json"))
    Traceback (most recent call last):
    tokbench.errors.BackendError: tokenizer.json: No such file or directory
    """
    content = read_json_object(path)
    try:
        return _parts(content)
    except ValueError as error:
        raise BackendError(f"{path}: {error}") from error


def _parts(content: dict[str, Any]) -> Parts:
    model = content.get("model")
    if not isinstance(model, dict):
        raise ValueError("not a tokenizer.json: it has no 'model'")  # noqa: TRY004
    _check_model(model)
    _check_normalizer(content.get("normalizer"))
    pattern = _pattern(content.get("pre_tokenizer"))
    _check_decoder(content.get("decoder"))
    ids = ids_by_name(model.get("vocab"), "model.vocab")
    added = list(_added_tokens(content.get("added_tokens")))
    special = {token["content"]: token["id"] for token in added}
    for name, token_id in special.items():
        if ids.get(name, token_id) != token_id:
            raise ValueError(f"added_tokens gives {name!r} id {token_id}, model.vocab gives it {ids[name]}")
    vocabulary = vocabulary_of_names(
        {name: token_id for name, token_id in ids.items() if name not in special},
        _merges(model.get("merges")),
        "model.merges[{}]".format,
    )
    if model.get("ignore_merges"):
        vocabulary = replace(vocabulary, whole_chunks=not_merged(vocabulary))
    return Parts(vocabulary, pattern, SpecialTokens(special, vocabulary.tokens), tuple(_notes(content, added)))


def _check_model(model: dict[str, Any]) -> None:
    kind = model.get("type", "BPE" if "merges" in model else None)
    if kind != "BPE":
        raise ValueError(f"its model is {kind or 'of an unnamed kind without merges'}; only byte-level BPE is read")
    if model.get("dropout"):
        raise ValueError("model.dropout makes its ids random; set it to null")
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            raise ValueError(f"model.{key} is {model[key]!r}: its tokens are not plain bytes")


def _check_normalizer(normalizer: Any) -> None:
    if normalizer is None or normalizer == {"type": "Sequence", "normalizers": []}:
        return
    kind = normalizer.get("type") if isinstance(normalizer, dict) else normalizer
    raise ValueError(
        f"normalizer {kind!r} changes the text before it is encoded, which plain byte-level BPE does not; if "
        "your text is normalized already, set 'normalizer' to null in a copy of the file"
    )


def _check_decoder(decoder: Any) -> None:
    if decoder is not None and (not isinstance(decoder, dict) or decoder.get("type") != "ByteLevel"):
        kind = decoder.get("type") if isinstance(decoder, dict) else decoder
        raise ValueError(f"decoder {kind!r}: its tokens are not spelled in GPT-2's byte alphabet")


def _pattern(pre_tokenizer: Any) -> str | None:
    """Return the split that a pre-tokenizer makes."""
    steps = list(_steps(pre_tokenizer))
    kinds = [step.get("type") for step in steps]
    if kinds not in (["ByteLevel"], ["Split", "ByteLevel"]):
        described = ", ".join(map(str, kinds)) or "nothing"
        raise ValueError(f"pre_tokenizer is {described}; only ByteLevel, or one Split and then ByteLevel, is read")
    if steps[-1].get("add_prefix_space", True):
        raise ValueError("pre_tokenizer puts a space before every text (add_prefix_space), which would not come back")
    built_in = steps[-1].get("use_regex", True)
    if len(steps) == 1:
        return PATTERNS["gpt2"] if built_in else None
    if built_in:
        raise ValueError("pre_tokenizer splits twice, by Split and by ByteLevel (use_regex); only one split is read")
    return _split_pattern(steps[0])


def _steps(pre_tokenizer: Any) -> Iterator[dict[str, Any]]:
    """Yield pre-tokenizers one by one, out of sequences."""
    if isinstance(pre_tokenizer, dict) and pre_tokenizer.get("type") == "Sequence":
        for step in pre_tokenizer.get("pretokenizers") or ():
            yield from _steps(step)
    elif isinstance(pre_tokenizer, dict):
        yield pre_tokenizer
    elif pre_tokenizer is not None:
        raise ValueError(f"pre_tokenizer is {pre_tokenizer!r}")


def _split_pattern(split: dict[str, Any]) -> str:
    behavior, invert = split.get("behavior"), split.get("invert", False)
    if behavior != "Isolated" or invert:
        raise ValueError(f"pre_tokenizer splits with behavior {behavior!r}, invert {invert!r}; only 'Isolated' is read")
    match split.get("pattern"):
        case {"Regex": str(expression)}:
            check_shared_dialect(expression)
            return resolve_pattern(expression)
        case other:
            raise ValueError(f"pre_tokenizer splits at {other!r}, which is not a regular expression")


def _merges(merges: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(merges, list):
        raise ValueError("model.merges is not a list")  # noqa: TRY004
    for rank, merge in enumerate(merges):
        match merge.split(" ") if isinstance(merge, str) else merge:
            case [str(left), str(right)]:
                yield left, right
            case _:
                raise ValueError(f"model.merges[{rank}] is {merge!r}, not two tokens")


def _added_tokens(added: Any) -> Iterator[dict[str, Any]]:
    """Yield the special ones; others would be cut out of ordinary text before it is split."""
    for number, token in enumerate(added or ()):
        match token:
            case {"content": str(name), "id": int()}:
                pass
            case _:
                raise ValueError(f"added_tokens[{number}] is {token!r}, not a token and its id")
        if not token.get("special"):
            raise ValueError(
                f"added_tokens[{number}], {name!r}, is cut out of ordinary text before it is split, which plain "
                "byte-level BPE does not; if its ids may differ from Hugging Face's there, delete the entry in a copy"
            )
        yield token


def _notes(content: dict[str, Any], added: list[dict[str, Any]]) -> Iterator[str]:
    processor = content.get("post_processor") or {}
    if processor.get("type") not in {None, "ByteLevel"}:
        yield f"the tokens that {processor['type']} puts around a text are left out"
    for key in ("truncation", "padding"):
        if content.get(key):
            yield f"{key} is left out"
    for token in added:
        switches = [key for key in ("lstrip", "rstrip", "single_word") if token.get(key)]
        if switches:
            yield f"special token {token['content']!r} is recognised without its {' and '.join(switches)}"
