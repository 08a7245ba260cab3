"""Measure what tokbench must reach, and print every goal with the figure of this machine.

``python tests/benchmarks/goals.py`` takes about fifteen minutes and wants a quiet machine. ``--quick`` compares the speeds
of engines alone, once and on a fifth of the text, in seconds. ``--only train`` chooses rows.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import child
import corpora
import encoders
import trainers
from test_sizes import MB, cost, write_jsonl
from test_whole_run import environment, forget_states, run_command, whole_run, write_run

OURS: Final = "{{backend: tokbench_bpe, encoding: {}}}"
TIKTOKEN: Final = "{backend: tiktoken, encoding: cl100k_base}"
ENGINES: Final = ("cl100k_base", "o200k_base", "llama3", "r50k_base")
PUBLISHED: Final = (
    *("cl100k_base", "o200k_base", "llama2", "llama3", "deepseek_v3"),
    *("qwen3", "glm4", "kimi_k2", "mistral_v3", "modernbert"),
)


class Measured(NamedTuple):
    """A figure as it is printed, and whether it reaches the goal; ``None`` if tests show that."""

    figure: str
    reached: bool | None


class Setting(NamedTuple):
    """The surroundings of the measurements.

    Attributes:
        folder: where texts, configurations and results are written.
        part: the share of the text that is measured; 1.0 but for a quick look.
        rounds: how often each run is repeated; the best counts.
    """

    folder: Path
    part: float
    rounds: int

    def size(self, megabytes: float) -> int:
        """Return bytes of text."""
        return int(megabytes * MB * self.part)

    def run(self, size: int, tokenizers: dict[str, str], workers: int = 1) -> tuple[float, dict[str, float]]:
        """Return the best wall time of a run with a warm store that has no states, and the durations of that run."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        config = write_run(folder, size, tokenizers)
        found = []
        for _ in range(self.rounds + 1):
            forget_states(self.folder / "store")
            wall, _cpu = whole_run(config, workers)
            results = json.loads((config.with_suffix(".out") / "results.json").read_text(encoding="utf-8"))
            found.append((wall, results["durations"]))
        return min(found[1:], key=lambda each: each[0])  # the first run compiles, and fills the caches of the store


def of_run(setting: Setting) -> Iterator[Measured]:
    """A whole run of one tokenizer of ours, and the speed of its worker."""
    size = setting.size(50)
    wall, durations = setting.run(size, {"ours": OURS.format("cl100k_base")})
    yield Measured(f"{wall:.2f} s, {size / MB / wall:.1f} MB/s", wall <= 2.5)
    speed = size / MB / worker_seconds(durations)
    yield Measured(f"{speed:.1f} MB/s of processor time", speed >= 40)


def worker_seconds(durations: dict[str, float]) -> float:
    """Return the CPU seconds of encoding, decoding and metrics in the workers."""
    return sum(durations[name] for name in ("worker_encode", "worker_decode", "worker_metrics"))


def of_further_tokenizer(setting: Setting) -> Iterator[Measured]:
    """The time that a tiktoken more takes in a worker, beside its bare calls."""
    size = setting.size(20)
    one, three = ({f"t{k}": TIKTOKEN for k in range(count)} for count in (1, 3))
    few, many = (worker_seconds(setting.run(size, each)[1]) for each in (one, three))
    with child.on_cores(1) as call:
        bare = min(call(bare_seconds, size) for _ in range(setting.rounds))
    ratio = (many - few) / 2 / bare
    yield Measured(f"{ratio:.2f} x", ratio <= 1.05)


def bare_seconds(size: int) -> float:
    """Return the CPU seconds in which tiktoken encodes and decodes the text of a run."""
    from tokbench.tokenizers.batch import decode_batch, encode_batch
    from tokbench_plugins.tiktoken.tokenizer import TiktokenTokenizer

    tokenizer = TiktokenTokenizer(encoders.tiktoken_encoding("cl100k_base"))
    texts = corpora.chunks(corpora.sources(size), 10_000)
    tokenizer.encode("warm")
    start = time.process_time()
    for first in range(0, len(texts), 100):
        decode_batch(tokenizer, encode_batch(tokenizer, texts[first : first + 100]))
    return time.process_time() - start


def of_workers(setting: Setting) -> Iterator[Measured]:
    """Two workers on two cores beside one worker on two cores, with four engines and with four tiktokens."""
    for tokenizers in ({name: OURS.format(name) for name in ENGINES}, {f"t{k}": TIKTOKEN for k in range(4)}):
        one, two = (setting.run(setting.size(50), tokenizers, workers)[0] for workers in (1, 2))
        yield Measured(f"{one / two:.2f} x ({one:.1f} s and {two:.1f} s)", one / two >= 1.8)


def of_start(setting: Setting) -> Iterator[Measured]:
    """A run of ten published vocabularies on a little text until it measures, and as a whole; ``--help`` and ``list``."""
    tokenizers = {name: f"{{backend: splintr, vocabulary: {name}}}" for name in PUBLISHED}
    wall, _ = setting.run(20_000, tokenizers)
    config = write_run(Path(tempfile.mkdtemp(dir=setting.folder)), 20_000, tokenizers)
    began = min(seconds_until_measuring(config, setting.folder / "store") for _ in range(setting.rounds))
    yield Measured(f"{began:.2f} s (the whole run: {wall:.2f} s)", began < 2)
    for arguments, goal in ((["--help"], 0.1), (["list"], 0.7)):
        seconds = min(command_seconds([sys.executable, "-m", "tokbench", *arguments]) for _ in range(5))
        yield Measured(f"{seconds:.2f} s", seconds < goal)


def seconds_until_measuring(config: Path, store: Path) -> float:
    """Return the wall time from the start of a run until its tokenizers are loaded and it begins to measure."""
    forget_states(store)
    command = run_command(config, "--log", "json")
    start = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment()) as process:
        assert process.stderr
        found = [time.perf_counter() - start for line in process.stderr if b'"step": "measuring' in line]
    return found[0]


def command_seconds(command: list[str]) -> float:
    """Return the wall time of a command."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment())
    return time.perf_counter() - start


def of_training(setting: Setting) -> Iterator[Measured]:
    """Training beside rustbpe, warm, in turns; in a fresh process; and the peaks of memory."""
    ids = max(int(32_768 * setting.part), 1_000)
    for megabytes, goal in ((10, 4), (50, 6)):
        with child.on_cores(1) as call:
            turns = [
                [call(trainers.seconds, name, setting.size(megabytes), ids, 1) for name in ("rustbpe", "tokbench")]
                for _ in range(setting.rounds)
            ]
        ratio = statistics.median(theirs / ours for theirs, ours in turns)
        yield Measured(f"{ratio:.1f} x", ratio >= goal)
    code = "import sys; sys.path.insert(0, {!r}); import trainers, corpora; trainers.TRAINERS[{!r}](corpora.sources({}), {}, 1)"
    size = setting.size(10)
    fresh = {
        name: min(
            command_seconds([sys.executable, "-c", code.format(str(Path(__file__).parent), name, size, ids)])
            for _ in range(setting.rounds)
        )
        for name in ("rustbpe", "tokbench")
    }
    yield Measured(f"{fresh['rustbpe'] / fresh['tokbench']:.2f} x", fresh["rustbpe"] > fresh["tokbench"])
    peaks = []
    for name in ("rustbpe", "tokbench"):
        with child.on_cores(1) as call:
            peaks.append(call(trainers.peak_mib, name, setting.size(50), ids, 1))
    yield Measured(f"{peaks[1] / peaks[0]:.2f} x", peaks[1] <= 1.5 * peaks[0])


def of_encoding(setting: Setting) -> Iterator[Measured]:
    """Our engine beside fastokens and tiktoken: text that was not seen before, documents of 10,000 bytes."""
    data = os.environ.get("TOKBENCH_TEST_DATA")
    places = [(None, setting.size(5)), *([(Path(data), setting.size(5))] if data else [])]
    for folder, size in places:
        slices = (folder, max(size, 200_000), setting.rounds, 10_000)
        with child.on_cores(1) as call:
            names = ("tokbench", "fastokens", "tiktoken")
            turns = [
                [call(encoders.seconds, name, "cl100k_base", turn, *slices) for name in names]
                for turn in range(setting.rounds)
            ]
        of_fastokens, of_tiktoken = (statistics.median(turn[k] / turn[0] for turn in turns) for k in (1, 2))
        least = (1.0, 4.0) if folder else (0.7, 5.0)
        yield Measured(f"{of_fastokens:.2f} x", of_fastokens >= least[0])
        yield Measured(f"{of_tiktoken:.2f} x", of_tiktoken >= least[1])


def of_curve(setting: Setting) -> Iterator[Measured]:
    """The curve of every vocabulary size beside one encoding."""
    with child.on_cores(1) as call:
        ratio = min(call(curve_ratio, setting.size(50)) for _ in range(setting.rounds))
    yield Measured(f"{ratio:.2f} x", ratio <= 1.1)


def curve_ratio(size: int) -> float:
    """Return the time of an encoding with the curve, beside that of the encoding alone."""
    from test_curve_cost import SPEC, Document, Options, curve_of, encode_batch, merge_order, shards

    documents = (Document(text, "python", str(k), str(k)) for k, text in enumerate(corpora.sources(size)))
    parts = list(shards("sources", documents, by_key=False))
    tokenizer = encoders._ours("cl100k_base", "numba")
    order = merge_order(tokenizer)
    encode_batch(tokenizer, parts[0].texts)
    encoding, curve = curve_of(tokenizer, order, parts, SPEC.text(Options()))
    return (encoding + curve) / encoding


def of_memory(setting: Setting) -> Iterator[Measured]:
    """The memory of each process, above its tokenizers, at three sizes of a corpus."""
    config = setting.folder / "memory.yaml"
    peaks = []
    for megabytes in (0.05 / setting.part, 10, 100):  # the first one shows what the tokenizers take
        source = write_jsonl(setting.folder, setting.size(megabytes))
        ours = OURS.format("cl100k_base")
        config.write_text(
            f"schema: tokbench/1\nname: m\ncorpora: {{c: {source}}}\ntokenizers: {{ours: {ours}}}\nmetrics: [compression]\n",
            encoding="utf-8",
        )
        peaks.append(cost(config))
    above = [round(each.worker - peaks[0].worker) for each in peaks[1:]]
    highest = max(above[-1], round(peaks[-1].parent))
    yield Measured(f"parent {peaks[-1].parent:.0f} MB, worker {above[0]} and {above[1]} MB", highest <= 500)


def of_tests(_setting: Setting) -> Iterator[Measured]:
    """Return what tests show."""
    yield Measured('pytest tests/engine/test_resume.py -m "slow or not slow"', None)
    yield Measured('pytest tests/report/test_report_browser.py -m "slow or not slow"', None)


class Goal(NamedTuple):
    """A row of the table: what is measured, and what it must reach."""

    what: str
    goal: str


ROWS: Final[dict[str, tuple[Callable[[Setting], Iterator[Measured]], list[Goal]]]] = {
    "start": (of_start, [
        Goal("from the start until measuring begins, ten published vocabularies", "< 2 s"),
        Goal("`tokbench --help`", "< 0.1 s"),
        Goal("`tokbench list`", "< 0.3 s"),
    ]),
    "encode": (of_encoding, [
        Goal("encode code, beside fastokens", "≥ 0.7 x"),
        Goal("encode code, beside tiktoken", "≥ 5 x"),
        Goal("encode 23 languages, beside fastokens", "≥ 1 x"),
        Goal("encode 23 languages, beside tiktoken", "≥ 4 x"),
    ]),
    "run": (of_run, [
        Goal("whole run, one tokenizer of ours, 50 MB, one core", "≤ 2.5 s"),
        Goal("its worker", "≥ 40 MB/s"),
    ]),
    "further": (of_further_tokenizer, [Goal("each further tokenizer, beside its bare encode and decode", "≤ 1.05 x")]),
    "workers": (of_workers, [
        Goal("two workers beside one, four engines", "≥ 1.8 x"),
        Goal("two workers beside one, four tiktokens", "≥ 1.8 x"),
    ]),
    "train": (of_training, [
        Goal("train 32,768 ids on 10 MB, warm, beside rustbpe", "≥ 4 x"),
        Goal("train 32,768 ids on 50 MB, warm, beside rustbpe", "≥ 6 x"),
        Goal("the same on 10 MB in a fresh process", "> 1 x"),
        Goal("its peak memory on 50 MB, beside rustbpe's", "≤ 1.5 x"),
    ]),
    "curve": (of_curve, [Goal("curve of every vocabulary size with one encoding, beside one encoding", "≤ 1.1 x")]),
    "memory": (of_memory, [Goal("memory at 100 MB, the worker's above its tokenizers (at 10 and 100 MB)", "≤ 500 MB")]),
    "tests": (of_tests, [
        Goal("kill -9, power cut, full disk: the next run goes on", "nothing finished is lost"),
        Goal("report of 40 tokenizers × 200 groups", "first paint < 2 s, < 8 MB"),
    ]),
}  # fmt: skip

QUICK: Final = ("encode",)
"""The rows of a quick look: ratios of processor time, which can be had in seconds while others use the machine."""


def main() -> None:
    """Print the table, row by row as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="measure a few rows on little text")
    parser.add_argument("--only", choices=ROWS, action="append", help="measure these rows")
    given = parser.parse_args()
    show = sys.stdout.write
    show("| what | goal | measured | reached |\n|---|---|---|---|\n")
    with tempfile.TemporaryDirectory(prefix="tokbench-goals-") as folder:
        os.environ.pop("TOKBENCH_NO_STORE", None)
        os.environ["TOKBENCH_STORE"] = str(Path(folder, "store"))
        setting = Setting(Path(folder), 0.2, 1) if given.quick else Setting(Path(folder), 1.0, 3)
        for name in given.only or (QUICK if given.quick else ROWS):
            measure, goals = ROWS[name]
            for goal, found in zip(goals, measure(setting), strict=False):
                reached = {True: "yes", False: "no", None: "see the tests"}[found.reached]
                show(f"| {goal.what} | {goal.goal} | {found.figure} | {reached} |\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
