"""Every fault at every step, beside tokenizers that are sound: the others are measured as if nothing had happened."""

import pytest
from faulty_backends import ARRAYS, FAULTS, HARMLESS, IDS, SIZES

import tokbench
from tokbench.results.cells import Status

GOOD = (
    "  first: {backend: utf8_bytes}\n  plain: {backend: fault}\n"
    "  trained: {backend: regex_bpe, engine: python, train: {corpus: c, vocab_size: 260}}\n"
)
LAST = "  last: {backend: utf16_units}\n"
METRICS = "[compression, roundtrip, vocabulary, {speed: {rounds: 3, min_time: 0.00001}}]"
STEPS = ("load", "train", "encode", "decode", "batch", "speed")
LIVE = list(FAULTS)[:HARMLESS]
"""Faults that a process survives."""

HURT = list(FAULTS)[HARMLESS:]


@pytest.fixture
def text(tmp_path):
    for name, words in (("x", "aa ca dead"), ("y", "ab cab bead")):
        lines = (words[k % 5 :] for k in range(20))
        (tmp_path / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    return "  c: {source: text, path: '?.txt', document: line}"


_UNDISTURBED = []
"""The results of a run without faults, once it was made."""


@pytest.fixture
def matrix(write_config, text, faulty, few_plugins, tmp_path):
    """Run some faults at some steps beside sound tokenizers, and see what became of all of them."""
    if not _UNDISTURBED:
        _UNDISTURBED.append(tokbench.run(write_config(text, GOOD + LAST, METRICS), workers=1))
    [undisturbed] = _UNDISTURBED
    assert not undisturbed.failed, [cell for cell in undisturbed.cells if cell.status == Status.FAILED]

    def run(faults, steps, workers):
        names = [(at, fault) for at in steps for fault in faults(at)]
        lines = [
            f"  {at}-{fault}: {{backend: fault, at: {at}, fault: {fault}, optional: {'true' if at == 'load' else 'false'}"
            f"{', train: {corpus: c, vocab_size: 300}' if at == 'train' else ''}}}\n"
            for at, fault in names
        ]
        config = write_config(text, GOOD + "".join(lines) + LAST, METRICS, extra="limits: {step: 60}")
        results = tokbench.run(config, tmp_path / "out", workers=workers)
        assert not results.interrupted
        assert not results.problems
        assert (tmp_path / "out" / "results.json").stat().st_size < 8_000_000
        for name in ("first", "plain", "trained", "last"):
            assert cells_of(results, name) == cells_of(undisturbed, name)
        for at, fault in names:
            check(at, fault, cells_of(results, f"{at}-{fault}"), cells_of(undisturbed, "plain"))

    return run


def cells_of(results, name):
    """Return the cells of a tokenizer, speeds without their values."""
    return {
        (cell.corpus, cell.group, cell.metric): (
            cell.status,
            cell.reason,
            None if cell.metric.endswith("mb_per_s") else (cell.value, cell.ci_low, cell.ci_high, cell.n),
        )
        for cell in results.cells
        if cell.tokenizer == name
    }


def check(at, fault, found, plain):
    """See that each cell of a faulty tokenizer has the right value, or says what happened; and that the fault is told."""
    if fault == "forks":
        assert found == plain, "a process that is there twice answers once"
        return
    bad = {Status.UNAVAILABLE} if at == "load" else {Status.FAILED}
    for place, (status, reason, value) in found.items():
        if status in bad:
            assert 0 < len(reason) < 2_500, (at, fault)
        else:
            assert (status, reason, value) == plain[place], (at, fault, place)
    at_fault = {place for place, (status, *_) in found.items() if status in bad}
    wanted = {
        "load": set(plain),
        "train": set(plain),
        "encode": {("c", group, metric) for group in ("y", "*") for metric in ("tokens", "roundtrip_exact")},
        "batch": {("c", group, metric) for group in ("y", "*") for metric in ("tokens", "roundtrip_exact")},
        "decode": {("c", group, "roundtrip_exact") for group in ("y", "*")},
        "speed": {("c", "*", "encode_mb_per_s")},
    }[at]
    assert wanted <= at_fault, (at, fault)
    if at in {"decode", "speed"}:
        assert ("c", "y", "tokens") not in at_fault, (at, fault)


def survived(at):
    """Return the faults of a step that leave its process as it was."""
    answers = {"load": SIZES, "train": SIZES, "encode": IDS, "batch": ARRAYS, "speed": {**IDS, **ARRAYS}}
    if at == "decode":
        answers[at] = set(IDS) - {"id_text"}  # text that is wrong is a loss, not a fault
    return [*LIVE, *answers[at]]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 1])
def test_faults_that_a_process_survives(matrix, workers):
    matrix(survived, STEPS, workers)


@pytest.mark.slow
def test_faults_that_ruin_a_process(matrix):
    matrix(lambda at: ["wipes_modules"] if at == "encode" else ["closes_files"], ("encode", "speed"), 1)


@pytest.mark.slow
@pytest.mark.parametrize("at", STEPS)
def test_every_fault_at_every_step(matrix, at):
    matrix(lambda _: [*survived(at), *HURT], [at], workers=2)


@pytest.mark.slow
def test_every_fault_and_every_step_with_one_worker(matrix):
    """A fault that ends or ruins the process at each step, another one at each."""
    matrix(lambda at: [HURT[STEPS.index(at) % len(HURT)]], STEPS, workers=1)


def test_a_tokenizer_that_must_load_is_named(write_config, faulty):
    lines = "".join(f"  {name}: {{backend: fault, at: load, fault: {name}}}\n" for name in SIZES)
    with pytest.raises(tokbench.InputError) as caught:
        tokbench.run(write_config(tokenizers=lines.rstrip()), workers=0)
    shown = ("nan", "1000000000000000000000000000000", "True", "None", "-1")
    assert [problem.message for problem in caught.value.problems] == [
        f"tokenizer {name!r} (backend fault): vocab_size is {size}, but must be an integer from 1 to 2**32"
        for name, size in zip(SIZES, shown, strict=True)
    ]
