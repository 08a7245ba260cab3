"""Writes the golden reports of six made-up runs again: PYTHONPATH=tests/helpers python .ci/write_goldens.py. See what git shows then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from every_section import every_section, put_sizes
from made_up_results import TOKENS, made_up, more, together
from report_data import build, few, metric_info

from tokbench.formats import markdown
from tokbench.results import blocks
from tokbench.results.blocks import LossCause, LossExample, LossInfo, MetricInfo, TokenizerInfo
from tokbench.results.cells import WHOLE, Cell, Status, TokenizerState
from tokbench.results.model import Results
from tokbench.results.states import RawStates
from tokbench.studies.same_ids.block import DIFFERENCES

FOLDER = Path(__file__).parents[1] / "tests" / "report" / "goldens"
APART, TIE = more(0.1, 5), more(0.001, 60)
GPT, LLAMA, QWEN = "gpt-4o", "llama-3", "qwen-3"


def published() -> Results:
    """Published tokenizers: a corpus for each shape of an answer, and one of translations."""
    names, far = (GPT, LLAMA, QWEN), more(0.5, 5)
    ends = {
        "apart": (TOKENS, APART, far),
        "tie": (TOKENS, TIE, far),
        "all tie": (TOKENS, TIE, TIE),
        "equal": (TOKENS, TOKENS, TOKENS),
        "one of two": (TOKENS, APART),
        "few": (TOKENS[:9], APART[:9]),
        "chosen": (TOKENS, APART),
    }
    parts = [
        made_up(dict(zip(names, tokens, strict=False)), corpus=corpus, documents=9 if corpus == "few" else 400)
        for corpus, tokens in ends.items()
    ]
    results = together("published", *parts, _translations())
    results.corpora["chosen"] = replace(results.corpora["chosen"], designed=True)
    return results


def _translations() -> Results:
    """Two tokenizers on three languages, with premiums and their inequality."""
    premiums = {
        GPT: {"hy": (2.2, 2.4, 2.5), "am": (4.8, 5.2, 5.7)},
        LLAMA: {"hy": (1.3, 1.5, 1.7), "am": (1.2, 1.4, 1.6)},
    }
    results = made_up({GPT: TOKENS, LLAMA: APART}, corpus="translations")
    results.states = RawStates([replace(state, group="en") for state in results.states])
    results.corpora["translations"] = blocks.CorpusInfo(
        groups={"en": 400, "hy": 400, "am": 400}, reference="en", parallel=True
    )
    results.metrics |= {
        name: replace(metric_info(name, "fairness", "", "lower"), headline=True, leads=True, label=name)
        for name in ("premium", "gini")
    }
    for name, by_group in premiums.items():
        for group, (low, value, high) in by_group.items():
            results.cells.append(Cell(name, "translations", group, "premium", value, "times", low, high, 400))
            results.cells.append(Cell(name, "translations", group, "exact", 1.0, "share", n=400))
    for name, value in ((GPT, 0.22), (LLAMA, 0.11)):
        place = name, "translations", WHOLE, "gini"
        results.cells.append(Cell(*place, value, "Gini coefficient", value - 0.01, value + 0.01, n=400))
    return results


def own_sizes() -> Results:
    """Tokenizers of one's own at several sizes: trained on part of the text, and one smaller than asked for."""
    asked = {
        f"mine-{size}": TokenizerInfo(
            backend="regex_bpe", vocab_size=size, train=blocks.TrainingInfo(corpora=["prose"], vocab_size=512)
        )
        for size in (512, 256)
    }
    results = made_up({"mine-512": TOKENS, "mine-256": APART}, infos=asked, in_sample={"mine-512": 0.5})
    results = replace(results, name="own sizes", config=blocks.RunConfig(limit=5, settings=["limits.step=9"]))
    put_sizes(results)
    return results


def published_and_own() -> Results:
    """Every section of a report."""
    return every_section()


def speeds() -> Results:
    """Engines of one vocabulary beside another vocabulary: one has other ids, one is as fast as the fastest."""
    infos = {name: TokenizerInfo(backend="b", vocab_size=9, same_as="a") for name in ("fast", "near", "other")}
    speed = {"a": (9, 10, 11), "fast": (95, 100, 105), "near": (98, 99, 104), "b": (190, 200, 210)}
    tokens = {"a": TOKENS, **dict.fromkeys(infos, TOKENS), "b": APART}
    results = made_up(
        tokens,
        speed=speed,
        infos=infos,
        name="speeds",
        durations=blocks.Durations(reading=0.25, studies={"speed": 130}),
    )
    results.metrics["same_ids"] = MetricInfo(family="same_ids")
    results.cells += [Cell(name, "prose", WHOLE, "same_ids", 1.0, n=400) for name in infos]
    results.studies.put(DIFFERENCES, [])
    return results


def failures_and_losses() -> Results:
    """A stopped run with harmful strings in it, tokenizers that fail or did not run, and every kind of loss."""
    results = few(
        build(), ("code", "odd"), ("compression_ratio", "roundtrip_exact", "lost_characters", "cer_nfc", "tokens")
    )
    results.partial = blocks.PartialRun(phase="measuring")
    results.interrupted = True
    return results


def one_alone() -> Results:
    """One tokenizer that competes, beside a lossy one, a baseline, one that failed in places and one that did not run."""
    first = LossExample(origin="x.txt:1", position=0, expected="  a", got="a")
    cause = LossCause(cause="whitespace", documents=3, taking_part=3, first=first)
    gone = {"backend": "b", "state": TokenizerState.UNAVAILABLE}
    infos = {
        "points": TokenizerInfo(backend="utf32_units", vocab_size=1_114_112, baseline=True),
        "absent": TokenizerInfo(**gone, reason="no network"),
        "mine": TokenizerInfo(backend="b", vocab_size=9, notes=["caution: split gpt4 assumed"]),
    }
    tokens = {"mine": TOKENS, "t5": np.round(TOKENS * 0.7).astype(int), "points": APART}
    lost = LossInfo(tokenizer="t5", corpus="prose", group="g", documents=3, first=first, causes=[cause])
    results = made_up(tokens, infos=infos, exact={"t5": 0.9}, name="one alone", losses=[lost])
    results.tokenizers["absent"] = infos["absent"]
    results.cells.append(Cell("mine", "prose", "g", "density", status=Status.FAILED, reason="it broke"))
    return results


RUNS: dict[str, Callable[[], Results]] = {
    make.__name__: make for make in (published, own_sizes, published_and_own, speeds, failures_and_losses, one_alone)
}


def report_of(name: str) -> str:
    """Return the report of a run in Markdown."""
    return markdown.render(RUNS[name]())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in RUNS:
        (FOLDER / f"{name}.md").write_text(report_of(name), encoding="utf-8")
