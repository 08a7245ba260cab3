"""Counts on all cores of this machine, and goes on after a kill.

Each process counts pieces of files, and writes what it has to a folder next to the table every 20 seconds, or when its
share of the memory is used. A journal says which pieces are in which files. In the end DuckDB adds them.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from tokbench import plugin
from tokbench.foundation.files import (
    UNFINISHED,
    naming,
    remove_unfinished,
    unfinished_prefix,
    write_atomically,
    writing,
)
from tokbench.text.cuts import shown_name
from tokbench.text.find import no_text
from tokbench.text.opening import STDIN
from tokbench_plugins.bpe.patterns import resolve_pattern
from tokbench_plugins.counts.count import BlockCounter, TextCutter
from tokbench_plugins.counts.facts import CountFacts, position, schema
from tokbench_plugins.counts.merge import BASE, Merged, Part, engine, merge
from tokbench_plugins.counts.pieces import Amount, Piece, PieceReader, Reading, pieces

_FLUSH_S: Final = 20
_REPORT_S: Final = 0.2
_LEAST: Final = 64 << 20
_SMALL: Final = 32 << 20
"""Less is counted before other processes have started."""
_JOURNAL: Final = "journal"
_TURN: Final = f"-turn{UNFINISHED}"

Report = Callable[[int], object]
"""Called with the bytes of files read so far."""


@dataclass(frozen=True)
class Task:
    """A count."""

    files: tuple[Path, ...]
    reading: Reading
    output: Path
    memory: int
    """In bytes, of all processes."""
    processes: int = 1
    parts: bool = False
    least: int = 1
    cutter: TextCutter | None = None
    """What cuts the text instead of the split."""
    others: Mapping[str, Path] = field(default_factory=dict)
    """Tables of the same text by other splits: where to write them, by expression."""

    @property
    def tables(self) -> dict[str, Path]:
        """All tables to write, by split."""
        return {self.reading.pattern: self.output, **self.others}

    @property
    def folder(self) -> Path:
        """What is not finished; a second call goes on from it."""
        return self.output.with_name(f"{self.output.name}.unfinished")

    def settings(self) -> list[object]:
        """What must be the same for a count to go on; what bad text becomes may change, because it stops a count."""
        return [*self.reading._replace(errors="strict", nulls="error"), self.parts, *self.others]

    def stamps(self) -> list[list[object]]:
        """Names, sizes and times of the files; standard input is new in every call."""
        return [[str(path), *_stamp(path)] for path in self.files]


def _stamp(path: Path) -> tuple[int, int]:
    if path == STDIN:
        return 0, time.time_ns()
    status = path.stat()
    return status.st_size, status.st_mtime_ns


class Counted(NamedTuple):
    """A finished count."""

    tables: dict[Path, Merged]
    amount: Amount
    resumed: int
    """Bytes of files that an earlier call had counted."""

    @property
    def merged(self) -> Merged:
        """The first table."""
        return next(iter(self.tables.values()))


class Written(NamedTuple):
    """Files of rows with the counts of whole pieces."""

    pieces: list[Piece]
    files: list[str]
    """Those of each split end with its number, such as ``-0.parquet``."""
    amount: Amount


_Found = TypeVar("_Found", covariant=True)  # noqa: PLC0105 - as long as two names say the same


class PieceWorker(Protocol[_Found]):
    """What goes through pieces, in one process."""

    def count(self, piece: Piece, report: Report) -> _Found | None:
        """Go through a piece; return what was found so far, if it is time to."""

    def finish(self) -> _Found:
        """Return what was found since the last time."""


class _Counter:
    """Counts pieces, and writes the counts."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._name = secrets.token_hex(4)
        self._most = max(_LEAST, task.memory // task.processes - BASE) // 3  # a table grows to twice its size
        self._n_files = 0
        self._begin()

    def _begin(self) -> None:
        self._tables = self._new_tables()
        self._written = Written([], [], Amount())
        self._since = time.monotonic()

    def count(self, piece: Piece, report: Report) -> Written | None:
        """Count a piece; return what was written, if it was time to."""
        reader = PieceReader(piece, self._task.reading)
        for block in reader:
            for table in self._tables:
                table.add(block)
            report(reader.read)
            if sum(table.n_bytes for table in self._tables) > self._most:
                self._write()
        self._written.pieces.append(piece)
        self._written.amount.add(reader.amount)
        return self.finish() if time.monotonic() - self._since > _FLUSH_S else None

    def finish(self) -> Written:
        self._write()
        written = self._written
        self._begin()
        return written

    def _write(self) -> None:
        import pyarrow.parquet as pq

        for number, table in enumerate(self._tables):
            path = self._task.folder / f"{self._name}-{self._n_files}-{number}.parquet"
            with writing(path) as made, pq.ParquetWriter(made, schema(), compression="zstd", compression_level=1) as to:
                for rows in table.rows():
                    to.write_batch(rows)
            self._written.files.append(path.name)
        self._n_files += 1
        self._tables = self._new_tables()

    def _new_tables(self) -> list[BlockCounter]:
        task = self._task
        return [BlockCounter(pattern, parts=task.parts, cutter=task.cutter) for pattern in task.tables]


class _Answer(NamedTuple, Generic[_Found]):
    piece: Piece | None
    """``None`` at the end."""
    found: _Found | None


def _process(make: Callable[[], PieceWorker[_Found]], line: Connection) -> None:
    """Go through the pieces that arrive until ``None`` does."""
    counter = make()
    reported = time.monotonic()

    def report(done: int) -> None:
        nonlocal reported
        if time.monotonic() - reported > _REPORT_S:
            reported = time.monotonic()
            line.send(done)

    try:
        while (asked := line.recv()) is not None:
            line.send(_Answer(asked, counter.count(asked, report)))
        line.send(_Answer(None, counter.finish()))
    except (EOFError, ConnectionError, KeyboardInterrupt):  # whoever asked has ended
        pass
    except (plugin.InputError, plugin.BackendUnavailable, OSError) as error:
        line.send(error)


class _Journal:
    """The pieces that are counted, and where."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._path = task.folder / _JOURNAL
        self.written: list[Written] = []

    def open(self) -> None:
        """Go on with an earlier count, as far as its files have not changed, or begin."""
        head = json.dumps([self._task.settings(), self._task.stamps()])
        with suppress(OSError, ValueError, LookupError):
            first, *lines = self._path.read_text(encoding="utf-8").splitlines()
            settings, stamps = json.loads(first)
            now = dict(enumerate(self._task.stamps()))
            for line in lines if settings == self._task.settings() else ():
                known = json.loads(line)  # the last line may be cut short
                counted = [Piece(*piece) for piece in known["pieces"]]
                if all(stamps[piece.file] == now[piece.file] for piece in counted):
                    self.written.append(Written(counted, known["files"], Amount.of(known["amount"])))
        kept = {name for one in self.written for name in one.files}
        for path in self._task.folder.iterdir():
            if path.name not in kept and not path.name.endswith(_TURN):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        write_atomically(self._path, "".join(f"{entry}\n" for entry in [head, *map(_entry, self.written)]).encode())

    def add(self, written: Written) -> None:
        self.written.append(written)
        with naming(self._path), self._path.open("a", encoding="utf-8") as file:
            file.write(_entry(written) + "\n")
            file.flush()
            os.fsync(file.fileno())


def _entry(written: Written) -> str:
    return json.dumps({**written._asdict(), "amount": asdict(written.amount)})


def count(task: Task, report: Report) -> Counted:
    """Count files into a table.

    Raises:
        InputError: a file cannot be read, is not text, or none has text, or the disk is full; what was counted stays
            for the next call.
        BackendUnavailable: DuckDB or pyarrow is not installed.
    """
    with engine(task.memory, task.folder / "spill"):
        pass  # a library that is missing is named before hours of counting
    room = task.memory // (BASE + _LEAST) - 1  # this process has its share, too
    task = replace(task, processes=max(1, min(task.processes, room)))
    with _turn(task):
        return _count(task, report)


@contextmanager
def _turn(task: Task) -> Iterator[None]:
    """Let no other process count into the same table; a killed one gives way."""
    own = task.folder / f"{unfinished_prefix(Path(_JOURNAL))}{_TURN[1:]}"
    with naming(task.output):
        task.folder.mkdir(parents=True, exist_ok=True)
        remove_unfinished(task.folder)
        own.touch()
    try:
        if len(list(task.folder.glob(f".{_JOURNAL}.*{_TURN}"))) > 1:
            raise plugin.InputError(f"{task.output}: another count is writing it; wait, or choose another -o")
        yield
    finally:
        own.unlink(missing_ok=True)


def _count(task: Task, report: Report) -> Counted:
    journal = _Journal(task)
    journal.open()
    done = {piece for one in journal.written for piece in one.pieces}
    left = [piece for piece in pieces(task.files, task.reading) if piece not in done]
    resumed = sum(piece.size for piece in done)
    make = partial(_Counter, task)
    for written in through(left, make, task.processes, lambda read: report(resumed + read)) if left else ():
        journal.add(written)
    amount = Amount()
    for one in journal.written:
        amount.add(one.amount)
    if not amount.documents and not amount.faults.met:
        shutil.rmtree(task.folder)
        raise no_text(", ".join(map(shown_name, task.files)))
    facts = CountFacts(
        task.reading.pattern,
        amount.documents,
        amount.bytes,
        tuple(map(str, task.files)),
        parts=task.parts,
        superwords=task.cutter.facts if task.cutter else None,
    )
    names = [name for one in journal.written for name in one.files]
    made: dict[Path, Merged] = {}
    with engine(task.memory, task.folder / "spill") as connection:
        places = [_place(amount.sizes, share) for share in (0.5, 0.9)]
        for number, (pattern, path) in enumerate(task.tables.items()):
            rows = [Part(task.folder / name) for name in names if name.endswith(f"-{number}.parquet")]
            facts = replace(facts, pattern=task.cutter.name if task.cutter else resolve_pattern(pattern))
            made[path] = merge(connection, rows, facts, path, least=task.least, places=places)
    shutil.rmtree(task.folder)
    return Counted(made, amount, resumed)


def _place(sizes: Mapping[str, int], share: float) -> int:
    """Return where a share of the files is read, of which ``sizes`` are by their numbers."""
    left = share * sum(sizes.values())
    for file, size in sorted((int(name), size) for name, size in sizes.items()):
        if left < size:
            return position(file, int(left))
        left -= size
    return 0


def through(
    left: Sequence[Piece], make: Callable[[], PieceWorker[_Found]], processes: int, report: Report
) -> Iterator[_Found]:
    """Yield what workers find in pieces, here if they are few, or in processes.

    Raises:
        InputError, BackendUnavailable, OSError: of a worker, or one was killed.
    """
    small = sum(piece.size for piece in left) < _SMALL
    if small or processes == 1 or any(Path(piece.path) == STDIN for piece in left):
        yield from _here(left, make(), report)
    else:
        yield from _in_processes(left, make, processes, report)


def _here(left: Sequence[Piece], worker: PieceWorker[_Found], report: Report) -> Iterator[_Found]:
    read = 0
    for piece in left:
        if counts := worker.count(piece, lambda done: report(read + done)):  # noqa: B023
            yield counts
        read += piece.size
    yield worker.finish()


def _in_processes(
    left: Sequence[Piece], make: Callable[[], PieceWorker[_Found]], processes: int, report: Report
) -> Iterator[_Found]:
    lines = dict(_start(make) for _ in range(min(processes, len(left))))
    reading: dict[Connection, int] = {}
    waiting = iter(left)
    failed: Exception | None = None
    read = 0
    try:
        for one in lines:
            one.send(next(waiting))
        while lines:
            for line in wait(list(lines)):
                assert isinstance(line, Connection)
                answer = _answer(line, lines[line])
                if isinstance(answer, int):
                    reading[line] = answer
                    report(read + sum(reading.values()))
                elif isinstance(answer, _Answer) and answer.piece:
                    read += answer.piece.size
                    reading[line] = 0
                    line.send(next(waiting, None))
                else:
                    lines.pop(line).join()
                if isinstance(answer, Exception):  # the others end their pieces
                    failed, waiting = answer, iter(())
                elif isinstance(answer, _Answer) and answer.found:
                    yield answer.found
        if failed:
            raise failed
    finally:
        for process in lines.values():
            process.terminate()


def _start(make: Callable[[], PieceWorker[object]]) -> tuple[Connection, BaseProcess]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_process, args=(make, theirs), daemon=True)
    process.start()
    theirs.close()
    return ours, process


def _answer(line: Connection, process: BaseProcess) -> _Answer[Any] | int | Exception:
    """Return what a process says: a finished piece, the bytes that it has read of one, or why it ends."""
    try:
        answer: _Answer[Any] | int | Exception = line.recv()
    except (EOFError, ConnectionError):
        process.join()
        return plugin.InputError(
            f"a process that counts ended with exit code {process.exitcode}; if memory ran out, lower --memory; "
            f"run the command again to go on"
        )
    return answer
