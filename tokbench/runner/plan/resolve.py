"""The base of all planners: it looks up names, validates options, and gives problems their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tokbench.config.grid import expand
from tokbench.config.model import Config
from tokbench.config.validate import validate
from tokbench.contracts.options import GivenOptions, Options, names_in
from tokbench.errors import InputError, Problem, did_you_mean
from tokbench.failures import Failure, attempt
from tokbench.registry import Registry
from tokbench.runner.plan.model import Plan

T = TypeVar("T")
Path = tuple[str | int, ...]


class Resolver:
    """Adds to a plan, or to its problems."""

    def __init__(self, config: Config, registry: Registry, plan: Plan) -> None:
        self._config = config
        self._registry = registry
        self._plan = plan

    def _problem(self, path: Path, message: str) -> None:
        self._plan.problems.append(Problem(self._config.located.where(path), message))

    def _try(self, path: Path, step: Callable[[], T]) -> T | None:
        """Return the result of a step; if it raises, add a problem at a place of the file and return ``None``."""

        def told() -> T | InputError:
            try:
                return step()
            except InputError as error:
                return error

        result = attempt(told)
        if isinstance(result, InputError):
            for problem in result.problems:
                self._problem(path, str(problem))
            return None
        if isinstance(result, Failure):
            self._problem(path, result.reason)
            return None
        return result

    def _options(self, model: type[Options], given: GivenOptions, path: Path, own: tuple[str, ...]) -> Options | None:
        config = self._config
        return validate(model, given, config.located, path, config.base, self._plan.problems, also=own)

    def _check_names(self, options: Options, path: Path) -> None:
        """Add a problem for every name in some options that the configuration does not know."""
        for kind, name, place in names_in(options):
            check = {"corpus": self._named_corpus, "group": self._named_group, "tokenizer": self._named_tokenizer}[kind]
            check(name, (*path, *place))

    def _named_corpus(self, name: str, path: Path) -> None:
        if name not in self._config.named:
            self._problem(path, f"unknown corpus {name!r}; {did_you_mean(name, self._config.named)}")

    def _named_group(self, name: str, path: Path) -> None:
        surveys = self._plan.surveys
        groups = {group for survey in surveys.values() for group in survey.groups}
        # Where a corpus could not be read, its groups are not known either.
        if name not in groups and len(surveys) == len(self._config.corpora):
            self._problem(path, f"no corpus has a group {name!r}; {did_you_mean(name, groups)}")

    def _named_tokenizer(self, name: str, path: Path) -> None:
        known = [each.name for each in self._plan.tokenizers]
        # One that is malformed has a problem of its own.
        if name and name not in known and name not in self._config.located.data["tokenizers"]:
            self._problem(path, f"unknown tokenizer {name!r}; {did_you_mean(name, known)}")
        elif name and name not in known and name in self._config.tokenizers:
            variants = [each.name for each in expand(name, self._config.tokenizers[name])]
            if variants != [name]:
                self._problem(path, f"{name!r} is several tokenizers; name one of {', '.join(variants)}")
