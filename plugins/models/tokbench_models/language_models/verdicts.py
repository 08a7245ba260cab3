"""Sentences on bits per byte: training, verdicts, and limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from tokbench_models.language_models.block import BitsComparison, BitsPerByte

_MOST_SENTENCES: Final = 5


class ModelWords(NamedTuple):
    """Sentences about the models of a family."""

    model: str
    """The model, after "Bits that a byte costs"."""
    depends: str
    """What a verdict depends on if the models disagree."""
    errors: str
    """The origin of the standard errors."""
    limits: str
    """What the numbers do not show."""


_NGRAMS: Final = ModelWords(
    model="a small language model",
    depends="order",
    errors="include both documents and training text",
    limits=(
        "What this does not show: no order is neutral about the size of a vocabulary. A model of low order sees "
        "more text through large tokens. A model of high order finds large tokens too rare. So the best size moves "
        "with the order. These models have no weights and learn from little text; a neural model may rank "
        "tokenizers otherwise. The text on which a published vocabulary was trained is unknown and may hold what is "
        "scored here, so published vocabularies are compared with one another alone."
    ),
)
_TRANSFORMERS: Final = ModelWords(
    model="a small transformer",
    depends="budget",
    errors="include both documents and seeds",
    limits=(
        "What this does not show: a transformer of this size, trained on this little text, is a weak model; compare "
        "it with the n-gram models of the same text where the report has them. A larger model may rank tokenizers "
        "otherwise. At equal text a large vocabulary has more parameters and takes more computing for each token; at "
        "equal computing tokenizers have seen different amounts of text. The learning rate was chosen for each "
        "tokenizer on a tenth of the text. The text on which a published vocabulary was trained is unknown and may "
        "hold what is scored here, so published vocabularies are compared with one another alone."
    ),
)


def words(study: BitsPerByte) -> ModelWords:
    """Return the sentences about the models; those with trainings are transformers."""
    return _TRANSFORMERS if study.trainings else _NGRAMS


def explanation(study: BitsPerByte) -> str:
    """Return the text before the numbers."""
    source = "the same corpus" if study.train == study.corpus else study.train
    names = dict(zip(study.metrics, study.models, strict=True))
    deciding = listed([names[metric] for metric in study.deciding])
    return (
        f"Bits that a byte costs {words(study).model}, which learned from {study.training_documents:,} documents of "
        f"{source} ({study.training_bytes / 1e6:.2f} MB) as each tokenizer cuts them, and predicts "
        f"{study.scored_documents:,} others ({study.scored_bytes / 1e6:.2f} MB). Left out as near-duplicates: "
        f"{study.training_duplicates:,} and {study.scored_duplicates:,} documents. One tokenizer is called better "
        f"than another only if {deciding} all say so, by {study.least:g} bits or more and beyond two standard errors "
        f"(more, by Student's t, where an error comes from few numbers). The errors {words(study).errors}."
    )


def depends(study: BitsPerByte) -> str:
    """Return what a verdict depends on if the models disagree."""
    return f"depends on the {words(study).depends}"


def summary(study: BitsPerByte) -> str:
    """Return the comparisons in a few sentences.

    >>> from dataclasses import replace
    >>> def pair(one, other, verdict):
    ...     return BitsComparison(tokenizer=one, other=other, differences=[], errors=[], verdict=verdict)
    >>> study = BitsPerByte(corpus="c", train="c", family="f", metrics=[], models=[], deciding=[], least=0.02,
    ...     comparisons=[pair("a", "b", "better"), pair("d", "b", "better"), pair("a", "d", "depends")])
    >>> summary(study)
    'a and d are better than b. Of 3 comparisons, 2 name the better one, 0 find no difference, 1 depends on the order.'
    >>> summary(replace(study, comparisons=[pair("a", "b", "unknown")])).rpartition(". ")[2]
    '1 has too few or too uneven documents to decide.'

    Of many, only those are named that no other beats:

    >>> names = "abcdefg"
    >>> study = replace(study, blocks=dict.fromkeys(names, "one"), comparisons=[
    ...     pair(one, other, "better") for k, one in enumerate(names) for other in names[k + 1 :]])
    >>> summary(study).partition(". ")[0]
    'No tokenizer is found better than this one: a'
    """
    if not study.comparisons:
        return "No two tokenizers may be compared: they were trained on different texts, or on the text that is scored."
    counts = Counter(pair.verdict for pair in study.comparisons)
    sentences = _who_is_better(study)
    sentences.append(
        f"Of {len(study.comparisons):,} comparisons, {counts['better']:,} name the better one, "
        f"{counts['level']:,} find no difference, {counts['depends']:,} "
        f"{depends(study) if counts['depends'] == 1 else depends(study).replace('depends', 'depend', 1)}."
    )
    if counts["unknown"]:
        have = "has" if counts["unknown"] == 1 else "have"
        sentences.append(f"{counts['unknown']:,} {have} too few or too uneven documents to decide.")
    return " ".join(sentences)


def _who_is_better(study: BitsPerByte) -> list[str]:
    better: dict[str, list[str]] = {}
    for pair in study.comparisons:
        if pair.verdict == "better":
            better.setdefault(pair.other, []).append(pair.tokenizer)
    if len(better) <= _MOST_SENTENCES:
        return [
            f"{listed(names)} {'is' if len(names) == 1 else 'are'} better than {other}."
            for other, names in better.items()
        ]
    compared = {name for pair in study.comparisons for name in (pair.tokenizer, pair.other)}
    unbeaten = [name for name in study.blocks if name in compared and name not in better]
    others = "any of these" if len(unbeaten) > 1 else "this one"
    return [f"No tokenizer is found better than {others}: {listed(unbeaten)}."] if unbeaten else []


def listed(names: Sequence[str]) -> str:
    """Return one or more names for a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def sentence(study: BitsPerByte, pair: BitsComparison) -> str:
    """Return a verdict in words."""
    one, other = pair.tokenizer, pair.other
    if pair.verdict == "better":
        return f"{one} is better than {other}"
    if pair.verdict == "level":
        return f"{one} and {other} are not significantly different"
    if pair.verdict == "unknown":
        return f"{one} and {other}: too few or too uneven documents"
    return f"{one} or {other}: which is better {depends(study)}"


def differences(study: BitsPerByte, pair: BitsComparison) -> str:
    """Return bits per byte of the first less the second, by model."""
    numbers = zip(study.models, pair.differences, pair.errors, strict=True)
    return "; ".join(
        f"{model} {difference:+.3f}" + (f" ± {error:.3f}" if error is not None else "")
        for model, difference, error in numbers
    )
