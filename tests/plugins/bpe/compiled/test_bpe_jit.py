"""Machine code that numba keeps."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("numba")

INNER = "from tokbench.foundation.jit import inlined\n\n\n@inlined\ndef number():\n    return {}\n"
OUTER = "from tokbench.foundation.jit import compiled\nfrom folder.inner import number\n\n\n@compiled\ndef outer():\n    return number()\n"


@pytest.mark.slow
def test_a_function_is_compiled_again_when_one_that_it_calls_has_changed(tmp_path):
    """The new source is as long as the old one and as old; numba itself would keep the machine code."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "outer.py").write_text(OUTER, encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from folder.outer import outer; print(outer())"
    found = []
    for number in (1, 1, 2):
        (folder / "inner.py").write_text(INNER.format(number), encoding="utf-8")
        os.utime(folder / "inner.py", (1_000_000_000, 1_000_000_000))
        done = subprocess.run(
            [sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=300, check=True
        )
        found.append((int(done.stdout), sorted(path.stat().st_mtime_ns for path in folder.rglob("outer.*.nbc"))))
    assert [value for value, _ in found] == [1, 1, 2]
    assert found[0][1] == found[1][1] != found[2][1]
