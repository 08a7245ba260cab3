"""Every room has a budget of lines in pyproject.toml; raising one is a commit of its own that says why."""

import tomllib
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
BUDGETS = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["tokbench"]["budgets"]


def lines_of(room):
    """Return the lines of Python in a folder or file."""
    path = TOP / room
    files = path.rglob("*.py") if path.is_dir() else [path]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


@pytest.mark.parametrize("room", BUDGETS)
def test_a_room_keeps_its_budget(room):
    assert 0 < lines_of(room) <= BUDGETS[room]


def test_every_room_has_a_budget():
    rooms = {f"tokbench/{path.name}" for path in (TOP / "tokbench").iterdir() if any(path.glob("**/*.py"))}
    assert rooms | {"tokbench", "plugins", "tests"} <= set(BUDGETS)
