"""The spool of a corpus: what is read is what was added, in any order of readings, in memory and on disk."""

import random
import tempfile
from itertools import zip_longest

import pytest

from tokbench.corpus import spool
from tokbench.corpus.contract import Document, Gold
from tokbench.corpus.spool import EVALUATED, TRAINED, Spool
from tokbench.foundation.errors import InputError


def documents():
    rng, gold = random.Random(0), Gold(((0, 1), (2, 3)), (False, True), (1,))
    for k in range(200):
        text = "".join(rng.choices(["a", "é", "東", "\0", "\n", "🎉"], k=rng.choice([0, 1, 300])))
        yield Document(
            text, rng.choice(["", "en", "*"]), str(k), f"c:{k}", rng.choice([None, gold]), rng.choice("xy"), "\r\n"
        )


@pytest.mark.parametrize("in_memory", [0, 5_000, 1 << 20])
def test_readings_take_turns_and_lose_nothing(monkeypatch, in_memory):
    monkeypatch.setattr(spool, "_IN_MEMORY", in_memory)
    monkeypatch.setattr(spool, "_BATCH_CHARS", 1_000)
    kept, parts = Spool(), random.Random(1).choices([EVALUATED, TRAINED, EVALUATED | TRAINED], k=200)
    pairs = list(zip(documents(), parts, strict=True))
    for pair in pairs:
        kept.add(*pair)
    asked = [(part, group) for part in (EVALUATED, TRAINED) for group in (None, "", "en", "*", "missing")]
    turns = zip_longest(*(kept.read(*each) for each in asked))
    for (part, group), found in zip(asked, zip(*turns, strict=True), strict=True):
        assert [*filter(None, found)] == [one for one, its in pairs if its & part and group in {None, one.group}]


def test_no_room_is_an_error_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(InputError, match="missing: No such file or directory; set TMPDIR"):
        Spool().add(Document("a" * 10**7, "g", "1", "c:1"), EVALUATED)
