"""The texts that a run shows as tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, zip_longest
from typing import Final, NamedTuple

from tokbench.foundation.failures import Failure
from tokbench.foundation.store import digest_of
from tokbench.measuring.job import TokenizerJob
from tokbench.measuring.metric import DocumentExample
from tokbench.measuring.plan import Plan
from tokbench.measuring.study import AskedJobs, Kept, StudyContext
from tokbench.segmentation.segment import cut_texts, without_tokens
from tokbench.segmentation.segmented_text import Segmentation, SegmentedText, ShownTexts, WorstDocument
from tokbench.studies.tokens.options import ShowOptions, named_texts

MOST_GROUPS: Final = 128
"""Groups with documents, over all corpora."""

MOST_CUTS: Final = 40 * MOST_GROUPS

MOST_WORST: Final = 3
"""In different groups."""

_SEGMENTATIONS: Final = "segmentations"

_Cut = Callable[[str, str], Segmentation]

Worst = Mapping[tuple[str, str, str], Sequence[DocumentExample]]


class _WorstPlace(NamedTuple):
    tokenizer: str
    corpus: str
    group: str
    example: DocumentExample


def show_texts(context: StudyContext, options: ShowOptions) -> ShownTexts:
    """Let every ready tokenizer cut the texts to show; a failure replaces the tokens of its text."""
    plan = context.plan
    named = named_texts(plan.config, options).texts
    texts = [SegmentedText(label=label, text=text, segmentations=[]) for label, text in named.items()]
    texts += chosen_documents(plan, options.documents)
    chosen = list(_chosen(plan, context.worst))
    names = [tokenizer.name for tokenizer in context.tokenizers]
    wanted = {name: _texts_of(plan, name, texts, chosen) for name in names}
    gone = {each.name: Failure(each.info.reason) for each in context.tokenizers if not each.ready}
    gone |= dict(context.ended)
    cut = _cut_all({name: due for name, due in wanted.items() if name not in gone and due}, context)

    def segmentation(name: str, text: str) -> Segmentation:
        return without_tokens(name, gone[name]) if name in gone else cut[name][text].compact(text)

    for text in texts:
        shown_under = plan.names_on(text.corpus) if text.corpus else names
        text.segmentations = [segmentation(name, text.text) for name in names if name in shown_under]
    return ShownTexts(texts=texts, worst=[_worst_document(plan, place, segmentation) for place in chosen])


def chosen_documents(plan: Plan, number: int) -> Iterator[SegmentedText]:
    """Yield some excerpts of each group, without tokens, by corpus and group; above :data:`MOST_GROUPS` fewer."""
    groups = [[(corpus, group) for group in plan.surveys[corpus].groups] for corpus in plan.measured] if number else []
    turns = [place for turn in zip_longest(*groups) for place in turn if place]
    most = min(MOST_GROUPS, max(1, MOST_CUTS // max(1, len(plan.tokenizers))))
    shown = set(turns[:most])
    for corpus, group in chain.from_iterable(groups):
        for excerpt in plan.surveys[corpus].excerpts.get(group, [])[:number] if (corpus, group) in shown else ():
            yield SegmentedText(
                label=excerpt.origin,
                text=excerpt.text,
                segmentations=[],
                corpus=corpus,
                group=group,
                mark=excerpt.mark,
                whole=excerpt.whole,
            )


def _chosen(plan: Plan, worst: Worst) -> Iterator[_WorstPlace]:
    for name in (tokenizer.name for tokenizer in plan.tokenizers if not tokenizer.spec.baseline):
        for corpus in plan.measured:
            groups = [(group, worst.get((name, corpus, group), ())) for group in plan.surveys[corpus].groups]
            firsts = [_WorstPlace(name, corpus, group, examples[0]) for group, examples in groups if examples]
            firsts.sort(key=lambda place: -place.example.tokens_per_byte)
            yield from firsts[:MOST_WORST]


def _texts_of(plan: Plan, name: str, texts: Sequence[SegmentedText], chosen: Sequence[_WorstPlace]) -> tuple[str, ...]:
    corpora = {"", *(corpus for corpus in plan.measured if name in plan.names_on(corpus))}
    shown = [text.text for text in texts if text.corpus in corpora]
    return tuple(dict.fromkeys([*shown, *(place.example.excerpt for place in chosen if place.corpus in corpora)]))


def _cut_all(wanted: Mapping[str, tuple[str, ...]], context: StudyContext) -> dict[str, dict[str, Segmentation]]:
    cut: dict[str, dict[str, Segmentation]] = {}
    jobs = [
        TokenizerJob((name,), "encoding", "the texts to show", partial(cut_texts, texts=texts))
        for name, texts in wanted.items()
    ]

    def kept(job: TokenizerJob) -> Kept:
        return Kept(_SEGMENTATIONS, {"texts": digest_of({"texts": list(wanted[job.names[0]])})})

    for job, value, _ in context.ask(AskedJobs(jobs, "showing tokens", kept, keep_asking=True)):
        name, texts = job.names[0], wanted[job.names[0]]
        segmentations = [without_tokens(name, value) for _ in texts] if isinstance(value, Failure) else value
        cut[name] = {text: replace(one, tokenizer=name) for text, one in zip(texts, segmentations, strict=True)}
    return cut


def _worst_document(plan: Plan, place: _WorstPlace, segmentation: _Cut) -> WorstDocument:
    example = place.example
    others = [segmentation(name, example.excerpt) for name in plan.names_on(place.corpus)]
    baselines = {tokenizer.name for tokenizer in plan.tokenizers if tokenizer.spec.baseline}
    able = [other for other in others if other.ids and other.round_trip and other.tokenizer not in baselines]
    fewest = min(able, key=lambda other: len(other.ids), default=None)
    own = segmentation(place.tokenizer, example.excerpt)
    better = [fewest] if fewest and fewest.tokenizer != place.tokenizer and len(fewest.ids) < len(own.ids) else []
    return WorstDocument(
        tokenizer=place.tokenizer,
        number=example.number,
        tokens=example.tokens,
        bytes=example.bytes,
        shown=SegmentedText(
            label=example.origin,
            text=example.excerpt,
            segmentations=[own, *better],
            corpus=place.corpus,
            group=place.group,
            whole=len(example.excerpt.encode()) == example.bytes,
        ),
    )
