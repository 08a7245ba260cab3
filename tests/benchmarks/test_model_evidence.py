"""Evidence on small models: learning rates, equal tokenizers, worse ones. Run with ``--benchmark-enable --benchmark-json FILE``.

The file has the figures, as ``extra_info``. All of it takes about 40 minutes of one core.
"""

from itertools import combinations

import pytest

pytest.importorskip("jax")

from helpers.altered_tokenizers import Shuffled, without_a_tenth

import tokbench
from tokbench.corpus.corpus import Corpus
from tokbench.foundation.progress import silent
from tokbench.sources.python import StdlibOptions, StdlibSource
from tokbench.sources.sample import SampleOptions, SampleSource
from tokbench.studies.language_models.bits_per_byte import DECIDING, BitsPerByteOptions, NgramBits
from tokbench.studies.language_models.body import PRESETS
from tokbench.studies.language_models.contract import ModelTask, ModelTexts
from tokbench.studies.language_models.fit import emitted_ids, encoded_part
from tokbench.studies.language_models.scored_bits import bits_verdict
from tokbench.studies.language_models.texts import text_parts
from tokbench.studies.language_models.transformer import TransformerBits, TransformerOptions
from tokbench.studies.language_models.transformer_model import train_curve

PACKAGES = ("asyncio", "email", "http", "importlib", "json", "logging", "multiprocessing", "unittest", "urllib", "xml")
NAMES = 7
RATES = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032)
SWEEP, ONE = (0.004, 0.008, 0.016), (0.004,)
AGAIN = 20


@pytest.fixture(scope="module")
def parts():
    corpus = Corpus("library", StdlibSource(StdlibOptions(packages=PACKAGES)), holdout=0.35)
    return text_parts(corpus, corpus, ModelTexts("", 0.1, 250_000, 100_000, 2048, 2048))


@pytest.fixture(autouse=True)
def only_if_enabled(benchmark):
    if not benchmark.enabled:
        benchmark(lambda: None)
        pytest.skip("trains for many minutes; add --benchmark-enable")
    yield
    benchmark.pedantic(lambda: None)  # the figures are extra_info, not times


def task(tokenizer, parts):
    learned, scored = encoded_part(tokenizer, parts.training), encoded_part(tokenizer, parts.scored)
    return ModelTask(learned, scored, emitted_ids(tokenizer, learned.encoded.ids, scored.encoded.ids), {})


def models(tokenizer, parts, rates):
    """Return the models of three seeds, at the rate that a sweep finds, or at the only one."""
    return TransformerBits(TransformerOptions(rates=list(rates))).fit(task(tokenizer, parts), silent)


def difference(one, other):
    """Return the difference at equal text, and the verdict on it."""
    [found] = one.at(one.last).minus(other.at(other.last))
    return found, bits_verdict([found])


def trained(texts, size, backend="regex_bpe", **options):
    return tokbench.train(backend, list(texts), size, store=False, **options)


def test_a_rate_that_suits_one_size_is_wrong_for_another(benchmark, parts):
    """Train at every rate on all of the text; the loss is what the best rate of another size would have cost."""
    found = {}
    for size in (256, 4096, 32768):
        # Merges that cross words are not held up by the words of a short text, so that so many can be made.
        tokenizer = tokbench.load("utf8_bytes") if size == 256 else trained(parts.training, size, "naive_bpe")
        learned, scored, n_ids, _ = task(tokenizer, parts)
        for rate in RATES:
            [point] = train_curve(learned, scored, n_ids, PRESETS["tiny"], learning_rate=rate, seed=1, shares=[1.0])
            found[size, rate] = float(point.bits.sum() / scored.n_bytes.sum())
        benchmark.extra_info[f"{size} ids, bits per byte by rate"] = {rate: found[size, rate] for rate in RATES}
    sizes = sorted({size for size, _ in found})
    best = {size: min(RATES, key=lambda rate: found[size, rate]) for size in sizes}
    for size in sizes:
        lost = {of: found[size, best[of]] - found[size, best[size]] for of in sizes}
        benchmark.extra_info[f"{size} ids, lost with the best rate of other sizes"] = lost
    widest = max(found[size, rate] - found[size, best[size]] for size in sizes for rate in (0.002, 0.004, 0.008, 0.016))
    assert widest > 0.02  # a rate that nobody would call absurd costs more than a difference that counts


@pytest.mark.parametrize(("rates", "level"), [(ONE, 0.95), (SWEEP, 0.5)], ids=["one-rate", "sweep"])
def test_one_tokenizer_under_two_names_is_not_told_apart(benchmark, parts, rates, level):
    """The numbers of its ids are drawn anew, so that its models begin from other parameters for each token.

    On a tenth of so little text a sweep finds the rate 0.016. Some trainings go astray with it, and the verdict may be that
    nothing is known.
    """
    base = trained(parts.training, 1024, pattern="gpt4")
    every = [models(Shuffled(base, seed) if seed else base, parts, rates) for seed in range(NAMES)]
    found = [difference(one, other) for one, other in combinations(every, 2)]
    verdicts = [verdict for _, (verdict, _) in found]
    seeds = [(each.bits[:, -1].sum(axis=1) / each.n_bytes.sum()).std(ddof=1) for each in every]
    benchmark.extra_info |= {
        "learning rates": [each.learning_rate for each in every],
        "verdicts": verdicts,
        "differences": [each.value for each, _ in found],
        "deviation of seeds, by name": [float(each) for each in seeds],
    }
    assert set(verdicts) <= {"level", "unknown"}
    assert verdicts.count("level") >= level * len(verdicts)


@pytest.mark.parametrize(
    ("size", "rates", "certain"),
    [(1024, SWEEP, False), (4096, SWEEP, True), (1024, ONE, True), (4096, ONE, True)],
    ids=["1024-sweep", "4096-sweep", "1024-one-rate", "4096-one-rate"],
)
def test_a_tokenizer_of_prose_is_worse_on_code(benchmark, parts, size, rates, certain):
    """After a sweep, three trainings with 1,024 ids lie too far apart for a verdict. Dropped merges are measured, too."""
    prose = [each.text for each in SampleSource(SampleOptions(part="languages")).documents()]
    base = trained(parts.training, size, pattern="gpt4")
    sound = models(base, parts, rates)
    of_prose, verdict = difference(models(trained(prose, size, pattern="gpt4"), parts, rates), sound)
    benchmark.extra_info["trained on prose"] = [of_prose.value, of_prose.error, *verdict]
    for seed in range(4):
        damaged = without_a_tenth(base, seed)
        bits = models(damaged, parts, rates)
        small = models(trained(parts.training, damaged.vocab_size, pattern="gpt4"), parts, rates)
        for name, other in (("the whole", sound), ("a sound one of its size", small)):
            found, said = difference(bits, other)
            key = f"a tenth of the merges dropped, draw {seed}, beside {name}"
            benchmark.extra_info[key] = [found.value, found.error, *said]
    assert of_prose.value > 0.1
    assert verdict == ("better", True) if certain else verdict != ("better", False)


@pytest.mark.parametrize("size", [1024, 4096, 16384])
def test_the_share_of_damaged_tokenizers_that_n_grams_find_worse(benchmark, parts, size):
    """A tenth of the merges is dropped; the verdict is that of the orders 3 to 6.

    The damage leaves fewer ids. Few ids suit little text, so the damaged tokenizer may be better than the one that it was
    made of; it is not better than a sound one with as many ids.
    """
    metric, base = NgramBits(BitsPerByteOptions()), trained(parts.training, size, pattern="gpt4")
    whole, verdicts, of_its_size = metric.fit(task(base, parts), silent), [], []
    for seed in range(AGAIN):
        damaged = without_a_tenth(base, seed)
        bits = metric.fit(task(damaged, parts), silent)
        small = metric.fit(task(trained(parts.training, damaged.vocab_size, pattern="gpt4"), parts), silent)
        for sound, found in ((whole, verdicts), (small, of_its_size)):
            differences = bits.minus(sound)
            found.append(bits_verdict([differences[order - 1] for order in DECIDING]))
    benchmark.extra_info["ids"] = base.vocab_size
    for name, found in (("beside the whole", verdicts), ("beside a sound one of its size", of_its_size)):
        counts = {"worse": found.count(("better", True)), "better": found.count(("better", False))}
        benchmark.extra_info[name] = counts | {
            each: found.count((each, False)) for each in ("depends", "level", "unknown")
        }
    assert ("better", False) not in of_its_size
