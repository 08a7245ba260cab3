"""The share of each corpus of a draft in the training text, as options or answers give it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from tokbench.cli.folder_corpora import FolderCorpus
from tokbench.foundation.errors import InputError, did_you_mean

_ALL: Final = 100.0
_CODE: Final = 25.0
"""The share of code that is proposed, in percent."""

Ask = Callable[[str, float, float], float]
"""``ask(question, proposed, most)`` returns a share in percent."""


class Weighted(NamedTuple):
    """Corpora with the share of each in the training text."""

    corpora: list[FolderCorpus]
    """The corpora; a group that has a weight is a corpus of its own."""
    weights: dict[str, float]
    """By corpus, its share in percent; empty if all count alike."""


def parse_weights(options: Sequence[str]) -> dict[str, float]:
    """Return weights as they follow ``--weight``, in percent.

    Raises:
        InputError: one is not NAME=PERCENT.

    >>> parse_weights(["code=25", "de=12.5%"])
    {'code': 25.0, 'de': 12.5}
    """
    weights = {}
    for option in options:
        name, _, text = option.rpartition("=")
        try:
            share = float(text.removesuffix("%"))
        except ValueError:
            share = math.nan
        if not name or not 0 <= share < math.inf:
            raise InputError(f"--weight {option}: write it as NAME=PERCENT, such as code=25")
        weights[name] = share
    return weights


def weigh(corpora: Sequence[FolderCorpus], given: Mapping[str, float]) -> Weighted:
    """Give corpora the weights that are given, and what they leave to the others in equal parts.

    Args:
        corpora: the corpora.
        given: by the name of a corpus or of a group, its share in percent.

    Raises:
        InputError: a name is not known, or nothing is left for a corpus without a weight.
    """
    if not given:
        return Weighted(list(corpora), {})
    parted = list(corpora)
    for name in given:
        if name not in {corpus.name for corpus in parted}:
            parted = _parted(parted, name)
    others = [corpus.name for corpus in parted if corpus.name not in given]
    left = _ALL - sum(given.values())
    if others and left <= 0:
        msg = f"the weights come to {_ALL - left:g} %, which leaves nothing for {others[0]}; give it a weight as well"
        raise InputError(f"{msg}, or 0 to leave it out")
    if not any(given.values()) and not others:
        raise InputError("every weight is 0; give at least one corpus a weight above 0")
    weights = {corpus.name: round(given.get(corpus.name, left / max(len(others), 1)), 2) for corpus in parted}
    return Weighted(parted, weights)


def _parted(corpora: Sequence[FolderCorpus], group: str) -> list[FolderCorpus]:
    """Return corpora of which a group is one of its own.

    Raises:
        InputError: no corpus has such a group whose files are no other group's.
    """
    parted: list[FolderCorpus] = []
    for corpus in corpora:
        if group not in corpus.groups or not corpus.can_part:
            parted.append(corpus)
            continue
        rest = {name: files for name, files in corpus.groups.items() if name != group}
        parted += [replace(corpus, groups=rest)] if rest else []
        parted.append(replace(corpus, name=group, groups={group: corpus.groups[group]}))
    if len({corpus.name for corpus in parted}) < len(parted) or group not in {corpus.name for corpus in parted}:
        names = [corpus.name for corpus in corpora]
        groups = [name for corpus in corpora if corpus.can_part for name in corpus.groups]
        raise InputError(f"--weight: no corpus or group is called {group!r}; {did_you_mean(group, names + groups)}")
    return parted


def ask_weights(corpora: Sequence[FolderCorpus], ask: Ask) -> dict[str, float]:
    """Ask for the share of each corpus but the last, which gets what is left; code is asked for first.

    Args:
        corpora: the corpora.
        ask: asks a question.
    """
    first, *others = sorted(corpora, key=lambda corpus: not corpus.is_code)
    weights, left = {}, _ALL
    for number, corpus in enumerate([first, *others[:-1]] if others else []):
        even = left / (len(corpora) - number)
        proposed = min(_CODE, left) if corpus.is_code else even
        weights[corpus.name] = ask(f"How much of your training is {corpus.name}, in %?", round(proposed, 2), left)
        left -= weights[corpus.name]
    if others:
        weights[others[-1].name] = round(left, 2)
    return weights
