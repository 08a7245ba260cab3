"""One tokenizer fitted to texts, written for other libraries, and the worth of each row."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from tokbench import plugin
from tokbench.config.model import Limits
from tokbench.corpus.contract import Source
from tokbench.corpus.corpus import Corpus, Reading
from tokbench.engine.folder import make_folder
from tokbench.engine.workers.executor import Executor
from tokbench.engine.workers.pool import WorkerDied
from tokbench.engine.workers.worker import WorkerContext
from tokbench.foundation.files import write_atomically
from tokbench.plugin.metrics import Job
from tokbench.registry.plugins import load_registry
from tokbench.registry.tokenizer_names import Grammar
from tokbench.segmentation.segment import NamedTokenizers
from tokbench_plugins.bpe import BPETokenizer
from tokbench_trainers.adaptation.adapt import AdaptationPlan, adapt

_UNFIT_FOR_FILES: Final = re.compile(r"[^\w.+-]+")

_PREFERRED: Final = frozenset({"naive_bpe", "parity_bpe", "regex_bpe", "superbpe", "tokbench_bpe"})
"""Of the backends that load a file or a published name, these give tokenizers that can be adapted."""

CURVE: Final = ("step", "rows", "tokens", "bytes_per_token")


@dataclass(frozen=True)
class AdaptedTokenizer:
    """A tokenizer that was fitted to texts."""

    name: str
    vocab_size: int
    """The number of ids before."""
    n_bytes: int
    """The UTF-8 bytes of the texts."""
    removed: tuple[int, ...]
    """The removed ids, in order."""
    tokens_removing: tuple[int, ...]
    """The tokens of the texts: before, and after each removal."""
    tokens_adding: tuple[int, ...]
    """The tokens of the texts: before, and after each token that was added."""
    files: tuple[Path, ...] = ()

    @property
    def added(self) -> int:
        """Fewer than were asked for if no pair was left to merge."""
        return len(self.tokens_adding) - 1

    def steps(self) -> Iterator[tuple[str, int, int, float]]:
        """Yield every step: what was done, the change in rows so far, tokens and bytes per token of the texts.

        >>> adapted = AdaptedTokenizer("hi", 300, 12, (299,), (12, 12), (12, 6, 4))
        >>> list(adapted.steps())
        [('before', 0, 12, 1.0), ('remove', -1, 12, 1.0), ('add', 0, 6, 2.0), ('add', 1, 4, 3.0)]
        """
        sizes = [*self.tokens_removing, *self.tokens_adding[1:]]
        gone = len(self.removed)
        for number, tokens in enumerate(sizes):
            step = "before" if number == 0 else "remove" if number <= gone else "add"
            rows = -number if number <= gone else number - 2 * gone
            yield step, rows, tokens, self.n_bytes / tokens if tokens else 0.0


class Adaptation(NamedTuple):
    """The wanted changes of a tokenizer, and the formats to write."""

    add: int
    remove: int | None
    """The number of tokens to remove first; ``None`` for all that the texts do not need."""
    formats: Sequence[str] = ("huggingface",)


@dataclass(frozen=True)
class AdaptTokenizer(Job):
    """Fit a tokenizer to the feed ``text``, and write it; the answer is :class:`AdaptedTokenizer`, or the failure."""

    name: str
    asked: Adaptation
    stem: Path

    @property
    def tokenizers(self) -> tuple[str, ...]:
        return (self.name,)

    def run(self, context: WorkerContext) -> Iterator[AdaptedTokenizer | plugin.Failure]:
        with plugin.doing("adapting", tokenizer=self.name, place="to the text"):
            yield plugin.attempt(lambda: self._adapt(context))

    def _adapt(self, context: WorkerContext) -> AdaptedTokenizer:
        tokenizer = _in_own_engine(context.tokenizer(self.name))
        if not isinstance(tokenizer, BPETokenizer) or tokenizer.python_only:
            message = "cannot be adapted: it is not plain byte-level BPE; give tokbench_bpe:FILE"
            raise plugin.InputError([plugin.Problem(self.name, message)])
        exports = tokenizer.exports
        if unknown := [form for form in self.asked.formats if form not in exports]:
            message = f"cannot be written as {unknown[0]!r}; {plugin.did_you_mean(unknown[0], exports)}"
            raise plugin.InputError([plugin.Problem(self.name, message)])
        adapted = adapt(
            tokenizer.vocabulary,
            tokenizer.pattern,
            context.texts("text"),
            AdaptationPlan(tokenizer.vocab_size, self.asked.add, self.asked.remove),
            lambda done, total: context.progress("adding tokens", done, total),
        )
        after = BPETokenizer(adapted.vocabulary, tokenizer.pattern, tokenizer.special_tokens, engine=tokenizer.engine)
        files = tuple(Path(f"{self.stem}{exports[form]}") for form in self.asked.formats)
        for form, path in zip(self.asked.formats, files, strict=True):
            after.export(form, path)
        return AdaptedTokenizer(
            name=self.name,
            vocab_size=tokenizer.vocab_size,
            n_bytes=adapted.n_bytes,
            removed=tuple(adapted.removed),
            tokens_removing=tuple(adapted.tokens_removing),
            tokens_adding=tuple(adapted.tokens_adding),
            files=files,
        )


def _in_own_engine(tokenizer: Any) -> Any:
    """Return a tokenizer of the hub in tokbench's engine, by way of its tokenizer.json; others as they are."""
    if isinstance(tokenizer, BPETokenizer) or getattr(tokenizer, "file_suffix", "") != ".tokenizer.json":
        return tokenizer
    spec: Any = load_registry().backends.get("tokbench_bpe")
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save(path := Path(folder, "tokenizer.json"))
        return spec.load(spec.load_options(path=path))


def adapt_to_texts(
    name: str,
    texts: Source,
    folder: Path,
    asked: Adaptation,
    progress: plugin.Progress,
    workers: int = 1,
) -> AdaptedTokenizer | plugin.Failure:
    """Fit a tokenizer to texts, and write it with a table of every step.

    Args:
        name: as :func:`tokbench.load` takes it.
        texts: the texts.
        folder: where to write.
        asked: what to add, to remove and to write.
        progress: called with every step.
        workers: 1 to isolate the tokenizer in a process; 0 to run it in this one.

    Raises:
        plugin.InputError: the tokenizer or the texts cannot be had, or the folder cannot be written.
    """
    preferring = Grammar(load_registry(), wanted=lambda spec: spec.name in _PREFERRED)
    loaded = str(preferring.resolve(name))
    named = NamedTokenizers([loaded], None)
    reading = Reading({"text": Corpus("text", texts).training_text()})
    make_folder(folder)
    stem = folder / f"{_UNFIT_FOR_FILES.sub('-', name).strip('-')}-adapted"
    with Executor(workers).pool(Limits(), progress) as pool:
        named.open(pool, None)
        answer = pool.ask(AdaptTokenizer(loaded, asked, stem), lambda: {"text": reading})
    if isinstance(answer, WorkerDied):
        return answer.failure
    if reading.failures:
        return next(iter(reading.failures.values()))
    if isinstance(answer, plugin.Failure):
        return answer
    adapted: AdaptedTokenizer = answer
    table = Path(f"{stem}.csv")
    write_atomically(table, _table(adapted).encode())
    return replace(adapted, name=name, files=(*adapted.files, table))


def _table(adapted: AdaptedTokenizer) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CURVE)
    writer.writerows((step, rows, tokens, f"{value:.6f}") for step, rows, tokens, value in adapted.steps())
    return text.getvalue()
