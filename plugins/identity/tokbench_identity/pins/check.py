"""Check pins: encode the texts again, and say for each tokenizer what changed and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tokbench.config.model import Config, TokenizerEntry
from tokbench.engine.planning import plan_tokenizers
from tokbench.plugin import InputError, Problem, Progress
from tokbench.registry.plugins import Registry, load_registry
from tokbench.registry.tokenizer_names import Grammar, Resolved, catalogue
from tokbench_identity.pins.explain import TextDifference, causes, difference_of, updates
from tokbench_identity.pins.lock import Lock, PinnedText, PinnedTokenizer
from tokbench_identity.pins.pin import Opened, Request, opened, pinned_corpora

if TYPE_CHECKING:
    from tokbench.foundation.store import Store
    from tokbench.measuring.plan import RunTokenizer

_EXPLAINED: Final = 20


@dataclass(frozen=True)
class TokenizerCheck:
    """A pinned tokenizer, checked."""

    name: str
    texts: int
    backend: str = ""
    packages: tuple[str, ...] = ()
    updates: tuple[str, ...] = ()
    """What is another backend or version since the pin."""
    changed: tuple[str, ...] = ()
    first: TextDifference | None = None
    """The first text with another cut, else with other ids."""
    causes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def same(self) -> bool:
        return not (self.changed or self.causes or self.reason)


@dataclass(frozen=True)
class LockCheck:
    """A lock, checked."""

    tokenizers: tuple[TokenizerCheck, ...]
    not_pinned: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        return all(tokenizer.same for tokenizer in self.tokenizers)


def check_lock(
    lock: Lock, folder: Path, progress: Progress, *, other: str = "", store: Store | None = None
) -> LockCheck:
    """Encode the texts of a lock again, with today's backends, or with ``other`` for every pinned one.

    Raises:
        InputError: something is wrong with the configuration, or its text is not the pinned one.
    """
    request = Request(_configuration(lock, folder), lock.limit, lock.only)
    config = request.read()
    unable = _replace_backends(config, load_registry(), other) if other else {}
    with opened(config, progress, store) as run:
        _check_text(lock, run)
        now = {tokenizer.name: tokenizer for tokenizer in run.tokenizers()}
        for pinned in lock.tokenizers:
            if pinned.name in now and (lost := _lost(pinned, now[pinned.name])):
                run.failures[pinned.name] = lost
                del now[pinned.name]
        changed = {pinned.name: _changed(pinned, now[pinned.name]) for pinned in lock.tokenizers if pinned.name in now}
        places = {place for changes in changed.values() for place in list(changes)[:_EXPLAINED]}
        texts = {place: text for batch in run.texts() for place, text in batch if place in places} if places else {}
        unable |= run.failures
    gone = "the configuration no longer has it; pin again without it"
    checks = [
        _checked(pinned, now[pinned.name], changed[pinned.name], texts)
        if pinned.name in now
        else TokenizerCheck(pinned.name, len(pinned.texts), reason=unable.get(pinned.name, gone))
        for pinned in lock.tokenizers
    ]
    return LockCheck(tuple(checks), tuple(now.keys() - changed.keys()))


class _Change(NamedTuple):
    before: PinnedText
    now: PinnedText


def _lost(pinned: PinnedTokenizer, now: PinnedTokenizer) -> str:
    """Return what a damaged lock lacks, or has twice; empty if its texts are those of today."""
    places, today = [text.place for text in pinned.texts], {text.place for text in now.texts}
    if sorted(places) == sorted(today):
        return ""
    whole = f"{len(today.intersection(places)):,} of its {len(today):,} texts, in {len(places):,} lines"
    return f"the lock is damaged: it has {whole}; restore it, or pin again"


def _changed(pinned: PinnedTokenizer, now: PinnedTokenizer) -> dict[str, _Change]:
    texts = {text.place: text for text in now.texts}
    return {
        text.place: _Change(text, texts[text.place]) for text in pinned.texts if text.digest != texts[text.place].digest
    }


def _checked(
    pinned: PinnedTokenizer, now: PinnedTokenizer, changed: Mapping[str, _Change], texts: Mapping[str, str]
) -> TokenizerCheck:
    found = [difference_of(*changed[place], texts[place]) for place in list(changed)[:_EXPLAINED]]
    same_backend = now.backend == pinned.backend
    return TokenizerCheck(
        name=pinned.name,
        texts=len(pinned.texts),
        backend=now.backend,
        packages=now.packages,
        updates=tuple(updates(pinned, now)),
        changed=tuple(changed),
        first=next((text for text in found if text.byte is not None), next(iter(found), None)),
        causes=tuple(causes(pinned.vocabulary, now.vocabulary, found, same_backend=same_backend)),
    )


def _configuration(lock: Lock, folder: Path) -> Path:
    file = folder / lock.configuration
    return file if file.exists() else Path(lock.configuration)


def _check_text(lock: Lock, run: Opened) -> None:
    now = pinned_corpora(run.plan)
    problems = []
    for name, pinned in lock.corpora.items():
        if name not in now:
            message = f"corpus {name!r} is pinned, but the configuration no longer has it; pin again"
            problems.append(Problem(lock.configuration, message))
        elif now[name] != pinned:
            message = (
                f"corpus {name!r} has other text than was pinned: {pinned.documents} documents, sha256 "
                f"{pinned.sha256[:12]}, and now {now[name].documents}, {now[name].sha256[:12]}; "
                "restore it, or pin again"
            )
            problems.append(Problem(lock.configuration, message))
    if problems:
        raise InputError(problems)


def _replace_backends(config: Config, registry: Registry, other: str) -> dict[str, str]:
    """Let another backend load the tokenizers of a configuration; return by name why it cannot load some."""
    registry.backends.get(other)
    entries, unable = dict[str, TokenizerEntry](), dict[str, str]()
    for planned in plan_tokenizers(config, registry).tokenizers:
        resolved = next(_loaded_by(planned, other, registry), None)
        if resolved is None:
            unable[planned.name] = f"backend {other!r} cannot load what {planned.spec.name!r} loads here"
        else:
            on = {"corpora": list(planned.info.corpora)} if planned.info.corpora else {}
            entry = {"backend": other, **on, **resolved.options}
            entries[planned.name] = TokenizerEntry.model_validate(entry)
    if not entries:
        raise InputError([Problem(f"--with {other}", f"{next(iter(unable.values()), 'no tokenizer')}")])
    config.tokenizers = entries
    return unable


def _loaded_by(planned: RunTokenizer, other: str, registry: Registry) -> Iterator[Resolved]:
    """Yield how a backend loads a vocabulary: by published name, by value, by file."""
    if planned.train_on:
        return
    spec, backend = registry.backends.get(other), planned.spec
    value = planned.info.options.get(backend.main)
    for options in catalogue(registry).values():
        here = [resolved.options for resolved in options if resolved.backend == backend.name]
        if planned.info.options in here:
            yield from (resolved for resolved in options if resolved.backend == other)
    files = [planned.info.options[kind.option] for kind in backend.files if kind.option in planned.info.options]
    for file in map(str, files):
        grammar = Grammar(registry, wanted=lambda candidate: candidate.name == other)
        resolved = grammar.resolve(file)
        if resolved.backend == other:
            yield resolved
    if value is not None and spec.main and spec.main == backend.main and value not in files:
        yield Resolved(other, {spec.main: value})
