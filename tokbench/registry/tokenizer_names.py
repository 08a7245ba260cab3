"""The grammar of tokenizer names, the same for every command, Python, YAML and the page. There are five kinds.

``gpt-4o``
    a published name, or what a library's own table says of one, as tiktoken's of ``gpt-5``: an installed backend that
    has it is chosen, if possible without network;
``backend:value``
    a backend and the value of its main option, or a file that it reads;
``backend``
    a backend without options in its name;
``tokenizer.json``
    a file: its name and its first bytes choose the backend;
``org/name``
    a name whose form a backend declares, such as a model on the hub; a file or folder of this name precedes.

A name becomes a backend and its options; nothing is loaded or validated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tokbench.config.strict_yaml import plain_scalar
from tokbench.foundation.errors import InputError, Problem, did_you_mean
from tokbench.foundation.failures import Failure, attempt
from tokbench.foundation.packages import elsewhere, packages
from tokbench.registry.plugins import Registry, missing
from tokbench.registry.tokenizer_files import FOLDER, endings, readers_of
from tokbench.registry.unknown_names import closed, name_on_the_hub, nearest
from tokbench.tokenizers.options import GivenOptions, local_path

if TYPE_CHECKING:
    from tokbench.tokenizers.backend import BackendSpec


class Resolved(NamedTuple):
    """The meaning of a name: what loads the tokenizer, or trains it."""

    backend: str
    options: GivenOptions

    def __str__(self) -> str:
        return ":".join([self.backend, *map(str, self.options.values())])

    def with_options(self, more: GivenOptions, name: str) -> Resolved:
        """Return the same with further options; an InputError if the name sets one of them already."""
        if again := [option for option in more if option in self.options]:
            raise InputError([Problem(name, f"sets {again[0]!r} already; do not give it again")])
        return Resolved(self.backend, self.options | more)


def _any(_: BackendSpec) -> bool:
    return True


@dataclass(frozen=True)
class Grammar:
    """The names that the installed plugins understand.

    >>> from tokbench.registry.plugins import load_registry
    >>> grammar = Grammar(load_registry())
    >>> grammar.resolve("tokbench_bpe:cl100k_base")
    Resolved(backend='tokbench_bpe', options={'encoding': 'cl100k_base'})
    >>> grammar.resolve("lama-3")
    Traceback (most recent call last):
    tokbench.foundation.errors.InputError: unknown tokenizer 'lama-3'; did you mean 'llama-3'?
    """

    registry: Registry
    base: Path = Path()
    """Relative paths of files start here."""
    files: bool = True
    """``False`` if a name cannot be a file."""
    wanted: Callable[[BackendSpec], bool] = _any
    """Which backends may be chosen for a published name or a file."""
    known: Collection[str] = ()
    """Names of a configuration, for suggestions."""

    def resolve(self, name: str) -> Resolved:
        """Return what loads the tokenizer of this name.

        Raises:
            InputError: the name is unknown; the message suggests others.
        """
        backend, colon, value = name.partition(":")
        backends = self.registry.backends
        if backend in backends.entries:
            spec = backends.get(backend)
            return Resolved(backend, self._load_options(spec, name, value) if colon else {})
        if candidates := self._ranked(catalogue(self.registry).get(name, ())) or self._aliases(name):
            return next(
                (resolved for resolved in candidates if self.wanted(backends.get(resolved.backend))), candidates[0]
            )
        if self.files and self._is_file(name):
            return self._of_file(name)
        if taker := self.backend_of_form(name):
            return Resolved(taker.name, {taker.main: name})
        raise InputError([Problem(name, self._unknown(name))])

    def backend_of_form(self, name: str) -> BackendSpec | None:
        """Return the backend that declares names of this form."""
        return next((spec for spec in self.registry.backends if spec.names and re.fullmatch(spec.names, name)), None)

    def resolve_training(self, name: str) -> Resolved:
        """Return what trains a tokenizer: a backend, or ``backend:value`` with its main option of training.

        Raises:
            InputError: no such backend, or it has no main option of training.
        """
        backend, colon, value = name.partition(":")
        spec = self.registry.backends.get(backend)
        if not colon or spec.train is None:
            return Resolved(backend, {})
        return Resolved(backend, {_main(spec.train_main, spec.train_options.model_fields, name): plain_scalar(value)})

    def published(self) -> dict[str, list[Resolved]]:
        """Return the published names, each with what can load it, the preferred one first.

        Installed backends go first, then those without network, then the greatest precedence.
        """
        return {name: self._ranked(candidates) for name, candidates in catalogue(self.registry).items()}

    def _aliases(self, name: str) -> list[Resolved]:
        """Return what loads a name of a library's own table."""
        found = ((spec, attempt(partial(spec.alias, name))) for spec in _in_order(self.registry))
        return self._ranked([Resolved(spec.name, options) for spec, options in found if isinstance(options, dict)])

    def _ranked(self, candidates: Iterable[Resolved]) -> list[Resolved]:
        backends = self.registry.backends
        return sorted(candidates, key=lambda candidate: _rank(backends.get(candidate.backend), candidate.options))

    def _load_options(self, spec: BackendSpec, name: str, value: str) -> GivenOptions:
        """Return the option that the value of ``backend:value`` sets: the file's, or else the main one."""
        fields = spec.load_options.model_fields
        if not fields:
            raise InputError([Problem(name, f"this backend has no options; write {spec.name}")])
        for kind in sorted(spec.files, key=lambda kind: -len(kind.ending)):
            by_name = value.endswith(kind.ending) or (kind.ending == FOLDER and self._is_folder(value))
            if kind.ending and by_name and not kind.refusal:
                return {kind.option: value}
        if self.files and attempt(self._path(value).is_file) is True:
            readers = attempt(lambda: readers_of(value, self._path(value), [spec]))
            if not isinstance(readers, Failure):
                return {readers[0].kind.option: value}
        is_path = spec.main in {kind.option for kind in spec.files}
        if is_path and (taker := self.backend_of_form(value)) and attempt(self._path(value).exists) is not True:
            message = f"there is no such file; the name on the hub is {taker.name}:{value}"
            raise InputError([Problem(name, message)])
        return {_main(spec.main, fields, name): plain_scalar(value)}

    def _path(self, name: str) -> Path:
        try:
            return local_path(name, self.base)
        except ValueError as error:
            raise InputError([Problem(name, str(error))]) from error

    def _is_folder(self, value: str) -> bool:
        return self.files and self._path(value).is_dir()

    def _is_file(self, name: str) -> bool:
        known = tuple(endings(self.registry.backends) - {FOLDER})
        return name.endswith(known) or attempt(self._path(name).exists) is True

    def _of_file(self, name: str) -> Resolved:
        readers = readers_of(name, self._path(name), self.registry.backends)
        spec, kind = next((reader for reader in readers if self.wanted(reader.spec)), readers[0])
        return Resolved(spec.name, {kind.option: name})

    def _unknown(self, name: str) -> str:
        backends, (backend, colon, _) = self.registry.backends, name.partition(":")
        if unloaded := backends.not_loaded(backend):
            return unloaded
        if said := colon and elsewhere("backend", backend):
            return said
        if colon:
            near = did_you_mean(backend, backends.entries)
            return f"no such backend; {'is your package installed? ' if near.startswith('known') else ''}{near}"
        if self.files and (name.endswith("/") or name.startswith(("./", "../", "/", "~"))):
            return "no such file or folder; correct the path"
        if said := elsewhere("tokenizer", name) or elsewhere("backend", name):
            return said
        published = self.published()
        known = {*published, *(name for kinds in packages().values() for name in kinds.get("tokenizer", ()))}
        return closed(name, known) or f"unknown tokenizer {name!r}; " + (
            self._meant(name, published) or self._known(published)
        )

    def _meant(self, name: str, published: Iterable[str]) -> str:
        on_hub = name_on_the_hub(name)
        if on_hub and self.backend_of_form(on_hub):
            return f"on the hub a name begins with its organisation: did you mean {on_hub!r}?"
        close = nearest(name, [*published, *self.registry.backends.entries, *self.known])
        return f"did you mean {close!r}?" if close else ""

    def _known(self, published: Collection[str]) -> str:
        own = f"a name of the configuration ({', '.join(sorted(self.known))}), " if self.known else ""
        files = f", a file ({', '.join(sorted(endings(self.registry.backends) - {FOLDER}))})" if self.files else ""
        names = f", or a published name: {', '.join(published)}" if published else ""
        return f"write {own}backend:value{files}{names}"


def catalogue(registry: Registry) -> dict[str, list[Resolved]]:
    """Return the published names, each with what can load it, installed or not."""
    names: dict[str, list[Resolved]] = {}
    for spec in _in_order(registry):
        for name, options in spec.published.items():
            names.setdefault(name, []).append(Resolved(spec.name, dict(options)))
    return dict(sorted(names.items()))


def _in_order(registry: Registry) -> list[BackendSpec]:
    return sorted(registry.backends, key=lambda spec: (-spec.precedence, spec.name))


def unverified(registry: Registry) -> frozenset[str]:
    """Return the published names that were not verified."""
    return frozenset(catalogue(registry)) - {name for spec in registry.backends for name in spec.verified}


def _rank(spec: BackendSpec, options: GivenOptions) -> tuple[bool, bool]:
    """Return the sort key of the candidates for a published name: the least is preferred."""
    local = attempt(lambda: spec.local(spec.load_options.model_validate(options)))
    return missing(spec) is not None, local is not True


def _main(main: str, fields: Collection[str], name: str) -> str:
    if main not in fields:
        backend, _, value = name.partition(":")
        known = f"its options are {', '.join(fields)}" if fields else "it has no options"
        raise InputError([Problem(name, f"backend {backend!r} has no main option that {value!r} could set; {known}")])
    return main
