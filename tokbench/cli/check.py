"""The command ``tokbench check``: check a configuration, or a backend against the contract."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokbench.engine.workers.one_thread import use_one_thread
from tokbench.terminal.options import (
    backend_options,
    common_options,
    emit,
    examples,
    json_option,
    override_options,
    parse_options,
    print_json,
    say,
    show_traceback,
)
from tokbench.terminal.several import check_each

if TYPE_CHECKING:
    from tokbench.config.overrides import Overrides
    from tokbench.engine.run import Run
    from tokbench.measuring.plan import RunTokenizer


@click.command(epilog=examples("tokbench check mine.yaml", "tokbench check --backend splintr:qwen3 --examples 5"))
@click.argument("configs", nargs=-1, metavar="[CONFIG]...", type=click.Path(path_type=Path))
@override_options
@click.option(
    "--backend",
    metavar="NAME",
    help="Without CONFIG: the backend, or backend:value, to check against the contract.",
)
@backend_options
@click.option("--train", type=int, default=0, metavar="SIZE", help="Train it to this vocabulary size on shipped text.")
@click.option("--examples", type=int, help="Number of generated texts [default: 200].")
@click.option("--time-limit", type=float, help="Seconds for loading or training, and for each rule [default: 120].")
@json_option
@common_options
def check(
    configs: tuple[Path, ...],
    backend: str | None,
    options: tuple[str, ...],
    train: int,
    examples: int | None,
    time_limit: float | None,
    *,
    as_json: bool,
    limit: int | None,
    only: tuple[str, ...],
    settings: tuple[str, ...],
) -> None:
    """Report everything that is wrong with each CONFIG, or with a backend; nothing is measured.

    A CONFIG is what tokbench run takes: a YAML file, a folder of them, or the name of a suite. Print what is wrong, or
    what a run would do. With --backend, check every rule of the contract.
    """
    if backend is None:
        if not configs:
            raise click.UsageError("give a CONFIG, or --backend NAME")
        if options or train or examples is not None or time_limit is not None:
            raise click.UsageError("-O, --train, --examples and --time-limit go with --backend")
        use_one_thread()
        from tokbench.config.overrides import Overrides

        _check_configs(configs, Overrides(limit, only, settings), as_json=as_json)
    elif configs:
        raise click.UsageError("give a CONFIG or --backend NAME, not both")
    elif limit is not None or only or settings:
        raise click.UsageError("--limit, --only and --set go with a CONFIG")
    else:
        _check_backend(backend, options, train, examples, time_limit, as_json=as_json)


def _check_configs(configs: Sequence[Path], overrides: Overrides, *, as_json: bool) -> None:
    from tokbench.foundation.errors import InputError

    if not as_json:
        check_each(configs, overrides, _show)
        return
    facts: list[dict[str, object]] = []
    try:
        check_each(configs, overrides, lambda config, run: facts.append(_facts(config, run)))
    except InputError as error:
        print_json({"configs": facts, "problems": [asdict(problem) for problem in error.problems]})
        raise
    print_json({"configs": facts, "problems": []})


def _facts(config: Path, run: Run) -> dict[str, object]:
    from tokbench.engine.restrictions import outlook

    plan = run.plan
    return {
        "config": str(config),
        "corpora": [
            {"corpus": name, "documents": survey.documents, "bytes": survey.bytes, "groups": list(survey.groups)}
            for name, survey in plan.surveys.items()
        ],
        "tokenizers": [
            {
                "tokenizer": tokenizer.name,
                "backend": tokenizer.info.backend,
                "state": _state(tokenizer),
                "reason": tokenizer.info.reason,
                "train_on": list(tokenizer.train_on),
                "train_at": tokenizer.vocab_size or None,
                "corpora": list(tokenizer.info.corpora),
            }
            for tokenizer in run.plan.tokenizers
        ],
        "metrics": [
            {"metric": family.name, "corpora": list(plan.restricted_to.get(family.name, ()))}
            for family, _ in plan.metrics
        ],
        "studies": [{"study": name} for name in plan.studies],
        "notes": [*plan.notes, *outlook(plan, run.registry)],
    }


def _state(tokenizer: RunTokenizer) -> str:
    return "unavailable" if tokenizer.info.reason else "to be trained" if tokenizer.train_on else "loaded"


def _show(config: Path, run: Run) -> None:
    from tokbench.engine.restrictions import outlook
    from tokbench.report.terminal import not_ready_lines

    for tokenizer in run.plan.tokenizers:
        if tokenizer.failure:
            show_traceback(tokenizer.info.reason, tokenizer.failure.traceback)
    for name, survey in run.plan.surveys.items():
        say(f"corpus {name}: {survey.documents} documents, {survey.bytes:,} bytes, {len(survey.groups)} groups")
    absent = [tokenizer for tokenizer in run.plan.tokenizers if tokenizer.failure]
    for tokenizer in run.plan.tokenizers:
        if not tokenizer.failure:
            say(_sentence(tokenizer))
    for line in not_ready_lines([(tokenizer.name, "unavailable", tokenizer.info.reason) for tokenizer in absent]):
        say(line)
    families = (family.name for family, _ in run.plan.metrics)
    say("metrics: " + ", ".join(name + _only_on(run.plan.restricted_to.get(name, ())) for name in families))
    for note in run.plan.notes:
        say(f"note: {note}")
    for line in outlook(run.plan, run.registry):
        say(line)
    lacking = any(not tokenizer.info.optional for tokenizer in absent)
    say(f"{config}: nothing {'else ' if lacking else ''}wrong" + ("; see the notes" if run.plan.notes else ""))


def _sentence(tokenizer: RunTokenizer) -> str:
    info, more = tokenizer.info, ""
    if tokenizer.to_be_trained:
        more = f" {'up to' if tokenizer.auto else 'at'} {tokenizer.vocab_size:,} on {', '.join(tokenizer.train_on)}"
    return f"tokenizer {tokenizer.name} ({info.backend}): {_state(tokenizer)}{more}{_only_on(info.corpora)}"


def _only_on(corpora: Sequence[str]) -> str:
    return f" (on {', '.join(corpora)} only)" if corpora else ""


def _check_backend(
    backend: str, options: Sequence[str], train: int, examples: int | None, time_limit: float | None, *, as_json: bool
) -> None:
    from contextlib import closing

    from tokbench.registry.plugins import load_registry
    from tokbench.registry.tokenizer_names import Grammar
    from tokbench.testing.report import ConformanceReport
    from tokbench.testing.run import TIME_LIMIT, Session
    from tokbench.testing.under_test import EXAMPLES, CheckRequest

    grammar = Grammar(load_registry())
    resolved = (grammar.resolve_training if train else grammar.resolve)(backend)
    given = resolved.with_options(parse_options(options), backend).options
    request = CheckRequest(resolved.backend, given, train, EXAMPLES if examples is None else examples)
    outcomes = []
    with closing(Session(request, TIME_LIMIT if time_limit is None else time_limit)) as session:
        for outcome in session.outcomes():
            outcomes.append(outcome)
            if not as_json:
                say(str(outcome))
    report = ConformanceReport(resolved.backend, request.options, train, tuple(outcomes))
    emit(report.to_json() if as_json else report.summary)
    sys.exit(int(not report.ok))
