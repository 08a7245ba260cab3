"""The plugin for pytest: the fixture ``tokbench_pins``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tokbench_pins() -> Callable[..., None]:
    """A function that fails the test if ids of a lock have changed: ``tokbench_pins("ids.lock")``.

    Its second argument is a backend that replaces the pinned ones, as for ``--with``.
    """
    return _check_pins


def _check_pins(lock: str | Path, other: str = "") -> None:
    from tokbench.plugin import InputError, silent
    from tokbench_identity.pins.check import check_lock
    from tokbench_identity.pins.lock import read_lock
    from tokbench_identity.pins.terminal import lines

    path = Path(lock)
    try:
        checked = check_lock(read_lock(path), path.parent, silent, other=other)
    except InputError as error:
        pytest.fail(str(error), pytrace=False)
    if not checked.same:
        pytest.fail("\n".join(lines(checked)), pytrace=False)
