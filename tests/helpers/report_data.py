"""A run as it might have been: many tokenizers, three corpora, and hostile strings wherever text can stand."""

from __future__ import annotations

import random
from dataclasses import replace

from tokbench.measuring.metric import Role
from tokbench.results.blocks import (
    ConfigFile,
    CorpusInfo,
    Environment,
    LossCause,
    LossExample,
    LossInfo,
    MetricInfo,
    PairComparison,
    PluginInfo,
    RunConfig,
    TokenizerInfo,
    TrainingInfo,
)
from tokbench.results.cells import WHOLE, Cell, Status, TokenizerState
from tokbench.results.model import Results
from tokbench.results.segmentation import SHOWN_TEXTS, Segmentation, SegmentedText, ShownTexts, WorstDocument
from tokbench.studies.probes.block import PROBES, ProbeAnswerInfo, ProbeInfo, ProbeText
from tokbench.studies.validity.block import RankCorrelation, Validity, ValidityClass

SCRIPT = "<script>alert('x')</script>"
BIDI = "\u202eevil\u2066"
ESCAPE = "\x1b[31mred\x1b]0;title\x07"
SURROGATE = "half \ud83d of a pair"
NUL = "a\x00b"
PIPE = "a|b`c`"
FORMULA = "=1+1"
HOSTILE = [SCRIPT, BIDI, ESCAPE, SURROGATE, NUL, PIPE, FORMULA]

LANGUAGES = "en de fr es pt it pl ru uk el tr fi id vi sw ar fa he hi bn ta te th ko ja zh my km".split()
CODE = "python javascript typescript java c cpp rust go shell sql html yaml".split()
PATHOLOGICAL = ["spaces", "combining marks", "emoji", "long lines", "controls"]
BY_CHARACTER = {"th": "cluster", "ja": "character", "zh": "character", "my": "cluster", "km": "cluster"}

TOKENIZERS = {
    "utf8-bytes": ("utf8_bytes", 256, 1.0, 210.0),
    "characters": ("characters", 8123, 1.55, 150.0),
    "naive-1k": ("naive_bpe", 1024, 2.1, 0.011),
    "naive-4k": ("naive_bpe", 4096, 2.75, 0.009),
    "gpt2-pattern-4k": ("regex_bpe", 4096, 2.7, 3.1),
    "gpt4-4k": ("regex_bpe", 4096, 2.72, 3.0),
    "gpt4-8k": ("regex_bpe", 8192, 3.05, 2.9),
    "gpt4-16k": ("regex_bpe", 16384, 3.36, 2.8),
    "gpt4-32k": ("regex_bpe", 32768, 3.6, 2.6),
    "spm-bpe-4k": ("sentencepiece", 4096, 2.66, 4.9),
    "spm-bpe-16k": ("sentencepiece", 16384, 3.31, 4.4),
    "spm-unigram-16k": ("sentencepiece", 16384, 3.38, 5.6),
    "cl100k": ("tiktoken", 100277, 3.3, 12.6),
    "o200k": ("tiktoken", 200019, 4.3, 11.8),
    "cl100k-splintr": ("splintr", 100277, 3.3, 41.0),
    "llama3": ("splintr", 128256, 3.5, 38.0),
    "deepseek_v3": ("splintr", 128815, 3.62, 36.5),
    "qwen3": ("splintr", 151669, 3.4, 37.2),
    "gemma3": ("splintr", 262145, 4.35, 22.0),
    "mistral_v3": ("splintr", 131072, 4.1, 35.0),
    "kimi_k2": ("splintr", 163842, 3.7, 34.1),
    "olmo2": ("splintr", 100278, 3.29, 39.9),
}

METRICS = {
    "compression_ratio": ("compression", "bytes/token", "higher", "Σ bytes / Σ tokens"),
    "chars_per_token": ("compression", "chars/token", "higher", "Σ code points / Σ tokens"),
    "tokens": ("compression", "tokens", "lower", "Σ tokens"),
    "fertility": ("fertility", "tokens/word", "lower", "Σ tokens / Σ words"),
    "continued_word_rate": ("fertility", "share of words", "lower", "words with a boundary inside / words"),
    "roundtrip_exact": ("roundtrip", "share of documents", "higher", "exact documents / documents"),
    "cer": ("roundtrip", "edits/char", "lower", "Σ edit distance / Σ code points"),
    "unk_rate": ("roundtrip", "share of tokens", "lower", "unknown tokens / tokens"),
    "vocab_utilization": ("vocabulary", "share of ids", "higher", "distinct ids / vocab_size"),
    "renyi_efficiency": ("vocabulary", "share of the maximum", "higher", "H_2.5 / log2(distinct ids)"),
    "encode_mb_per_s": ("speed", "MB/s", "higher", "bytes / median seconds / 10⁶"),
    "decode_mb_per_s": ("speed", "MB/s", "higher", "bytes / median seconds / 10⁶"),
    "lost_characters": ("roundtrip", "share of characters", "lower", "Σ lost code points / Σ code points"),
    "cer_nfc": ("roundtrip", "edits/char", "lower", "Σ edit distance after NFC / Σ code points"),
    "loss_charge": ("roundtrip", "bytes/token", "lower", "Σ bytes of lost characters / Σ tokens"),
}
PLUGIN_METRIC = "acme_oddness"
ROLES = {
    "compression_ratio": Role.TEXT_PER_TOKEN,
    "fertility": Role.TOKENS_PER_WORD,
    "roundtrip_exact": Role.ROUND_TRIP,
    "lost_characters": Role.LOST_CHARACTERS,
    "cer_nfc": Role.ERRORS,
    "loss_charge": Role.CHARGE,
    "unk_rate": Role.UNKNOWN,
    "encode_mb_per_s": Role.ENCODING_SPEED,
    "premium": Role.PREMIUM,
    "gini": Role.INEQUALITY,
    "rank": Role.RANK,
}
HEADLINE = ("encode_mb_per_s", "lost_characters", "fertility", "compression_ratio")
MEASURE_LOSSES = ("roundtrip_exact", "lost_characters", "cer", "cer_nfc", "loss_charge")
LABELS = {"compression_ratio": "compression", "encode_mb_per_s": "encode"}


def metric_info(name: str, family: str, unit: str, direction: str, formula: str = "f") -> MetricInfo:
    """The definition of a metric, with what its family says of it."""
    return MetricInfo(
        family=family,
        unit=unit,
        direction=direction,
        formula=formula,
        definition=f"What {name.replace('_', ' ')} says, in a sentence or two.",
        label=LABELS.get(name, ""),
        headline=name in HEADLINE,
        loss_cannot_help="it measures the losses" if name in MEASURE_LOSSES else "",
        role=ROLES.get(name, ""),
        timed=family == "speed",
    )


def build(*, hostile: bool = True) -> Results:
    """A realistic run; with ``hostile`` strings in names, reasons and texts, unless told otherwise."""
    rng = random.Random(5)
    corpora = {"pud": LANGUAGES, "code": CODE, "hostile": PATHOLOGICAL}
    if hostile:
        corpora["code"] = [*CODE, *HOSTILE]
    results = Results(
        name="languages and code",
        created="2025-06-03T09:14:07+00:00",
        config=RunConfig(
            sha256="5f" * 32, text="schema: tokbench/1\nname: languages and code\nmetrics: [compression]\n"
        ),
        environment=Environment(
            python="3.11.7",
            system="Linux x86_64",
            cpu="Example CPU @ 2.4 GHz",
            cores=8,
            tokbench="0.1.0",
            packages={"tiktoken": "0.9.0", "sentencepiece": "0.2.0"},
        ),
        plugins=[
            PluginInfo(name="tiktoken", distribution="tokbench", version="0.1.0"),
            PluginInfo(
                name="acme",
                distribution="acme-bpe",
                version="2.0",
                state="broken",
                reason="ImportError: no module named 'acme'",
            ),
        ],
        seconds=192.4,
        notes=["speed on pud: noise floor 1.2%: so far cl100k differs from itself"],
    )
    for number, (corpus, groups) in enumerate(corpora.items()):
        documents = {group: 66 + 3 * k for k, group in enumerate(groups)}
        results.corpora[corpus] = CorpusInfo(
            source="sample",
            licence="CC0-1.0",
            sha256=f"{number:02x}" * 32,
            documents=sum(documents.values()),
            bytes=300 * sum(documents.values()),
            holdout=0.1,
            parallel=corpus == "pud",
            groups=documents,
        )
    for name, (family, unit, direction, formula) in METRICS.items():
        results.metrics[name] = metric_info(name, family, unit, direction, formula)
    results.metrics[PLUGIN_METRIC] = metric_info(PLUGIN_METRIC, "acme", "odds", "none", "Σ odd ids / Σ even ids")
    _tokenizers(results)
    for name, (backend, _, ratio, speed) in TOKENIZERS.items():
        for corpus, groups in corpora.items():
            results.cells += _cells(rng, name, backend, corpus, groups, ratio, speed)
    _losses(results, hostile=hostile)
    _probes(results, hostile=hostile)
    _shown(results, hostile=hostile)
    if hostile:
        _poison(results)
    return results


def _tokenizers(results: Results) -> None:
    for name, (backend, vocab_size, _, _) in TOKENIZERS.items():
        trained = name.endswith("k") and name[-2].isdigit() and backend not in {"tiktoken", "splintr"}
        train = TrainingInfo(corpora=["code"], documents=900, bytes=812_000, vocab_size=vocab_size, seconds=1.9)
        results.tokenizers[name] = TokenizerInfo(
            backend=backend,
            distribution="tokbench 0.1.0",
            options={"pattern": "gpt4"} if backend == "regex_bpe" else {},
            vocab_size=vocab_size,
            load_s=0.02,
            train=train if trained else None,
            artefact=f"artefacts/{name}" if trained else "",
            sha256={"vocabulary": "ab" * 32},
            notes=["one thread"] if backend == "splintr" else [],
        )
    for name, state, reason in (
        ("p50k", "unavailable", "the vocabulary is not on this machine and there is no network"),
        ("acme-32k", "unavailable", "no backend 'acme': its plugin is broken"),
        ("spm-broken", "failed", "RuntimeError: vocabulary size is too high (40000)"),
    ):
        results.tokenizers[name] = TokenizerInfo(
            backend="tiktoken", optional=True, state=TokenizerState(state), reason=reason
        )


def _cells(rng, name, backend, corpus, groups, ratio, speed):
    in_sample = 0.9 if backend in {"naive_bpe", "regex_bpe", "sentencepiece"} and corpus == "code" else 0.0
    lossy = backend == "sentencepiece"
    for group in [WHOLE, *groups]:
        mixed = group == WHOLE and corpus == "pud"
        script = 0.55 if group in BY_CHARACTER or group in {"hi", "bn", "ta", "te"} else 1.0
        value = max(1.0, ratio * script * rng.uniform(0.85, 1.1))
        word = BY_CHARACTER.get(group, "word")
        values = {
            "compression_ratio": value,
            "chars_per_token": value / (2.7 if script < 1 else 1.05),
            "tokens": float(round((400_000 if group == WHOLE else 20_000) / value)),
            "fertility": (1.1 if word != "word" else 5.4) / value,
            "continued_word_rate": min(1.0, 0.9 / value),
            "roundtrip_exact": (0.9997 if group == WHOLE else 0.985) if lossy else 1.0,
            **dict.fromkeys(MEASURE_LOSSES[1:], 0.0004 if lossy else 0.0),
            "unk_rate": 0.00002 if lossy else None,
            "vocab_utilization": min(1.0, 2000 / TOKENIZERS[name][1]),
            "renyi_efficiency": rng.uniform(0.4, 0.6),
            PLUGIN_METRIC: rng.uniform(0.4, 2.6),
        }
        if group == WHOLE and corpus != "hostile":
            values["encode_mb_per_s"] = speed * rng.uniform(0.95, 1.05)
            values["decode_mb_per_s"] = speed * 6
        for metric, number in values.items():
            unit = METRICS.get(metric, ("", "odds"))[1]
            if metric == "fertility":
                unit = f"tokens/{word}"
            common = {"tokenizer": name, "corpus": corpus, "group": group, "metric": metric, "unit": unit}
            if metric == "fertility" and mixed:
                reason = "groups are counted in different units: character, cluster, word"
                yield Cell(**common, status=Status.NOT_APPLICABLE, reason=reason)
            elif number is None:
                yield Cell(**common, status=Status.NOT_APPLICABLE, reason="this vocabulary has no unknown token")
            elif name == "naive-4k" and metric == "encode_mb_per_s":
                yield Cell(**common, status=Status.TIMEOUT, reason="no round was done after 300 s")
            elif name == "kimi_k2" and group == "controls":
                yield Cell(**common, status=Status.FAILED, reason="PanicException: stack overflow")
            else:
                spread = 0.01 if metric.endswith("per_s") else 0.015
                whole = metric in {"tokens", "roundtrip_exact", "vocab_utilization"}
                yield Cell(
                    **common, value=number, n=10 if metric.endswith("per_s") else 66, in_sample=in_sample,
                    ci_low=None if whole else number * (1 - spread), ci_high=None if whole else number * (1 + spread),
                )  # fmt: skip


def _losses(results: Results, *, hostile: bool) -> None:
    for name in ("spm-bpe-4k", "spm-bpe-16k", "spm-unigram-16k"):
        for group in ("de", "ja"):
            origin = f"{group}.txt:12"
            first = LossExample(origin=origin, position=17, expected="Weg  zum\u3000Ziel\n", got="Weg zum Ziel")
            unknown = LossExample(origin=origin, position=17, expected="Weg 鬱", got="Weg ⁇")
            causes = [
                LossCause(cause="unknown", documents=1, taking_part=2, first=unknown),
                LossCause(cause="whitespace", documents=2, taking_part=3, first=first),
                LossCause(cause="casing", documents=0, taking_part=1),
            ]
            results.losses.append(
                LossInfo(tokenizer=name, corpus="pud", group=group, documents=3, first=first, causes=causes)
            )
    for number, text in enumerate(HOSTILE if hostile else []):
        first = LossExample(origin=f"{text}:{number}", position=number, expected=f"x{text}", got=f"x\ufffd{text[::-1]}")
        # A plugin's metric may name no causes.
        results.losses.append(
            LossInfo(tokenizer="spm-bpe-4k", corpus="hostile", group="controls", documents=1, first=first)
        )


def _probes(results: Results, *, hostile: bool) -> None:
    texts = [("hat", "hat"), ("␣HAT", " HAT"), *((text, text) for text in HOSTILE if hostile)]
    tokens = [list(enumerate(text)) for _, text in texts]
    own = [ProbeText(label="hatter", text="hatter", tokens=[(7, "hatter")])]
    probe = ProbeInfo(
        probe="case",
        title="One word",
        explanation="What it shows.",
        metrics=["tokens", "unheard_of"],
        texts=texts,
        answers={
            "cl100k": ProbeAnswerInfo(tokens=tokens, own=own),
            "o200k": ProbeAnswerInfo(reason="it did not load"),
        },
    )
    results.studies.put(PROBES, [probe])


def cut_by_bytes(tokenizer: str, text: str, size: int) -> Segmentation:
    """Return a text whose tokens are so many bytes each: characters of more bytes are parted."""
    data = text.encode()
    ends = [min(at + size, len(data)) for at in range(0, len(data), size)]
    ids = [int.from_bytes(data[end - size if end % size == 0 else end - end % size : end], "big") for end in ends]
    return Segmentation(tokenizer=tokenizer, ids=ids, ends=ends)


def _shown(results: Results, *, hostile: bool) -> None:
    """Texts as tokens: named ones, excerpts of documents, one that cannot be aligned, one that failed."""
    texts = ["né 東京\n  x", *(text for text in HOSTILE if hostile and text != SURROGATE)]
    block = ShownTexts(texts=[], worst=[])
    for number, text in enumerate(texts):
        segmentations = [cut_by_bytes(name, text, size) for size, name in enumerate(("cl100k", "o200k", "llama3"), 1)]
        unaligned = Segmentation(
            tokenizer="spm-bpe-4k", ids=[0, 7], pieces=["3f", text.encode().hex()], round_trip=False, back=f"?{text}"
        )
        failed = Segmentation(tokenizer="qwen3", round_trip=False, reason=f"it died of {text}")
        block.texts.append(
            SegmentedText(label=text, text=text, segmentations=[*segmentations, unaligned, failed])
            if number % 2 == 0
            else SegmentedText(
                label=text, text=text, segmentations=segmentations, corpus="pud", group="en", mark="0a", whole=False
            )
        )
    for text in texts:
        shown = [cut_by_bytes("cl100k", text, 1), cut_by_bytes("o200k", text, 3)]
        document = SegmentedText(label=f"{text}:1", text=text, segmentations=shown, corpus="pud", group="en")
        block.worst.append(WorstDocument(tokenizer="cl100k", number=3, tokens=99, bytes=100, shown=document))
    results.studies.put(SHOWN_TEXTS, block)


def _poison(results: Results) -> None:
    """Hostile strings where a plugin, a file or an exception could have put them."""
    every = "".join(HOSTILE)
    results.name += every
    bases = [ConfigFile(file=every, sha256=every, text=every)]
    text = f"{results.config.text}# {every}\n"
    results.config = replace(results.config, text=text, bases=bases, limit=5, only=[every], settings=[every])
    results.environment = replace(results.environment, cpu=every, packages={every: every})
    results.notes.append(every)
    results.plugins.append(PluginInfo(name=every, distribution=every, version=every, state="broken", reason=every))
    results.metrics[every] = MetricInfo(
        family=every, unit=every, formula=every, definition=every, label=every, short_label=every, headline=True
    )
    results.metrics |= {name: metric_info(name, "fairness", "", "lower") for name in ("premium", "rank")}
    results.corpora[every] = CorpusInfo(
        source=every, options={every: every}, licence=every, sha256=every, documents=1, bytes=1, groups={every: 1},
        reference=every, limit=5,
    )  # fmt: skip
    for number, text in enumerate(HOSTILE):
        results.cells.append(Cell(text, every, every, "premium", 1.5 + number, "", 1.2 + number, 1.9 + number, 3))
        results.cells.append(Cell(text, every, every, "rank", number, "rank", n=3))
        results.pairs.append(
            PairComparison(
                corpus=every, group=every if number % 2 else "*", tokenizer=text, other=HOSTILE[number - 1],
                tokens=(1, 2), difference=-0.5, ci_low=-0.6, ci_high=0.1, n=3, p=0.1,
            )
        )  # fmt: skip
        results.tokenizers[text] = TokenizerInfo(
            backend=text, distribution=text, options={text: text}, optional=True,
            state=TokenizerState.FAILED if number % 2 else TokenizerState.UNAVAILABLE, reason=text,
            sha256={text: text}, notes=[text],
        )  # fmt: skip
        first = next(iter(TOKENIZERS))
        results.cells.append(Cell(first, text, text, text, status=Status.FAILED, reason=text))
        results.cells.append(Cell(first, every, every, every, 1.5, every, 1.0, 2.0, 3, in_sample=0.5))


def few(results: Results, corpora: tuple[str, ...] = ("code",), metrics: tuple[str, ...] = ()) -> Results:
    """The results with the cells of few tokenizers, corpora and metrics, so that little is drawn."""
    names = [*list(results.tokenizers)[:3], "naive-4k", "spm-bpe-4k", "cl100k", "o200k", "llama3", "qwen3"]
    results.tokenizers = {name: info for name, info in results.tokenizers.items() if name in names}
    results.cells = [
        cell
        for cell in results.cells
        if cell.tokenizer in names and cell.corpus in corpora and (not metrics or cell.metric in metrics)
    ]
    return results


def correlated(results: Results) -> Validity:
    """A study of validity in which a correlation has every strength: metrics with intervals, and one that chance explains."""
    model, *metrics = list(METRICS)[:10]
    correlations = [
        RankCorrelation(
            metric=metric, model=model, tokenizers=9, rho=k / 9 + 0.05, ci_low=k / 9 - 0.05, ci_high=k / 9 + 0.1
        )
        for k, metric in enumerate(metrics)
    ]
    every = ValidityClass(name="all", tokenizers=list(results.tokenizers), correlations=correlations)
    return Validity(
        corpus="code",
        family="acme",
        models=[model],
        deciding=[model],
        metrics=metrics,
        draws=2,
        trained=True,
        classes=[every],
    )


def everything_failed() -> Results:
    """A run in which no tokenizer got ready."""
    results = build(hostile=False)
    for name, info in results.tokenizers.items():
        results.tokenizers[name] = replace(info, state=TokenizerState.FAILED, reason="it did not load", vocab_size=None)
    results.cells = [
        Cell(cell.tokenizer, cell.corpus, cell.group, cell.metric, status=Status.FAILED, reason="it did not load")
        for cell in results.cells
    ]
    results.losses = []
    return results
