"""The spine of a run: the files that README.md names, in order, and what they need; and the files that a run enters."""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEAVES = ("tokbench.foundation", "tokbench.statistics")

TINY = """schema: tokbench/1
name: tiny
corpora: {c: {source: sample, part: languages, parallel: true, groups: [en, de]}}
tokenizers: {bytes: {backend: utf8_bytes}, units: {backend: utf16_units}}
metrics: [compression]
"""
ENTERED = """
import sys, tokbench, tokbench.api
from pathlib import Path
root, entered = str(Path(tokbench.__file__).parent), set()

def importing(frame):
    while frame and not (frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(root)):
        frame = frame.f_back
    return frame is not None

def enter(frame, event, _):
    name = frame.f_code.co_filename
    inside = name.startswith(root) and name.endswith(".py") and "<" not in frame.f_code.co_name
    if event == "call" and inside and name not in entered and not importing(frame):
        entered.add(name)

sys.setprofile(enter)
tokbench.run(sys.argv[1], sys.argv[2], workers=0, store=False)
sys.setprofile(None)
print(*sorted(entered), sep="\\n")
"""


def spine():
    text = (ROOT / "tokbench" / "README.md").read_text(encoding="utf-8")
    table = text.split("### The spine\n")[1].split("\n### ")[0]
    return [ROOT / "tokbench" / name for name in re.findall(r"^\| `([\w/]+\.py)` \|", table, re.MULTILINE)]


def path_of(module):
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def imported(path):
    """Yield the modules of tokbench that a file imports when it is imported."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "tokbench":
            for name in (alias.name for alias in node.names):
                inner = f"{node.module}.{name}"
                yield inner if path_of(inner).exists() else str(node.module)


def walk(module, seen):
    seen.add(module)
    for other in imported(path_of(module)):
        if other not in seen and not other.startswith(LEAVES):
            walk(other, seen)
    return seen


def test_the_spine_and_its_walk_are_short():
    modules = walk("tokbench.api", set())
    assert 0 < len(spine()) <= 13
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in spine()) <= 4500
    assert {path_of(module) for module in modules} > set(spine()[:-1])
    assert len(modules) <= 60, sorted(modules)


def test_a_tiny_run_enters_few_files(tmp_path):
    (tmp_path / "tiny.yaml").write_text(TINY, encoding="utf-8")
    command = [sys.executable, "-c", ENTERED, str(tmp_path / "tiny.yaml"), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    entered = done.stdout.split()
    assert str(spine()[0]) in entered
    assert len(entered) <= 133, entered
