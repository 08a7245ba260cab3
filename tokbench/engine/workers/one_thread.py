"""One thread for each native library, in every process of a run: workers side by side leave none to spare."""

from __future__ import annotations

import os
from typing import Final

ONE_THREAD: Final = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
"""Environment variables that ask native libraries for one thread."""


def use_one_thread() -> None:
    """Set the variables for this process and those that it starts; what is set already stays.

    A library reads them when it is loaded, so call this before that.
    """
    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
