"""The tokenizers that the page may open."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin

from tokbench.config.model import Limits
from tokbench.config.validate import validate_options
from tokbench.engine.workers.executor import Executor
from tokbench.engine.workers.worker import LoadRecipe
from tokbench.foundation.errors import InputError, Problem
from tokbench.foundation.progress import silent
from tokbench.foundation.store import Store
from tokbench.registry.plugins import Registry, load_registry, missing
from tokbench.registry.tokenizer_files import readers_of
from tokbench.registry.tokenizer_names import Grammar
from tokbench.registry.unknown_names import nearest
from tokbench.segmentation.segment import NamedTokenizers, recipe_of
from tokbench.tokenizers.backend import BackendSpec

DEFAULTS: Final = ("gpt-4o", "llama-3", "gemma-3", "qwen-3")

Kind = Literal["command", "file", "model", "installed"]


class Offer(NamedTuple):
    """A tokenizer that can be opened."""

    name: str
    kind: Kind
    """Its origin; ``model`` is a well-known one, ``installed`` another vocabulary."""


class TokenizerCatalogue:
    """The tokenizers by name, and what loads each; also ``backend:value`` that is not a file."""

    def __init__(self) -> None:
        self._registry = load_registry()
        self._recipes: dict[str, tuple[Kind, LoadRecipe]] = {}
        self._files: dict[str, Path] = {}
        self._used: set[str] = set()  # a name is never given again: a process may still hold its first tokenizer
        self._folder = tempfile.TemporaryDirectory(prefix="tokbench-serve-")
        self._grammar = Grammar(self._registry, files=False)
        self._models = _models(self._grammar)
        self._installed = list(_installed(self._registry))
        self.first: tuple[str, ...] = tuple(name for name in DEFAULTS if name in self._models)
        """Names that the page shows first."""

    def close(self) -> None:
        self._folder.cleanup()

    def take_named(self, names: Sequence[str], config: Path | None, store: Store | None) -> None:
        """Add tokenizers of a configuration or suite, or names for :func:`tokbench.load`, trained if necessary.

        Raises:
            InputError: a name is unknown, or a tokenizer is unavailable.
        """
        if not names and config is None:
            return
        named = NamedTokenizers(names, config)
        with Executor(1).pool(named.limits or Limits(), silent) as pool:
            opened = {name: pool.kept[name] for name in named.open(pool, store)}
        self._recipes |= {name: ("command", recipe) for name, recipe in opened.items()}
        asked = dict.fromkeys([*(name for name in names if name in opened), *opened])
        self.first = tuple(asked) or self.first

    def take_file(self, filename: str, content: Path) -> str:
        """Add a dropped file, which is moved, and return the name of its tokenizer.

        Raises:
            InputError: no backend reads such a file.
        """
        plain = Path(filename.replace("\\", "/")).name
        spec, kind = readers_of(plain, content, self._registry.backends)[0]
        if absent := missing(spec):
            raise InputError([Problem(plain, f"backend {spec.name!r} {absent}")])
        name = next(candidate for candidate in _numbered(plain) if candidate not in self._used)
        self._used.add(name)
        folder = Path(tempfile.mkdtemp(dir=self._folder.name))
        path = Path(shutil.move(content, folder / f"dropped{''.join(Path(plain).suffixes[-2:])}"))
        self._recipes[name] = (
            "file",
            LoadRecipe(spec.name, validate_options(spec.load_options, {kind.option: str(path)}, plain)),
        )
        self._files[name] = path
        return name

    @property
    def folder(self) -> Path:
        return Path(self._folder.name)

    def forget(self, name: str) -> None:
        if path := self._files.pop(name, None):
            path.unlink(missing_ok=True)
            del self._recipes[name]

    @property
    def offers(self) -> list[Offer]:
        offers = [Offer(name, kind) for name, (kind, _) in self._recipes.items()]
        offers += [Offer(name, "model") for name in self._models]
        offers += [Offer(name, "installed") for name in self._installed]
        return list({offer.name: offer for offer in reversed(offers)}.values())[::-1]

    def close_name(self, name: str) -> str | None:
        """Return the name of a tokenizer that is like this one, if there is one."""
        names = [offer.name for offer in self.offers]
        return None if name in names else nearest(name, names)

    def recipe(self, name: str) -> LoadRecipe:
        """Return what loads a tokenizer.

        Raises:
            InputError: the name is unknown, or names a file of this machine.

        >>> catalogue = TokenizerCatalogue()
        >>> catalogue.recipe("utf8_bytes").backend
        'utf8_bytes'
        >>> catalogue.close()
        """
        if name in self._recipes:
            return self._recipes[name][1]
        if name in self._models:
            return self._models[name]
        is_path = name.rpartition(":")[2].startswith(("/", ".", "~"))
        recipe = None if is_path else recipe_of(name, replace(self._grammar, known=tuple(self._recipes)))
        if recipe is None or any(isinstance(value, Path) for value in dict(recipe.options).values()):
            message = "a page may not name files of this machine; name it on the command line with -t, or drop it in"
            raise InputError([Problem(name, message)])
        return recipe


def _models(grammar: Grammar) -> dict[str, LoadRecipe]:
    backends = grammar.registry.backends
    models: dict[str, LoadRecipe] = {}
    for name, candidates in grammar.published().items():
        spec = backends.get(candidates[0].backend)
        try:
            options = validate_options(spec.load_options, candidates[0].options, name)
        except InputError:  # the installed version of its package does not have it
            continue
        if not missing(spec) and spec.local(options):
            models[name] = LoadRecipe(spec.name, options)
    return models


def _installed(registry: Registry) -> Iterator[str]:
    for spec in registry.backends:
        if spec.load is None or missing(spec):
            continue
        values = _main_values(spec)
        if not spec.load_options.model_fields:
            yield spec.name
        yield from (f"{spec.name}:{value}" for value in values)


def _main_values(spec: BackendSpec) -> tuple[Any, ...]:
    main = spec.load_options.model_fields.get(spec.main)
    return get_args(main.annotation) if main and get_origin(main.annotation) is Literal else ()


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name} ({number})"
        number += 1
