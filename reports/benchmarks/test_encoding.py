"""Encoding text that was not seen before, with OpenAI's vocabularies, one core: other libraries in turns.

Every turn has a new encoder, whose caches are empty, and text of its own.
"""

from __future__ import annotations

from importlib.util import find_spec

import encoders
import pytest
from child import on_cores, take_turns

for module in ("numba", "splintr"):
    pytest.importorskip(module)

OTHERS = [name for name in encoders.ENCODERS if name != "tokbench" and find_spec(name.rsplit(maxsplit=1)[-1])]
ROUNDS = 5


def measure(benchmark, name, folder, size, document):
    """All encoders in turns, after their ids have been compared with tiktoken's."""
    if not benchmark.enabled and (name, document) != ("cl100k_base", 100):
        pytest.skip(
            "nothing is measured without --benchmark-enable; that it runs is seen with 100 bytes of cl100k_base"
        )
    slices = (folder, size if benchmark.enabled else 20_000, ROUNDS, document)
    others = OTHERS if benchmark.enabled or not folder else OTHERS[:1]  # that they run is seen with the sources
    with on_cores(1) as call:
        differing = {each: call(encoders.verify, each, name, *slices) for each in ["tokbench", *others]}
        take_turns(
            benchmark, lambda each, turn: call(encoders.seconds, each, name, turn, *slices), "tokbench", others, ROUNDS
        )
        taken = benchmark.extra_info.pop("seconds")
        n_bytes = call(encoders.megabytes, *slices)
    benchmark.extra_info["MB/s"] = {each: round(n_bytes / each_took, 1) for each, each_took in taken.items()}
    assert not any(differing.values()), differing


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("document", [100, 1_000, 10_000, 100_000, 1_000_000])
@pytest.mark.parametrize("name", encoders.SPLITS)
@pytest.mark.parametrize("text", ["Python sources", "23 languages (PUD, NTREX)"])
def test_encoding(benchmark, request, text, name, document):
    benchmark.extra_info["title"] = f"encoding, {name}, {text} in documents of {document:,} bytes"
    folder = None if text == "Python sources" else request.getfixturevalue("data")
    measure(benchmark, name, folder, 4_000_000, document)
