"""Made-up runs, and the answer that each should give (``tests/report/answers.txt``): ``python tests/helpers/answer_runs.py``."""

from functools import partial
from pathlib import Path

import numpy as np
from made_up_results import results_of

from tokbench.measuring.metric import Role
from tokbench.report.answer.answer import answer_of
from tokbench.report.tables import CellTables
from tokbench.results.blocks import (
    CorpusInfo,
    LossExample,
    LossInfo,
    MetricInfo,
    RunConfig,
    TokenizerInfo,
    TrainingInfo,
)
from tokbench.results.cells import WHOLE, Cell

FILE = Path(__file__).parents[1] / "report" / "answers.txt"
DOCUMENTS = 40

METRICS = {
    "ratio": MetricInfo(family="f", direction="higher", role=Role.TEXT_PER_TOKEN, ratio_of=["bytes", "tokens"]),
    "exact": MetricInfo(family="r", direction="higher", role=Role.ROUND_TRIP, loss_cannot_help="it is the loss"),
    "lost": MetricInfo(family="r", direction="lower", role=Role.LOST_CHARACTERS, loss_cannot_help="it is the loss"),
    "errors": MetricInfo(family="r", direction="lower", role=Role.ERRORS, loss_cannot_help="it is the loss"),
    "speed": MetricInfo(
        family="s", direction="higher", role=Role.ENCODING_SPEED, timed=True, by_output=True, loss_cannot_help="no"
    ),
}


def made_up(
    corpora,
    *,
    sizes=None,
    documents=None,
    lost=None,
    speeds=None,
    evaluated_bytes=10**6,
    own=(),
    round_trip=True,
    designed=(),
    returns=(),
    files=(),
    **config,
):
    """Results from bytes per token by corpus, group and tokenizer.

    ``sizes`` are the bytes of a group by its name, ``documents`` its documents, ``lost`` the shares of lost characters
    by tokenizer and corpus, and ``speeds`` the ends and the middle of an interval by tokenizer; ``returns`` names those
    that return lists. In the corpora of ``files`` a document is a file. Equal rates are those of copies.
    """
    cells, states, losses = [], {}, []
    for corpus, groups in corpora.items():
        totals = {}
        for number, (group, rates) in enumerate(groups.items()):
            rng = np.random.default_rng(number)
            many = (documents or {}).get(group, DOCUMENTS)
            n_bytes = rng.integers(50, 150, many) * (sizes or {}).get(group, 4000) // 4000 * 10
            for name, rate in rates.items():
                noise = np.random.default_rng(100 * number + list(rates.values()).index(rate)).normal(1, 0.01, many)
                tokens = np.round(n_bytes / rate * (noise / noise.mean())).astype(int)
                sums = {"bytes": n_bytes.tolist(), "tokens": tokens.tolist()}
                keys = [(number + 1 << 32) + k for k in range(many)]
                units = {"bits": 32, "keys": keys, "documents": [1] * many} if documents else None
                states[name, corpus, group, "f"] = {"documents": many, "sums": sums, "sample_units": units}
                total = totals.setdefault(name, [0, 0])
                total[0] += int(n_bytes.sum())
                total[1] += int(tokens.sum())
                cells.append(
                    Cell(name, corpus, group, "ratio", float(n_bytes.sum() / tokens.sum()), "bytes/token", n=many)
                )
        for name, (n_bytes, tokens) in totals.items():
            share = (lost or {}).get((name, corpus), 0.0)
            cells.append(Cell(name, corpus, WHOLE, "ratio", n_bytes / tokens, "bytes/token", n=DOCUMENTS))
            for group in (WHOLE, *groups) if round_trip else ():
                lost_here = share if group in {WHOLE, next(iter(groups))} else 0.0
                cells.append(Cell(name, corpus, group, "exact", 0.98 if lost_here else 1.0, "share", n=DOCUMENTS))
                cells += [Cell(name, corpus, group, each, lost_here, "share") for each in ("lost", "errors")]
            if share:
                first = LossExample(origin=f"{corpus}.txt:7", position=3, expected="x \u2581", got="x  ")
                losses.append(
                    LossInfo(tokenizer=name, corpus=corpus, group=next(iter(groups)), documents=1, first=first)
                )
            if name in (speeds or {}):
                low, value, high = speeds[name]
                cells.append(Cell(name, corpus, WHOLE, "speed", value, "MB/s", low, high, 9))
    names = list(dict.fromkeys(cell.tokenizer for cell in cells))
    trained = TrainingInfo(corpora=["training"], bytes=10**6, vocab_size=4096)
    return results_of(
        cells,
        METRICS if round_trip else {"ratio": METRICS["ratio"], "speed": METRICS["speed"]},
        states,
        config=RunConfig(**config),
        corpora={
            corpus: CorpusInfo(
                groups={group: (documents or {}).get(group, DOCUMENTS) for group in groups},
                designed=corpus in designed,
                evaluated_bytes=evaluated_bytes,
                options={"document": "file"} if corpus in files else {},
            )
            for corpus, groups in corpora.items()
        },
        tokenizers={
            name: TokenizerInfo(
                backend="b",
                vocab_size=9,
                train=trained if name in own else None,
                returns="lists" if name in returns else "arrays",
            )
            for name in names
        },
        losses=losses,
    )


def published(**config):
    """Gemma leads over languages, code is another matter, and one loses a character."""
    languages = {"de": (4.3, 4.6), "hi": (8.8, 7.6), "th": (7.9, 6.8), "vi": (4.4, 4.41), "en": (4.35, 4.45)}
    rates = {group: {"gemma-3": one, "gpt-4o": two, "old": 2.0} for group, (one, two) in languages.items()}
    code = {"python": {"gemma-3": 3.4, "gpt-4o": 3.5, "old": 2.0}, "rust": {"gemma-3": 3.4, "gpt-4o": 3.6, "old": 2.0}}
    return made_up({"prose": rates, "code": code}, lost={("gemma-3", "code"): 0.00001, ("old", "prose"): 0.2}, **config)


def one_language():
    return made_up({"prose": {"de": {"a": 4.5, "b": 4.2, "c": 3.0}}})


def tie():
    return made_up({"prose": {"de": {"a": 4.50, "b": 4.49, "c": 3.0}, "fi": {"a": 4.10, "b": 4.11, "c": 3.0}}})


def sum_and_mean():
    """Most of the text is German, where b is ahead; in each of two other languages a is."""
    rates = {"de": {"a": 4.2, "b": 4.5}, "hi": {"a": 8.0, "b": 7.0}, "th": {"a": 7.0, "b": 6.0}}
    return made_up({"prose": rates}, sizes={"de": 80_000, "hi": 4000, "th": 4000})


def stray():
    """Four stray files of code beside two languages, and a language of three lines."""
    prose = {
        "fi": {"a": 4.0, "b": 3.7, "c": 3.6},
        "vi": {"a": 4.0, "b": 4.3, "c": 3.6},
        "eo": {"a": 9.0, "b": 1.0, "c": 1.0},
    }
    code = {group: {"a": 2.0, "b": 3.0, "c": 4.0} for group in ("css", "html", "json", "yaml")}
    few = dict.fromkeys(code, 1) | {"eo": 3}
    return made_up({"prose": prose, "code": code}, documents=few, sizes=dict.fromkeys(code, 100), files=("code",))


def small_programs():
    """Small programming languages count as one, beside a large one and two languages."""
    rates = {"de": {"a": 4.4, "b": 4.2}, "fi": {"a": 4.4, "b": 4.2}}
    code = {
        "python": {"a": 3.0, "b": 3.5},
        "go": {"a": 3.0, "b": 4.0},
        "rust": {"a": 3.2, "b": 4.0},
        "sql": {"a": 2, "b": 3},
    }
    return made_up({"prose": rates, "code": code}, documents={"go": 6, "rust": 7, "sql": 9})


def first_try():
    """All is small: the texts count alike, without intervals."""
    return made_up({"prose": {"de": {"a": 4.4, "b": 4.0}, "fi": {"a": 4.0, "b": 4.4}}}, documents={"de": 1, "fi": 9})


def copies():
    """The first two are one vocabulary."""
    return made_up({"prose": {"de": {"a": 4.5, "copy": 4.5, "c": 4.0}}})


def one_tokenizer():
    return made_up({"prose": {"de": {"a": 4.5}, "hi": {"a": 6.5}}})


def own_and_published():
    rates = {
        "de": {"gpt-4o": 4.5, "mine-4096": 3.1, "mine-8192": 3.6},
        "hi": {"gpt-4o": 6.5, "mine-4096": 5.0, "mine-8192": 6.0},
    }
    return made_up({"prose": rates}, own=("mine-4096", "mine-8192"))


def own_sizes():
    return made_up({"prose": {"de": {"mine-4096": 3.1, "mine-8192": 3.6}}}, own=("mine-4096", "mine-8192"))


def speeds():
    rates = {"de": {"a": 4.5, "b": 4.5, "c": 4.5}}
    return made_up({"prose": rates}, speeds={"a": (9.0, 10.0, 11.0), "b": (13.0, 14.0, 15.0), "c": (9.5, 10.5, 11.5)})


def compression_alone():
    return made_up({"prose": {"de": {"a": 4.5, "b": 4.2}}}, round_trip=False, limit=5)


def curated():
    return made_up({"hostile": {"emoji": {"a": 2.5, "b": 2.2}}}, designed=("hostile",), lost={("b", "hostile"): 0.3})


RUNS = {
    "published": published,
    "weighted": partial(published, weights={"prose": 1.0, "code": 9.0}),
    "one-language": one_language,
    "tie": tie,
    "sum-and-mean": sum_and_mean,
    "one-tokenizer": one_tokenizer,
    "stray": stray,
    "small-programs": small_programs,
    "first-try": first_try,
    "copies": copies,
    "own-and-published": own_and_published,
    "own-sizes": own_sizes,
    "speeds": speeds,
    "compression-alone": compression_alone,
    "curated": curated,
}


def text_of(name):
    """The answer of a run as the console shows it."""
    answer = answer_of(CellTables(RUNS[name]()))
    lines = [
        f"  {line.label:<12}{said}" if not k else f"  {'':<12}{said}"
        for line in answer.lines
        for k, said in enumerate(line.sentences)
    ]
    return "\n".join([answer.text, *lines]).strip("\n") + "\n"


def written():
    """Return the answers of the file by the name of their run."""
    parts = FILE.read_text(encoding="utf-8").split("== ")[1:]
    return {name: text.rstrip("\n") + "\n" for name, _, text in (part.partition("\n") for part in parts)}


if __name__ == "__main__":
    FILE.write_text("\n".join(f"== {name}\n{text_of(name)}" for name in RUNS), encoding="utf-8")
