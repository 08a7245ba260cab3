"""A cluster of dask: started on this machine or joined, its members, and the messages to them."""

from __future__ import annotations

import json
import logging
import os
import queue
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tokbench.foundation.errors import one_line
from tokbench.plugin import Failure, InputError, attempt

if TYPE_CHECKING:
    from distributed import Future

_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from tokbench_cluster.remote import main; main(*sys.argv[1:])"
)
_CONNECT: Final = 30.0

_LOOK: Final = 0.5

_GONE: Final = 60.0
"""Seconds that a scheduler may be out of reach during a run."""

_LAST_WISH: Final = 10.0

_SETTINGS: Final = {
    "distributed.admin.large-graph-warning-threshold": "1 TiB",  # texts and recipes travel with the jobs
    "distributed.comm.timeouts.connect": f"{_CONNECT:.0f}s",
}


@dataclass
class Member:
    """A dask worker."""

    address: str
    slots: int
    asked: bool = False
    usable: bool | None = None
    """Whether its versions match this machine; ``None`` until known."""
    recipes: set[str] = field(default_factory=set)
    """By sha256."""
    busy: int = 0
    last_seen: float = 0.0
    changed: float = field(default_factory=time.monotonic)
    """This machine's time at which that was read."""

    def silent(self) -> float:
        return time.monotonic() - self.changed


class Cluster:
    """The connection of a connected client to a scheduler."""

    def __init__(self, client: Any) -> None:  # a Client; its methods have no types
        self._client = client
        self.members: dict[tuple[str, str], Member] = {}
        """By address and folder: a worker restarted at an old address is another member."""
        self.events: queue.SimpleQueue[str | tuple[str, float, float | None]] = queue.SimpleQueue()
        """A string for each answered message, and a tuple for each step of progress."""
        self._looked = self._heard = 0.0
        self.out_of_reach = ""
        """Why; empty if it can be reached."""

    def look(self) -> None:
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._heard = self._heard or now
        identity = attempt(lambda: self._client.sync(self._client.scheduler.identity, callback_timeout=_CONNECT))
        self._looked = time.monotonic()
        if isinstance(identity, Failure):
            if self.closed or self._looked - self._heard > _GONE:
                self.out_of_reach = f"the scheduler of dask is out of reach: {identity.reason}"
            return
        self._heard = self._looked
        present = {}
        for address, worker in identity["workers"].items():
            if worker["status"] in {"running", "paused"}:
                key = (address, worker["local_directory"])
                member = present[key] = self.members.get(key) or Member(address, worker["nthreads"])
                if worker["last_seen"] != member.last_seen:
                    member.last_seen, member.changed = worker["last_seen"], self._looked
        self.members = present

    @property
    def closed(self) -> bool:
        return bool(self._client.status in {"closing", "closed"})

    def send(self, member: Member, key: str, step: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Let a member do a step; an answer puts its key into the events."""
        future: Any = self._client.submit(step, *arguments, key=key, workers=[member.address], pure=False)
        future.add_done_callback(lambda _: self.events.put(key))
        sent: Future[Any] = future
        return sent

    def listen(self, topic: str) -> None:
        attempt(lambda: self._client.subscribe_topic(topic, lambda event: self.events.put(event[1])))

    def tell(self, step: Callable[..., None], *arguments: object, patience: float, wait: float = _LAST_WISH) -> None:
        """Let all live members do a step at once, in parallel to their jobs, and wait at most ``wait`` seconds."""
        alive = [member.address for member in self.members.values() if member.silent() < patience]
        if alive and not self.out_of_reach:  # Client.run would wait for ever
            how = {"workers": alive, "on_error": "ignore", "callback_timeout": wait}
            attempt(lambda: self._client.sync(self._client._run, step, *arguments, **how))  # noqa: SLF001


@contextmanager
def joined(address: str) -> Iterator[Cluster]:
    """Join a scheduler at an address such as ``tcp://10.0.0.5:8786``."""
    import dask.config
    import distributed

    connect: Any = distributed.Client
    with dask.config.set(_SETTINGS), _quiet():
        try:
            client = connect(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            msg = f"no scheduler of dask answers at {address!r}: {one_line(error)}; start one with: dask scheduler"
            raise InputError(msg) from error
        try:
            yield Cluster(client)
        finally:
            attempt(lambda: client.close(timeout=_LAST_WISH))


@contextmanager
def _quiet() -> Iterator[None]:
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextmanager
def started(size: int) -> Iterator[Cluster]:
    """Start a scheduler and ``size`` workers of one thread; they end with the block, or with this process."""
    processes: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory(prefix="tokbench-") as folder:
        file, log = Path(folder, "scheduler.json"), Path(folder, "log")
        named = ["--scheduler-file", str(file)]
        own = ["--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--no-dashboard", "--local-directory", folder]
        try:
            listening = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
            processes.append(_command("dask_scheduler", [*named, *listening], log))
            processes += [_command("dask_worker", [*named, *own], log) for _ in range(size)]
            address = _address(file, processes[0], log)
            with joined(address) as cluster:
                yield cluster
        finally:
            for process in reversed(processes):
                process.kill()
                process.wait()


def _command(name: str, arguments: list[str], log: Path) -> subprocess.Popen[bytes]:
    paths = json.dumps([str(folder) for folder in sys.path])
    with log.open("ab") as output:
        return subprocess.Popen(  # noqa: S603 - this interpreter, with our arguments
            [sys.executable, "-c", _START, f"distributed.cli.{name}", str(os.getpid()), *arguments, paths],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C reaches the parent alone, which then ends all of it
        )


def _address(file: Path, scheduler: subprocess.Popen[bytes], log: Path) -> str:
    until = time.monotonic() + 2 * _CONNECT
    while scheduler.poll() is None and time.monotonic() < until:
        with suppress(OSError, ValueError):
            return str(json.loads(file.read_text(encoding="utf-8"))["address"])
        time.sleep(0.02)
    words = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-300:]
    raise InputError(f"the scheduler of dask does not start: {words or 'it says nothing'}")
