"""numba and the packages that extend it."""

import subprocess
import sys

import pytest

pytest.importorskip("numba")

CODE = """
import sys
from tokbench_plugins.bpe import BPETokenizer

tokenizer = BPETokenizer([(104, 105)], "gpt4", engine="numba")
assert tokenizer.decode_batch(tokenizer.encode_batch(["hi there"])) == ["hi there"]
print("extension" in sys.modules)
import numba

numba.njit(lambda number: number + 1)(1)
print("extension" in sys.modules)
"""


@pytest.mark.slow
def test_our_functions_load_no_extension_of_numba_and_others_do(tmp_path):
    info = tmp_path / "extension-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: extension\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[numba_extensions]\ninit = extension:init\n", encoding="utf-8")
    (tmp_path / "extension.py").write_text("def init():\n    pass\n", encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}){CODE}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.split() == ["False", "True"], done.stderr
