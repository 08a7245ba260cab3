"""An id far beyond the number of tokens is refused by every loader that reads ids, before memory goes by it."""

import base64
import json
from pathlib import Path

import pytest

import tokbench
from tokbench_plugins.bpe.formats.parts import Parts
from tokbench_plugins.bpe.formats.tokenizer_json import tokenizer_json
from tokbench_plugins.bpe.tokenizer import BPETokenizer

FAR = 1 << 32


def ranks(path: Path) -> str:
    lines = [f"{base64.b64encode(bytes([byte])).decode()} {byte}" for byte in range(256)]
    path.write_text("\n".join([*lines, f"{base64.b64encode(b'ab').decode()} {FAR}"]), encoding="ascii")
    return str(path)


def pipeline(path: Path) -> str:
    content = tokenizer_json(Parts(BPETokenizer([(97, 98)]).vocabulary, "gpt2"))
    content["model"]["vocab"]["ab"] = FAR - 1  # the most that the library reads
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("write", "name", "backend"),
    [
        (ranks, "far.tiktoken", "tokbench_bpe"),
        (ranks, "far.tiktoken", "tiktoken"),
        (pipeline, "tokenizer.json", "tokbench_bpe"),
        (pipeline, "tokenizer.json", "huggingface"),
    ],
)
def test_far_id_is_refused(tmp_path: Path, write, name: str, backend: str) -> None:
    path = write(tmp_path / name)
    with pytest.raises((tokbench.BackendError, tokbench.InputError), match=rf"{FAR}|{FAR:,}|{FAR - 1}|{FAR - 1:,}"):
        tokbench.load(f"{backend}:{path}").token_bytes(97)


@pytest.mark.parametrize(("times", "refused"), [(8, False), (9, True)])
def test_growing_normalizer_is_refused(tmp_path: Path, times: int, refused: bool) -> None:
    content = tokenizer_json(Parts(BPETokenizer([(97, 98)]).vocabulary, "gpt2"))
    longer = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * times}
    wider = {"type": "Replace", "pattern": {"Regex": "b"}, "content": "a" * 8}
    content["normalizer"] = {"type": "Sequence", "normalizers": [longer, wider]}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    if refused:
        with pytest.raises(tokbench.BackendError, match="72 times"):
            tokbench.load(f"huggingface:{path}")
    else:
        assert tokbench.load(f"huggingface:{path}").encode("a") == [97] * 8
