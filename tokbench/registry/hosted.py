"""The other end of :mod:`tokbench.registry.foreign`: what the process of a plugin's distribution answers.

Whatever happens here, by the plugin's will or not, costs this process at most: the run gets plain data or a reason.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import count
from types import FunctionType
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from tokbench.corpus.corpus import Corpus
from tokbench.foundation.errors import ContractError, InputError, shown
from tokbench.foundation.failures import Failure, attempt, failure_of
from tokbench.foundation.packages import is_own
from tokbench.foundation.validation_messages import wrong_value
from tokbench.measuring.metric import Metric
from tokbench.registry.foreign import (
    Described,
    Description,
    ForeignOptions,
    MemberPlace,
    OptionsModel,
    PackedState,
    Remote,
    RemoteMetric,
    RemoteSource,
    use_registry,
)
from tokbench.registry.hosted_study import HostedContext
from tokbench.registry.plugins import Registry, load_registry
from tokbench.results.study_blocks import BlockType, StudyBlocks
from tokbench.tokenizers.options import Options

_PLAIN_LIBRARIES: Final = {"numpy", "pydantic", "pydantic_core", "annotated_types", "typing_extensions"}

_BASES: Final[tuple[Callable[[Any], Any], ...]] = (str, bytes, bool, int, float, list, tuple, dict, set, frozenset)

_HERE: Final = {"load", "train", "train_counts", "save_object"}
"""They make or take objects that cannot travel."""

_BATCH: Final = 500
"""Values of a generator that are sent at once."""


class _Process:
    """What this process has."""

    context: Any
    made: Final[dict[str, Any]] = {}
    """Metrics and sources, by what made them."""
    streams: Final[dict[int, Iterator[Any]]] = {}
    numbers = count(1)


CATALOGUES: Final = {catalogue.spec: name for name, catalogue in vars(Registry()).items() if name != "plugins"}
"""The names of the catalogues by the name of the class of their specs."""


def use(context: Any) -> None:
    """Answer from the registry of a worker's context, which also asks the process of the run.

    The plugin is imported in its first job, whose time is limited.
    """
    _Process.context = context
    use_registry(lambda: context.registry)


def spec_named(kind: str, name: str) -> Any:
    """Return a spec of this process; ``None`` for one of another third party."""
    entry = getattr(_Process.context.registry, kind).entries.get(name)
    return entry and entry.spec


def study_context(distribution: str, values: Mapping[str, Any]) -> HostedContext:
    """Return what a study here sees of the run."""

    def call(*request: Any) -> Any:
        return pickle.loads(_Process.context.call(packed(request)))  # noqa: S301 - of the run

    return HostedContext(distribution, values, call)


def without_texts(parts: Mapping[str, Any]) -> Corpus:
    """Return a corpus of the run that cannot be read here."""
    corpus = Corpus.__new__(Corpus)
    vars(corpus).update(parts, source=None, _spool=None, _counted=None)
    return corpus


def _travels(module: str) -> bool:
    """Tell whether the other end has a module, too."""
    top = module.partition(".")[0]
    known = top in sys.stdlib_module_names or top in _PLAIN_LIBRARIES
    return known or top == "tokbench" or is_own(top.replace("_", "-"))


@dataclass(frozen=True)
class Here(Remote):
    """A function whose result cannot travel, such as a tokenizer that a Python caller loads: it runs here."""

    def __call__(self, *arguments: Any) -> Any:
        registry = load_registry(here=frozenset({self.distribution}))

        def real(value: Any) -> Any:
            if not isinstance(value, ForeignOptions):
                return value
            return getattr(getattr(registry, value.place.kind).get(value.place.name), value.place.member)(**value.given)

        function = getattr(getattr(registry, self.place.kind).get(self.place.name), self.place.member)
        return function(*map(real, arguments))


class _Packer(pickle.Pickler):
    """Pickles plain values: subclasses become their base, and anything else of a plugin is refused."""

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, type | FunctionType):
            if not _travels(value.__module__) or "<" in value.__qualname__:
                raise ContractError(f"{shown(value)} is not plain data")
            return NotImplemented
        if _travels(kind.__module__) and "<" not in kind.__qualname__:
            return NotImplemented
        for base in _BASES:
            if isinstance(value, base):  # type: ignore[arg-type]
                return base, (base(value),)
        if isinstance(value, Mapping):
            return dict, (dict(value),)
        raise ContractError(f"{shown(value)} is not plain data")


def packed(value: Any) -> bytes:
    """Return a pickle that can be read where the plugin's modules are not."""
    data = io.BytesIO()
    _Packer(data, pickle.HIGHEST_PROTOCOL).dump(value)
    return data.getvalue()


def answer(request: bytes) -> bytes:
    """Do what the other end asks for; the answer is ``("value", …)`` or ``("error", …)``, pickled."""
    try:
        function, place, arguments = pickle.loads(request)  # noqa: S301 - of the run
        return packed(("value", _FUNCTIONS[function](place, *arguments)))
    except InputError as error:
        return pickle.dumps(("input", error.problems))
    except BaseException as error:  # noqa: BLE001 - also SystemExit: nothing of a plugin ends a run
        return pickle.dumps(("error", failure_of(error)))


def _member(place: MemberPlace, *arguments: Any) -> Any:
    spec = getattr(_Process.context.registry, place.kind).get(place.name)
    function = getattr(spec, place.member)
    result = function(*arguments)
    if place.member == "run" and result.block is not None and spec.block is not None:
        blocks = StudyBlocks()
        blocks.put(spec.block, result.block)
        result.block = blocks.plain()[spec.name]["body"]
    return list(result) if isinstance(result, Iterator) else result


def _object(function: str, place: MemberPlace, arguments: tuple[Any, ...], given: Mapping[str, Any]) -> Any:
    """Return a metric or a source, which is made once."""
    key = f"{function} {place} {arguments!r}"
    if key not in _Process.made:
        _Process.made[key] = getattr(getattr(_Process.context.registry, place.kind).get(place.name), place.member)(
            *arguments
        )
    made = _Process.made[key]
    for name, value in given.items():
        setattr(made, name, value)
    return made


def _ask(
    function: str, place: MemberPlace, made_of: tuple[Any, ...], member: str, given: Mapping[str, Any], *arguments: Any
) -> Any:
    made = _object(function, place, made_of, given)
    if not member:
        return _members(made)
    if member == "next":
        return _next(*arguments)
    if member.startswith("begin "):
        number = next(_Process.numbers)
        _Process.streams[number] = iter(getattr(made, member.removeprefix("begin "))())
        return number
    value = getattr(made, member)
    result = value(*arguments) if callable(value) else value
    if member == "merge":
        return _Kept(pickle.dumps(result, pickle.HIGHEST_PROTOCOL))
    return result


class _Kept:
    """A state on its way to the other end, which must not be opened there."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __reduce__(self) -> tuple[Any, ...]:
        return PackedState, (self.data,)


def _next(number: int) -> list[Any]:
    stream, some, size = _Process.streams[number], [], 0
    for value in stream:
        some.append(value)
        size += len(getattr(value, "text", ""))
        if len(some) >= _BATCH or size >= 1 << 20:
            break
    if not some:
        del _Process.streams[number]
    return some


def _members(made: Any) -> tuple[list[str], dict[str, Any]]:
    """Return the names of the methods of an object, and its values."""
    methods, values = [], {}
    for name in [name for name in dir(made) if not name.startswith("_")]:
        value = getattr(made, name)
        if callable(value):
            methods.append(name)
        elif not isinstance(attempt(partial(packed, value)), Failure):
            values[name] = value
    return methods, values


def _validate(place: MemberPlace, given: Mapping[str, Any], context: Any) -> list[tuple[Any, str, Any]]:
    """Return what is wrong with options: place, message and value."""
    model: type[Options] = getattr(getattr(_Process.context.registry, place.kind).get(place.name), place.member)
    try:
        model.model_validate(dict(given), context=context)
    except ValidationError as error:
        return [(each["loc"], wrong_value(each), None) for each in error.errors()]
    return []


def _describe(_place: MemberPlace, distribution: str) -> Description:
    """Describe what the entry points of a distribution register."""
    registry, specs = _Process.context.registry, []
    for catalogue in registry.catalogues:
        for name, entry in catalogue.entries.items():
            if entry.plugin.distribution == distribution:
                kind = CATALOGUES[catalogue.spec]
                values = _values(distribution, kind, name, entry.spec)
                specs.append(Described(entry.plugin.name, kind, type(entry.spec), values))
    return Description([plugin for plugin in registry.plugins if plugin.distribution == distribution], specs)


def _values(distribution: str, kind: str, name: str, spec: Any) -> dict[str, Any]:
    """Return the fields of a spec as plain data."""
    values = {}
    for part in fields(spec):
        value, place = getattr(spec, part.name), MemberPlace(kind, name, part.name)
        if value is part.default:
            continue
        if isinstance(value, type) and issubclass(value, BaseModel):
            value = value if _travels(value.__module__) else OptionsModel(value.__name__, place, _fields(value))
        elif callable(value):
            value = _function(distribution, place, value)
        elif isinstance(value, BlockType):
            value = BlockType(study=value.study, kind=Any, version=value.version)
        elif part.name == "values":
            value = tuple(_plain_metric(metric) for metric in value)
        values[part.name] = pickle.loads(packed(value))  # noqa: S301 - what is not plain is refused here, with its field
    return values


def _plain_metric(metric: Metric) -> Metric:
    return replace(metric, needs=tuple(need for need in metric.needs if _travels(need.__module__)))


def _function(distribution: str, place: MemberPlace, function: Callable[..., Any]) -> Any:
    module = getattr(function, "__module__", "")
    if isinstance(function, FunctionType) and _travels(module) and "<" not in function.__qualname__:
        return function  # a default of the spec's class
    if place.member in _HERE or (place.kind, place.member) == ("executors", "open"):
        return Here(distribution, place, module)
    if place.member in {"text", "make"}:
        return RemoteMetric(distribution, place, module)
    if place.kind == "corpora":
        return RemoteSource(distribution, place, module)
    return Remote(distribution, place, module)


def _fields(model: type[BaseModel]) -> dict[str, tuple[Any, FieldInfo]]:
    """Return the fields of options; one whose type only the plugin knows takes anything, and the plugin checks it."""
    found = {}
    for name, field in model.model_fields.items():
        travels = not isinstance(attempt(partial(packed, (field.annotation, field))), Failure)
        found[name] = (field.annotation, field) if travels else (Any, _loose(field))
    return found


def _loose(field: FieldInfo) -> FieldInfo:
    """Return a field of any type; its default is for the eye, because what is not given is not sent back."""
    texts: dict[str, Any] = {"description": field.description, "alias": field.alias}
    if field.is_required():
        return FieldInfo(annotation=Any, **texts)
    default = attempt(lambda: to_jsonable_python(field.get_default(call_default_factory=True, validated_data={})))
    return FieldInfo(annotation=Any, default=None if isinstance(default, Failure) else default, **texts)


_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "member": _member,
    "metric": partial(_ask, "metric"),
    "source": partial(_ask, "source"),
    "validate": _validate,
    "describe": _describe,
}
