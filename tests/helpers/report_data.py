"""A run as it might have been: tokenizers of every state, three corpora, and harmful strings wherever text is shown."""

from __future__ import annotations

import random
from dataclasses import replace

from tokbench.measuring.metric import Role
from tokbench.results import blocks
from tokbench.results.cells import WHOLE, Cell, Status, TokenizerState
from tokbench.results.model import Results
from tokbench.segmentation.segmented_text import SHOWN_TEXTS, Segmentation, SegmentedText, ShownTexts, WorstDocument

SCRIPT = "<script>alert('x')</script>"
BIDI = "\u202eevil\u2066"
ESCAPE = "\x1b[31mred\x1b]0;title\x07"
SURROGATE = "half \ud83d of a pair"
FORMULA = "=1+1"
HOSTILE = [SCRIPT, BIDI, ESCAPE, SURROGATE, "a\x00b", "a|b`c`", FORMULA]

LANGUAGES = "en de fr tr ar hi th ja zh".split()
CODE = ["python", "rust", "sql"]
BY_CHARACTER = {"th": "cluster", "ja": "character", "zh": "character"}
TOKENIZERS = {
    "utf8-bytes": ("utf8_bytes", 256, 1.0, 210.0),
    "naive-1k": ("naive_bpe", 1024, 2.1, 0.011),
    "naive-4k": ("naive_bpe", 4096, 2.75, 0.009),
    "gpt4-4k": ("regex_bpe", 4096, 2.72, 3.0),
    "gpt4-8k": ("regex_bpe", 8192, 3.05, 2.5),
    "spm-bpe-4k": ("sentencepiece", 4096, 2.66, 4.9),
    "spm-bpe-16k": ("sentencepiece", 16384, 3.31, 4.4),
    "cl100k": ("tiktoken", 100277, 3.3, 12.6),
    "o200k": ("tiktoken", 200019, 4.3, 11.8),
    "cl100k-splintr": ("splintr", 100277, 3.3, 41.0),
    "llama3": ("splintr", 128256, 3.5, 38.0),
    "kimi_k2": ("splintr", 163842, 3.7, 34.1),
}
LOSSY = ["spm-bpe-4k", "spm-bpe-16k"]
METRICS = {
    "compression_ratio": ("compression", "bytes/token", "higher", Role.TEXT_PER_TOKEN),
    "chars_per_token": ("compression", "chars/token", "higher", ""),
    "tokens": ("compression", "tokens", "lower", ""),
    "fertility": ("fertility", "tokens/word", "lower", Role.TOKENS_PER_WORD),
    "roundtrip_exact": ("roundtrip", "share of documents", "higher", Role.ROUND_TRIP),
    "cer": ("roundtrip", "edits/char", "lower", ""),
    "unk_rate": ("roundtrip", "share of tokens", "lower", Role.UNKNOWN),
    "renyi_efficiency": ("vocabulary", "share of the maximum", "higher", ""),
    "encode_mb_per_s": ("speed", "MB/s", "higher", Role.ENCODING_SPEED),
    "decode_mb_per_s": ("speed", "MB/s", "higher", ""),
    "lost_characters": ("roundtrip", "share of characters", "lower", Role.LOST_CHARACTERS),
    "cer_nfc": ("roundtrip", "edits/char", "lower", Role.ERRORS),
}
PLUGIN_METRIC = "acme_oddness"
ROLES = {"premium": Role.PREMIUM, "gini": Role.INEQUALITY}
HEADLINE = ("encode_mb_per_s", "lost_characters", "fertility", "compression_ratio")
LOSS_METRICS = ("lost_characters", "cer", "cer_nfc")


def metric_info(name: str, family: str, unit: str, direction: str, **facts) -> blocks.MetricInfo:
    """The definition of a metric, with what its family says of it."""
    return blocks.MetricInfo(
        family=family,
        unit=unit,
        direction=direction,
        formula=f"Σ of {name}",
        definition=f"What {name.replace('_', ' ')} says.",
        label={"compression_ratio": "compression", "encode_mb_per_s": "encode"}.get(name, ""),
        headline=name in HEADLINE,
        loss_cannot_help="it measures the losses" if name in (*LOSS_METRICS, "roundtrip_exact") else "",
        role=METRICS[name][3] if name in METRICS else ROLES.get(name, ""),
        timed=family == "speed",
        **facts,
    )


def broken_plugin(name: str, reason: str) -> blocks.PluginInfo:
    return blocks.PluginInfo(name=name, distribution=name, version="2.0", state="broken", reason=reason)


def build(*, hostile: bool = True) -> Results:
    """A realistic run; with ``hostile`` strings in names, reasons and texts, unless told otherwise."""
    rng = random.Random(5)
    corpora = {"pud": LANGUAGES, "code": [*CODE, *HOSTILE] if hostile else CODE, "odd": ["emoji", "controls"]}
    results = Results(
        name="languages and code",
        created="2025-06-03T09:14:07+00:00",
        config=blocks.RunConfig(sha256="5f" * 32, text="schema: tokbench/1\nmetrics: [compression]\n"),
        environment=blocks.Environment(python="3.11.7", cpu="Example CPU", cores=8, tokbench="0.1.0"),
        plugins=[broken_plugin("acme", "ImportError: no module named 'acme'")],
        seconds=192.4,
        notes=["speed on pud: noise floor 1.2%: so far cl100k differs from itself"],
    )
    for number, (corpus, groups) in enumerate(corpora.items()):
        documents = {group: 66 + 3 * k for k, group in enumerate(groups)}
        results.corpora[corpus] = blocks.CorpusInfo(
            source="sample", licence="CC0-1.0", sha256=f"{number:02x}" * 32, documents=sum(documents.values()),
            bytes=300 * sum(documents.values()), holdout=0.1, parallel=corpus == "pud", groups=documents,
        )  # fmt: skip
    results.metrics |= {name: metric_info(name, *facts[:3]) for name, facts in METRICS.items()}
    results.metrics[PLUGIN_METRIC] = metric_info(PLUGIN_METRIC, "acme", "odds", "none")
    _tokenizers(results)
    for name in TOKENIZERS:
        for corpus, groups in corpora.items():
            results.cells += [cell for group in [WHOLE, *groups] for cell in _cells(rng, name, corpus, group)]
    texts = HOSTILE if hostile else []
    _losses(results, texts)
    _texts(results, texts)
    if hostile:
        _poison(results)
    return results


def _tokenizers(results: Results) -> None:
    for name, (backend, vocab_size, _, _) in TOKENIZERS.items():
        train = blocks.TrainingInfo(corpora=["code"], documents=900, bytes=812_000, vocab_size=vocab_size, seconds=1.9)
        results.tokenizers[name] = blocks.TokenizerInfo(
            backend=backend, distribution="tokbench 0.1.0", vocab_size=vocab_size, load_s=0.02,
            train=train if "bpe" in backend else None, sha256={"vocabulary": "ab" * 32},
        )  # fmt: skip
    for name, state, reason in (
        ("p50k", "unavailable", "the vocabulary is not on this machine and there is no network"),
        ("spm-broken", "failed", "RuntimeError: vocabulary size is too high (40000)"),
    ):
        facts = {"optional": True, "state": TokenizerState(state), "reason": reason}
        results.tokenizers[name] = blocks.TokenizerInfo(backend="tiktoken", **facts)


def _values(rng, name: str, group: str) -> dict[str, float | None]:
    ratio = TOKENIZERS[name][2] * (0.55 if group in {*BY_CHARACTER, "hi"} else 1.0) * rng.uniform(0.85, 1.1)
    return {
        "compression_ratio": max(1.0, ratio),
        "chars_per_token": ratio / 1.05,
        "tokens": float(round(400_000 / ratio)),
        "fertility": (1.1 if group in BY_CHARACTER else 5.4) / ratio,
        "roundtrip_exact": 0.985 if name in LOSSY else 1.0,
        **dict.fromkeys(LOSS_METRICS, 0.004 if name in LOSSY else 0.0),
        "unk_rate": 0.00002 if name in LOSSY else None,
        "renyi_efficiency": rng.uniform(0.4, 0.6),
        PLUGIN_METRIC: rng.uniform(0.4, 2.6),
    }


def _cells(rng, name: str, corpus: str, group: str):
    in_sample = 0.9 if "bpe" in TOKENIZERS[name][0] and corpus == "code" else 0.0
    values, speed = _values(rng, name, group), TOKENIZERS[name][3]
    if group == WHOLE and corpus != "odd":
        values |= {"encode_mb_per_s": speed * rng.uniform(0.95, 1.05), "decode_mb_per_s": speed * 6}
    for metric, number in values.items():
        unit = METRICS[metric][1] if metric in METRICS else "odds"
        unit = f"tokens/{BY_CHARACTER.get(group, 'word')}" if metric == "fertility" else unit
        place = {"tokenizer": name, "corpus": corpus, "group": group, "metric": metric, "unit": unit}
        if (metric, group, corpus) == ("fertility", WHOLE, "pud"):
            yield Cell(**place, status=Status.NOT_APPLICABLE, reason="groups are counted in different units")
        elif number is None:
            yield Cell(**place, status=Status.NOT_APPLICABLE, reason="this vocabulary has no unknown token")
        elif (name, metric) == ("naive-4k", "encode_mb_per_s"):
            yield Cell(**place, status=Status.TIMEOUT, reason="no round was done after 300 s")
        elif (name, group) == ("kimi_k2", "controls"):
            yield Cell(**place, status=Status.FAILED, reason="PanicException: stack overflow")
        else:
            whole, n = metric in {"tokens", "roundtrip_exact"}, 10 if metric.endswith("per_s") else 66
            ends = (None, None) if whole else (number * 0.985, number * 1.015)
            yield Cell(**place, value=number, n=n, in_sample=in_sample, ci_low=ends[0], ci_high=ends[1])


def _losses(results: Results, hostile: list[str]) -> None:
    for name in LOSSY:
        for group in ("de", "ja"):
            origin = f"{group}.txt:12"
            first = blocks.LossExample(origin=origin, position=17, expected="Weg  zum\u3000Ziel\n", got="Weg zum Ziel")
            unknown = blocks.LossExample(origin=origin, position=17, expected="Weg 鬱", got="Weg ⁇")
            causes = [
                blocks.LossCause(cause="unknown", documents=1, taking_part=2, first=unknown),
                blocks.LossCause(cause="whitespace", documents=2, taking_part=3, first=first),
                blocks.LossCause(cause="casing", documents=0, taking_part=1),
            ]
            results.losses.append(
                blocks.LossInfo(tokenizer=name, corpus="pud", group=group, documents=3, first=first, causes=causes)
            )
    for number, text in enumerate(hostile):
        first = blocks.LossExample(
            origin=f"{text}:{number}", position=number, expected=f"x{text}", got=f"x\ufffd{text[::-1]}"
        )
        results.losses.append(
            blocks.LossInfo(tokenizer=LOSSY[0], corpus="odd", group="controls", documents=1, first=first)
        )


def _cut(tokenizer: str, text: str, size: int) -> Segmentation:
    """Return a text whose tokens are so many bytes each."""
    data = text.encode()
    ends = [min(at + size, len(data)) for at in range(0, len(data), size)]
    ids = [int.from_bytes(data[end - size if end % size == 0 else end - end % size : end], "big") for end in ends]
    return Segmentation(tokenizer=tokenizer, ids=ids, ends=ends)


def _texts(results: Results, hostile: list[str]) -> None:
    """Texts as tokens: one that cannot be aligned, one that failed, and excerpts of documents."""
    block = ShownTexts(texts=[], worst=[])
    for number, text in enumerate(["né 東京\n  x", *(text for text in hostile if text != SURROGATE)]):
        lines = [_cut(name, text, size) for size, name in enumerate(("cl100k", "o200k", "llama3"), 1)]
        pieces = ["3f", text.encode().hex()]
        more = [
            Segmentation(tokenizer=LOSSY[0], ids=[0, 7], pieces=pieces, round_trip=False, back=f"?{text}"),
            Segmentation(tokenizer="kimi_k2", round_trip=False, reason=f"it died of {text}"),
        ]
        excerpt = {"corpus": "pud", "group": "en", "mark": "0a", "whole": False} if number % 2 else {}
        block.texts.append(
            SegmentedText(label=text, text=text, segmentations=lines + more * (number % 2 == 0), **excerpt)
        )
        two = [lines[0], _cut("o200k", text, 3)]
        shown = SegmentedText(label=f"{text}:1", text=text, segmentations=two, corpus="pud", group="en")
        block.worst.append(WorstDocument(tokenizer="cl100k", number=3, tokens=99, bytes=100, shown=shown))
    results.studies.put(SHOWN_TEXTS, block)


def _poison(results: Results) -> None:
    """Harmful strings where a plugin, a file or an exception could have put them."""
    every, first = "".join(HOSTILE), next(iter(TOKENIZERS))
    results.name += every
    bases = [blocks.ConfigFile(file=every, sha256=every, text=every)]
    results.config = replace(results.config, text=every, bases=bases, limit=5, only=[every], settings=[every])
    results.environment = replace(results.environment, cpu=every, packages={every: every})
    results.notes.append(every)
    results.plugins.append(broken_plugin(every, every))
    named = dict.fromkeys(("family", "unit", "formula", "definition", "label", "short_label"), every)
    results.metrics[every] = blocks.MetricInfo(**named, headline=True)
    results.metrics["premium"] = metric_info("premium", "fairness", "", "lower")
    results.corpora[every] = blocks.CorpusInfo(
        source=every, options={every: every}, licence=every, sha256=every, documents=1, bytes=1, groups={every: 1},
        reference=every, limit=5,
    )  # fmt: skip
    for number, text in enumerate(HOSTILE):
        results.cells.append(Cell(text, every, every, "premium", 1.5 + number, "", 1.2 + number, 1.9 + number, 3))
        results.cells.append(Cell(first, text, text, text, status=Status.FAILED, reason=text))
        results.cells.append(Cell(first, every, every, every, 1.5, every, 1.0, 2.0, 3, in_sample=0.5))
        results.tokenizers[text] = blocks.TokenizerInfo(
            backend=text, distribution=text, options={text: text}, state=TokenizerState(("unavailable", "failed")[number % 2]),
            reason=text, sha256={text: text}, notes=[text],
        )  # fmt: skip


def few(results: Results, corpora: tuple[str, ...] = ("code",), metrics: tuple[str, ...] = ()) -> Results:
    """The results with the cells of few tokenizers, corpora and metrics, so that little is drawn."""
    names = ["utf8-bytes", "naive-1k", "naive-4k", "spm-bpe-4k", "cl100k", "o200k", "llama3"]
    results.tokenizers = {name: info for name, info in results.tokenizers.items() if name in names}
    kept = (cell for cell in results.cells if cell.tokenizer in names and cell.corpus in corpora)
    results.cells = [cell for cell in kept if not metrics or cell.metric in metrics]
    return results


def everything_failed() -> Results:
    """A run in which no tokenizer got ready."""
    results = build(hostile=False)
    for name, info in results.tokenizers.items():
        results.tokenizers[name] = replace(info, state=TokenizerState.FAILED, reason="it did not load", vocab_size=None)
    gone = {
        "value": None,
        "ci_low": None,
        "ci_high": None,
        "n": 0,
        "status": Status.FAILED,
        "reason": "it did not load",
    }
    results.cells = [replace(cell, **gone) for cell in results.cells]
    results.losses = []
    return results
