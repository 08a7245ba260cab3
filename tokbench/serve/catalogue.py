"""The tokenizers that the page may open: by name of the command line, of an installed vocabulary, or dropped in."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin

from tokbench.config.validate import validate_options
from tokbench.engine.segment import NamedTokenizers, recipe_of
from tokbench.engine.workers.executor import Executor
from tokbench.engine.workers.worker import Recipe
from tokbench.foundation.errors import InputError, Problem, close_name
from tokbench.foundation.progress import silent
from tokbench.foundation.store import Store
from tokbench.registry.plugins import Registry, load_registry, missing
from tokbench.registry.tokenizer_files import readers_of
from tokbench.registry.tokenizer_names import Grammar
from tokbench.tokenizers.backend import BackendSpec

DEFAULTS: Final = ("gpt-4o", "llama-3", "gemma-3", "qwen-3")
"""The tokenizers that the page shows at first if the command names none; those that cannot be had are left out."""

_MOST_FILES: Final = 16
"""Dropped files that are kept; a further one takes the place of the oldest."""

Kind = Literal["command", "run", "file", "model", "installed"]


class Offer(NamedTuple):
    """A tokenizer that can be opened."""

    name: str
    """Its name."""
    kind: Kind
    """Its origin: the command line, a finished run, a dropped file, a well-known model, or an installed
    vocabulary.
    """


class TokenizerCatalogue:
    """The tokenizers by name, and what loads each.

    Args:
        any_value: let the page open ``backend:value`` for any value that is not a file; otherwise only what is listed.
    """

    def __init__(self, *, any_value: bool = True) -> None:
        self._registry = load_registry()
        self._any_value = any_value
        self._recipes: dict[str, tuple[Kind, Recipe]] = {}
        self._files: dict[str, Path] = {}
        self._used: set[str] = set()  # a name is never given again: a process may still hold its first tokenizer
        self._folder = tempfile.TemporaryDirectory(prefix="tokbench-serve-")
        self._grammar = Grammar(self._registry, files=False)
        self._models = _models(self._grammar)
        self._installed = list(_installed(self._registry))
        self.first: tuple[str, ...] = tuple(name for name in DEFAULTS if name in self._models)
        """The names that the page shows at first."""

    def close(self) -> None:
        """Delete the dropped files."""
        self._folder.cleanup()

    def take_named(self, names: Sequence[str], config: Path | None, store: Store | None) -> None:
        """Take the tokenizers that the command names; what is to be trained is trained, or in the store.

        Args:
            names: names of the configuration, and names as :func:`tokbench.load` takes them.
            config: the configuration, or the name of a suite; ``None`` without one.
            store: the store of finished work; ``None`` to use none.

        Raises:
            InputError: a name is not known, or a tokenizer cannot be had.
        """
        if not names and config is None:
            return
        named = NamedTokenizers(names, config)
        with Executor(1).pool(named.limits, silent) as pool:
            opened = {name: pool.kept[name] for name in named.open(pool, store)}
        self._recipes |= {name: ("command", recipe) for name, recipe in opened.items()}
        asked = dict.fromkeys([*(name for name in names if name in opened), *opened])
        self.first = tuple(asked) or self.first

    def take_artefact(self, run: str, name: str, artefact: Path, backend: str, options: Mapping[str, Any]) -> None:
        """Take a tokenizer that a finished run has trained and saved; one that cannot be loaded is left out.

        Args:
            run: the name of the run.
            name: the name of the tokenizer in the run.
            artefact: the file.
            backend: its backend.
            options: the options that it was trained with; those that loading has, too, are given again.
        """
        entry = self._registry.backends.entries.get(backend)
        if entry is None or entry.spec.load is None or "path" not in entry.spec.load_options.model_fields:
            return
        again = {key: value for key, value in options.items() if key in entry.spec.load_options.model_fields}
        try:
            valid = validate_options(entry.spec.load_options, again | {"path": str(artefact)}, name)
        except InputError:
            return
        self._recipes[f"{name} ({run})"] = ("run", Recipe(backend, valid))

    def take_file(self, filename: str, content: Path) -> str:
        """Take a file that was dropped into the page, and return the name of its tokenizer.

        Args:
            filename: its name, whose end says what it is; folders before it are ignored.
            content: where it is now; it is moved.

        Raises:
            InputError: no backend reads such a file.
        """
        plain = Path(filename.replace("\\", "/")).name
        spec, kind = readers_of(plain, content, self._registry.backends)[0]
        if absent := missing(spec):
            raise InputError([Problem(plain, f"backend {spec.name!r} {absent}")])
        while len(self._files) >= _MOST_FILES:
            self.forget(next(iter(self._files)))
        name = next(candidate for candidate in _numbered(plain) if candidate not in self._used)
        self._used.add(name)
        folder = Path(tempfile.mkdtemp(dir=self._folder.name))
        path = Path(shutil.move(content, folder / f"dropped{''.join(Path(plain).suffixes[-2:])}"))
        self._recipes[name] = (
            "file",
            Recipe(spec.name, validate_options(spec.load_options, {kind.option: str(path)}, plain)),
        )
        self._files[name] = path
        return name

    def _of_backend(self, name: str) -> Recipe | None:
        """Return what loads ``backend:value``, or ``None`` if there is no such backend."""
        known = name.partition(":")[0] in self._registry.backends.entries
        return recipe_of(name, self._grammar) if known else None

    @property
    def folder(self) -> Path:
        """A folder for files on their way in, which is deleted at the end."""
        return Path(self._folder.name)

    def forget(self, name: str) -> None:
        """Delete a dropped file."""
        if path := self._files.pop(name, None):
            path.unlink(missing_ok=True)
            del self._recipes[name]

    @property
    def offers(self) -> list[Offer]:
        """Everything that can be opened, each name once."""
        offers = [Offer(name, kind) for name, (kind, _) in self._recipes.items()]
        offers += [Offer(name, "model") for name in self._models]
        offers += [Offer(name, "installed") for name in self._installed]
        return list({offer.name: offer for offer in reversed(offers)}.values())[::-1]

    def recipe(self, name: str) -> Recipe:
        """Return what loads a tokenizer.

        Raises:
            InputError: the name is not known, or names a file of this machine.

        >>> catalogue = TokenizerCatalogue()
        >>> catalogue.recipe("utf8_bytes").backend
        'utf8_bytes'
        >>> catalogue.close()
        """
        if name in self._recipes:
            return self._recipes[name][1]
        if name in self._models:
            return self._models[name]
        recipe = None
        if self._any_value or name in self._installed:
            recipe = self._of_backend(name)
        if recipe is None:
            names = [offer.name for offer in self.offers]
            close = close_name(name, names)
            advice = f"did you mean {close!r}?" if close else "choose one of the list, or drop its file into the page"
            raise InputError([Problem(name, f"no tokenizer has this name; {advice}")])
        if any(isinstance(value, Path) for value in dict(recipe.options).values()):
            message = "a page may not name files of this machine; name it on the command line with -t, or drop it in"
            raise InputError([Problem(name, message)])
        return recipe


def _models(grammar: Grammar) -> dict[str, Recipe]:
    """Return what loads each published name whose vocabulary is installed and needs no network."""
    backends = grammar.registry.backends
    models: dict[str, Recipe] = {}
    for name, candidates in grammar.published().items():
        spec = backends.get(candidates[0].backend)
        try:
            options = validate_options(spec.load_options, candidates[0].options, name)
        except InputError:  # the installed version of its package does not have it
            continue
        if not missing(spec) and spec.local(options):
            models[name] = Recipe(spec.name, options)
    return models


def _installed(registry: Registry) -> Iterator[str]:
    """Yield ``backend:value`` for every vocabulary that a backend lists, and the backends that need no value."""
    for spec in registry.backends:
        if spec.load is None or missing(spec):
            continue
        values = _main_values(spec)
        if not spec.load_options.model_fields:
            yield spec.name
        yield from (f"{spec.name}:{value}" for value in values)


def _main_values(spec: BackendSpec) -> tuple[Any, ...]:
    """Return the values of the main option, if it lists them."""
    main = spec.load_options.model_fields.get(spec.main)
    return get_args(main.annotation) if main and get_origin(main.annotation) is Literal else ()


def _numbered(name: str) -> Iterator[str]:
    """Yield a name, and then the name with numbers."""
    yield name
    number = 2
    while True:
        yield f"{name} ({number})"
        number += 1
