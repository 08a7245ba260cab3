"""Every fault at every step, before, between and after two sound tokenizers: those are measured as if nothing had happened.

A case is a tokenizer with one fault at one step, and two sound neighbours of its own. Many cases share a run.
"""

import re
import signal
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from fault_actions import ANSWERS, ENDS, IDS, PATCHES, RAISES, SLOW, STATE

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.results.cells import Status, TokenizerState

POSITIONS = ("before", "between", "after")
MEMBERS = ("vocab_size", "notes", "identity", "encoded_by", "unk_id", "special_ids", "dummy_prefix", "lossless")
LOADING = ("load", *MEMBERS)
TRAINING = ("train", "pickle", "save")
HOOKS = ("map", "merge", "finish", "raw")
BY_DOCUMENT = ("encode", "encode_batch", "decode", "decode_batch", "offsets")
STEPS = (*LOADING, *TRAINING, *BY_DOCUMENT, "token_bytes", *HOOKS)

TOLD_AS = {
    "load": "loading|instead of a tokenizer|not a tokenizer|^long long",
    "train": "training|instead of a tokenizer|not a tokenizer|^long long",
    "pickle": "from one process to another|training",
    "save": "not saved|saving",
    "encode": "encode|encoding",
    "encode_batch": "encode|encoding",
    "decode": "decode|decoding",
    "decode_batch": "decode|decoding",
    "offsets": "encode_with_offsets|for continued_words",
    "token_bytes": "token_bytes|reading the vocabulary",
    "map": "hooks",
    "merge": "merging",
    "finish": "finishing hooks",
    "raw": "the raw sums of hooks",
}
"""By step, the words that name it; a member is named by its own name, or it was read while loading."""

MAY_BE = {("unk_id", "none"), ("identity", "text"), ("encoded_by", "text"), ("notes", "texts"), ("lossless", "boolean")}
"""Answers that are right."""

RIGHT_IDS = ("ids_numpy", "ids_of_numpy", "ids_tuple")
OTHER_TEXT = ("ids_few", "ids_many", "ids_very_many")
"""Ids of another text: that is a loss, which names its document, and no fault."""

UNNOTICED = ("seeds", "forks", "prints", "leaves_child")
"""Changes of the process that change no number of anybody, and end with the run."""

TEXTS = ["aa ca dead", "ea", "deed", "ace face", "aaa", "fade", "head", "ice", "heed", "each", "acacia", "idea"]
STRUCK = "y.txt:7"
"""The only document with a b."""


class Case(NamedTuple):
    """A fault, and where it happens."""

    step: str
    action: str
    position: str

    @property
    def name(self):
        return "-".join(self)

    @property
    def is_right(self):
        """Tell whether nothing may come of it."""
        return self.action in {*RIGHT_IDS, *UNNOTICED, "nothing"} or (self.step, self.action) in MAY_BE

    @property
    def is_loss(self):
        return (self.step == "encode" and self.action in OTHER_TEXT) or self[:2] == ("decode", "text")

    @property
    def names_document(self):
        return self.step in BY_DOCUMENT and not self.is_right and self.action not in {*STATE, *PATCHES, *SHOWS_LATER}

    def lines(self):
        train = ", train: {corpus: c, vocab_size: 257}" if self.step in TRAINING or self.action == DELETES else ""
        optional = "true" if self.step in LOADING else "false"
        bad = (
            f"  {self.name}: {{backend: faulty, at: {self.step}, action: {self.action}, optional: {optional}{train}}}\n"
        )
        one = f"  {self.name}-one: {{backend: utf8_bytes}}\n"
        two = f"  {self.name}-two: {{backend: regex_bpe, engine: python, train: {{corpus: c, vocab_size: 260}}}}\n"
        return {"before": bad + one + two, "between": one + bad + two, "after": one + two + bad}[self.position]


SHOWS_LATER = ("late_crash", "writes_junk")
"""Damage that shows after the turn, when the step is not known any more. Another crash may come before a late one."""

DELETES = "deletes_artefact"


def raised():
    """Exceptions at every step, one of them in every place."""
    pairs = [(step, action) for step in STEPS for action in RAISES]
    rotated = [Case(*pair, POSITIONS[number % 3]) for number, pair in enumerate(pairs)]
    everywhere = [Case(step, "exception", place) for step in STEPS for place in POSITIONS]
    return list(dict.fromkeys([*rotated, *everywhere]))


def answered():
    """Wrong answers of every step that answers, each in one place."""
    steps = [*LOADING, "train", *BY_DOCUMENT, "token_bytes", "finish"]
    pairs = [(step, action) for step in steps for action in ANSWERS]
    pairs += [("encode", action) for action in IDS]
    return [Case(*pair, POSITIONS[number % 3]) for number, pair in enumerate(pairs)]


def changed():
    """Changes of the process, in which the tokenizers that follow are measured."""
    steps = ("load", "train", "encode", "decode", "token_bytes")
    pairs = [(step, action) for action in {**STATE, **PATCHES} for step in steps]
    return [Case(*pair, POSITIONS[number % 2]) for number, pair in enumerate(pairs)]


def ended():
    """Ends of the process, or damages that leave it unfit for others."""
    steps = ("load", "train", "save", "encode", "encode_batch", "decode", "token_bytes", "map")
    pairs = [(step, action) for action in ENDS for step in steps]
    return [Case(*pair, POSITIONS[number % 3]) for number, pair in enumerate(pairs)] + [
        Case("encode", DELETES, "after")
    ]


def slow():
    """Cases that only a limit ends."""
    steps = ("load", "train", "encode", "decode", "map")
    pairs = [(step, action) for action in SLOW for step in steps]
    return [Case(*pair, POSITIONS[number % 3]) for number, pair in enumerate(pairs)]


def batches(cases, size):
    """Return the cases in runs of at most so many."""
    left = iter(cases)
    return list(iter(lambda: list(islice(left, size)), []))


def cells_of(results, name):
    """Return the cells of a tokenizer, and what else its neighbours must not change."""
    info = results.tokenizers[name]
    cells = {
        (cell.corpus, cell.group, cell.metric): (cell.status, cell.reason, repr([cell.value, cell.ci_low, cell.ci_high, cell.n]))
        for cell in results.cells
        if cell.tokenizer == name
    }  # fmt: skip
    return cells, (info.state, info.reason, info.notes, info.sha256, info.artefact_sha256)


@contextmanager
def at_most(seconds):
    """Let a run that never ends fail."""

    def ring(*_):
        raise TimeoutError(f"a run took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


_UNDISTURBED = {}
"""The results of a run without faults, once it was made."""

KINDS = ("none", "encode_batch", "offsets", "train")
"""A step for each kind of tokenizer that has faults."""


@pytest.fixture
def matrix(write_config, install, monkeypatch, tmp_path):
    """Run some cases, and see what became of all tokenizers."""
    install("fault_actions")
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines,corpora,fault_actions,metrics,regex_bpe,reports")
    texts = {"x": TEXTS, "y": ["a cab" if number == 6 else text for number, text in enumerate(TEXTS)]}
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")

    def run(cases, limits="{step: 60}", workers=1):
        config = write_config(
            "  c: {source: text, path: '?.txt', document: line}",
            "".join(case.lines() for case in cases).rstrip("\n"),
            "[compression, roundtrip, continued_words, hooks]",
            extra=f"limits: {limits}",
        )
        with at_most(600):
            return tokbench.run(config, tmp_path / "out", workers=workers)

    if not _UNDISTURBED:
        results = run([Case(kind, "nothing", "before") for kind in KINDS])
        assert not results.failed
        assert not results.notes
        _UNDISTURBED.update({name: cells_of(results, name) for name in results.tokenizers})

    def run_and_check(cases, limits="{step: 60}", workers=1):
        results = run(cases, limits, workers)
        assert not results.interrupted
        assert not results.problems
        wrong = [problem for case in cases for problem in problems_of(case, results)]
        assert not wrong, f"{len(wrong)} of {len(cases)} cases\n" + "\n".join(line[:300] for line in wrong[:20])
        return results

    return run_and_check


def kind_of(case):
    """Return the step whose undisturbed tokenizer is of the same kind."""
    if case.step in TRAINING or case.action == DELETES:
        return "train"
    return {"decode_batch": "encode_batch"}.get(case.step, case.step if case.step in KINDS else "none")


def problems_of(case, results):
    """Yield what is not as it should be with a case."""
    plain = f"{kind_of(case)}-nothing-before"
    for neighbour in ("one", "two"):
        mine, sound = cells_of(results, f"{case.name}-{neighbour}"), _UNDISTURBED[f"{plain}-{neighbour}"]
        if mine != sound:
            differing = [(place, mine[0].get(place)) for place in sound[0] if mine[0].get(place) != sound[0][place]]
            yield f"{case.name}: its neighbour {neighbour} was hurt: {differing[:1]} {mine[1]}"
    cells, about = cells_of(results, case.name)
    other = {place: cell for place, cell in cells.items() if cell != _UNDISTURBED[plain][0][place]}
    reasons = [reason for status, reason, _ in other.values() if status != Status.OK]
    texts = [text for text in (about[1], *about[2], *reasons) if text]
    texts += [note for note in results.notes if note.startswith(f"{case.name}: ")]
    shown = f"{[status.value for status, *_ in islice(other.values(), 2)]} {texts[:1]}"
    if case.is_right:
        if other or about[0] != TokenizerState.READY:
            yield f"{case.name}: something came of it: {shown}"
    elif case.is_loss:
        if not any(loss.tokenizer == case.name and STRUCK in str(loss.first) for loss in results.losses):
            yield f"{case.name}: its loss is not told: {shown}"
    else:
        yield from (f"{case.name}: {problem}: {shown}" for problem in untold(case, texts))
        if silent := [place for place, cell in other.items() if cell[0] == Status.OK]:
            yield f"{case.name}: {silent[:2]} have other values: {cells[silent[0]]}"


def untold(case, texts):
    """Yield what the texts on a faulty tokenizer do not say."""
    if not texts:
        if case.action != "late_crash":
            yield "nothing is told"
        return
    words = TOLD_AS.get(case.step, f"{case.step}|loading")
    if case.action not in SHOWS_LATER and not any(re.search(words, text.replace(case.name, "")) for text in texts):
        yield "its step is not told"
    if case.names_document and not any(STRUCK in text for text in texts):
        yield "its document is not told"


ALL = [*raised(), *answered(), *changed(), *ended(), *slow()]


def test_the_matrix_is_large():
    """So many cases are told, and so many with the document."""
    faults = [case for case in ALL if not case.is_right and case.action != "late_crash"]
    assert len(ALL) == len(set(ALL)) == 710
    assert len(faults) == 674
    assert sum(case.action not in SHOWS_LATER for case in faults) == 666, "told with their step"
    assert sum(case.names_document for case in faults) == 170


@pytest.mark.slow
def test_a_slice_of_it(matrix):
    """Each step with an exception of its own, some wrong answers, and one process that ends."""
    some = [case for number, case in enumerate(raised()) if number % 19 == 0]
    some += [case for number, case in enumerate(answered()) if number % 23 == 0]
    some += [case for number, case in enumerate(changed()) if number % 11 == 0]
    matrix([*some, Case("encode", "segfault", "between"), Case("load", "sigkill", "before")])


def test_a_tokenizer_that_must_load_is_named(matrix, write_config):
    lines = "".join(f"  {name}: {{backend: faulty, at: vocab_size, action: {name}}}\n" for name in ("nan", "none"))
    with pytest.raises(tokbench.InputError) as caught:
        tokbench.run(write_config(tokenizers=lines.rstrip()), workers=0)
    assert [problem.message for problem in caught.value.problems] == [
        f"tokenizer {name!r} (backend faulty): vocab_size is {size}, but must be a whole number"
        for name, size in (("nan", "nan"), ("none", "None"))
    ]


@pytest.mark.parametrize(
    ("at", "optional", "code"),
    [("nothing", "false", 0), ("load", "true", 0), ("encode", "false", 1), ("load", "false", 2)],
)
def test_exit_codes(matrix, write_config, tmp_path, at, optional, code):
    bad = f"  bad: {{backend: faulty, at: {at}, action: exception, optional: {optional}}}\n  good: {{backend: utf8_bytes}}"
    config = write_config("  c: {source: text, path: '?.txt', document: line}", bad)
    outcome = CliRunner().invoke(command, ["run", str(config), "-o", str(tmp_path / "out"), "--log", "none", "-w", "0"])
    assert (2 if isinstance(outcome.exception, tokbench.InputError) else outcome.exit_code) == code


@pytest.mark.slow
def test_faults_while_speeds_are_measured(matrix, write_config, monkeypatch):
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines,corpora,fault_actions,reports,speed")
    actions = ("exception", "segfault", "exits", "closes_files", "wipes_modules", "seterr", "nothing")
    lines = "".join(f"  {action}: {{backend: faulty, at: warm_up, action: {action}}}\n" for action in actions)
    speed = "[{speed: {rounds: 3, min_time: 0.00001}}]"
    tokenizers = f"  one: {{backend: utf8_bytes}}\n{lines}  two: {{backend: utf16_units}}"
    config = write_config("  c: {source: text, path: '?.txt', document: line}", tokenizers, speed)
    results = tokbench.run(config, workers=1)
    cells = {cell.tokenizer: cell for cell in results.cells if cell.metric == "encode_mb_per_s"}
    failed = {name for name, cell in cells.items() if cell.status == Status.FAILED}
    assert failed == {"exception", "segfault", "exits", "closes_files", "wipes_modules"}
    assert not [cells[name].reason for name in failed if not re.search("warm_up|timing", cells[name].reason)]
    assert any(note.startswith("seterr: it changed the errors of arithmetic in numpy") for note in results.notes)


def in_runs(cases, size):
    """Parametrize a test by runs of at most so many cases."""
    runs = batches(cases, size)
    return pytest.mark.parametrize("cases", runs, ids=[f"{run[0].name}-and-{len(run) - 1}" for run in runs])


@pytest.mark.slow
@in_runs(raised(), 60)
def test_exceptions(matrix, cases):
    matrix(cases)


@pytest.mark.slow
@in_runs(answered(), 60)
def test_wrong_answers(matrix, cases):
    matrix(cases)


@pytest.mark.slow
def test_in_one_process(matrix):
    """Without workers, where only exceptions and answers do no harm."""
    cases = [case for number, case in enumerate([*raised(), *answered()]) if number % 8 == 0]
    matrix([case for case in cases if case.action != "ids_very_many"], workers=0)


@pytest.mark.slow
@in_runs(changed(), 10)
def test_changes_of_the_process(matrix, cases):
    matrix(cases)


@pytest.mark.slow
@in_runs(ended(), 12)
def test_ends_of_the_process(matrix, cases):
    matrix(cases)


@pytest.mark.slow
@in_runs(slow(), 5)
def test_limits(matrix, cases):
    matrix(cases, limits="{step: 2, train: 2, memory: 600MB}")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2])
def test_two_workers(matrix, workers):
    cases = [case for number, case in enumerate([*raised(), *changed(), *ended()]) if number % 29 == 0]
    matrix(cases, workers=workers)
