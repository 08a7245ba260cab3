"""Processes that a test looks at from outside."""

import time
from pathlib import Path


def ended(pid, tries=100):
    """Return true if a process has ended, or only waits for its parent to notice."""
    for _ in range(tries):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
