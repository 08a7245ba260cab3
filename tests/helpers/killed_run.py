"""Runs tokbench and kills it at one of its events: ``python killed_run.py FOLDER NUMBER WHOM run CONFIG …``.

An event is whatever opens, renames, makes or deletes something below the folder, starts a process, begins or ends a
phase, or moves the progress. With the number -1 nothing is killed. The phases of all events are written to the file
``events`` of the folder, a line for each.
"""

import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

AUDITED = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.utime"}


class Killer:
    """Counts the events of this process, and kills it, or its group, at one of them."""

    def __init__(self, folder, number, whom):
        self.folder, self.number, self.whom = folder, number, whom
        self.phase = "start"
        self.phases = []

    def event(self):
        if len(self.phases) == self.number:
            (os.killpg if self.whom == "group" else os.kill)(os.getpid(), signal.SIGKILL)
        self.phases.append(self.phase)

    def audit(self, name, arguments):
        below = name in AUDITED and isinstance(arguments[0], str) and arguments[0].startswith(self.folder)
        if below or name == "subprocess.Popen":
            self.event()

    def watch(self, progress):
        """Let the phases and steps of a run be events."""
        phase, move = progress.phase, progress._move

        @contextmanager
        def watched_phase(self_, name):
            self.phase = name
            self.event()
            with phase(self_, name):
                yield
                self.event()
            self.phase = f"after {name}"

        def watched_move(self_, *arguments):
            self.event()
            return move(self_, *arguments)

        progress.phase, progress._move = watched_phase, watched_move


def main(folder, number, whom, *arguments):
    killer = Killer(folder, int(number), whom)
    sys.addaudithook(killer.audit)
    from tokbench.cli.main import main as tokbench
    from tokbench.foundation.progress import RunProgress

    killer.watch(RunProgress)
    sys.argv[:] = ["tokbench", *arguments]
    try:
        tokbench()
    finally:
        phases = list(killer.phases)
        Path(folder, "events").write_text("".join(f"{phase}\n" for phase in phases), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
