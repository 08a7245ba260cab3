"""The hook with which a module registers its one backend."""

from __future__ import annotations

from collections.abc import Callable

from tokbench import plugin


def registers(spec: plugin.BackendSpec) -> Callable[[Callable[[plugin.BackendSpec], None]], None]:
    """Return the hook ``register_backends`` of a module that has one backend.

    >>> registered = []
    >>> registers(plugin.BackendSpec(name="letters", summary="ASCII alone"))(registered.append)
    >>> registered[0].name
    'letters'
    """

    @plugin.hookimpl
    def register_backends(register: Callable[[plugin.BackendSpec], None]) -> None:
        register(spec)

    return register_backends
