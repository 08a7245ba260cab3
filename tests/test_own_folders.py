"""Tests write into folders of their own alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiktoken_cache

TESTS = Path(__file__).parent


def test_a_test_writes_into_a_folder_of_its_own_that_has_the_real_files():
    folder = Path(os.environ[tiktoken_cache.VARIABLE])
    assert folder.resolve() != tiktoken_cache.GIVEN
    assert [name for name, *_ in tiktoken_cache.listing(folder)] == [
        name for name, *_ in tiktoken_cache.listing(tiktoken_cache.GIVEN)
    ]
    (folder / "made-up").write_bytes(b"")
    assert "made-up" not in [name for name, *_ in tiktoken_cache.listing(tiktoken_cache.GIVEN)]


@pytest.mark.slow
@pytest.mark.parametrize(("change", "code"), [("", 0), (".with_name('made-up').write_bytes(b'')", 1), (".unlink()", 1)])
def test_a_session_that_changes_the_given_folder_fails(tmp_path, change, code):
    (tmp_path / "cache").mkdir()
    real = tmp_path / "cache" / "real"
    real.write_bytes(b"IQ== 0\n")
    test = tmp_path / "test_it.py"
    test.write_text(f"import pathlib\ndef test_it():\n    pathlib.Path({str(real)!r}){change}\n", encoding="utf-8")
    folders = [str(TESTS), str(TESTS / "helpers"), os.environ.get("PYTHONPATH", "")]
    outside = {name: value for name, value in os.environ.items() if name != "PYTEST_XDIST_WORKER"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "--benchmark-disable", f"--rootdir={tmp_path}", test],
        cwd=tmp_path,
        env={**outside, "TIKTOKEN_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert ("files have changed in" in done.stdout) == bool(code)
