"""Renders a chat template with a text that is not known, on every way through the template."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, Final, NamedTuple

import jinja2
from jinja2.compiler import CodeGenerator
from jinja2.nodes import Compare, Concat
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from tokbench_identity.equal.patterns import UndecidedError
from tokbench_identity.inject.conversations import Build
from tokbench_identity.inject.machines import Mapped, json_escaped
from tokbench_identity.inject.search import PlaceInText
from tokbench_identity.inject.text import FIRST, UserPiece, UserText, Way, _Split, ways
from tokbench_plugins.huggingface.chat import ChatRefusalError, JinjaChat, chat_environment

_JINJAS_OWN: Final = ("_loop_vars", "_block_vars")
_AS_HTML: Final = frozenset({"strip", "lstrip", "rstrip", "upper", "lower", "startswith", "endswith"})
"""What may be done with a text that Jinja takes for HTML: it stays so."""
_HTML: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", '"': "&#34;"}
_ESCAPED: Final = Mapped("html", lambda char: _HTML.get(char, char))
_HARMLESS: Final = frozenset({"default", "d", "list", "items", "dictsort", "selectattr", "rejectattr", "select",
                              "reject", "map", "attr", "tojson"})  # fmt: skip
"""Filters that leave a text as it is, or work by questions and other filters alone."""


class WrittenWay(NamedTuple):
    """What one way through a template writes."""

    parts: list[str | UserPiece]
    places: list[PlaceInText]


class Refused(NamedTuple):
    """A way that ends in an error; ``wanted`` if the template itself raises it."""

    reason: str
    wanted: bool


class _Generator(CodeGenerator):
    """Joins and looks for texts by functions of the environment, which Python does without asking a text."""

    def visit_Concat(self, node: Concat, frame: Any) -> None:  # noqa: N802 - as Jinja names it
        self.write("environment.joined((")
        for one in node.nodes:
            self.visit(one, frame)
            self.write(", ")
        self.write("))")

    def visit_Compare(self, node: Compare, frame: Any) -> None:  # noqa: N802 - as Jinja names it
        if len(node.ops) != 1 or node.ops[0].op not in {"in", "notin"}:
            super().visit_Compare(node, frame)
            return
        self.write("(not " if node.ops[0].op == "notin" else "(")
        self.write("environment.is_in(")
        self.visit(node.expr, frame)
        self.write(", ")
        self.visit(node.ops[0].expr, frame)
        self.write("))")


class _Unknown(ImmutableSandboxedEnvironment):
    """An environment whose texts may have pieces."""

    code_generator_class = _Generator
    intercepted_binops = frozenset({"+", "%", "*"})
    way = Way()

    def text(self, value: Any) -> Any:
        """Return a text with its way, if it has pieces."""
        if isinstance(value, str) and not isinstance(value, UserText) and any(ord(char) >= FIRST for char in value):
            return UserText(value, self.way)
        return value

    def joined(self, values: Sequence[Any]) -> Any:
        return self.text("".join(map(str, values)))

    def concat(self, values: Any) -> Any:
        return self.joined(list(values))

    def getitem(self, obj: Any, argument: Any) -> Any:
        _check_key(obj, argument)
        return super().getitem(obj, argument)

    def is_in(self, value: Any, container: Any) -> bool:
        container = self.text(container)
        _check_key(container, value)
        if isinstance(value, UserText) and value.unknown and isinstance(container, str):
            raise UndecidedError("looks for the text in another")
        return value in container

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        left, right = self.text(left), self.text(right)
        if operator == "+" and (_is_safe(left) or _is_safe(right)) and isinstance(left, str) and isinstance(right, str):
            # What Jinja takes for HTML escapes the text that is added to it.
            made = UserText(
                "".join(side if _is_safe(side) else _escaped(side, self.way) for side in (left, right)), self.way
            )
            made.safe = True
            return made
        return self.text(super().call_binop(context, operator, left, right))

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805, PYI063 - as Jinja's
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, str):
            if not any(isinstance(__self.text(one), UserText) for one in (owner, *_texts([*args, *kwargs.values()]))):
                return super().call(__context, __obj, *args, **kwargs)
            safe = _is_safe(owner)
            if safe and __obj.__name__ not in _AS_HTML:
                raise UndecidedError(f"does {__obj.__name__!r} with HTML")
            owner = owner if isinstance(owner, UserText) else UserText(owner, __self.way)
            named = {name: __self.text(value) for name, value in kwargs.items() if name not in _JINJAS_OWN}
            made = getattr(owner, __obj.__name__)(*map(__self.text, args), **named)
            if safe and isinstance(made, UserText):
                made.safe = True
            return made
        for value in args[:1]:
            _check_key(owner, value)
        return super().call(__context, __obj, *args, **kwargs)


def _check_key(mapping: Any, key: Any) -> None:
    """Refuse to look the text up: a mapping may have what it is equal to, which no hash tells."""
    if isinstance(mapping, dict) and isinstance(key, UserText) and key.unknown and key not in mapping:
        raise UndecidedError("looks the text up")


def _is_safe(value: Any) -> bool:
    return isinstance(value, Markup) or (isinstance(value, UserText) and value.safe)


def _escaped(value: str, way: Way) -> UserText:
    return (value if isinstance(value, UserText) else UserText(value, way)).through(_ESCAPED)


def json_text(value: Any, way: Way | None = None, *, ensure_ascii: bool = False, **options: Any) -> Any:
    """Return JSON; a text of a way stays one, escaped."""
    written = json.dumps(value, ensure_ascii=False, **options)
    way = way or next((key.way for key in _texts(value) if isinstance(key, UserText)), None)
    if way is None:
        return json.dumps(value, ensure_ascii=ensure_ascii, **options)
    escape = json_escaped(ascii_only=ensure_ascii)
    return way.join(
        UserPiece((*part.machines, escape)) if isinstance(part, UserPiece) else part for part in way.parts(written)
    )


def _texts(value: Any) -> Iterator[Any]:
    match value:
        case str():
            yield value
        case dict():
            for key, one in value.items():
                yield key
                yield from _texts(one)
        case list() | tuple():
            for one in value:
                yield from _texts(one)


def _guarded(environment: _Unknown, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that refuses a text with pieces, because it is not known what it does with it."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        values = [environment.text(value) for value in (*args, *kwargs.values())]
        if any((isinstance(value, UserText) and value.unknown) or isinstance(value, _Split) for value in values):
            raise UndecidedError(f"puts the text through the filter {name!r}")
        return function(*args, **kwargs)

    for mark in ("jinja_pass_arg", "jinja_async_variant"):
        if hasattr(function, mark):
            setattr(apply, mark, getattr(function, mark))
    return apply


def _filters(environment: _Unknown) -> dict[str, Callable[..., Any]]:
    def text(value: Any) -> UserText:
        made = value if isinstance(value, str) else str(value)
        return made if isinstance(made, UserText) else UserText(made, environment.way)

    def join(values: Any, d: str = "", attribute: str | None = None) -> Any:
        rows = [value[attribute] for value in values] if attribute else values
        return text(d).join(rows)

    def edge(at: int) -> Callable[[Any], Any]:
        return lambda values: values[at] if isinstance(values, str | _Split) else list(values)[at]

    def length(value: Any) -> Any:
        return text(value).length() if isinstance(value, str) else len(value)

    def as_before(value: Any, made: UserText) -> UserText:
        made.safe = _is_safe(value)
        return made

    def safe(value: Any) -> UserText:
        made = UserText(text(value), environment.way)
        made.safe = True
        return made

    def escape(value: Any) -> UserText:
        return value if _is_safe(value) else safe(text(value).through(_ESCAPED))

    return {
        "trim": lambda value, chars=None: as_before(value, text(value).strip(chars)),
        "upper": lambda value: as_before(value, text(value).upper()),
        "lower": lambda value: as_before(value, text(value).lower()),
        "replace": lambda value, old, new, count=None: text(value).replace(old, new, -1 if count is None else count),
        "string": text,
        "length": length,
        "count": length,
        "join": join,
        "first": edge(0),
        "last": edge(-1),
        "escape": escape,
        "e": escape,
        "safe": safe,
        "forceescape": lambda value: safe(text(value).through(_ESCAPED)),
        "tojson": lambda value, **options: json_text(value, environment.way, **options),
    }


@cache
def _environment() -> _Unknown:
    environment = chat_environment(_Unknown)
    for name, function in list(environment.filters.items()):
        if name not in _HARMLESS:
            environment.filters[name] = _guarded(environment, name, function)
    environment.filters.update(_filters(environment))
    tests: dict[str, Any] = environment.tests
    for name in ("iterable", "sequence"):
        tests[name] = partial(_is_text_or, tests[name])
    return environment


def _is_text_or(test: Callable[[Any], bool], value: Any) -> bool:
    return isinstance(value, str) or test(value)


@cache
def _compiled(source: str) -> jinja2.Template:
    if any(ord(char) >= FIRST for char in source):
        raise UndecidedError("has characters of a private area of Unicode")
    return _environment().from_string(source)


def rendered(chat: JinjaChat, build: Build) -> Iterator[WrittenWay | Refused]:
    """Yield what a template writes on each way, with its places of the text; none of a way that it refuses.

    Raises:
        UndecidedError: the template does something that is not followed.

    >>> from tokbench_identity.inject.conversations import conversations
    >>> chat = JinjaChat("{% for m in messages %}<{{ m.role }}>{{ m.content|trim }}</>{% endfor %}")
    >>> place = next(rendered(chat, next(conversations("user")))).places[0]
    >>> place.before, place.after, len(place.machines)
    ('<user>', '</>', 2)
    """
    environment = _environment()

    def follow(way: Way) -> Any:
        environment.way = way
        conversation = build(way.text())
        try:
            template = _compiled(chat.source)
            return environment.text(template.render(**chat.variables(*conversation)))
        except UndecidedError:
            raise
        except Exception as error:  # noqa: BLE001 - a template refuses by any exception
            return Refused(str.__str__(str(error)), wanted=isinstance(error, ChatRefusalError))

    for way, out in ways(follow):
        if isinstance(out, Refused):
            yield out
        else:
            parts = list(way.parts(out))
            yield WrittenWay(parts, list(_places(way, parts)))


def _places(way: Way, parts: Sequence[str | UserPiece]) -> Iterator[PlaceInText]:
    for at, part in enumerate(parts):
        if isinstance(part, UserPiece):
            before, is_open = _literal(parts[:at][::-1], backwards=True)
            after, _ = _literal(parts[at + 1 :], backwards=False)
            yield PlaceInText(before, way.guarded(part), after, is_open)


def _literal(parts: Sequence[str | UserPiece], *, backwards: bool) -> tuple[str, bool]:
    """Return the literal text up to the next piece, and whether there is one."""
    texts = list[str]()
    for part in parts:
        if isinstance(part, UserPiece):
            return "".join(texts[::-1] if backwards else texts), True
        texts.append(part)
    return "".join(texts[::-1] if backwards else texts), False
