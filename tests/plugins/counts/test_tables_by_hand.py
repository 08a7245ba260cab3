"""Tables of counts by hand: places and spans, and what adding joins or refuses."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from count_tables import MEMORY

pytest.importorskip("numba")
pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from tokbench.foundation.errors import InputError
from tokbench_plugins.bpe import PATTERNS
from tokbench_plugins.counts import facts as counts_facts
from tokbench_plugins.counts import merge as merging
from tokbench_plugins.counts.count import count_table, table_of
from tokbench_plugins.counts.facts import CountFacts, LeftOut, read_facts
from tokbench_plugins.counts.read import counts_of_groups, read_counts, rows_of_tables, text_of_tables
from tokbench_plugins.counts.source import CountsOptions, CountsSource

FILE, DOCUMENT, MB = 1 << 40, 257 << 20, 1 << 20
GPT4 = PATTERNS["gpt4"]


@pytest.mark.parametrize(
    ("number", "size", "place"),
    [
        (counts_facts.part_position, FILE, 3),
        (counts_facts.document_position, DOCUMENT, 3),
    ],
)
def test_places_of_numbers(number, size, place):
    most = (1 << 63) // size - 1
    assert (number(0), number(place), number(most)) == (0, place * size, most * size)
    for wrong in (-1, most + 1):
        with pytest.raises(InputError, match=rf"number {wrong:,} is not within 0 and {most:,}"):
            number(wrong)


def test_spans_by_hand():
    assert counts_facts.span_of_part(2 * FILE) == (2 * FILE, 3 * FILE)
    spans = counts_facts.spans_of_documents([3, 4, 5, 9])
    assert spans == ((3 * DOCUMENT, 6 * DOCUMENT), (9 * DOCUMENT, 10 * DOCUMENT))
    assert counts_facts.spans_of_documents([]) == ()
    assert len(counts_facts.spans_of_documents(range(0, 1998, 2))) == 999
    assert len(counts_facts.spans_of_documents(range(0, 2000, 2))) == 1000
    assert counts_facts.spans_of_documents(range(0, 2002, 2)) == ()
    assert counts_facts.joined_spans([(4, 6), (0, 2), (2, 3), (7, 8)]) == ((0, 3), (4, 6), (7, 8))
    made = CountFacts("x", spans=((0, FILE), (2 * FILE, 3 * FILE), (3 * FILE, 4 * FILE), (9 * FILE + 1, 9 * FILE + 2)))
    assert made.gaps == ((FILE, 2 * FILE), (3 * FILE, 3 * FILE))
    assert counts_facts.named_span(0, FILE) == "part 0"
    assert counts_facts.named_span(1234 * FILE, 5000 * FILE) == "parts 1,234 to 4,999"
    assert counts_facts.named_span(0, DOCUMENT) == "document 0"


def test_facts_are_read_as_written():
    left = LeftOut(3, 1000, 2000, 3000)
    assert str(left) == (
        "1,000 different pre-tokens that occur less than 3 times are left out: 2,000 pre-tokens, 3,000 bytes"
    )
    made = CountFacts(GPT4, 2, 9, ("a", "b"), numbered=True, groups=("x",), parts=True, left_out=left, spans=((0, 4),))
    text = made.as_json()
    assert CountFacts.of({b"tokbench.counts": text.encode()}, "t") == made
    assert json.loads(text)["pattern_name"] == made.pattern_name == "gpt4"
    assert CountFacts.of({b"tokbench.counts": replace(made, left_out=None).as_json().encode()}, "t").left_out is None
    for metadata in (None, {}, {b"other": b"x"}):
        with pytest.raises(InputError, match=r"t: not a table of counts: its metadata has no 'tokbench\.counts'"):
            CountFacts.of(metadata, "t")
    with pytest.raises(InputError, match="t: counts of another version"):
        CountFacts.of({b"tokbench.counts": text.replace('"version": 1', '"version": 2').encode()}, "t")


def test_a_table_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"none: cannot be read: No such file"):
        read_facts(tmp_path / "none")


def test_what_is_added_is_summed():
    one = CountFacts("p", 2, 9, ("a",), groups=("y",), left_out=LeftOut(2, 1, 2, 3), spans=((0, 4),), in_order=False)
    two = CountFacts("p", 3, 4, ("b", "c"), groups=("x", "y"), left_out=LeftOut(5, 10, 20, 30), spans=((4, 5),))
    assert merging._sum([one, two]) == CountFacts(
        "p", 5, 13, ("a", "b", "c"), groups=("x", "y"), left_out=LeftOut(5, 11, 22, 33), spans=((0, 5),)
    )
    assert merging._sum([replace(one, left_out=None), replace(two, spans=())]) == replace(
        merging._sum([one, two]), left_out=two.left_out, spans=()
    )
    paths = [Path("a"), Path("b"), Path("c")]
    parts = merging.placed(paths, [one, two, replace(one, sources=())])
    assert [(part.path.name, part.shift) for part in parts] == [("a", 0), ("b", FILE), ("c", 3 * FILE)]
    assert [part.shift for part in merging.placed(paths[1:], [replace(two, numbered=True), one])] == [0, 2 * FILE]
    made = merging.Merged(one, different=10, pretokens=9, chunk_bytes=100)
    assert (made.slots, made.training_memory) == (111, 300_001_900)


def test_why_tables_cannot_be_added(tmp_path):
    def made(name, number, pattern="gpt2", **more):
        pq.write_table(count_table(["a b"], number, pattern=pattern, **more), tmp_path / name)
        return tmp_path / name

    def refused(*tables, **more):
        with pytest.raises(InputError) as caught:
            merging.add_tables(tables, tmp_path / "out", MEMORY, **more)
        return str(caught.value).replace(f"{tmp_path}/", "")

    zero, parts = made("zero", 0), made("parts", 0, parts=True)
    assert refused(zero, made("gpt4", 1, "gpt4")) == (
        "zero and gpt4: tables of different split cannot be added: gpt2 and gpt4; count one of them again"
    )
    assert "different counting in parts cannot be added: False and True" in refused(zero, parts)
    assert "some of these tables have numbers of the caller" in refused(zero, made("none", None))
    assert refused(zero, made("again", 0)) == "again and zero both hold part 0; leave one of them out"
    assert refused(made("same", None), made("same", None)) == "same and same are the same table; leave one of them out"
    far = [made(f"far{k}", 2 * k) for k in range(8)]
    assert refused(*far) == (
        "missing: part 1, part 3, part 5, part 7, part 9 and 2 more gaps; count what was lost, or allow it with --gaps"
    )
    assert refused(*far[:6]).startswith("missing: part 1, part 3, part 5, part 7, part 9; count")
    merged = merging.add_tables(far, tmp_path / "out", MEMORY, gaps=True)
    assert (merged.different, merged.pretokens, merged.chunk_bytes, merged.fitting) == (2, 16, 3, 1)
    assert read_facts(tmp_path / "out") == merged.facts
    assert len(merged.facts.gaps) == 7


def test_the_order_of_groups_and_chunks(tmp_path):
    rows = {
        "chunk": [b"a", b"b", b"a", b"c"], "count": [1, 2, 3, 4], "first": [30, 10, 20, 10],
        "group": ["y", "x", "x", "y"], "part": pa.array([0, 1, 0, 2], pa.int8()),
    }  # fmt: skip
    path = tmp_path / "t.counts"
    pq.write_table(table_of(pa.table(rows), pattern="[a-c]|.", documents=7), path)
    facts = read_facts(path)
    assert (facts.documents, facts.bytes, facts.groups, facts.parts) == (7, 10, ("x", "y"), True)
    assert (facts.numbered, facts.in_order, facts.sources) == (True, False, ())
    assert [*read_counts(path, "first", tmp_path).chunks()] == [(b"b", 2), (b"c", 4), (b"a", 4)]
    [table] = [CountsSource(CountsOptions(path=str(path))).counts]
    groups = counts_of_groups({"t": table}, "first")
    assert {name: [*counts.chunks()] for name, counts in groups.items()} == {
        "x": [(b"b", 2), (b"a", 3)],
        "y": [(b"c", 4), (b"a", 1)],
    }
    assert [*groups] == ["x", "y"]
    with merging.engine(MEMORY, tmp_path / "spill") as connection:
        assert merging.has_order(connection, path)
        assert merging.groups_in_order(connection, path) == ["x", "y"]
        assert merging.slots_of(connection, path, facts) == 0
        pq.write_table(table_of(pa.table({"chunk": ["a"], "count": [1]})), tmp_path / "u")
        assert not merging.has_order(connection, tmp_path / "u")
    assert read_facts(tmp_path / "u").groups == ("",)
    assert (read_facts(tmp_path / "u").parts, read_facts(tmp_path / "u").numbered) == (False, False)
    both = rows_of_tables({"t": table}, "first")
    assert ([*both.rows.chunks()], both.facts) == ([(b"b", 2), (b"c", 4), (b"a", 4)], facts)
    text = text_of_tables({"one": table, "two": table})
    assert (text.documents, text.bytes) == (14, 20)


@pytest.mark.parametrize(("slots", "fitting"), [(18, 1), (17, 2), (16, 2), (15, 3), (13, 3), (12, 9), (5, 9)])
def test_the_min_count_that_fits(tmp_path, monkeypatch, slots, fitting):
    """With a gap behind each: 4 bytes occur 9 times, 3 + 5 more 3 times, 3 more twice and 2 more once."""
    monkeypatch.setattr(merging, "MOST_SLOTS", slots)
    rows = {"chunk": [b"aa", b"bb", b"bbbb", b"ccc", b"d"], "count": [2, 3, 3, 9, 1]}
    pq.write_table(table_of(pa.table(rows), pattern=r"\w+"), tmp_path / "t")
    facts = read_facts(tmp_path / "t")
    with merging.engine(MEMORY, tmp_path / "spill") as connection:
        assert merging.fitting_min_count(connection, tmp_path / "t", facts) == fitting
        assert merging.slots_of(connection, tmp_path / "t", facts) == 18
