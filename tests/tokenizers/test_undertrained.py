"""Under-trained ids: safetensors files are read as they are, planted ids are found, and wrong files are refused."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from tokbench.cli.main import tokbench as command
from tokbench.foundation.errors import InputError
from tokbench.inspect.examine import examine
from tokbench.inspect.tensor_file import stored_tensors
from tokbench.inspect.undertrained import under_trained
from tokbench_plugins.bpe.tokenizer import BPETokenizer

pytestmark = pytest.mark.usefixtures("no_process")

WIDTH = 24
PLANTED = [257, 261, 300]
"""Whole tokens that no step trained; beside them there is the byte 0x07."""
BYTE = 7
NEVER_UTF8 = [0xC0, 0xC1, *range(0xF5, 0x100)]
NAMES = {"<f8": "F64", "<f4": "F32", "<f2": "F16", "|i1": "I8"}


def cut(array):
    """Return float32 numbers that BF16 holds exactly: the lower half of the bits is 0."""
    return (array.astype(np.float32).view(np.uint32) >> 16 << 16).view(np.float32)


def write(path, tensors, metadata=None, *, cut_to_bf16=False):
    """Write a safetensors file as its format says."""
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, array in tensors.items():
        dtype, bits = NAMES[array.dtype.str], array.tobytes()
        if cut_to_bf16:
            dtype, bits = "BF16", (array.astype(np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(bits)]}
        data += bits
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    """A BPE of 306 ids: 256 bytes, and pairs of letters."""
    path = tmp_path_factory.mktemp("vocabulary") / "pairs.bpe.json"
    BPETokenizer([(97 + k // 10, 97 + k % 10) for k in range(50)], "gpt4").save(path)
    return path


def asked(vocabulary, path, *arguments):
    words = ["inspect", "regex_bpe", "--weights", path, "-O", f"path={vocabulary}", *arguments]
    return CliRunner().invoke(command, list(map(str, words)))


def untied(rows=306, dtype=np.float32):
    """Trained rows are longer than those that are as they were at first."""
    random = np.random.default_rng(1)
    matrix = random.normal(0, 0.02, (rows, WIDTH))
    used = np.setdiff1d(np.arange(306), [*PLANTED, BYTE, *NEVER_UTF8])
    matrix[used] += random.normal(0, 1, (len(used), WIDTH))
    return {
        "model.embed_tokens.weight": matrix.astype(dtype),
        "model.norm.weight": np.ones(WIDTH, dtype),
        "lm_head.weight": random.normal(0, 1, (rows, WIDTH)).astype(dtype),
    }


def tied(rows=310):
    """Rows that are never a target were all moved the same way."""
    random = np.random.default_rng(2)
    matrix = random.normal(0, 1, (rows, WIDTH))
    away = [*PLANTED, BYTE, *NEVER_UTF8, *range(306, rows)]
    matrix[away] = random.normal(0, 1, WIDTH) + random.normal(0, 0.1, (len(away), WIDTH))
    return {"transformer.wte.weight": matrix.astype(np.float32), "transformer.wpe.weight": np.ones((400, WIDTH))}


def test_the_upper_half_of_a_float_is_read_exactly(tmp_path):
    matrix = untied()["lm_head.weight"]
    read = stored_tensors(write(tmp_path / "m.safetensors", {"w": matrix}, cut_to_bf16=True))["w"]
    assert np.array_equal(read.rows(slice(0, None)), cut(matrix))
    assert np.array_equal(read.rows([5, 2]), cut(matrix)[[5, 2]])


def test_files_of_the_library_are_read(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    tensors = untied()
    library.save_file(tensors, tmp_path / "m.safetensors", metadata={"format": "pt"})
    stored = stored_tensors(tmp_path / "m.safetensors")
    assert all(np.array_equal(stored[name].rows(slice(0, None)), array) for name, array in tensors.items())


@pytest.mark.parametrize(("make", "cut_to_bf16"), [(untied, True), (tied, False)])
def test_planted_ids_are_found(vocabulary, tmp_path, make, cut_to_bf16):
    path = write(tmp_path / "m.safetensors", make(), cut_to_bf16=cut_to_bf16)
    whole = json.loads(asked(vocabulary, path, "--json").stdout)["undertrained"]
    assert whole["tied"] is (make is tied)
    assert whole["origin"] == "nine in ten of the unused ids have less"
    assert len(whole["indicators"]) == 306
    near = {i for i, value in enumerate(whole["indicators"]) if value < 3 * whole["threshold"]}
    assert near == {*PLANTED, BYTE, *NEVER_UTF8}
    below = {token["id"] for tokens in (whole["candidates"], *whole["apart"].values()) for token in tokens}
    assert below <= near
    assert len(below) >= 0.8 * len(near)


def test_the_command_shows_them(vocabulary, tmp_path):
    shown = asked(vocabulary, write(tmp_path / "m.safetensors", untied())).stdout
    assert "norm of the input row; 13 rows are known" in shown
    assert "  no candidates, single byte: 1: 7 " in shown


class Letters:
    """A tokenizer without any id that is known to be unused: the first 100 bytes of ASCII."""

    vocab_size = 100

    def encode(self, text, /):
        return list(text.encode())

    def decode(self, ids, /):
        return bytes(ids).decode()

    def token_bytes(self, token_id, /):
        return bytes([token_id])


def test_too_few_unused_ids_give_no_threshold(tmp_path):
    """The lowest 2% of 100 ids are listed then."""
    norms = np.random.default_rng(3).permutation(100) + 1.0
    tensors = {"wte.weight": norms[:, None], "lm_head.weight": np.ones((100, 1))}
    weights = write(tmp_path / "m.safetensors", tensors)
    trained = under_trained(Letters(), examine(Letters()), weights)
    assert (trained.unused, trained.origin) == (0, "the lowest 2% of ids, as too few are unused")
    assert [token.id for token in trained.apart["single byte"]] == np.argsort(norms)[:2].tolist()
    assert trained.indicators == norms.tolist()


def test_a_tied_model_needs_an_unused_id(tmp_path):
    weights = write(tmp_path / "m.safetensors", {"wte.weight": np.ones((100, 1))})
    with pytest.raises(InputError, match="no id is known to be unused to compare its row with"):
        under_trained(Letters(), examine(Letters()), weights)


def test_an_index_names_the_files(vocabulary, tmp_path):
    tensors = untied()
    first = {"model.embed_tokens.weight": tensors["model.embed_tokens.weight"]}
    write(tmp_path / "m-00001-of-00002.safetensors", first)
    write(tmp_path / "m-00002-of-00002.safetensors", {"lm_head.weight": tensors["lm_head.weight"]})
    files = {name: f"m-0000{1 + (name not in first)}-of-00002.safetensors" for name in [*first, "lm_head.weight"]}
    (tmp_path / "m.safetensors.index.json").write_text(json.dumps({"weight_map": files}), encoding="utf-8")
    done = asked(vocabulary, tmp_path / "m.safetensors.index.json", "--json")
    assert json.loads(done.stdout)["undertrained"]["tied"] is False


def refused(vocabulary, path, *arguments):
    """Return why weights are refused."""
    error = asked(vocabulary, path, *arguments).exception
    assert isinstance(error, InputError)
    return str(error)


@pytest.mark.parametrize("name", ["model.embed_token.weight", "model.norm.weight"])
@pytest.mark.parametrize("option", ["--tensor", "--output-tensor"])
def test_wrong_names_are_refused(vocabulary, tmp_path, name, option):
    message = refused(vocabulary, write(tmp_path / "m.safetensors", untied()), option, name)
    assert f"m.safetensors: the tensor {name!r} " in message
    assert message.endswith(": model.embed_tokens.weight, lm_head.weight")


@pytest.mark.parametrize(
    ("tensors", "fitting"),
    [
        ({"wte.weight": np.ones((305, 2))}, "none"),
        ({"a.wte.weight": np.ones((306, 2)), "b.wte.weight": np.ones((306, 2))}, "a.wte.weight, b.wte.weight"),
    ],
)
def test_wrong_tensors_are_refused(vocabulary, tmp_path, tensors, fitting):
    assert refused(vocabulary, write(tmp_path / "m.safetensors", tensors)).endswith(f": {fitting}")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04 a zip file",
        (60).to_bytes(8, "little") + b'{"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}   ' + bytes(15),
        (60).to_bytes(8, "little") + b'{"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,16]}}   ' + bytes(16),
    ],
)
def test_what_is_no_safetensors_file_is_refused(vocabulary, tmp_path, data):
    (tmp_path / "m.safetensors").write_bytes(data)
    assert "m.safetensors: is not a safetensors file" in refused(vocabulary, tmp_path / "m.safetensors")


def test_other_files_are_refused(vocabulary, tmp_path):
    (tmp_path / "index.json").write_text("[]", encoding="utf-8")
    assert "index.json: is not an index" in refused(vocabulary, tmp_path / "index.json")
    assert "cannot be read: No such" in refused(vocabulary, tmp_path / "none")
    integers = write(tmp_path / "i.safetensors", {"wte.weight": np.ones((306, 2), np.int8)})
    assert "has numbers of dtype I8" in refused(vocabulary, integers)
    part = write(tmp_path / "m-00001-of-00002.safetensors", tied())
    assert "is one of several files" in refused(vocabulary, part)
