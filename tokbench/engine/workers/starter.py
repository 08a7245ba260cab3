"""Start worker processes quickly: one process imports what every worker needs, and forks a worker on request.

The starter has one thread, loads no tokenizer and no plugin of strangers, and knows no job. A worker that it forks is
in the state of one that has just been started: with the environment, current folder, limits and rights of the process
that asks for it. For other :class:`Surroundings` there is another starter. The starter ends with the process that began
it, and its workers end with the starter. It is the parent of the workers, so it waits for them, but only when it is
asked to: the number of a process cannot be given to another one before that.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from tokbench.engine.workers.descendants import MARK
from tokbench.engine.workers.worker import main
from tokbench.foundation.failures import Failure, attempt
from tokbench.registry.plugins import import_own_plugins

POSSIBLE: Final = sys.platform == "linux" and hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal")
"""``True`` where processes can be forked safely, and named so that the name is never that of another process."""

_START: Final = (
    "import gc, json, sys; gc.disable(); sys.path[:] = json.loads(sys.argv.pop()); "
    "from tokbench.engine.workers.starter import serve; serve(*map(int, sys.argv[1:]))"
)
NO_MARK: Final = "0" * 32
"""The mark of a starter, which each worker overwrites with its own."""

_READ_LATE: Final = (
    *("PYTEST_CURRENT_TEST", "TOKBENCH_STORE", "TOKBENCH_NO_STORE", "TOKBENCH_STORE_SIZE", "TOKBENCH_PLUGINS"),
    *("TOKBENCH_NO_THIRD_PARTY", "PYTHONPATH", MARK),
)
"""Environment variables that nothing reads while a starter imports modules, so that each worker may have others.

The interpreter reads ``PYTHONPATH`` when it begins; a worker has the path of the run instead.
"""

_INHERITED: Final = (
    *("Umask", "Uid", "Gid", "Groups", "SigBlk", "SigIgn", "NoNewPrivs", "Seccomp", "Cpus_allowed", "Mems_allowed"),
    *("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"),
)
"""The names of the lines in ``/proc/PID/status`` that tell what a process has from its parent."""

_MOST_STARTERS: Final = 4
_LONGEST: Final = 1 << 16
_GREETING: Final = 0
"""The number of the first answer, to no request: the names of the modules that a starter has imported."""
_FILES: Final = 5


class Surroundings(NamedTuple):
    """All that a worker gets from the process that starts it and that cannot be changed in a copy of another process.

    Attributes:
        parent: the id of the process that starts it.
        executable: the interpreter.
        environment: the variables, those of ``_READ_LATE`` left out.
        inherited: rights, signals, limits, processors, priority and namespaces.
    """

    parent: int
    executable: str
    environment: frozenset[tuple[str, str]]
    inherited: tuple[str, ...]

    @classmethod
    def of_this_process(cls, environment: Mapping[str, str]) -> Surroundings:
        """Return those of this process, with some further environment variables.

        Raises:
            OSError: the system does not tell them.
        """
        status = Path("/proc/thread-self/status").read_text(encoding="utf-8", errors="surrogateescape")
        rights = tuple(line for line in status.splitlines() if line.partition(":")[0] in _INHERITED)
        limits, group = (Path(f"/proc/self/{name}").read_text(encoding="utf-8") for name in ("limits", "cgroup"))
        places = sorted(str(each.readlink()) for each in (Path("/proc/self/root"), *Path("/proc/self/ns").iterdir()))
        priority = str(os.getpriority(os.PRIO_PROCESS, 0))
        variables = {name: value for name, value in {**os.environ, **environment}.items() if name not in _READ_LATE}
        inherited = (*rights, limits, group, priority, *places)
        return cls(os.getpid(), sys.executable, frozenset(variables.items()), inherited)


class StartedProcess:
    """A worker process that a starter forks, with the methods of :class:`subprocess.Popen` that are needed.

    Attributes:
        returncode: its exit code, or minus the signal that ended it; ``None`` as long as it is not known to have ended.
    """

    def __init__(self, starter: Starter, request: int) -> None:
        self.returncode: int | None = None
        self._starter = starter
        self._request = request
        self._turn = threading.RLock()
        self._pid: int | None = None
        self._handle = -1

    @property
    def pid(self) -> int:
        """The id of the process, waiting for it to be started; 0 if it could not be."""
        with self._turn:
            if self._pid is None:
                pid = self._starter.answer(self._request) or 0
                handle = attempt(lambda: os.pidfd_open(pid)) if pid else -1
                self._pid = pid if isinstance(handle, int) else 0
                self._handle = handle if isinstance(handle, int) else -1
                self._close = weakref.finalize(self, os.close, self._handle) if self._handle >= 0 else None
                if self._close:
                    self._close.atexit = False  # what ends its processes only then still needs the handle
            return self._pid

    def poll(self) -> int | None:
        """Return the exit code if the process has ended."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0.0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, waiting for the end of the process.

        Args:
            timeout: seconds to wait at most.

        Raises:
            subprocess.TimeoutExpired: it has not ended by then.
        """
        if self.returncode is None:
            if self.pid:
                waiting = select.poll()
                waiting.register(self._handle, select.POLLIN)
                if not waiting.poll(None if timeout is None else timeout * 1000):
                    raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            with self._turn:
                if self.returncode is None:
                    self.returncode = self._starter.exit_code(self.pid)
                    if self._close:
                        self._close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process is known to have ended."""
        with self._turn, suppress(ProcessLookupError):
            if self.pid and self.returncode is None:
                signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """End the process at once."""
        self.send_signal(signal.SIGKILL)


class StarterProcess(Protocol):
    """The process of a starter, as its parent sees it."""

    @property
    def pid(self) -> int:
        """Its id."""

    def wait(self) -> int:
        """Return its exit code, waiting for its end."""


def _begin(surroundings: Surroundings, line: int, path: Sequence[str]) -> StarterProcess:
    """Begin a starter from nothing.

    Args:
        surroundings: those of its workers.
        line: file descriptor of its end of the line.
        path: where it finds modules.
    """
    return subprocess.Popen(  # noqa: S603 - this interpreter, with numbers and paths
        [surroundings.executable, "-c", _START, str(line), str(surroundings.parent), json.dumps(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[line],
        env={**dict(surroundings.environment), **_late_variables(), MARK: NO_MARK},
        start_new_session=True,
    )


class Starter:
    """The line to a process that forks workers.

    Args:
        surroundings: those of its workers.
        begin: begins the process, given the surroundings, the file descriptor of its line, and ``sys.path``.

    Attributes:
        surroundings: as given.
        broken: ``True`` once it has failed to start a worker, or has ended.
        worked: ``True`` once it has started a worker.
    """

    def __init__(
        self, surroundings: Surroundings, begin: Callable[[Surroundings, int, Sequence[str]], StarterProcess] = _begin
    ) -> None:
        self.surroundings = surroundings
        self.broken = self.worked = False
        self._path = tuple(map(str, sys.path))
        self._folder = Path("/proc/self/cwd").readlink()
        self._turn = threading.RLock()
        self._answers: dict[int, Any] = {}
        self._requests = self._alive = 0
        self._retired = False
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = begin(surroundings, theirs.fileno(), self._path)

    def suits(self, surroundings: Surroundings) -> bool:
        """Return ``True`` if its workers can be in these surroundings, and find the modules that this process finds.

        With another ``sys.path``, no folder that is new there, or missing, may hold a module that was imported.
        """
        if surroundings != self.surroundings:
            return False
        path = tuple(map(str, sys.path))
        same_folder = Path("/proc/self/cwd").readlink() == self._folder
        if not same_folder and not all(map(os.path.isabs, path)):
            return False
        if path == self._path:
            return True
        if [each for each in path if each in self._path] != [each for each in self._path if each in path]:
            return False  # the same ones, in another order
        imported = {*(self.answer(_GREETING) or ()), "sitecustomize", "usercustomize"}
        differing = set(path) ^ set(self._path)
        return not self.broken and all(imported.isdisjoint(_modules_in(Path(each))) for each in differing)

    def start(self, level: int, mark: str, files: Sequence[int]) -> StartedProcess:
        """Let a worker be started, and return at once.

        Args:
            level: the least level of log messages that are shown.
            mark: the worker's value of :data:`~tokbench.engine.workers.descendants.MARK`.
            files: file descriptors of its line, of the memory for its heartbeat, of its two outputs.
        """
        request = {"level": level, "late": _late_variables() | {MARK: mark}, "path": [str(each) for each in sys.path]}
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with self._turn:
                self._alive += 1
                return StartedProcess(self, self._ask(request, (*files, folder)))
        finally:
            os.close(folder)

    def answer(self, request: int) -> Any:
        """Return the answer to a request, waiting for it; ``None`` if there is none."""
        with self._turn:
            while request not in self._answers and not self.broken:
                data = attempt(lambda: self._line.recv(_LONGEST, socket.MSG_PEEK))
                if not isinstance(data, bytes) or not data:
                    self.broken = True
                    break
                number, answer = json.loads(data)
                self._answers[number] = answer
                self.worked = self.worked or number != _GREETING
                self._line.recv(_LONGEST)  # not before it is noted: Ctrl-C may come at any moment
            return self._answers.get(request) if request == _GREETING else self._answers.pop(request, None)

    def exit_code(self, pid: int) -> int:
        """Return the exit code of a worker that has ended; its id is free for others then.

        A worker whose starter has ended was killed by that. One that could not be started counts as one that failed.
        """
        with self._turn:
            self._alive -= 1
            code = self.answer(self._ask({"ended": pid})) if pid else None
            if not pid:
                self.broken = True
            if self._retired:
                self.retire()
        return code if code is not None else -signal.SIGKILL if pid else 1

    def retire(self) -> None:
        """End the process, as soon as it has no workers."""
        self._retired = True
        if self._alive <= 0:
            self.end()

    def end(self) -> None:
        """End the process, and its workers with it."""
        self.broken = True
        with suppress(OSError):  # it has ended already
            self._line.shutdown(socket.SHUT_RDWR)  # also for a copy of this process
        self._line.close()
        self._process.wait()

    def _ask(self, request: Mapping[str, Any], files: Sequence[int] = ()) -> int:
        """Send a request, and return its number."""
        self._requests += 1
        message = json.dumps({"number": self._requests, **request}).encode()
        if isinstance(attempt(lambda: socket.send_fds(self._line, [message], files)), Failure):
            self.broken = True
        return self._requests


def _late_variables() -> dict[str, str]:
    return {name: os.environ[name] for name in _READ_LATE if name in os.environ}


def _modules_in(folder: Path) -> set[str]:
    """Return the names of modules that a folder may hold; an archive may hold any, also one that runs at the start."""
    if not folder.is_dir():
        return {"sitecustomize"} if folder.exists() else set()
    return {each.name.partition(".")[0] for each in folder.iterdir()}


def keep(begun: Starter) -> None:
    """Keep a starter for later workers."""
    with _choosing:
        _starters.append(begun)


_starters: Final[list[Starter]] = []
_choosing: Final = threading.Lock()


def starter(environment: Mapping[str, str]) -> Starter | None:
    """Return the starter of workers for this process as it is now; ``None`` if workers must be started without.

    Args:
        environment: variables that the workers get besides those of this process.
    """
    wanted = attempt(lambda: Surroundings.of_this_process(environment)) if POSSIBLE else None
    if not isinstance(wanted, Surroundings):
        return None
    with _choosing:
        found = next((each for each in _starters if each.suits(wanted)), None) or Starter(wanted)
        if found in _starters:
            _starters.remove(found)
        if found.broken and found.worked:
            found.end()
            found = Starter(wanted)
        _starters.append(found)  # the last one that was used is the last one to go
        ours = [
            each for each in _starters if each.surroundings.parent == wanted.parent
        ]  # not those of a copied process
        for oldest in ours[:-_MOST_STARTERS]:
            _starters.remove(oldest)
            oldest.retire()
    return None if found.broken else found


@atexit.register
def _end_all() -> None:
    for each in _starters:
        if each.surroundings.parent == os.getpid():
            each.end()


def serve(line: int, parent: int) -> None:
    """Fork a worker whenever the parent asks for one, until it hangs up or ends; called in the starter process.

    Args:
        line: file descriptor of the line to the parent.
        parent: the parent's process id.
    """
    # The run alone decides when a worker ends, not what a tokenizer sends to the parent of its process.
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    import_own_plugins()
    end_threads()
    gc.freeze()  # so that a worker does not copy what it only looks at
    me = os.getpid()
    names = sorted({name.partition(".")[0] for name in sys.modules} | sys.stdlib_module_names)
    with socket.socket(fileno=line) as requests:
        requests.send(json.dumps((_GREETING, names)).encode())
        request, files = _next_worker(requests, parent)
    for number, handler in handlers.items():
        signal.signal(number, handler)
    _become_worker(request, files, me)


def end_threads() -> None:
    """End the threads that NumPy's OpenBLAS keeps, which it does by itself before any fork, and starts again if needed.

    Raises:
        RuntimeError: there are others; a copy of a process with threads can wait for ever for what they held.
    """
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    _refuse_threads()


def _refuse_threads() -> None:
    threads = len([*Path("/proc/self/task").iterdir()])
    if threads > 1:
        raise RuntimeError(f"the starter of workers has {threads} threads; it can be copied safely only if it has one")


def _next_worker(line: socket.socket, parent: int) -> tuple[dict[str, Any], list[int]]:
    """Answer requests; return, in every process that is forked, the request for it and its file descriptors."""
    gone = os.pidfd_open(parent)
    if os.getppid() != parent:
        os._exit(0)
    waiting = select.poll()
    waiting.register(line, select.POLLIN)
    waiting.register(gone, select.POLLIN)
    while True:
        if gone in dict(waiting.poll()):
            os._exit(0)
        data, files, _, _ = socket.recv_fds(line, _LONGEST, _FILES)
        if not data:
            os._exit(0)
        request = json.loads(data)
        if "ended" in request:
            answer = os.waitstatus_to_exitcode(os.waitpid(request["ended"], 0)[1])
        else:
            _refuse_threads()
            answer = os.fork()
            if not answer:
                os.close(gone)
                return request, files
        for each in files:
            os.close(each)
        line.send(json.dumps((request["number"], answer)).encode())


def _become_worker(request: Mapping[str, Any], files: Sequence[int], starter: int) -> None:
    """Make this copy of the starter what a process is that was started by itself, and do the work of a worker."""
    line, memory, stdout, stderr, folder = files
    os.setsid()
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.fchdir(folder)
    for each in (stdout, stderr, folder):
        os.close(each)
    late = request["late"]
    for name in _READ_LATE:
        os.environ.pop(name, None)
    os.environ.update(late)
    _show_mark(late[MARK])
    random.seed()
    sys.path[:] = request["path"]
    sys.argv[:] = ["-c"]
    importlib.invalidate_caches()
    main(line, memory, starter, request["level"])


def begin_of_environment() -> int:
    """Return the address at which the system put the environment variables when this process began."""
    fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    return int(fields[47])  # the fiftieth of the file


def _show_mark(mark: str) -> None:
    """Write the mark of this worker over that of the starter, where ``/proc/PID/environ`` shows it to others.

    That is the memory in which the system put the variables when the starter began; a copy of the worker that runs no
    other program keeps it.

    Raises:
        RuntimeError: it cannot be written; what the worker leaves behind might not be found then.
    """
    shown, old = Path("/proc/self/environ"), f"{MARK}={NO_MARK}".encode()
    begin = begin_of_environment()
    before = shown.read_bytes()
    place = before.find(old)
    new = f"{MARK}={mark}".encode()
    if begin and place >= 0 and len(new) == len(old):
        ctypes.memmove(begin + place, new, len(new))
    if new not in shown.read_bytes().split(b"\0"):
        raise RuntimeError("the mark of this worker cannot be written where other processes find it")
