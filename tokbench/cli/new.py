"""The command ``tokbench new``: it writes a shipped suite to a file, or a draft for texts, after a few questions."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tokbench.cli.options import common_options
from tokbench.cli.purposes import PURPOSES
from tokbench.foundation.errors import InputError, Problem

if TYPE_CHECKING:
    from tokbench.cli.draft import DraftCorpora
    from tokbench.tokenizers.options import GivenOptions

_CANDIDATES: Final = "quickstart"
"""The suite whose loaded tokenizers can be named by the name that they have there."""

_DEFAULT: Final = "gpt-4o, llama-3, gemma-3, qwen-3"


@click.command()
@click.argument("what", metavar="[SUITE | TEXTS]", required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file [default: SUITE.yaml, or mine.yaml].")
@click.option("--for", "purpose", type=click.Choice(list(PURPOSES)), help="The question [of TEXTS, default: size].")
@click.option(
    "-t",
    "--tokenizer",
    "tokenizers",
    multiple=True,
    metavar="NAME",
    help=f"A tokenizer to compare; may be repeated [default: {_DEFAULT}].",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="NAME=PERCENT",
    help="The share of a kind or a language in your training text, such as code=25; may be repeated.",
)
@common_options
def new(
    what: str | None, output: Path | None, purpose: str | None, tokenizers: Sequence[str], weights: Sequence[str]
) -> None:
    """Write the shipped SUITE to a file, as the start of a configuration; a file that exists is left alone.

    With TEXTS, a folder, a file or a glob pattern, write a commented configuration that runs. Every kind of text in a
    folder is a corpus: prose by language, rows, code by programming language. A terminal is asked for what is not
    given, such as the share of code in your training. A suite wins over a folder of its name; ./NAME is the folder.

    Without either, answer three questions. 'tokbench list suites' names the suites.
    """
    from tokbench.config.suites import find_suite, shipped_suites

    texts = what if what and what not in shipped_suites() and _is_there(what) else None
    answers = _Answers(purpose, texts, tokenizers, weights)
    if what and texts is None:
        if purpose or tokenizers or weights:
            raise click.UsageError("--for, --tokenizer and --weight are for texts of your own, not for a suite")
        suite = find_suite(what)
        path, text = output or Path(suite.path.name), suite.path.read_bytes()
    else:
        path = output or Path("mine.yaml")
        text = answers.configuration(path).encode()
    try:
        with path.open("xb") as file:
            file.write(text)
    except FileExistsError as error:
        message = "exists already and is left alone; choose another file with -o"
        raise InputError([Problem(str(path), message)]) from error
    except OSError as error:
        raise InputError([Problem(str(path), f"cannot be written: {error.strerror}")]) from error
    click.echo(f"written: {path}; run it with: tokbench run {path}")


def _is_there(texts: str) -> bool:
    """Tell whether texts are a path, or a pattern of paths."""
    return Path(texts).exists() or any(sign in texts for sign in "*?[")


def _in_terminal() -> bool:
    return sys.stdin.isatty()


@dataclass(frozen=True)
class _Answers:
    """The arguments of a draft; what they leave open is asked."""

    purpose: str | None
    texts: str | None
    tokenizers: Sequence[str]
    weights: Sequence[str]

    @property
    def _asks(self) -> bool:
        """``True`` if questions are asked: without an argument, and of a person at a terminal."""
        return self.texts is None or _in_terminal()

    def configuration(self, path: Path) -> str:
        """Return the configuration that is written to a file."""
        from tokbench.cli.draft import draft

        purpose = self._purpose()
        texts = self.texts
        if texts is None:
            question = "Your texts: a file, a folder or a glob pattern (empty: a shipped sample)"
            texts = click.prompt(question, default="").strip()
        corpora = self._corpora(purpose, texts, path)
        return draft(path.stem, purpose, corpora, self._tokenizers())

    def _purpose(self) -> str:
        default = "choose" if self.texts is None else "size"
        if self.weights and self.purpose not in {None, "size"}:
            raise click.UsageError(f"--weight is for --for size, and not for --for {self.purpose}")
        if self.purpose or self.weights or not self._asks:
            return self.purpose or ("size" if self.weights else default)
        for name, question in PURPOSES.items():
            click.echo(f"  {name:<10} {question}")
        return str(click.prompt("What for?", type=click.Choice(list(PURPOSES)), default=default, show_choices=False))

    def _tokenizers(self) -> dict[str, GivenOptions]:
        known = _known()
        names = ",".join(self.tokenizers)
        if not names and self._asks:
            click.echo(
                f"  by name: {', '.join(known)}; or backend:value, such as tiktoken:gpt2 or sentencepiece:my.model"
            )
            names = click.prompt("Which tokenizers?", default=_DEFAULT)
        return _tokenizers([name.strip() for name in (names or _DEFAULT).split(",") if name.strip()], known)

    def _corpora(self, purpose: str, texts: str, path: Path) -> DraftCorpora:
        """Return the corpora, after saying what a folder has and asking for the weights of its kinds."""
        from tokbench.cli.draft import DraftCorpora, held_out, holds_out, one_corpus

        if not texts or not Path(texts).is_dir():
            if self.weights:
                raise click.UsageError("--weight is for a folder with several kinds of text")
            return one_corpus(purpose, texts)
        from tokbench.cli.draft_weights import ask_weights, parse_weights, weigh
        from tokbench.cli.folder_corpora import corpora_of, describe, entry
        from tokbench.cli.folder_texts import read_folder

        folder = read_folder(Path(texts))
        corpora = corpora_of(folder)
        click.echo(f"{texts} has")
        for line in describe(folder, corpora):
            click.echo(line)
        given = parse_weights(self.weights)
        if holds_out(purpose) and not given and _in_terminal():
            given = ask_weights(corpora, _ask)
        weighted = weigh(corpora, given)
        holdout = holds_out(purpose)
        entries = {
            corpus.name: held_out(entry(corpus, folder, path.parent, holdout=holdout), purpose)
            for corpus in weighted.corpora
        }
        code = [corpus.name for corpus in weighted.corpora if corpus.is_code]
        return DraftCorpora(entries, code if len(code) < len(entries) else (), weighted.weights)


def _ask(question: str, proposed: float, most: float) -> float:
    return float(click.prompt(question, type=click.FloatRange(0, most), default=proposed))


def _known() -> dict[str, GivenOptions]:
    """Return the tokenizers that have a name of their own, with their keys."""
    from tokbench.config.read import read_config

    entries = read_config(Path(_CANDIDATES)).tokenizers.items()
    return {name: {"backend": entry.backend, **entry.options} for name, entry in entries if not entry.train}


def _tokenizers(names: list[str], known: Mapping[str, GivenOptions]) -> dict[str, GivenOptions]:
    """Return the keys of each named tokenizer.

    Raises:
        InputError: a name is not known.
    """
    from tokbench.engine.segment import backend_value
    from tokbench.foundation.errors import did_you_mean
    from tokbench.registry.plugins import load_registry

    registry, tokenizers = load_registry(), {}
    for name in names:
        recipe = None if name in known else backend_value(name, registry)
        if name not in known and recipe is None:
            raise InputError(f"no tokenizer is called {name!r}; {did_you_mean(name, known)}")
        key = name if recipe is None else Path(name.partition(":")[2]).stem or name
        given = recipe.options.model_dump(exclude_unset=True, mode="json") if recipe else {}
        tokenizers[key] = known[name] if recipe is None else {"backend": recipe.backend, **given}
    return tokenizers
