"""A terminal that is closed ends a command as SIGHUP does, whatever it still prints."""

import os
import pty
import sys

PROGRAM = """
import sys, time
from tokbench.terminal.interruption import Interruption, stop_on_signals
stop_on_signals()
try:
    print("on", flush=True)
    while True:
        time.sleep(0.05)
except KeyboardInterrupt:
    print("results so far", flush=True)
    print("a note", file=sys.stderr, flush=True)
    sys.exit(Interruption.exit_code)
"""


def test_closed_terminal_ends_with_129():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", PROGRAM])
    os.read(terminal, 100)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 129
