"""One tokenizer fitted to texts, written for other libraries, and the worth of each row."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tokbench import load, plugin
from tokbench.command import session
from tokbench.plugin.report import csv_text
from tokbench_plugins.bpe import BPETokenizer
from tokbench_trainers.adaptation.adapt import AdaptationPlan, adapt

if TYPE_CHECKING:
    from tokbench.command import Log

_UNFIT_FOR_FILES: Final = re.compile(r"[^\w.+-]+")

_PREFERRED: Final = ("naive_bpe", "parity_bpe", "regex_bpe", "superbpe", "tokbench_bpe")
"""Of the backends that load a file or a published name, these give tokenizers that can be adapted."""

_FIFTH: Final = 5

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
    held_out_bytes: int = 0
    """The UTF-8 bytes of every fifth document, which was left out; 0 for fewer than five documents."""
    held_out: Mapping[int, int] = field(default_factory=dict)
    """The tokens of these documents by step, for some of the steps."""
    same_ids: int | None = None
    """On so many documents the ids are those before, once all unused tokens are removed."""

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


def adapted_tokenizer(
    tokenizer: Any, texts: Iterable[str], progress: Callable[[int, int], None], asked: Adaptation, stem: Path
) -> AdaptedTokenizer:
    """Fit a tokenizer to texts, and write it; its name is left empty.

    Raises:
        plugin.InputError: it is not plain byte-level BPE, or has no such format.
    """
    tokenizer = _adaptable(tokenizer, "the tokenizer", asked.formats)
    exports = tokenizer.exports
    texts = list(texts)
    held_out = texts[_FIFTH - 1 :: _FIFTH]
    fitted = [text for number, text in enumerate(texts, 1) if number % _FIFTH]
    plan = AdaptationPlan(tokenizer.vocab_size, asked.add, asked.remove)
    adapted = adapt(tokenizer.vocabulary, tokenizer.pattern, fitted, plan, progress)

    def after(left_out: int) -> BPETokenizer:
        merges = adapted.vocabulary.merges
        vocabulary = replace(adapted.vocabulary, merges=merges[: len(merges) - left_out])
        return BPETokenizer(vocabulary, tokenizer.pattern, tokenizer.special_tokens, engine=tokenizer.engine)

    added, gone = len(adapted.tokens_adding) - 1, len(adapted.removed)
    encoders = {0: tokenizer} | {gone + k: after(added - k) for k in shown_steps(added)}
    if asked.remove is None and any(tokenizer.encode(text) != encoders[gone].encode(text) for text in fitted):
        raise plugin.BackendError("removing unused tokens changed the ids of a text; nothing is written")
    files = tuple(Path(f"{stem}{exports[form]}") for form in asked.formats)
    for form, path in zip(asked.formats, files, strict=True):
        after(0).export(form, path)
    rows = Path(f"{stem}.rows.json")
    plugin.write_atomically(rows, json.dumps(rows_before(adapted.vocabulary.merges[-added:] if added else ())).encode())
    return AdaptedTokenizer(
        name="",
        vocab_size=tokenizer.vocab_size,
        n_bytes=adapted.n_bytes,
        removed=tuple(adapted.removed),
        tokens_removing=tuple(adapted.tokens_removing),
        tokens_adding=tuple(adapted.tokens_adding),
        files=(*files, rows),
        held_out_bytes=sum(len(text.encode()) for text in held_out),
        held_out={step: encoder.encode_batch(held_out).ids.size for step, encoder in encoders.items()},
        same_ids=len(fitted) if asked.remove is None else None,
    )


def shown_steps(added: int) -> list[int]:
    """Return the numbers of added tokens to show.

    >>> shown_steps(30)
    [0, 1, 2, 5, 10, 20, 30]
    """
    return sorted({0, added, *(k for power in range(9) for first in (1, 2, 5) if (k := first * 10**power) < added)})


def rows_before(added: Iterable[tuple[int, int, int]]) -> dict[int, list[int]]:
    """Return for each new id the ids that its text was before, from which a model's new row can be made.

    >>> rows_before([(108, 111, 300), (300, 119, 301)])
    {300: [108, 111], 301: [108, 111, 119]}
    """
    rows: dict[int, list[int]] = {}
    for left, right, made in added:
        rows[made] = [*rows.get(left, [left]), *rows.get(right, [right])]
    return rows


def _adaptable(tokenizer: Any, name: str, formats: Sequence[str]) -> BPETokenizer:
    """Return a tokenizer in tokbench's engine; an InputError if it cannot be adapted, or written so."""
    tokenizer = _in_own_engine(tokenizer)
    if not isinstance(tokenizer, BPETokenizer) or tokenizer.python_only:
        advice = "take one that is, such as gpt-4o or llama-3, or its tokenizer.json"
        raise plugin.InputError(f"{name} cannot be adapted: it is not plain byte-level BPE; {advice}")
    if unknown := [form for form in formats if form not in tokenizer.exports]:
        hint = plugin.did_you_mean(unknown[0], tokenizer.exports)
        raise plugin.InputError(f"{name} cannot be written as {unknown[0]!r}; {hint}")
    return tokenizer


def _check(tokenizer: Any, name: str, formats: Sequence[str]) -> None:
    _adaptable(tokenizer, name, formats)


def _in_own_engine(tokenizer: Any) -> Any:
    """Return the tokenizer of a tokenizer.json in tokbench's engine; others as they are."""
    if isinstance(tokenizer, BPETokenizer) or getattr(tokenizer, "file_suffix", "") != ".tokenizer.json":
        return tokenizer
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save(path := Path(folder, "tokenizer.json"))
        return load(f"tokbench_bpe:{path}")


def adapt_to_texts(
    name: str, texts: Iterable[str], folder: Path, asked: Adaptation, log: Log = "none"
) -> AdaptedTokenizer | plugin.Failure:
    """Fit a tokenizer to texts, and write it with a table of every step.

    Args:
        name: as :func:`tokbench.load` takes it.
        texts: the texts.
        folder: where to write.
        asked: what to add, to remove and to write.
        log: how progress is shown.

    Raises:
        plugin.InputError: the tokenizer or the texts cannot be had, or it cannot be adapted.
    """
    stem = folder / f"{_UNFIT_FOR_FILES.sub('-', name).strip('-')}-adapted"
    with session([name], prefer=_PREFERRED, log=log) as ready:
        ready.together(partial(_check, name=name, formats=asked.formats), [name], "loading")
        folder.mkdir(parents=True, exist_ok=True)
        answer = ready.ask(partial(adapted_tokenizer, asked=asked, stem=stem), "adding tokens", texts)[name]
    if isinstance(answer, plugin.Failure):
        return answer
    table = Path(f"{stem}.csv")
    plugin.write_atomically(table, _table(answer).encode())
    return replace(answer, name=name, files=(*answer.files, table))


def _table(adapted: AdaptedTokenizer) -> str:
    steps = ((step, rows, tokens, f"{value:.6f}") for step, rows, tokens, value in adapted.steps())
    return csv_text(CURVE, steps)
