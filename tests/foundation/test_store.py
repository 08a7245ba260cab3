"""The store: what was kept comes back, whatever happens to files, disks, clocks and other processes."""

import json
import os
import re
import stat
import subprocess
import sys

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tokbench.cli.main import tokbench
from tokbench.foundation.errors import InputError
from tokbench.foundation.store import Store, open_store, open_store_if_usable

KEY = {"backend": "regex_bpe", "options": {"pattern": "gpt4"}}

keys = st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text(max_size=5), max_size=4)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def files(store):
    return [path for path in store.folder.rglob("*") if path.is_file()]


@given(st.dictionaries(st.tuples(st.sampled_from(["training", "states"]), keys.map(repr)), st.binary(), max_size=3))
def test_what_was_kept_comes_back(tmp_path_factory, kept):
    store = Store(tmp_path_factory.mktemp("store"))
    for (kind, key), data in kept.items():
        store.put(kind, {"key": key}, data)
    for (kind, key), data in kept.items():
        assert store.get(kind, {"key": key}) == data
    assert len(list(store.entries())) == len(kept)


def damaged(data, how):
    return {"cut": data[:-1], "a bit": data[:-1] + bytes([data[-1] ^ 1]), "zeros": bytes(len(data)), "a list": b"[]\n"}[
        how
    ]


def crafted(path, **changes):
    """Write an entry whose first line has other values, and the right hash of its bytes."""
    line, _, data = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps(json.loads(line) | changes).encode() + b"\n" + data)


posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
DAMAGED = {
    **{how: lambda path, how=how: path.write_bytes(damaged(path.read_bytes(), how)) for how in ("cut", "a bit", "zeros", "a list")},
    "deep": lambda path: path.write_bytes(b"[" * 10**5 + b"]" * 10**5 + b"\n"),
    "no key": lambda path: crafted(path, key=None),
    "another key": lambda path: crafted(path, key={"other": 1}),
    "another kind": lambda path: crafted(path, kind="states"),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}  # fmt: skip


@posix
@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_entry_is_told_and_made_again(store, caplog, how):
    store.put("training", KEY, b"the ids of a tokenizer")
    [path] = files(store)
    DAMAGED[how](path)
    assert len(list(store.entries())) <= 1
    assert store.get("training", KEY) is None
    assert len(caplog.messages) == 1
    assert not path.exists()
    assert store.result("training", KEY, lambda: b"again") == b"again"
    assert store.value("training", KEY) == b"again"


def test_a_value_that_cannot_be_unpickled_is_damaged(store, caplog):
    store.put_value("counts", KEY, {"a": [1, 2]})
    assert store.value("counts", KEY) == {"a": [1, 2]}
    for data in (b"", b"no pickle", b"cno_such_module\nName\n."):
        store.put("counts", KEY, data)
        assert store.value("counts", KEY) is None
        assert files(store) == []
    store.put_value("counts", KEY, 7)
    assert store.value("counts", KEY, dict) is None
    assert files(store) == []
    assert len(caplog.messages) == 4


@posix
def test_what_is_kept_is_writable_for_its_user_alone(store):
    before = os.umask(0)
    try:
        store.put("training", KEY, b"x")
    finally:
        os.umask(before)
    folders = [path for path in [store.folder, *store.folder.rglob("*")] if path.is_dir()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}
    assert store.get("training", KEY) == b"x"


@posix
@pytest.mark.parametrize("mode", [0o777, 0o702])
def test_a_folder_that_others_can_write_to_is_refused_with_advice(stored, mode):
    stored.mkdir(mode=0o700)
    assert open_store()
    stored.chmod(mode)
    with pytest.raises(InputError, match=re.escape(f"(mode {mode:04o})")) as caught:
        open_store()
    assert f"chmod -R go-w {stored}" in str(caught.value)
    assert open_store_if_usable() is None
    subprocess.run(["chmod", "-R", "go-w", str(stored)], check=True)  # as the advice says
    assert open_store()


def test_the_longest_unused_entries_go_first(store):
    for number in range(4):
        store.put("training", {"number": number}, bytes(1000))
    for age, entry in enumerate(sorted(store.entries(), key=lambda entry: entry.key["number"])):
        os.utime(entry.path, (10**9 + age, 10**9 + age))
    assert store.get("training", {"number": 0}) == bytes(1000)  # used now
    size = next(store.entries()).size
    assert store.prune(2 * size) == (2, 2 * size)
    assert {entry.key["number"] for entry in store.entries()} == {0, 3}
    assert store.prune(2 * size) == (0, 0)
    assert Store(store.folder, limit=0).prune() == (2, 2 * size)


def test_what_a_dead_run_left_is_deleted_and_what_is_being_written_is_not(store):
    store.put("training", KEY, b"x")
    [path] = files(store)
    old, new = path.with_name(".a.1.tmp"), path.with_name(".b.1.tmp")
    for unfinished in (old, new):
        unfinished.write_bytes(b"half")
    os.utime(old, (10**9, 10**9))
    store.prune()
    assert set(files(store)) == {path, new}
    assert len(list(store.entries())) == 1


def test_processes_share_a_store(store):
    script = (
        "import sys; from pathlib import Path; from tokbench.foundation.store import Store\n"
        "store = Store(Path(sys.argv[1]))\n"
        "for round in range(10):\n"
        "    for number in range(5):\n"
        "        data = bytes([number]) * 20000\n"
        "        assert store.result('a', {'n': number}, lambda: data) == data\n"
        "    store.prune(50000)\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(store.folder)], stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [(process.communicate(timeout=60)[1], process.returncode) for process in running] == [("", 0)] * 2


def test_the_environment_names_the_store(tmp_path, monkeypatch):
    monkeypatch.delenv("TOKBENCH_NO_STORE")
    monkeypatch.setenv("TOKBENCH_STORE", str(tmp_path / "here"))
    monkeypatch.setenv("TOKBENCH_STORE_SIZE", "5MB")
    opened = open_store()
    assert (opened.folder, opened.limit) == (tmp_path / "here", 5 * 10**6)
    monkeypatch.setenv("TOKBENCH_STORE_SIZE", "lots")
    with pytest.raises(InputError, match="TOKBENCH_STORE_SIZE"):
        open_store()
    (tmp_path / "here").write_text("a file", encoding="utf-8")
    with pytest.raises(InputError, match="is not a folder"):
        open_store()
    monkeypatch.setenv("TOKBENCH_NO_STORE", "1")
    assert open_store() is None


def test_the_command(store, stored):
    assert stored == store.folder
    run = lambda *words: CliRunner().invoke(tokbench, ["store", *words])  # noqa: E731
    store.put("training", KEY, b"x" * 100)
    store.put("states", KEY, b"y")
    assert "2 entries" in run("list").output
    assert run("prune", "--size", "0").output.startswith("deleted 2 entries")
    assert list(store.entries()) == []
