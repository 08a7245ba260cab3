"""Runs that are killed at any of their events, in every phase, and begun again: the results are those of a run at one go.

``KILLS=50`` kills at fifty events, by default at four in other phases.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import ended

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc, and workers outlive a kill"),
]

KILLS = int(os.environ.get("KILLS", "4"))
LAUNCHER = Path(__file__).parents[1] / "helpers" / "killed_run.py"
FOLDER = "FOLDER_OF_A_KILLED_RUN"
"""The variable by which the processes of a run are known."""

PHASES = (
    "start",
    "reading",
    "loading",
    "training",
    "measuring",
    "cells",
    "tokens",
    "reports",
    "after reports",
)


class Run:
    """A run in a folder of its own, with a store of its own."""

    def __init__(self, folder, config):
        self.folder, self.config = folder, config
        self.out = folder / "out"
        (folder / "tmp").mkdir(parents=True)

    def start(self, number=-1, whom="main"):
        """Run, kill at an event if one is given, and return the exit code and what was printed."""
        arguments = [self.folder, number, whom, "run", self.config, "-o", self.out, "-w1", "--log", "none"]
        environment = {
            **os.environ,
            "TOKBENCH_STORE": str(self.folder / "store"),
            "TMPDIR": str(self.folder / "tmp"),
            FOLDER: str(self.folder),
        }
        with (self.folder / "log").open("wb") as log:
            done = subprocess.run(
                [sys.executable, LAUNCHER, *map(str, arguments)],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,  # its group is its own
                timeout=300,
                check=False,
            )
        return done.returncode, (self.folder / "log").read_text(encoding="utf-8")

    def phases(self):
        """Return the phase of each event of a run that came to its end."""
        return (self.folder / "events").read_text(encoding="utf-8").splitlines()

    def leftovers(self):
        """Return what is left of temporary files, but for the one with which Python tries whether it can write there."""
        paths = (self.folder / "tmp").iterdir()
        return [path for path in paths if path.is_dir() or path.read_bytes() not in {b"", b"blat"}]

    def processes(self):
        """Return the ids of the processes that a run has left."""
        mark, left = f"{FOLDER}={self.folder}\0".encode(), []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes():
                    left.append(int(process.name))
            except OSError:  # it has ended, or belongs to somebody else
                continue
        return left

    def files(self):
        """Return the files of the run's folder with their content; of ``results.json`` what does not tell of times."""
        content = {
            path.relative_to(self.out).as_posix(): path.read_bytes() for path in self.out.rglob("*") if path.is_file()
        }
        content["results.json"] = timeless(content["results.json"])
        del content["report.md"]  # the same numbers with a date
        return content


def timeless(data):
    """Return the bytes of ``results.json`` without what tells when, how long, and from where."""
    results = json.loads(data)
    for name in ("created", "seconds", "durations", "from_store"):
        del results[name]
    del results["environment"]["load_average"]
    for tokenizer in results["tokenizers"].values():
        tokenizer["load_s"] = None
        if tokenizer["train"]:
            tokenizer["train"]["seconds"] = tokenizer["train"]["from_store"] = None
    return json.dumps(results, indent=1).encode()


def spread(phases, number):
    """Return so many events, from every phase alike, and from a phase over its length."""
    places = {phase: [k for k, other in enumerate(phases) if other == phase] for phase in dict.fromkeys(phases)}
    shares = dict.fromkeys(places, 0)
    while sum(shares.values()) < min(number, len(phases)):
        phase = min((p for p in places if shares[p] < len(places[p])), key=lambda p: shares[p])
        shares[phase] += 1
    return sorted(
        places[phase][k * len(places[phase]) // share] for phase, share in shares.items() for k in range(share)
    )


@pytest.fixture
def config(tmp_path, write_config, stored, monkeypatch):
    monkeypatch.setenv("TOKBENCH_PLUGINS", "baselines,corpora,metrics,naive_bpe,reports,tokens")
    for name in "xyz":
        (tmp_path / f"{name}.txt").write_text(f"one text of {name}\nab abc\n", encoding="utf-8")
    return write_config(
        "  c: {source: text, path: '?.txt', document: line, group: '{stem}'}",
        "  bytes: {backend: utf8_bytes}\n  naive: {backend: naive_bpe, engine: python, train: {corpus: c, vocab_size: 260}}",
        "[compression, fertility, roundtrip]",
        "[csv, md]",
    )


def test_a_run_that_is_killed_anywhere_goes_on(tmp_path, config):
    whole = Run(tmp_path / "whole", config)
    assert whole.start()[0] == 0
    expected, phases = whole.files(), whole.phases()
    assert set(PHASES) <= set(phases)
    for kill, number in enumerate(spread(phases, KILLS)):
        place = f"kill {kill}, event {number}, {phases[number]}"
        run = Run(tmp_path / f"kill-{kill}", config)
        code, said = run.start(number, ("main", "group")[kill % 2])
        assert code in {-signal.SIGKILL, 0}, f"{place}: {said}"  # a run may have a few events less than another
        assert all(ended(process) for process in run.processes()), place
        code, said = run.start()
        assert code == 0, f"{place}: {said}"
        assert run.files() == expected, f"{place}: {said}"
        assert not run.processes(), place
        assert not run.leftovers(), place
