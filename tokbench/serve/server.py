"""The server of the playground: its socket and its limits."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from tokbench.foundation.errors import InputError
from tokbench.serve.app import Playground
from tokbench.serve.guard import Rules

MOST_CONNECTIONS: Final = 128
"""A further connection gets the status 503."""

HEAD_SECONDS: Final = 5.0
"""In which the head of a request arrives, or the connection is closed."""

_END_SECONDS: Final = 3


class _Impatient(H11Protocol):
    """A connection that is closed if a head does not arrive; half of all may wait for one, and the oldest gives way."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        waiting = [one for one in self.connections if isinstance(one, _Impatient) and one._timer]  # noqa: SLF001
        if len(waiting) >= MOST_CONNECTIONS // 2:
            min(waiting, key=lambda one: one._timer.when() if one._timer else 0.0)._hang_up()  # noqa: SLF001
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._timer and self.cycle and not self.cycle.response_complete:
            self._timer.cancel()
            self._timer = None

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._timer = self.loop.call_later(HEAD_SECONDS, self._hang_up)

    def _hang_up(self) -> None:
        self._timer = None
        self.connections.discard(self)
        self.transport.close()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is any free one.

    Raises:
        InputError: the address is not one of this machine, or the port is in use.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(MOST_CONNECTIONS)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        advice = "choose another one with --port, or any that is free with --port 0"
        raise InputError(f"cannot listen at {host}:{port}: {error.strerror or error}; {advice}") from error
    return listening


def address_of(listening: socket.socket, rules: Rules) -> str:
    """Return the address of the page, with the token; where all addresses are listened at, that of this machine."""
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "localhost"
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/?token={rules.token}"


def serve(playground: Playground, listening: socket.socket) -> None:
    """Serve the playground until Ctrl-C, and end its processes."""
    try:
        server_of(playground).run(sockets=[listening])
    finally:
        playground.end()


def server_of(playground: Playground) -> uvicorn.Server:
    """Return a server with limits on connections and without a log of addresses."""
    config = uvicorn.Config(
        playground.app(),
        http=_Impatient,
        ws="none",
        loop="asyncio",
        lifespan="on",
        access_log=False,  # an address may hold the token
        log_config=None,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        backlog=MOST_CONNECTIONS,
        timeout_graceful_shutdown=_END_SECONDS,
    )
    return uvicorn.Server(config)
