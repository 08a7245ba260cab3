"""The command ``tokbench new``: write a shipped suite to a file, or a configuration for texts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, Final, NamedTuple

import click

from tokbench.foundation.errors import InputError, Problem
from tokbench.terminal.options import STDIN, common_options, model_option, say, split_names

_DEFAULT: Final = "gpt-4o, llama-3, gemma-3, qwen-3"
_WHOLE: Final = 100
"""Percent."""


def _weights(_context: click.Context, _option: click.Parameter, given: Sequence[str]) -> dict[str, float]:
    shares = [text.rpartition("=") for text in given]
    try:
        weights = {name: float(share.removesuffix("%")) for name, _, share in shares}
    except ValueError as error:
        raise click.BadParameter("write it as NAME=PERCENT, such as code=25") from error
    total = sum(weights.values())
    if not all(0 <= share <= _WHOLE for share in weights.values()) or total > _WHOLE:
        raise click.BadParameter(f"weights are percent, and these sum to {total:g}; give 100 at most, none below 0")
    if len(weights) < len(shares):
        raise click.BadParameter("a name has two weights; give one")
    return weights


@click.command()
@click.argument("what", metavar="SUITE|TEXTS")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The file [default: SUITE.yaml, or size.yaml as --for].",
)
@click.option(
    "--for",
    "purpose",
    type=click.Choice(["choose", "size", "languages", "code"]),
    help="The question of TEXTS: which tokenizer, how large a vocabulary [default], what languages cost, or code.",
)
@click.option(
    *("-t", "--tokenizer", "tokenizers"),
    multiple=True,
    metavar="NAMES",
    callback=split_names,
    help=f"Tokenizers, with commas between them [default: {_DEFAULT}].",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    callback=_weights,
    metavar="NAME=PERCENT",
    help="The share of a kind or a language in your training text, such as code=25; may be repeated.",
)
@model_option
@common_options
def new(
    what: str,
    output: Path | None,
    purpose: str | None,
    tokenizers: Sequence[str],
    weights: dict[str, float],
    model: str,
) -> None:
    """Write the shipped SUITE to a file, as the start of a configuration; a file that exists is left alone.

    With TEXTS, a folder, a file or a glob pattern, write a commented configuration that runs. Every kind of text in a
    folder is a corpus: prose by language, rows, code by programming language. A suite wins over a folder of its name;
    ./NAME is the folder. 'tokbench list suites' names the suites.
    """
    from tokbench.config.suites import find_suite, shipped_suites
    from tokbench.foundation.files import write_atomically

    is_texts = what == STDIN or Path(what).exists() or any(sign in what for sign in "*?[")
    if what in shipped_suites() or not is_texts:
        if purpose or tokenizers or weights or model:
            raise click.UsageError("--for, --tokenizer, --weight and --model are for your own texts, not for a suite")
        suite = find_suite(what)
        path, text, said = output or Path(suite.path.name), suite.path.read_bytes(), list[str]()
    else:
        purpose = purpose or "size"
        if (weights or model) and purpose != "size":
            raise click.UsageError(f"--weight and --model are for --for size, and not for --for {purpose}")
        path = output or Path(f"{purpose}.yaml")
        wanted = NewFiles(purpose, tokenizers or _DEFAULT.split(", "), weights, model)
        written = _configuration(what, path, wanted)
        text, said = written.encode(), _outlook(written, path)
    same = path.is_file() and path.read_bytes() == text
    if not same and os.path.lexists(path):
        raise InputError([Problem(str(path), "exists already and is left alone; choose another file with -o")])
    if not same:
        write_atomically(path, text)
    say(f"{'unchanged' if same else 'written'}: {path}; run it with: tokbench run {path}")
    for line in said:
        say(line)


def _outlook(text: str, path: Path) -> list[str]:
    """Return what studies say before a run; an InputError lists what is wrong, so that nothing of it is written."""
    from tokbench.config.read import parse_config
    from tokbench.engine.planning import make_plan
    from tokbench.engine.restrictions import outlook
    from tokbench.foundation.progress import silent
    from tokbench.registry.plugins import load_registry

    registry = load_registry()
    plan = make_plan(parse_config(text, path), registry, silent)
    if plan.problems:
        raise InputError([Problem(f"{path} is not written", problem.message) for problem in plan.problems])
    return list(outlook(plan, registry))


class NewFiles(NamedTuple):
    """What a configuration is for."""

    purpose: str
    tokenizers: Sequence[str]
    weights: dict[str, float]
    model: str = ""


def _configuration(texts: str, path: Path, wanted: NewFiles) -> str:
    from tokbench.registry.plugins import load_registry
    from tokbench.registry.tokenizer_names import Grammar
    from tokbench.segmentation.segment import recipe_of
    from tokbench.terminal.folder_texts import DOCUMENTS, corpora_of, describe, entry, measurable, read_texts, weigh
    from tokbench.terminal.translations import compare, comparison

    grammar = Grammar(load_registry())
    for name in wanted.tokenizers:
        recipe_of(name, grammar)  # which refuses what cannot be loaded here
    found = read_texts(texts)
    holdout = 0.2 if wanted.purpose == "size" else 0.0
    corpora = measurable(corpora_of(found), found, holdout)
    say(f"{texts} has")
    for line in describe(found, corpora):
        say(line)
    weighted = weigh(corpora, wanted.weights)
    shares = {name: corpus.weight for name, corpus in weighted.items()}
    entries = {name: entry(corpus, found, path.parent, holdout=holdout) for name, corpus in weighted.items()}
    for name, keys in entries.items():
        if "document" in keys:
            say(f"{name}: {DOCUMENTS[keys['document']]}")
    asked = weighted if wanted.purpose == "languages" else {}
    compared = [name for name, corpus in asked.items() if compare(name, corpus, entries[name])]
    code = [name for name, corpus in weighted.items() if corpus.is_code]
    draft = (Path(__file__).parent / "drafts" / f"{wanted.purpose}.yaml").read_text(encoding="utf-8")
    # In one pass: what a user wrote is not looked at again.
    return Template(
        draft
    ).substitute(
        corpora=_entries(entries),
        tokenizers=_entries(dict(_tokenizer(name, path.parent) for name in wanted.tokenizers)),
        names=_flow([name for name, corpus in weighted.items() if corpus.weight]),
        comparison=comparison(asked, compared),
        fairness="fairness, " if compared else "",
        code=_flow({"code": {"corpora": code}}) if code and len(code) < len(weighted) else "code",
        numbers="numbers, " if "numbers" in grammar.registry.metrics.entries else "",  # of a package
        weights=f"{'' if wanted.weights else '# '}weights: {_flow(shares)}",
        model=f"model: {wanted.model}" if wanted.model else "",
        name=_flow([path.stem])[1:-1],
    )


def _tokenizer(name: str, base: Path) -> tuple[str, str]:
    backend, colon, value = name.rpartition(":")
    if not Path(value).exists():
        return value, name
    return Path(value).stem, f"{backend}{colon}{Path(os.path.relpath(value, base)).as_posix()}"


def _entries(entries: Mapping[str, Any]) -> str:
    # Norwegian is "no", which YAML takes for false unless it is quoted.
    return "\n".join(f"  {_flow({name: entry})[1:-1]}" for name, entry in entries.items())


def _flow(keys: object) -> str:
    import yaml

    return yaml.safe_dump(keys, default_flow_style=True, sort_keys=False, width=1 << 20, allow_unicode=True).strip()
