"""The command ``tokbench new``: it writes a shipped suite to a file, or a draft for texts, after a few questions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tokbench.cli.options import common_options, say
from tokbench.cli.purposes import PURPOSES
from tokbench.foundation.errors import InputError, Problem

if TYPE_CHECKING:
    from tokbench.cli.draft import DraftCorpora
    from tokbench.registry.tokenizer_names import Grammar
    from tokbench.tokenizers.options import GivenOptions

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
    say(f"written: {path}; run it with: tokbench run {path}")


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
        from tokbench.cli.folder_texts import DOCUMENTS

        purpose = self._purpose()
        texts = self.texts
        if texts is None:
            question = "Your texts: a file, a folder or a glob pattern (empty: a shipped sample)"
            texts = click.prompt(question, default="").strip()
        corpora = self._corpora(purpose, texts, path)
        for name, keys in corpora.entries.items():
            if "document" in keys:
                say(f"{name}: {DOCUMENTS[keys['document']]}")
        return draft(path.stem, purpose, corpora, self._tokenizers())

    def _purpose(self) -> str:
        default = "choose" if self.texts is None else "size"
        if self.weights and self.purpose not in {None, "size"}:
            raise click.UsageError(f"--weight is for --for size, and not for --for {self.purpose}")
        if self.purpose or self.weights or not self._asks:
            return self.purpose or ("size" if self.weights else default)
        for name, question in PURPOSES.items():
            say(f"  {name:<10} {question}")
        return str(click.prompt("What for?", type=click.Choice(list(PURPOSES)), default=default, show_choices=False))

    def _tokenizers(self) -> dict[str, GivenOptions | str]:
        from tokbench.registry.plugins import load_registry
        from tokbench.registry.tokenizer_names import Grammar

        grammar = Grammar(load_registry())
        names = ",".join(self.tokenizers)
        if not names and self._asks:
            say(f"  by name: {', '.join(grammar.published())};")
            say("  backend:value, such as tiktoken:gpt2; or a file, such as my.model")
            names = click.prompt("Which tokenizers?", default=_DEFAULT)
        return _tokenizers([name.strip() for name in (names or _DEFAULT).split(",") if name.strip()], grammar)

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
        say(f"{texts} has")
        for line in describe(folder, corpora):
            say(line)
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


def _tokenizers(names: Sequence[str], grammar: Grammar) -> dict[str, GivenOptions | str]:
    """Return the entry of each named tokenizer.

    Raises:
        InputError: nothing has a name, or it cannot be loaded here.
    """
    from tokbench.engine.segment import recipe_of

    entries: dict[str, GivenOptions | str] = {}
    for name in names:
        recipe = recipe_of(name, grammar)
        key = name if name in grammar.published() else Path(name.rpartition(":")[2]).stem
        given = recipe.options.model_dump(exclude_unset=True)
        # A path starts in the folder of the configuration, and not where the command was typed.
        has_path = any(isinstance(value, Path) for value in given.values())
        written = recipe.options.model_dump(exclude_unset=True, mode="json")
        entries[key] = {"backend": recipe.backend, **written} if has_path else name
    return entries
