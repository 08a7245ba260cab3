"""Tokens on disk: forms of files, and whose ids they are."""

import json
from functools import cache

import numpy as np
import pytest
from click.testing import CliRunner

import tokbench
from tokbench.command import texts_by_group
from tokbench_questions.commands.shards import shards as command
from tokbench_questions.shards import count_ids, read_shard

TEXT = "\n".join(texts_by_group("sample")["en"]) * 3
DTYPES = {"gpt-2": "<u2", "gpt-4o": "<u4"}


@cache
def ids_of(name):
    return np.array(tokbench.load(name).encode(TEXT))


def write(path, name, form):
    ids = ids_of(name).astype(DTYPES[name])
    if form == "npy":
        np.save(path.with_suffix(".npy"), ids)
        return path.with_suffix(".npy")
    header = np.zeros(256, "<i4")
    header[:3] = {"gpt-2": 20240520, "gpt-4o": 20240801}[name], 1, len(ids)
    path.write_bytes((header.tobytes() if form == "llm.c" else b"") + ids.tobytes())
    if form == "Megatron":
        code = {"gpt-2": 8, "gpt-4o": 4}[name]
        path.with_suffix(".idx").write_bytes(b"MMIDIDX\0\0" + (1).to_bytes(8, "little") + bytes([code]) + bytes(99))
    return path


@pytest.mark.usefixtures("tiktoken_files")
@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("form", ["npy", "llm.c", "Megatron", "bare"])
def test_ids_of_every_form_of_file(tmp_path, name, form):
    opened = read_shard(write(tmp_path / "some.bin", name, form))
    assert opened.ids.tolist() == ids_of(name).tolist()


@pytest.mark.usefixtures("tiktoken_files")
@pytest.mark.parametrize(("name", "other"), [("gpt-2", "gpt-4o"), ("gpt-4o", "gpt-2")])
def test_whose_ids_they_are(tmp_path, name, other):
    path = str(write(tmp_path / "some.bin", name, "bare"))
    told = {}
    for asked, code in ((name, 0), (other, 1)):
        result = CliRunner().invoke(command, [path, "-t", asked, "--json"])
        assert result.exit_code == code
        told[asked] = json.loads(result.stdout)
    assert told[name]["ids_of"] == [name]
    assert told[name]["shares"] == {name: 1.0}
    assert told[name]["sample"] in TEXT
    assert told[other]["ids_of"] == []
    assert told[name]["out_of_range"] == 0
    assert (told[other]["out_of_range"] > 0) == (other == "gpt-2")


@pytest.mark.usefixtures("tiktoken_files")
def test_counts_are_those_of_numpy(tmp_path):
    counts = count_ids([read_shard(write(tmp_path / f"{k}.bin", "gpt-2", "bare")) for k in range(2)])
    ids, times = np.unique(ids_of("gpt-2"), return_counts=True)
    assert (counts.ids.tolist(), counts.times.tolist()) == (ids.tolist(), (2 * times).tolist())


@pytest.mark.parametrize(
    ("content", "name", "fault"),
    [
        (b"", "empty.bin", "0 bytes"),
        (b"abc", "odd.bin", "3 bytes"),
        (b"no", "text.npy", "not a NumPy file"),
        (np.array([20240520, 1, 5, *[0] * 253], "<i4").tobytes() + bytes(8), "cut.bin", "5 tokens, the file 4"),
    ],
)
def test_a_file_without_ids_is_refused(tmp_path, content, name, fault):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(tokbench.InputError, match=fault):
        read_shard(tmp_path / name)
