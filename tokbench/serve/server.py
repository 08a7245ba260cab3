"""The server of the playground: its socket and its limits."""

from __future__ import annotations

import ipaddress
import socket
from typing import Final

import uvicorn

from tokbench.foundation.errors import InputError
from tokbench.serve.app import Playground
from tokbench.serve.guard import Rules

MOST_CONNECTIONS: Final = 128
"""A further connection gets the status 503."""

_END_SECONDS: Final = 3


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
        http="h11",
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
