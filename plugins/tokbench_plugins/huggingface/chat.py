"""The chat template of a model: the Jinja text in its ``tokenizer_config.json``, run as ``transformers`` runs it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, TypeVar

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment

_Kind = TypeVar("_Kind", bound="SandboxedEnvironment")
_TODAY: Final = "2026-01-01"
"""The date in templates, fixed so that ids do not depend on the day."""
_NAMED: Final = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class ChatRefusalError(ValueError):
    """A template itself refuses a conversation."""


class JinjaChat(NamedTuple):
    """A template, and the special tokens that it can name.

    >>> JinjaChat("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}").render([
    ...     {"role": "user", "content": "Hi"}], reply=False)
    '<user>Hi'
    """

    source: str
    names: tuple[tuple[str, str], ...] = ()

    def render(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] | None = None, *, reply: bool
    ) -> str:
        """Return the text of a conversation; ``reply`` opens the assistant's reply at the end."""
        try:
            # A template may change what it is given.
            copied, tools_copied = json.loads(json.dumps([list(messages), tools]))
            return _compiled(self.source).render(**self.variables(copied, tools_copied, reply))
        except Exception as error:  # a template may raise anything
            raise ValueError(f"the chat template refuses the conversation: {error}") from error

    def variables(self, messages: Any, tools: Any, reply: bool) -> dict[str, Any]:  # noqa: FBT001
        """Return what a template is given."""
        given = {"messages": messages, "tools": tools, "documents": None, "add_generation_prompt": reply}
        return {**given, **dict(self.names)}


def jinja_chat(text: str) -> JinjaChat:
    r"""Return the template in the content of a ``tokenizer_config.json`` or Jinja file.

    >>> jinja_chat('{"chat_template": "{{ bos_token }}", "bos_token": {"content": "<s>"}}').render([], reply=False)
    '<s>'
    """
    chat = JinjaChat(text)
    if text.lstrip().startswith("{") and not text.lstrip().startswith(("{{", "{%", "{#")):
        chat = chat_of_config(json.loads(text))
    try:
        _compiled(chat.source)
    except Exception as error:
        raise ValueError(f"the chat template is not Jinja: {error}") from error
    return chat


def chat_of_config(config: Mapping[str, Any]) -> JinjaChat:
    """Return the template of a ``tokenizer_config.json``; of several the one called ``default``."""
    template = config.get("chat_template")
    if isinstance(template, list):
        template = {row["name"]: row["template"] for row in template}.get("default")
    if not isinstance(template, str):
        raise ValueError("it has no 'chat_template'")  # noqa: TRY004 - a fault of the file
    named = ((name, config.get(name)) for name in _NAMED)
    texts = ((name, token["content"] if isinstance(token, dict) else token) for name, token in named)
    return JinjaChat(template, tuple((name, token) for name, token in texts if isinstance(token, str)))


@cache
def _compiled(source: str) -> Template:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return chat_environment(ImmutableSandboxedEnvironment).from_string(source)


def chat_environment(kind: type[_Kind]) -> _Kind:
    """Return an environment of Jinja with what ``transformers`` gives to templates.

    >>> from jinja2.sandbox import SandboxedEnvironment
    >>> source = "{% generation %}{{ ['<'] | tojson }}{% endgeneration %}"
    >>> chat_environment(SandboxedEnvironment).from_string(source).render()
    '["<"]'
    """
    import jinja2.ext

    class Generation(jinja2.ext.Extension):
        """What is between the tags is the assistant's; the text is the same without them."""

        tags = {"generation"}  # noqa: RUF012 - as Jinja's

        def parse(self, parser: Any) -> Any:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    environment = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    environment.filters["tojson"] = _json
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = _today
    return environment


def _json(value: Any, *, indent: int | None = None, **options: Any) -> str:
    # Jinja's own filter escapes for HTML.
    return json.dumps(value, **{"ensure_ascii": False, "indent": indent, **options})


def _refuse(message: str) -> NoReturn:
    raise ChatRefusalError(message)


def _today(form: str) -> str:
    from datetime import date

    return date.fromisoformat(_TODAY).strftime(form)
