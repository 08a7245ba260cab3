"""One thread for each native library, in every process of a run: workers side by side leave none to spare."""

from __future__ import annotations

import os
from typing import Final

ONE_THREAD: Final = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}


def use_one_thread() -> None:
    """Set what is not set, for this process and those that it starts, before libraries are loaded."""
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
