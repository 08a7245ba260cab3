"""Hugging Face's ``tokenizer.json``, written and read: byte-level BPE, or a reason why not.

``tokenizers.Tokenizer.from_file`` gives the same ids, but recognises special tokens in any text unless
``tokenizer.encode_special_tokens = True`` is set. What changes the ids of ordinary text and has no counterpart here is
refused; other parts (markers around a text, padding) are left out and noted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tokbench.foundation.errors import BackendError
from tokbench.foundation.files import write_atomically
from tokbench_plugins.bpe.formats.byte_names import named_merges, names_of, vocabulary_of_names
from tokbench_plugins.bpe.formats.conditions import check_format
from tokbench_plugins.bpe.formats.dialect import check_shared_dialect
from tokbench_plugins.bpe.formats.json_files import ids_by_name, read_json_object
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.patterns import PATTERNS, resolve_pattern
from tokbench_plugins.bpe.recovery.canonical import not_merged
from tokbench_plugins.bpe.special import SpecialTokens

SWITCHES: Final = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
"""Of an added token."""
_BYTE_LEVEL: Final = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}


def write_tokenizer_json(path: Path, parts: Parts) -> None:
    """Write a file, whole or not at all, replacing an existing one."""
    try:
        content = tokenizer_json(parts)
    except ValueError as error:
        raise BackendError(f"{path}: cannot be written as tokenizer.json: {error}") from error
    write_atomically(path, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())


def tokenizer_json(parts: Parts) -> dict[str, Any]:
    """Return the content of the file."""
    check_format("huggingface", parts)
    names, vocabulary = names_of(parts), parts.vocabulary
    special = sorted(parts.special.ids.items(), key=lambda entry: entry[1])
    if [token_id for _, token_id in special] != list(range(len(names), len(names) + len(special))):
        # The library ignores the ids of added tokens and numbers them after the vocabulary, unless the vocabulary
        # has them, too.
        names.update(special)
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": bool(vocabulary.whole_chunks),
        "vocab": names,
        "merges": named_merges(vocabulary),
    }
    decoder = {**_BYTE_LEVEL, "use_regex": False}
    return pipeline(model, dict(special), pre_tokenizer=_pre_tokenizer(parts.pattern), decoder=decoder)


def pipeline(
    model: Mapping[str, Any],
    special: Mapping[str, int],
    *,
    normalizer: Mapping[str, Any] | None = None,
    pre_tokenizer: Mapping[str, Any],
    decoder: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the content of a file with a model and its steps; the ``special`` tokens are added."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": token_id, "content": name, **SWITCHES} for name, token_id in special.items()],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": decoder,
        "model": model,
    }


def _pre_tokenizer(pattern: str | None) -> dict[str, Any]:
    if pattern is None:
        return {**_BYTE_LEVEL, "use_regex": False}
    expression = resolve_pattern(pattern)
    if expression == PATTERNS["gpt2"]:
        return {**_BYTE_LEVEL, "use_regex": True}
    split = {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [split, {**_BYTE_LEVEL, "use_regex": False}]}


def read_tokenizer_json(path: Path) -> Parts:
    """Return the parts of the byte-level BPE in a ``tokenizer.json``."""
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
        f"normalizer {kind!r} changes the text, which plain byte-level BPE does not; if your text is normalized, set "
        "'normalizer' to null in a copy"
    )


def _check_decoder(decoder: Any) -> None:
    if decoder is not None and (not isinstance(decoder, dict) or decoder.get("type") != "ByteLevel"):
        kind = decoder.get("type") if isinstance(decoder, dict) else decoder
        raise ValueError(f"decoder {kind!r}: its tokens are not spelled in GPT-2's byte alphabet")


def _pattern(pre_tokenizer: Any) -> str | None:
    steps = list(_steps(pre_tokenizer))
    kinds = [step.get("type") for step in steps]
    if kinds not in (["ByteLevel"], ["Split", "ByteLevel"]):
        described = ", ".join(map(str, kinds)) or "nothing"
        raise ValueError(f"pre_tokenizer is {described}; only ByteLevel, or one Split and then ByteLevel, is read")
    if steps[-1].get("add_prefix_space", True):
        raise ValueError("pre_tokenizer puts a space before every text (add_prefix_space), which decoding would keep")
    built_in = steps[-1].get("use_regex", True)
    if len(steps) == 1:
        return PATTERNS["gpt2"] if built_in else None
    if built_in:
        raise ValueError("pre_tokenizer splits twice, by Split and by ByteLevel (use_regex); only one split is read")
    return _split_pattern(steps[0])


def _steps(pre_tokenizer: Any) -> Iterator[dict[str, Any]]:
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
                f"added_tokens[{number}], {name!r}, is cut out of text before the split, which plain byte-level BPE "
                "does not; delete the entry in a copy if other ids are acceptable"
            )
        yield token


def left_out(content: dict[str, Any]) -> Iterator[str]:
    """Say which ids a file puts around a text, where only those of the text are given.

    >>> [*left_out({"post_processor": {"type": "Sequence", "processors": [{"type": "ByteLevel"}]}, "padding": {}})]
    []
    >>> [*left_out({"post_processor": {"type": "TemplateProcessing"}})]
    ['the tokens that TemplateProcessing puts around a text are left out']
    """
    processor = content.get("post_processor") or {}
    for step in processor.get("processors") or (processor,):
        if step.get("type") not in {None, "ByteLevel"}:
            yield f"the tokens that {step['type']} puts around a text are left out"
    if content.get("padding"):
        yield "padding is left out"


def _notes(content: dict[str, Any], added: list[dict[str, Any]]) -> Iterator[str]:
    yield from left_out(content)
    if content.get("truncation"):
        yield "truncation is left out"
    for token in added:
        switches = [key for key in ("lstrip", "rstrip", "single_word") if token.get(key)]
        if switches:
            yield f"special token {token['content']!r} is recognised without its {' and '.join(switches)}"
