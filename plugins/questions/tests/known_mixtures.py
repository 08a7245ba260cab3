"""Vocabularies of known mixtures, whose shares ``tokbench ate`` must find from other text of the same kinds.

``TOKBENCH_TEST_DATA=… python known_mixtures.py 30`` trains so many, each from languages of NTREX and of PUD, Python and C, and
prints errors and coverage. One half of the documents of each kind is trained on, the other half is a candidate.
"""

from __future__ import annotations

import os
import random
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import tokbench
from tokbench_questions.ate import Ate, ate

_SIZES = (4096, 8192, 16384)
_MOST = 500_000
"""Bytes of a training text."""
_FILE, _LINES, _KINDS = 3000, 1200, 10
"""Characters of a program, sentences of a language, and candidates of a mixture."""

Kinds = Mapping[str, list[str]]


def kinds() -> Kinds:
    """Return documents: sentences of 16 languages, and programs in two."""
    data = Path(os.environ["TOKBENCH_TEST_DATA"])
    prose = [*sorted((data / "ntrex").glob("*.txt")), *(data / "pud" / f"{name}.txt" for name in ("es", "fi", "ko"))]
    found = {path.stem: path.read_text(encoding="utf-8").splitlines()[:_LINES] for path in prose}
    paths = sysconfig.get_paths()
    programs = {"python": sorted(Path(paths["stdlib"]).glob("*.py")), "c": sorted(Path(paths["include"]).rglob("*.h"))}
    for name, files in programs.items():
        found[name] = [path.read_text(encoding="utf-8")[:_FILE] for path in files]
    return found


class Known(NamedTuple):
    """A vocabulary, the true shares of its text, and other text."""

    tokenizer: tokbench.plugin.Tokenizer
    shares: dict[str, float]
    others: Kinds


def known(documents: Kinds, seed: int, vocab_size: int = 0) -> Known:
    """Train on a mixture of some kinds, whose shares are drawn from a Dirichlet distribution."""
    rng, shuffle = np.random.default_rng(seed), random.Random(seed)
    documents = {name: documents[name] for name in rng.choice([*documents], _KINDS, replace=False).tolist()}
    halves = {name: shuffle.sample(texts, len(texts)) for name, texts in documents.items()}
    used = rng.choice([*documents], rng.integers(3, len(documents) + 1), replace=False).tolist()
    drawn = dict(zip(used, rng.dirichlet(np.ones(len(used))).tolist(), strict=True))
    first = {name: "\n".join(texts[: len(texts) // 2]) for name, texts in halves.items()}
    total = min(_MOST, *(len(first[name].encode()) / drawn[name] for name in used))
    text = {name: first[name].encode()[: int(total * share)].decode(errors="ignore") for name, share in drawn.items()}
    n_bytes = {name: len(some.encode()) for name, some in text.items()}
    size = vocab_size or _SIZES[seed % len(_SIZES)]
    lines = [line for some in text.values() for line in some.splitlines(keepends=True)]
    tokenizer = tokbench.train("regex_bpe:gpt4", lines, size, store=False)
    shares = {name: n_bytes.get(name, 0) / sum(n_bytes.values()) for name in documents}
    return Known(tokenizer, shares, {name: texts[len(texts) // 2 :] for name, texts in halves.items()})


class Scores(NamedTuple):
    """Absolute errors, in points, and which true shares are in their intervals, for all candidates."""

    errors: NDArray[np.float64]
    covered: NDArray[np.bool_]
    used: NDArray[np.bool_]


def scores(answer: Ate, truth: Mapping[str, float]) -> Scores:
    """Hold an answer against the truth."""
    rows = [(share.share, share.low, share.high, truth[share.name]) for share in answer.shares]
    share, low, high, true = np.array(rows).T
    return Scores(100 * abs(share - true), (low <= true) & (true <= high), true > 0)


def main(first: int, last: int) -> None:
    """Print the scores of each mixture, and of all."""
    documents, found = kinds(), []
    for seed in range(first, last):
        case = known(documents, seed)
        answer = ate(case.tokenizer, case.others)
        found.append(scores(answer, case.shares))
        errors, covered, used = found[-1]
        sys.stdout.write(
            f"{seed:2} {_SIZES[seed % 3]:5} ids, {used.sum():2} kinds: error {errors.mean():.2f}, worst {errors.max():.1f}, "
            f"covered {covered.sum()}/{covered.size}, of those used {covered[used].sum()}/{used.sum()}, "
            f"unexplained {answer.unexplained:.1%} of {answer.merges}\n"
        )
        sys.stdout.flush()
    errors, covered, used = (np.concatenate(some) for some in zip(*found, strict=True))
    sys.stdout.write(
        f"mean error {errors.mean():.2f} points, of those used {errors[used].mean():.2f}; covered {covered.mean():.1%}, "
        f"of those used {covered[used].mean():.1%}\n"
    )


if __name__ == "__main__":
    numbers = [int(number) for number in sys.argv[1:]] or [30]
    main(*([0, *numbers] if len(numbers) == 1 else numbers))
