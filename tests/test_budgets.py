"""Every room has a budget of lines in pyproject.toml; raising one is a commit of its own that says why."""

import tomllib
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
BUDGETS = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["tokbench"]["budgets"]


def lines_of(room):
    """Return the lines of Python in a folder; the tests of packages are of the room ``tests``."""
    of_packages = [*(TOP / "plugins").glob("*/tests")]
    files = {file for folder in [TOP / room, *of_packages * (room == "tests")] for file in folder.rglob("*.py")}
    if room != "tests":
        files = {file for file in files if not any(file.is_relative_to(folder) for folder in of_packages)}
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


@pytest.mark.parametrize("room", BUDGETS)
def test_a_room_keeps_its_budget(room):
    assert 0 < lines_of(room) <= BUDGETS[room]


def test_every_room_has_a_budget():
    rooms = {f"tokbench/{path.name}" for path in (TOP / "tokbench").iterdir() if any(path.glob("**/*.py"))}
    packages = {f"plugins/{path.parent.name}" for path in (TOP / "plugins").glob("*/pyproject.toml")}
    assert rooms | packages - {"plugins/template"} | {"tokbench", "plugins", "tests"} <= set(BUDGETS)
