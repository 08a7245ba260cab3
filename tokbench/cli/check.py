"""The command ``tokbench check``: of a configuration, or of a backend against the contract."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from tokbench.cli.options import parse_options

__all__ = ["check"]


@click.command()
@click.argument("config", type=click.Path(path_type=Path), required=False)
@click.option("--backend", metavar="NAME", help="Without CONFIG: check this backend against the contract.")
@click.option(
    "-O", "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the backend; a list is JSON."
)
@click.option("--train", type=int, default=0, metavar="SIZE", help="Train it to this vocabulary size on shipped text.")
@click.option("--examples", type=int, help="Texts for hypothesis to think of, if it is installed [default: 200].")
@click.option("--time-limit", type=float, help="Seconds for loading or training, and for each rule [default: 120].")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome of every rule as JSON.")
def check(
    config: Path | None,
    backend: str | None,
    options: tuple[str, ...],
    train: int,
    examples: int | None,
    time_limit: float | None,
    *,
    as_json: bool,
) -> None:
    """Say everything that is wrong with CONFIG, or with a backend; nothing is measured.

    Of CONFIG: what is wrong, or what it would do. Of a backend: every rule of the contract, rule by rule.
    """
    if backend is None:
        if config is None:
            raise click.UsageError("give a CONFIG, or --backend NAME")
        if options or train or as_json or examples is not None or time_limit is not None:
            raise click.UsageError("-O, --train, --examples, --time-limit and --json go with --backend")
        _check_config(config)
    elif config is not None:
        raise click.UsageError("give a CONFIG or --backend NAME, not both")
    else:
        _check_backend(backend, options, train, examples, time_limit, as_json=as_json)


def _check_config(config: Path) -> None:
    from tokbench.config.read import read_config
    from tokbench.progress import progress_bars
    from tokbench.runner.prepare import check as look
    from tokbench.runner.prepare import worker_pool

    read = read_config(config)
    with progress_bars() as progress, worker_pool(read, progress) as pool:
        checked = look(read, pool, progress)
    for name, survey in checked.plan.surveys.items():
        click.echo(f"corpus {name}: {survey.documents} documents, {survey.bytes:,} bytes, {len(survey.groups)} groups")
    for each in checked.prepared:
        planned = each.planned
        training = f"to be trained at {planned.vocab_size} on {', '.join(planned.train_on)}"
        state = f"unavailable: {each.reason}" if each.reason else training if planned.train_on else "loaded"
        click.echo(f"tokenizer {each.name} ({planned.spec.name}): {state}")
    click.echo(f"metrics: {', '.join(spec.name for spec, _ in checked.plan.metrics)}")
    click.echo(f"{config}: nothing wrong")


def _check_backend(
    backend: str, options: Sequence[str], train: int, examples: int | None, time_limit: float | None, *, as_json: bool
) -> None:
    from tokbench.report.escaping import visible
    from tokbench.testing.job import EXAMPLES, Job
    from tokbench.testing.report import Report
    from tokbench.testing.run import TIME_LIMIT, Session

    job = Job(backend, parse_options(options), train, EXAMPLES if examples is None else examples)
    outcomes = []
    with Session(job, TIME_LIMIT if time_limit is None else time_limit) as session:
        for outcome in session.outcomes():
            outcomes.append(outcome)
            if not as_json:
                click.echo(visible(str(outcome), keep="\n"))
    report = Report(backend, job.options, train, tuple(outcomes))
    click.echo(report.to_json() if as_json else report.summary)
    sys.exit(int(not report.ok))
