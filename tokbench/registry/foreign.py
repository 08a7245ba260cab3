"""Plugins that are not tokbench's own, as the process that holds the results sees them.

Their modules are never imported here. A process of their distribution (:mod:`tokbench.registry.hosted`) says what they
register; here are specs of the usual classes, whose functions are called there.
"""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple, Protocol, Self

from pydantic import ValidationError, ValidationInfo, create_model, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

from tokbench.foundation.failures import PluginError
from tokbench.tokenizers.options import Options

_STARTS_PROCESSES: Final = "tokbench.engine.workers.hosts"
"""The module of a higher floor that starts processes; it is imported when there is a plugin to start one for."""

READ_LATER: Final = frozenset({"notes"})
"""Members of a source that are asked each time, because reading changes them."""


class MemberPlace(NamedTuple):
    """A member of a spec: ``MemberPlace("metrics", "mine", "text")``."""

    kind: str
    """The name of the catalogue."""
    name: str
    member: str


class Host(Protocol):
    """The process of a distribution."""

    def call(self, function: str, place: MemberPlace, *arguments: Any) -> Any:
        """Return what a function of :mod:`tokbench.registry.hosted` answers, or raise its error."""


def host_of(distribution: str, *, renewed: bool = False) -> Host:
    """Return the process of a distribution, which starts at the first call; a new one if its code has changed."""
    host: Host = importlib.import_module(_STARTS_PROCESSES).host_of(distribution, renewed=renewed)
    return host


def limit_hosts(limits: Any) -> None:
    """Let the processes of all plugins have the limits of a configuration."""
    if _STARTS_PROCESSES in sys.modules:
        sys.modules[_STARTS_PROCESSES].limit_hosts(limits)


@dataclass(frozen=True)
class Remote:
    """A function of a plugin, which is called in the plugin's process."""

    distribution: str
    place: MemberPlace
    module: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "__module__", self.module)  # whose code a result rests on

    def __call__(self, *arguments: Any) -> Any:
        return host_of(self.distribution).call("member", self.place, *arguments)


@dataclass(frozen=True)
class RemoteMetric(Remote):
    """What makes a metric: it stays in the plugin's process, and is made there again from its options."""

    def __call__(self, *arguments: Any) -> Any:
        return _stand_in(self, "metric", arguments, frozenset())


@dataclass(frozen=True)
class RemoteSource(Remote):
    """What opens a corpus source."""

    def __call__(self, *arguments: Any) -> Any:
        return _stand_in(self, "source", arguments, READ_LATER)


def distributions_of(*functions: Callable[..., Any] | None) -> tuple[str, ...]:
    """Return the distributions in whose processes these functions run; none for functions of this process."""
    return tuple(dict.fromkeys(function.distribution for function in functions if isinstance(function, Remote)))


DESCRIBED: Final[dict[tuple[str, str], str]] = {}
"""By catalogue and name, the distribution of what was described in this process."""


class PackedState(NamedTuple):
    """The state of a metric whose classes are unknown here; in the plugin's process it is the state itself."""

    data: bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return pickle.loads, (self.data,)


def state_of(metric: object, data: bytes) -> Any:
    """Return a pickled state of a metric."""
    return PackedState(data) if isinstance(metric, _StandIn) else pickle.loads(data)  # noqa: S301 - of our worker


class _StandIn:
    """An object in a plugin's process; it has the members of that object, and its values."""


def _stand_in(maker: Remote, function: str, arguments: tuple[Any, ...], later: frozenset[str]) -> _StandIn:
    given: dict[str, Any] = {}

    def ask(member: str, *more: Any) -> Any:
        return host_of(maker.distribution).call(function, maker.place, arguments, member, given, *more)

    methods, values = ask("")
    members: dict[str, Any] = {}
    for name in methods:
        stream = function == "source" and name in {"documents", "chunks"}
        members[name] = partial(_stream, ask, name) if stream else partial(ask, name)
    for name, value in values.items():
        members[name] = _value(ask, name, value, given, later=name in later)
    made: _StandIn = type(maker.place.name, (_StandIn,), {name: _member(each) for name, each in members.items()})()
    return made


def _member(each: Any) -> Any:
    return each if isinstance(each, property) else staticmethod(each)


def _stream(ask: Callable[..., Any], member: str) -> Iterator[Any]:
    """Yield what a generator there yields, some at a time."""
    number = ask(f"begin {member}")
    while some := ask("next", number):
        yield from some


def _value(ask: Callable[..., Any], name: str, value: Any, given: dict[str, Any], *, later: bool) -> property:
    def write(_: _StandIn, new: Any) -> None:
        given[name] = new

    return property(lambda _: ask(name) if later else given.get(name, value), write)


class ForeignOptions(Options):
    """Options whose class is in a plugin's process, which checks them once more."""

    distribution: ClassVar[str] = ""
    place: ClassVar[MemberPlace] = MemberPlace("", "", "")

    @model_validator(mode="after")  # a wrapping one would hand on lists of JSON, which are no tuples
    def _check_there(self, info: ValidationInfo) -> Self:
        try:
            wrong = host_of(self.distribution).call("validate", self.place, self.given, info.context)
        except PluginError as error:
            wrong = [((), f"the plugin of {self.place.name!r} cannot check its options: {error}", None)]
        if wrong:
            raise ValidationError.from_exception_data(type(self).__name__, [_error(*each) for each in wrong])
        return self

    @property
    def given(self) -> dict[str, Any]:
        """The values that were given."""
        fields = type(self).model_fields.items()
        return {info.alias or name: getattr(self, name) for name, info in fields if name in self.model_fields_set}

    def __reduce__(self) -> tuple[Any, ...]:
        return options_of, (self.place, self.given)


class _Process:
    registry: Callable[[], Any] | None = None
    """Imports the plugin when it is first called; ``None`` where no plugin of others runs."""


def use_registry(registry: Callable[[], Any]) -> None:
    """Let options that arrive in this process, which is a plugin's, become those of its own classes."""
    _Process.registry = registry


@dataclass(frozen=True)
class _PassedOn:
    """Options in a process that only sends them to the plugin's."""

    place: MemberPlace
    given: Mapping[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        return options_of, (self.place, self.given)


def options_of(place: MemberPlace, given: Mapping[str, Any]) -> Options | _PassedOn:
    """Return options of the plugin's own class."""
    if _Process.registry is None:
        return _PassedOn(place, given)
    model: type[Options] = getattr(getattr(_Process.registry(), place.kind).get(place.name), place.member)
    return model.model_validate(dict(given), context={})


def _error(place: tuple[str | int, ...], message: str, value: object) -> InitErrorDetails:
    said = PydanticCustomError("foreign", "{message}", {"message": message})
    return InitErrorDetails(type=said, loc=place, input=value)


class OptionsModel(NamedTuple):
    """The class of a plugin's options, as plain data."""

    name: str
    place: MemberPlace
    fields: Mapping[str, tuple[Any, FieldInfo]]

    def options(self, distribution: str) -> type[Options]:
        """Return a class with the same fields, which asks the plugin's process."""
        marks = {"distribution": distribution, "place": self.place, "__module__": __name__}
        base = type(self.name, (ForeignOptions,), marks)
        return create_model(self.name, __base__=base, **dict(self.fields))  # type: ignore[call-overload,no-any-return]


class Described(NamedTuple):
    """A spec of a plugin as plain data: functions are :class:`Remote`, classes of options an :class:`OptionsModel`."""

    plugin: str
    """The entry point, by its number among those of the distribution."""
    kind: str
    spec: type
    values: Mapping[str, Any]

    def made(self, distribution: str) -> Any:
        values = {
            name: value.options(distribution) if isinstance(value, OptionsModel) else value
            for name, value in self.values.items()
        }
        return self.spec(**values)


class Description(NamedTuple):
    """All that the entry points of a distribution register."""

    plugins: Sequence[Any]
    """The status of each entry point, and of broken modules."""
    specs: Sequence[Described]
