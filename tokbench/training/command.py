"""The command ``tokbench train``: train the tokenizers of a configuration, or one from options."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

import click

from tokbench.foundation.errors import InputError, Problem
from tokbench.terminal.options import (
    backend_options,
    common_options,
    examples,
    json_option,
    log_option,
    parse_options,
    print_json,
    say,
    show_traceback,
    store_option,
)

if TYPE_CHECKING:
    from tokbench.config.model import Config
    from tokbench.foundation.display import Log
    from tokbench.measuring.round_trip import RoundTrip
    from tokbench.text.cuts import Cut
    from tokbench.tokenizers.options import GivenOptions
    from tokbench.training.train import TrainedTokenizer


_ROLES: Final = {"eos": "ends a text", "bos": "begins a text", "pad": "fills a batch", "unk": "is unknown text"}


def _role_options(command: Any) -> Any:
    for role, what in _ROLES.items():
        text = f"The special token that {what} [default: by well-known names]."
        command = click.option(f"--{role}", metavar="NAME", help=text)(command)
    return command


@click.command(
    epilog=examples(
        "tokbench train mine.yaml",
        'tokbench train --backend regex_bpe:gpt4 --text "texts/*.txt" --vocab-size 1000',
        "tokbench train --backend regex_bpe:gpt4 --text texts --vocab-size 999 --special-tokens '<|eos|>' -o my/",
    )
)
@click.argument("config", type=click.Path(path_type=Path), required=False)
@click.option("--only", multiple=True, metavar="NAME", help="Train this tokenizer of CONFIG alone; may be repeated.")
@click.option("--backend", help="Without CONFIG: the backend, or backend:value with its main option.")
@click.option("--text", metavar="PATH", help="Without CONFIG: text to train on, a file, a folder or a glob pattern.")
@click.option("--counts", metavar="TABLE", help="Without CONFIG: a table of tokbench count to train on, and no text.")
@click.option(
    "--document",
    type=click.Choice(["file", "line", "paragraph"]),
    help="Without CONFIG: what one document is; training sees the line ends in any case [default: line; for code file, "
    "or paragraph if fewer than 10 files would be held out].",
)
@click.option("--vocab-size", type=int, help="Without CONFIG: size of the vocabulary.")
@backend_options
@click.option(
    "--holdout",
    type=float,
    default=0.05,
    show_default=True,
    help="Share of documents that is not trained on, for the summary.",
)
@click.option("--name", default="trained", show_default=True, help="Without CONFIG: the name of the tokenizer.")
@click.option(
    "--format", "formats", multiple=True, metavar="FORMAT", help="What to write; may be repeated [default: tokbench]."
)
@click.option(
    "--special-tokens", multiple=True, metavar="NAME", help="Without CONFIG: a special token; may be repeated."
)
@_role_options
@click.option(
    "--chat-template", type=click.File(encoding="utf-8"), help="A Jinja template for the format transformers."
)
@click.option("--model-max-length", type=click.IntRange(1), help="For the format transformers.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Without CONFIG: a file, whose suffix is the format, or a folder for AutoTokenizer. With it: the folder "
    "[default: artefacts].",
)
@store_option
@log_option
@json_option
@common_options
def train(
    config: Path | None,
    *,
    only: tuple[str, ...],
    formats: tuple[str, ...],
    chat_template: TextIO | None,
    model_max_length: int | None,
    output: Path | None,
    no_store: bool,
    log: Log,
    as_json: bool,
    **given: Any,
) -> None:
    """Train the tokenizers of CONFIG, or one from options, and write them; nothing else is measured."""
    from tokbench.config.read import read_config
    from tokbench.foundation.display import conclude, progress_shown
    from tokbench.foundation.store import open_store
    from tokbench.terminal.folder_texts import DOCUMENTS
    from tokbench.training.train import train as execute
    from tokbench.training.written import Wanted

    roles = {role: name for role in _ROLES if (name := given.pop(role))}
    template = chat_template.read() if chat_template else ""
    wanted = Wanted(formats, roles, template, model_max_length, None if config else output)
    folder = output or Path("artefacts")
    if wanted.output and (folder.is_file() or folder.suffix):
        folder = folder.parent
    if config is None:
        parsed = _from_options(**given)
    elif any(given[name] for name in ("backend", "text", "counts", "vocab_size", "options", "special_tokens")):
        raise click.UsageError(
            "CONFIG says what to train; --backend, --text, --counts, --vocab-size, --special-tokens and -O "
            "are for training without it"
        )
    else:
        parsed = read_config(config)
    store = None if no_store else open_store()
    corpora = parsed.corpora if config is None else {}
    cuts = {name: str(corpus.options["document"]) for name, corpus in corpora.items() if "document" in corpus.options}
    try:
        with progress_shown(log) as progress:
            trained = execute(parsed, folder, progress, only=only, wanted=wanted, store=store)
    except InputError as error:
        if config is None:  # the user has not seen the configuration made from options
            raise InputError([Problem("", problem.message) for problem in error.problems]) from error
        raise
    if as_json:
        facts = [_facts(one, one.round_trip) for one in trained]
        print_json({"document": next(iter(cuts.values()), None), "tokenizers": facts})
    else:
        _summary(trained)
        for name, cut in cuts.items():
            say(f"{name}: {DOCUMENTS[cut]}")
    _failures(trained)
    conclude(f"{sum(tokenizer.failure is None for tokenizer in trained)} of {len(trained)} trained", progress, log)
    sys.exit(int(any(tokenizer.failure is not None for tokenizer in trained)))


def _from_options(
    *,
    backend: str | None,
    text: str | None,
    counts: str | None,
    vocab_size: int | None,
    options: Sequence[str],
    special_tokens: Sequence[str],
    document: Cut | None,
    holdout: float,
    name: str,
) -> Config:
    from tokbench.config.read import parse_config
    from tokbench.registry.plugins import load_registry
    from tokbench.registry.tokenizer_names import Grammar
    from tokbench.terminal.folder_texts import corpora_of, entry, read_texts

    if not backend or not vocab_size or bool(text) == bool(counts):
        raise click.UsageError("give a CONFIG, or --backend, --vocab-size, and either --text or --counts")
    settings = parse_options(options) | ({"special_tokens": list(special_tokens)} if special_tokens else {})
    resolved = Grammar(load_registry()).resolve_training(backend).with_options(settings, backend)
    if counts:
        corpora: dict[str, GivenOptions] = {"counts": {"source": "counts", "path": counts, "evaluate": False}}
    else:
        assert text
        texts = read_texts(text, complete=True)
        for line in texts.found.notes():
            say(line, err=True)
        cut = partial(entry, texts=texts, base=Path(), holdout=holdout, document=document)
        corpora = {name: cut(corpus) for name, corpus in corpora_of(texts).items()}
    training: GivenOptions = {"corpus": [*corpora], "vocab_size": vocab_size}
    whole = {
        "schema": "tokbench/1",
        "name": "train",
        "corpora": corpora,
        "tokenizers": {name: {"backend": resolved.backend, "train": training, **resolved.options}},
        "metrics": ["compression"],
    }
    return parse_config(json.dumps(whole, indent=1), Path("options"))


def _facts(tokenizer: TrainedTokenizer, round_trip: RoundTrip) -> dict[str, object]:
    return {
        "tokenizer": tokenizer.name,
        "vocab_size": tokenizer.vocab_size or None,
        "text_bytes": tokenizer.n_bytes,
        "seconds": tokenizer.seconds,
        "from_store": tokenizer.from_store,
        "memory_mb": tokenizer.memory_mb,
        "held_out_bytes_per_token": tokenizer.compression,
        "held_out_round_trip": round_trip.value,
        "held_out_characters_lost": tokenizer.lost_characters,
        "files": [str(path) for path in tokenizer.files],
        "notes": list(tokenizer.notes),
        "reason": tokenizer.failure.reason if tokenizer.failure else "",
    }


def _failures(trained: Sequence[TrainedTokenizer]) -> None:
    for tokenizer in trained:
        if tokenizer.failure:
            show_traceback(f"{tokenizer.name}: {tokenizer.failure.reason}", tokenizer.failure.traceback)
            say(f"error: {tokenizer.name}: {tokenizer.failure.reason}", err=True)


def _summary(trained: Sequence[TrainedTokenizer]) -> None:
    from tokbench.report.cells import LEGENDS, MARKS
    from tokbench.terminal.number_table import print_numbers

    rows, marks = [], [MARKS[one.round_trip] for one in trained]
    for tokenizer, mark in zip(trained, marks, strict=True):
        if tokenizer.vocab_size:
            memory = "unknown" if tokenizer.memory_mb is None else f"{tokenizer.memory_mb:.0f}"
            held_out = "no held-out text" if tokenizer.compression is None else f"{tokenizer.compression:.3f}{mark}"
            if tokenizer.from_store:
                memory = "from the store"
            numbers = f"{tokenizer.vocab_size:,}", f"{tokenizer.n_bytes / 1e6:.2f}", f"{tokenizer.seconds:.2f}"
            lost = "" if tokenizer.lost_characters is None else f"{tokenizer.lost_characters:.2%}"
            rows.append([tokenizer.name, *numbers, memory, held_out, lost])
    print_numbers(["tokenizer", "vocabulary", "text MB", "seconds", "memory MB", "held-out bytes/token", "lost"], rows)
    for mark in dict.fromkeys(filter(None, marks)):
        say(LEGENDS[mark])
    for tokenizer in trained:
        for note in tokenizer.notes:
            say(f"{tokenizer.name}: {note}")
        for path in tokenizer.files:
            say(f"written: {path}")
