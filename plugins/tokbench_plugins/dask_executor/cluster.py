"""A cluster of dask: started on this machine or joined, its members, and what is sent to them."""

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

from tokbench.plugin import Failure, InputError, attempt, one_line

if TYPE_CHECKING:
    from distributed import Future

_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "from tokbench_plugins.dask_executor.remote import main; main(*sys.argv[1:])"
)
_CONNECT: Final = 30.0
"""Seconds that a scheduler has to answer."""

_LOOK: Final = 0.5
"""Seconds between two looks at the members of the cluster."""

_GONE: Final = 60.0
"""Seconds that a scheduler may be out of reach in the middle of a run."""

_LAST_WISH: Final = 10.0
"""Seconds to wait for workers to end what a run has left."""

_SETTINGS: Final = {
    "distributed.admin.large-graph-warning-threshold": "1 TiB",  # texts and recipes travel with the jobs
    "distributed.comm.timeouts.connect": f"{_CONNECT:.0f}s",
}


@dataclass
class Member:
    """A dask worker."""

    address: str
    """Its address."""
    slots: int
    """The number of jobs that it does side by side."""
    asked: bool = False
    """``True`` once it was asked for its versions."""
    usable: bool | None = None
    """``True`` if its versions are those of this machine; ``None`` until that is known."""
    recipes: set[str] = field(default_factory=set)
    """The sha256 of the recipes that were sent to it."""
    reads_nothing: bool = False
    """``True`` if it could not read a shard, so that all text is sent to it."""
    busy: int = 0
    """The number of jobs and messages that it has."""
    last_seen: float = 0.0
    """The scheduler's time at which it was last heard of."""
    changed: float = field(default_factory=time.monotonic)
    """This machine's time at which that was read."""

    def silent(self) -> float:
        """Return for how many seconds nothing was heard of it."""
        return time.monotonic() - self.changed


class Cluster:
    """The connection to a scheduler.

    Args:
        client: connected already.
    """

    def __init__(self, client: Any) -> None:  # a Client; its methods have no types
        self._client = client
        self.members: dict[tuple[str, str], Member] = {}
        """The workers, by address and folder: what begins anew at an old address is another member."""
        self.events: queue.SimpleQueue[str | tuple[str, float, float | None]] = queue.SimpleQueue()
        """A queue with a string for each message that was answered, and a tuple for each step of progress."""
        self._looked = self._heard = 0.0
        self.out_of_reach = ""
        """The reason why nothing more can be sent to the scheduler; empty as long as it can."""

    def look(self) -> None:
        """Find out who is there, and whether the scheduler still answers, not more than a few times a second."""
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
        newest = max((worker["last_seen"] for worker in identity["workers"].values()), default=0.0)
        present = {}
        for address, worker in identity["workers"].items():
            if worker["status"] in {"running", "paused"}:
                key = (address, worker["local_directory"])
                member = present[key] = self.members.get(key) or Member(address, worker["nthreads"])
                if worker["last_seen"] != member.last_seen:
                    behind = newest - worker["last_seen"] if key not in self.members else 0.0
                    member.last_seen, member.changed = worker["last_seen"], self._looked - behind
        self.members = present

    @property
    def closed(self) -> bool:
        """``True`` if the connection has ended, because the scheduler could not be reached again."""
        return bool(self._client.status in {"closing", "closed"})

    def send(self, member: Member, key: str, step: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Let a member do a step; its key is put into the events when there is an answer."""
        future: Any = self._client.submit(step, *arguments, key=key, workers=[member.address], pure=False)
        future.add_done_callback(lambda _: self.events.put(key))
        sent: Future[Any] = future
        return sent

    def listen(self, topic: str) -> None:
        """Put what workers show under a topic into the events; nothing comes of a scheduler that is out of reach."""
        attempt(lambda: self._client.subscribe_topic(topic, lambda event: self.events.put(event[1])))

    def tell(self, step: Callable[..., None], *arguments: object, patience: float, wait: float = _LAST_WISH) -> None:
        """Let all members that are alive do a step at once, beside their jobs; nobody waits long for an answer."""
        alive = [member.address for member in self.members.values() if member.silent() < patience]
        if alive and not self.out_of_reach:  # Client.run would wait for ever
            how = {"workers": alive, "on_error": "ignore", "callback_timeout": wait}
            attempt(lambda: self._client.sync(self._client._run, step, *arguments, **how))  # noqa: SLF001


@contextmanager
def joined(address: str) -> Iterator[Cluster]:
    """Join the cluster of a scheduler.

    Args:
        address: such as ``tcp://10.0.0.5:8786``.

    Raises:
        InputError: there is no scheduler at this address.
    """
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
    """Let dask log nothing of workers that vanish, because tokbench tells it."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextmanager
def started(size: int) -> Iterator[Cluster]:
    """Start a scheduler and some workers on this machine, which end with the block, or with this process.

    Args:
        size: the number of workers, each with one thread.

    Raises:
        InputError: dask does not start.
    """
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
    """Start a command of dask with this interpreter and its import path; it ends with this process."""
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
    """Return the address that a scheduler writes into a file when it is ready."""
    until = time.monotonic() + 2 * _CONNECT
    while scheduler.poll() is None and time.monotonic() < until:
        with suppress(OSError, ValueError):
            return str(json.loads(file.read_text(encoding="utf-8"))["address"])
        time.sleep(0.02)
    words = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-300:]
    raise InputError(f"the scheduler of dask does not start: {words or 'it says nothing'}")
