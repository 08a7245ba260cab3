"""The command ``tokbench inject``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tokbench import InputError
from tokbench.command import common_options, examples, json_option, print_json, print_numbers, say

if TYPE_CHECKING:
    from tokbench_identity.inject.decide import Injection

_KEYS: Final = (
    "transformers",
    "split",
    "llama.cpp",
    "llama.cpp-text",
    "tiktoken-all",
    "tiktoken",
    "tiktoken-ordinary",
    "mistral-common",
)


@click.command(
    epilog=examples(
        "tokbench inject llama-3 --template chat_template.jinja",
        "tokbench inject ./model --call llama.cpp",
        "tokbench inject --template chat_template.jinja --mark '<s>' --json",
    )
)
@click.argument("model", required=False)
@click.option(
    "--template", type=click.Path(path_type=Path), metavar="FILE", help="A chat template, instead of its own."
)
@click.option(
    "--mark", "marks", multiple=True, metavar="TEXT", help="Without MODEL: another mark, besides the marks it writes."
)
@click.option(
    "--call", type=click.Choice(_KEYS), default="transformers", show_default=True, help="The call that must be safe."
)
@json_option
@common_options
def inject(model: str | None, template: Path | None, marks: tuple[str, ...], call: str, *, as_json: bool) -> None:
    """Decide whether a user's text can become a control id, such as the id of <|im_end|>.

    MODEL is a published name, a folder, or a tokenizer.json. Each slot of the chat template gets, under each call of
    an engine, a proof that no text does, or the shortest text that does, or the reason why it is not decided.

    Exit codes: 0 --call is safe in every slot; 1 it is not; 2 bad input; 3 not decided.
    """
    from tokbench_identity.inject.calls import read_model
    from tokbench_identity.inject.decide import inject as decide

    if model is not None and marks:
        raise InputError("--mark is for a template without MODEL; leave one of both out")
    answer = decide(read_model(model, template, marks))
    verdict = answer.verdict(call)
    if as_json:
        print_json({"verdict": verdict, "call": call, **asdict(answer)})
    else:
        _show(answer, call)
    sys.exit({"safe": 0, "forged": 1, "undecided": 3}[verdict])


def _show(answer: Injection, call: str) -> None:
    template = "the given template" if answer.given_template else "its chat template"
    marks = f"{answer.marks} mark{'s' * (answer.marks != 1)}"
    say(f"{answer.model}: {marks}, {template if answer.has_template else 'text alone'}")
    if answer.lacks:
        say(f"{answer.model} does not have these marks of the template: {', '.join(answer.lacks)}")
    rows = [(key, answer.verdict(key), *_cells(answer, key)) for key in _KEYS]
    print_numbers(("--call", "verdict", "shortest text", "slots forged"), rows)
    by_reason: dict[str, list[str]] = {}
    for one in answer.of(call):
        control = f"mark {one.mark!r}" if one.id is None else f"id {one.id}"
        reason = one.reason if one.text is None else f"forged by {one.text!r}, {control}"
        by_reason.setdefault(reason, []).append(one.slot)
    for reason, slots in by_reason.items():
        say(f"{', '.join(slots) if len(by_reason) > 1 else 'every slot'}: {reason}")
    others: dict[str, list[str]] = {}
    for key in (key for key in _KEYS if key != call and answer.verdict(key) == "undecided"):
        for reason in dict.fromkeys(one.reason for one in answer.of(key) if one.verdict == "undecided"):
            others.setdefault(reason, []).append(key)
    for reason, keys in others.items():
        say(f"{', '.join(keys)} undecided: {reason}")
    say(f"{answer.verdict(call)} under --call {call}")


def _cells(answer: Injection, call: str) -> tuple[str, str]:
    shortest = answer.shortest(call)
    slots = answer.of(call)
    forged = sum(one.verdict == "forged" for one in slots)
    return (repr(shortest.text), f"{forged} of {len(slots)}") if shortest else ("", "")
