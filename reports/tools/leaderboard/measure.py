"""Measures entries of a leaderboard and their ranks, and verifies published numbers."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import tokbench
from leaderboard.board import Board
from leaderboard.numbers import (
    DEAD,
    DIGEST,
    IDS,
    SPECIAL,
    TEXT_IDS,
    VOCABULARY,
    NumberRow,
    moved,
    read_numbers,
    write_numbers,
    written,
)
from tokbench.foundation.files import read_regular, write_atomically
from tokbench.inspect.examine import examine
from tokbench.plugin import Failure, InputError, Problem, Tokenizer, attempt, encode_batch
from tokbench.plugin.metrics import WHOLE, Cell
from tokbench.plugin.report import CellTables, Results, csv_text
from tokbench.statistics.standings import places
from tokbench.terminal.folder_texts import opened

_RANKS_HEAD = ["corpus", "metric", "place", "level_with_best", "entry"]


@dataclass(frozen=True)
class Measured:
    """The numbers of some entries, measured in one run."""

    results: Results
    rows: dict[str, list[NumberRow]]
    lacking: dict[str, str]


def measure(
    board: Board,
    names: Sequence[str],
    looked_at: Collection[str],
    *,
    workers: int = 1,
    store: bool = True,
    log: str = "none",
) -> Measured:
    """Measure some entries.

    The ids of ``looked_at`` are examined one by one, which takes seconds; others keep their published counts of dead
    and special ids.

    Raises:
        InputError: an entry is not a tokenizer, or a text is not the leaderboard's.
    """
    results = tokbench.run(board.configuration(names), workers=workers, store=store, progress=log)  # type: ignore[arg-type]
    _check_texts(board, results)
    lacking = {name: info.reason for name, info in results.tokenizers.items() if info.state != "ready"}
    cells: dict[str, list[Cell]] = {}
    for cell in results.cells:
        cells.setdefault(cell.tokenizer, []).append(cell)
    rows = {}
    for name in (name for name in names if name not in lacking):
        vocabulary = attempt(partial(_vocabulary, board, results, name, look=name in looked_at))
        if isinstance(vocabulary, Failure):
            lacking[name] = vocabulary.reason
        else:
            rows[name] = sorted([*vocabulary, *_kept(board, results, cells.get(name, ()))])
    return Measured(results, rows, lacking)


def _check_texts(board: Board, results: Results) -> None:
    """Refuse texts that are not the leaderboard's; the InputError lists every such corpus."""
    problems = [
        Problem(str(board.folder), f"corpus {name!r} has the sha256 {info.sha256}, but 'texts' has {wanted}")
        for name, wanted in board.settings.texts.items()
        if (info := results.corpora.get(name)) and info.sha256 != wanted
    ]
    if problems:
        raise InputError(problems)


def _kept(board: Board, results: Results, cells: Sequence[Cell]) -> Iterator[NumberRow]:
    """Yield the kept numbers of an entry; pages compute families and scripts of languages."""
    for kept in board.settings.numbers:
        groups = {WHOLE, *(results.corpora[kept.corpus].groups if kept.groups else ())}
        for cell in cells:
            if cell.corpus == kept.corpus and cell.metric in kept.metrics and cell.group in groups:
                numbers = written(cell.value), written(cell.ci_low), written(cell.ci_high)
                yield NumberRow(cell.corpus, cell.group, cell.metric, *numbers, cell.status.value)


def _vocabulary(board: Board, results: Results, name: str, *, look: bool) -> list[NumberRow]:
    """Return the rows of a vocabulary; without ``look``, what takes seconds is what is published.

    A trained vocabulary has none of that.
    """
    info = results.tokenizers[name]
    facts = [
        NumberRow(VOCABULARY, WHOLE, IDS, str(info.vocab_size)),
        NumberRow(VOCABULARY, WHOLE, DIGEST, info.sha256.get("vocabulary", "")),
    ]
    if not look:
        published = read_numbers(board.results(name))
        return facts + [
            row for row in published if row.corpus == VOCABULARY and row.metric in {DEAD, SPECIAL, TEXT_IDS}
        ]
    if info.train is not None:
        return facts
    options = {key: value for key, value in board.entries[name].tokenizer.items() if key != "optional"}
    tokenizer = tokbench.load(str(options.pop("backend")), **options)
    health = examine(tokenizer)
    special = health.kinds.get("special", 0)
    found = {DEAD: len(health.unreachable), SPECIAL: special, TEXT_IDS: _shipped_ids_sha256(tokenizer)}
    return facts + [NumberRow(VOCABULARY, WHOLE, metric, str(value)) for metric, value in found.items()]


def _shipped_ids_sha256(tokenizer: Tokenizer) -> str:
    """Return a digest of the ids of all texts that ship: 28 languages, code, and conversations."""
    texts = [document.text for document in opened("sample", {"part": "all"}).documents()]
    return hashlib.sha256(encode_batch(tokenizer, texts).ids.astype("<u4").tobytes()).hexdigest()


def run_entries(board: Board, names: Sequence[str], *, workers: int = 1, log: str = "none") -> list[str]:
    """Measure all entries in one run, write the numbers of ``names``, or all, and the ranks of all.

    If an entry cannot be measured, or a number of another one differs from the published one, nothing is written,
    because ranks and rows would not agree; the sentences that say so are returned.

    Raises:
        InputError: an entry is unknown or not a tokenizer.
    """
    chosen = board.chosen(names)
    measured = measure(board, board.names, chosen, workers=workers, log=log)
    problems = [f"{name}: {reason}" for name, reason in measured.lacking.items()]
    for name, rows in measured.rows.items():
        if name not in chosen and (before := read_numbers(board.results(name))):
            problems += moved(name, before, rows)
    if not problems:
        for name in chosen:
            write_numbers(board.results(name), measured.rows[name])
        write_atomically(board.ranks, ranks_text(board, measured.results).encode())
        said = f"{measured.results.created[:10]} with tokbench {tokbench.__version__}\n"
        write_atomically(board.measured, said.encode())
    return problems


def ranks_text(board: Board, results: Results) -> str:
    """Return the ranks as a file, by :mod:`tokbench.statistics.standings`; who does not compete has none."""
    baselines = {
        name: replace(results.tokenizers[name], baseline=True) for name in board.names if board.entries[name].baseline
    }
    tables = CellTables(replace(results, tokenizers=results.tokenizers | baselines))
    rows = []
    for rank in board.settings.ranks:
        pool = tables.competing(rank.metric, rank.corpus)
        numbers = {cell.tokenizer: [tables.number(cell)] for cell in pool}
        found = places(numbers, higher=tables.higher(rank.metric), margin=tables.margin(rank.metric))
        cells = [tables.cell(rank.metric, rank.corpus, WHOLE, name) for name in board.names]
        others = sorted(
            cell.tokenizer for cell in cells if cell and cell.value is not None and cell.tokenizer not in found
        )
        for name in [*found, *others]:
            place = found.get(name)
            rows.append((rank.corpus, rank.metric, place or "", "yes" if place == 1 else "", name))
    return csv_text(_RANKS_HEAD, rows)


@dataclass(frozen=True)
class Rank:
    """The place of an entry in one ranking."""

    place: int | None
    """From 1; ``None`` for a baseline, and for what the rule of loss leaves out."""
    level: bool
    """It ties with the best."""


def read_ranks(path: Path) -> dict[tuple[str, str], dict[str, Rank]]:
    """Return the ranks by corpus and metric, then by entry; none without the file."""
    ranks: dict[tuple[str, str], dict[str, Rank]] = {}
    lines = read_regular(path).decode().splitlines()[1:] if path.exists() else []
    for corpus, metric, place, level, name in (line.split(",") for line in lines):
        ranks.setdefault((corpus, metric), {})[name] = Rank(int(place) if place else None, level == "yes")
    return ranks


def drawn(board: Board, number: int, seed: int) -> list[str]:
    """Return random entries, each at most once."""
    return sorted(random.Random(seed).sample(board.names, min(number, len(board.names))))


def verify(board: Board, names: Sequence[str], *, workers: int = 1, say: Callable[[str], None]) -> list[str]:
    """Measure entries without the store, and return a sentence for every number that differs.

    ``say`` gets a sentence for each unchanged entry.

    Raises:
        InputError: an entry is unknown or not a tokenizer.
    """
    chosen = board.chosen(names)
    measured = measure(board, chosen, chosen, workers=workers, store=False)
    wrong = []
    for name in chosen:
        published = read_numbers(board.results(name))
        if name in measured.lacking:
            wrong.append(f"{name}: cannot be measured: {measured.lacking[name]}")
        elif not published:
            wrong.append(f"{name}: has no {board.results(name)}; write it with: leaderboard run {name}")
        elif sentences := moved(name, published, measured.rows[name]):
            wrong += sentences
        else:
            say(f"{name}: all {len(published)} numbers are as published")
        if board.ranks.exists() and not any(name in entries for entries in read_ranks(board.ranks).values()):
            wrong.append(f"{name}: is not in {board.ranks}; write it with: leaderboard run {name}")
    return wrong
