"""A file is written whole or not at all."""

import os
import pickle
import re
import subprocess
import sys

import pytest
from full_disk import NO_BYTECODE

from tokbench.foundation.errors import NotWritten
from tokbench.foundation.files import remove_unfinished, unfinished_prefix, write_atomically

FULL_DISK = """
import resource, sys
from pathlib import Path
from tokbench.foundation.files import write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_atomically(Path(sys.argv[1]), b"new" * 4096)
except OSError as error:
    print(error.filename)
"""


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "f"
    for content in (b"old", b"new"):
        write_atomically(path, content)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="it is not known there who is alive")
def test_what_a_killed_process_has_not_finished_is_deleted(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    own = unfinished_prefix(tmp_path / "f")
    assert own == f".f.{os.getpid()}-"
    left = [f".f.{gone.pid}-0a1b.tmp", f".g.json.{gone.pid}-x_1.tmp"]
    stays = [f"{own}0a1b.tmp", f"f.{gone.pid}-0a1b.tmp", f".f.{gone.pid}-0a1b", f".{gone.pid}.tmp"]
    for name in [left[0], *stays]:
        (tmp_path / name).touch()
    (tmp_path / left[1] / "inside").mkdir(parents=True)
    remove_unfinished(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(stays)


@pytest.mark.parametrize("what", ["folder", "pipe", "missing"])
def test_what_cannot_be_written_says_so(tmp_path, what):
    path = tmp_path / ("no" if what == "missing" else "") / "f"
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(NotWritten, match=re.escape(f"{path}: cannot be written: ")) as raised:
        write_atomically(path, b"new")
    assert pickle.loads(pickle.dumps(raised.value)).args == raised.value.args
    assert sorted(tmp_path.iterdir()) == before


def test_a_link_stays_one(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "f")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "f").read_bytes() == b"new"


def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path):
    """The largest size of a file acts as a full disk does."""
    path = tmp_path / "f"
    path.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True, timeout=60,
        env={**os.environ, **NO_BYTECODE},
    )  # fmt: skip
    assert done.stdout == f"{path}\n"
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
