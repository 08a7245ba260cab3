"""One run, many doors: the answer, the ranks, bold numbers and a comparison agree on who is first."""

from dataclasses import replace

import answer_runs
import numpy as np
import pytest
from made_up_results import TOKENS, made_up, more

from tokbench.comparison.compare import compare
from tokbench.measuring.metric import CorpusStates
from tokbench.measuring.sums import Sums
from tokbench.metrics.pairs import PairsMetric
from tokbench.report.answer.answer import answer_of
from tokbench.report.answer.ranking import LOSSY, TRAINED, UNKNOWN, bars
from tokbench.report.answer.slices import SliceKind, TextGroup, amount, divide, kinds_of_text, text_slices
from tokbench.report.tables import CellTables
from tokbench.results.blocks import RunConfig
from tokbench.results.cells import WHOLE
from tokbench.results.model import NamedRun
from tokbench.results.states import RawStates
from tokbench.tokenizers.options import Options

RUNS = {
    "apart": ({"a": TOKENS, "b": more(0.1, 5), "c": more(0.2, 5)}, {"a"}),
    "below the margin, and sure": ({"a": TOKENS, "b": more(0.009, 1), "c": more(0.2, 5)}, {"a", "b"}),
    "beyond the margin, and sure": ({"a": TOKENS, "b": more(0.011, 1), "c": more(0.2, 5)}, {"a"}),
    "beyond the margin, and noise": ({"a": TOKENS, "b": more(0.011, 400), "c": more(0.2, 5)}, {"a", "b"}),
    "a copy": ({"a": TOKENS, "b": TOKENS, "c": more(0.2, 5), "d": more(0.3, 5), "e": more(0.4, 5)}, {"a", "b"}),
}


def ranks(tokens, margin):
    columns = {
        name: {"tokens": np.array(t, float), "characters": np.array(TOKENS * 4, float)} for name, t in tokens.items()
    }
    exact = {name: np.zeros(len(TOKENS)) for name in ("edits beyond NFC", "lost characters")}
    states = {
        (name, "g"): Sums(400, own | exact | {"exact": np.full(len(TOKENS), 400 / len(TOKENS))})
        for name, own in columns.items()
    }
    outcome = PairsMetric(Options()).finish_corpus(
        CorpusStates("c", False, "", {"g": 400}, list(tokens), states, margin=margin)
    )
    return {name: outcome.values[name, "g"]["rank"].value for name in tokens}


@pytest.mark.parametrize("name", RUNS)
def test_every_door_has_the_same_first(name):
    tokens, first = RUNS[name]
    results = made_up(tokens)
    tables = CellTables(results)
    assert set(answer_of(tables).ranking.ties) == first
    assert tables.level_with_best("density", "prose") == first
    places = ranks(tokens, results.config.practical_margin)
    assert {one for one, place in places.items() if place == 1} == first
    for other in tokens.keys() - {"a"}:
        runs = [NamedRun(who, made_up({"t": tokens[who]})) for who in ("a", other)]
        [change] = [each for each in compare(*runs).changes if each.metric == "density"]
        assert (change.verdict == "worse") == (other not in first)


def test_the_margin_of_the_configuration_holds_at_every_door():
    tokens, _ = RUNS["below the margin, and sure"]
    results = replace(made_up(tokens), config=RunConfig(practical_margin=0.001))
    tables = CellTables(results)
    assert answer_of(tables).ranking.ties == ["a"]
    assert tables.level_with_best("density", "prose") == {"a"}
    assert ranks(tokens, 0.001) == {"a": 1, "b": 2, "c": 3}


def group(name, size, documents=60, kind=SliceKind.LANGUAGE, corpus="c", parallel=False):
    return TextGroup(corpus, name, name, kind, size, documents, parallel=parallel)


def divided(groups, weights=(), **config):
    parts = divide(groups, dict(weights), RunConfig(**config))
    return {part.label: round(part.weight, 3) for part in parts.counted}, [each.label for each in parts.left_out]


@pytest.mark.parametrize(
    ("groups", "counted", "left_out"),
    [
        ([group("de", 9900), group("fi", 100)], {"de": 0.5, "fi": 0.5}, []),
        ([group("de", 9901), group("fi", 99)], {"de": 1.0}, ["fi"]),
        ([group("de", 9000, 10), group("fi", 1000, 10)], {"de": 0.5, "fi": 0.5}, []),
        ([group("de", 9000, 10), group("fi", 1000, 9)], {"de": 1.0}, ["fi"]),
        ([group("de", 9000, 9), group("fi", 1000, 9)], {"de": 0.5, "fi": 0.5}, []),
        ([group("de", 40, 1)], {"de": 1.0}, []),
        ([group("de", 0, 0), group("fi", 0, 0)], {"de": 0.5, "fi": 0.5}, []),  # nothing is known
        ([group("de", 9900), group("fi", 0)], {"de": 0.5, "fi": 0.5}, []),  # its size is not known
        ([group("de", 9000), group("fi", 1000, 0)], {"de": 0.5, "fi": 0.5}, []),  # its documents are not
        ([group("de", 9900), group("fi", 50), group("sv", 49)], {"de": 1.0}, ["fi", "sv"]),
        ([group("de", 9900), group("fi", 50), group("sv", 50)], {"de": 0.5, "other languages": 0.5}, []),
        ([group("de", 9000), group("fi", 500, 5), group("sv", 500, 4)], {"de": 1.0}, ["fi", "sv"]),
        ([group("de", 9000), group("fi", 500, 5), group("sv", 500, 5)], {"de": 0.5, "other languages": 0.5}, []),
        ([group("de", 9000), group("go", 500, 5, SliceKind.CODE), group("c", 500, 5, SliceKind.CODE)], {"de": 0.5, "code": 0.5}, []),
        ([group("de", 9000), group("go", 500, 5, SliceKind.CODE), group("fi", 500, 5)], {"de": 1.0}, ["go", "fi"]),
        ([*(group(f"l{k}", 100) for k in range(128)), group("my", 300)], dict.fromkeys([*(f"l{k}" for k in range(128)), "my"], 0.008), []),
        ([*(group(f"l{k}", 1000) for k in range(19)), group("few", 94)], dict.fromkeys((f"l{k}" for k in range(19)), 0.053), ["few"]),
        ([*(group(f"l{k}", 1000) for k in range(19)), group("some", 96)], dict.fromkeys([*(f"l{k}" for k in range(19)), "some"], 0.05), []),
    ],
)  # fmt: skip
def test_either_side_of_each_threshold(groups, counted, left_out):
    assert divided(groups) == (counted, left_out)


def test_translations_are_small_together_or_not_at_all():
    """Of each language there is less than a hundredth of the run; all together have more, or not."""
    languages = [group(f"l{k}", 30, corpus="sentences", parallel=True) for k in range(4)]
    counted, left_out = divided([group("python", 9000, kind=SliceKind.CODE), *languages])
    assert (len(counted), left_out) == (5, [])
    assert divided([group("python", 12_000, kind=SliceKind.CODE), *languages])[1] == ["l0", "l1", "l2", "l3"]
    apart = [replace(language, parallel=False) for language in languages]
    assert set(divided([group("python", 9000, kind=SliceKind.CODE), *apart])[0]) == {"python", "languages"}
    few = [*languages[:3], replace(languages[3], documents=9)]
    assert divided([group("python", 9000, kind=SliceKind.CODE), *few])[1] == ["l3"]


def test_thresholds_are_keys_of_the_configuration():
    groups = [group("de", 9900, 60), group("fi", 99, 9)]
    assert divided(groups, least_share=0.001)[1] == ["fi"]
    assert divided(groups, least_documents=9)[1] == ["fi"]
    assert divided(groups, least_share=0.001, least_documents=9) == ({"de": 0.5, "fi": 0.5}, [])


def test_weights_that_are_given_are_respected():
    """A corpus keeps its weight however small it is; its small groups share one part of it."""
    code = [group(name, 10, 2, SliceKind.CODE, "code") for name in ("go", "c")]
    assert divided([group("de", 9000), *code], {"c": 20, "code": 80}) == ({"de": 0.2, "code": 0.8}, [])
    large = group("python", 4000, 60, SliceKind.CODE, "code")
    found = divided([group("de", 9000), large, *code], {"c": 20, "code": 80})
    assert found == ({"de": 0.2, "python": 0.4, "other code": 0.4}, [])
    prose = [group(name, 10, 2, corpus="code") for name in ("fi", "sv")]
    assert set(divided([group("de", 9000), large, *prose], {"c": 20, "code": 80})[0]) == {"de", "python", "languages"}
    both = [group("de", 9000), group("fi", 5, 1), group("sv", 9000, corpus="d"), group("no", 5, 1, corpus="d")]
    assert divided(both, {"c": 50, "d": 50})[0] == {"de": 0.25, "sv": 0.25, "fi": 0.25, "no": 0.25}


def test_joined_groups_are_summed_and_have_one_interval():
    """Go, Rust and SQL have 22 documents together: one slice, of all their bytes by all their tokens."""
    tables = CellTables(answer_runs.small_programs())
    answer = answer_of(tables)
    [joined] = [part for part in answer.slices if part.label == "other code"]
    rates = {}
    for name in "ab":
        sums = [tables.sums("ratio", each.corpus, each.group, name) for each in joined.groups]
        rates[name] = sum(s.columns["bytes"].sum() for s in sums) / sum(s.columns["tokens"].sum() for s in sums)
    alone = (
        [tables.cell("ratio", "prose", "de", n).value for n in "ab"],
        [tables.cell("ratio", "prose", "fi", n).value for n in "ab"],
    )
    python = [tables.cell("ratio", "code", "python", n).value for n in "ab"]
    quotients = [one[1] / one[0] for one in (*alone, python, (rates["a"], rates["b"]))]
    behind = answer.ranking.of("a")
    assert behind.more == pytest.approx(np.prod(quotients) ** 0.25 - 1)
    assert behind.low < behind.more < behind.high


def test_copies_are_said_to_be_one_vocabulary():
    results = answer_runs.copies()
    said = [line.sentences for line in answer_of(CellTables(results)).lines]
    assert not any("No intervals" in sentence for sentences in said for sentence in sentences)
    for name in ("a", "copy"):
        results.tokenizers[name] = replace(results.tokenizers[name], sha256={"vocabulary": "ab"})
    assert "a and copy are the same vocabulary." in answer_of(CellTables(results)).sentences


def changed(changes):
    """The run of small programs with other cells of b, by group and metric; those that become None are gone."""
    results = answer_runs.small_programs()
    found = [
        (cell, changes.get((cell.group, cell.metric), {}) if cell.tokenizer == "b" else {}) for cell in results.cells
    ]
    results.cells = [replace(cell, **keys) for cell, keys in found if keys is not None]
    return CellTables(results)


def lossy(group):
    return {(group, "exact"): {"value": 0.5}, (group, "lost"): {"value": 0.2}, (group, "errors"): {"value": 0.2}}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({("go", "ratio"): None}, None),
        ({("go", "ratio"): {"value": None}}, None),
        (lossy(WHOLE) | {("sql", "exact"): None}, UNKNOWN),
        (lossy(WHOLE) | lossy("go"), LOSSY),
        (lossy(WHOLE) | lossy("go") | {("sql", "exact"): None}, LOSSY),
        ({("go", "ratio"): {"in_sample": 1.0}}, TRAINED),
    ],
)
def test_what_one_group_of_several_lacks_all_of_them_lack(changes, reason):
    """Go, Rust and SQL count together, beside German, Finnish and Python."""
    tables = changed(changes)
    answer = answer_of(tables)
    shown = {bar.tokenizer: bar.reason for bar in bars(tables, answer.ranking)}
    assert shown == {"a": ""} | ({} if reason is None else {"b": "" if reason == TRAINED else reason})
    assert ("other code" in {part.label for part in answer.ranking.slices}) == (reason != TRAINED)


def test_bars_go_by_reason_and_then_by_number():
    rates = {"a": 4.0, "b": 5.0, "much": 8.0, "more": 9.0}
    texts = {"prose": {"de": rates}, "code": {"python": rates | {"elsewhere": 9.0}}}
    tables = CellTables(answer_runs.made_up(texts, lost={("much", "prose"): 0.2, ("more", "prose"): 0.2}))
    answer = answer_of(tables)
    assert [part.label for part in answer.slices] == ["German", "Python"]
    assert [(bar.tokenizer, bar.reason) for bar in bars(tables, answer.ranking)] == [
        *(("b", ""), ("a", "")),
        *(("more", LOSSY), ("much", LOSSY)),
    ]
    assert [part.label for part in text_slices(tables, {}, "code")] == ["Python"]
    assert [part.label for part in text_slices(tables, {"prose": 1.0})] == ["German"]


def test_a_bar_has_the_weighted_mean_its_standing_and_the_gravest_reason():
    """Of c German is lost, and nothing is known of Python."""
    rates = {"prose": {"de": {"a": 4.0, "b": 5.0, "c": 9.0}}, "code": {"python": {"a": 2.0, "b": 3.0, "c": 6.0}}}
    results = answer_runs.made_up(rates, lost={("c", "prose"): 0.2}, weights={"prose": 1.0, "code": 3.0})
    gone = {("c", "code", metric) for metric in ("exact", "lost", "errors")}
    results.cells = [cell for cell in results.cells if (cell.tokenizer, cell.corpus, cell.metric) not in gone]
    tables = CellTables(results)
    ranking = answer_of(tables).ranking
    shown = {bar.tokenizer: bar for bar in bars(tables, ranking)}
    prose, code = (tables.cell("ratio", *place, "b").value for place in (("prose", "de"), ("code", "python")))
    assert shown["b"].value == pytest.approx(prose**0.25 * code**0.75)
    assert (shown["b"].standing, shown["c"].standing) == (ranking.standings[0], None)
    assert shown["c"].reason == LOSSY


@pytest.mark.parametrize(("high", "tied"), [(4.49, False), (4.51, True)])
def test_one_group_without_sums_goes_by_the_intervals_of_its_cells(high, tied):
    results = answer_runs.made_up({"prose": {"de": {"a": 4.6, "b": 4.4}}})
    ends = {"a": (4.5, 4.7), "b": (4.3, high)}
    results.cells = [
        replace(cell, ci_low=ends[cell.tokenizer][0], ci_high=ends[cell.tokenizer][1])
        if cell.metric == "ratio"
        else cell
        for cell in results.cells
    ]
    results.states = RawStates([])
    assert answer_of(CellTables(results)).ranking.of("b").tied == tied


@pytest.mark.parametrize(
    ("corpus", "groups", "kinds"),
    [
        ("code", ["*"], "code"),
        ("texts", ["*"], "texts"),
        ("code", ["python", "notes"], "texts texts"),
        ("c", ["python", "go", "notes"], "code code code"),
        ("code", ["de"], "languages"),
        ("c", ["de", "notes"], "texts texts"),
        ("c", ["de", "fi", "notes"], "languages languages texts"),
    ],
)
def test_most_groups_decide_what_a_corpus_is(corpus, groups, kinds):
    assert " ".join(kinds_of_text(corpus, groups).values()) == kinds


@pytest.mark.parametrize(
    ("size", "units", "words"),
    [(999, ("file", "file"), "2 files, 999 bytes"), (1000, ("file", "document"), "2 documents, 1.00 kB")],
)
def test_an_amount_in_its_unit(size, units, words):
    assert amount([replace(group("de", size * k, 1), unit=unit) for k, unit in enumerate(units)]) == words


def test_without_the_sums_of_every_group_there_is_no_interval():
    results = answer_runs.small_programs()
    results.states = RawStates([s for s in results.states if (s.group, s.tokenizer) != ("go", "b")])
    ranking = answer_of(CellTables(results)).ranking
    assert (ranking.standings[1].low, ranking.standings[1].tied) == (None, False)
    results.states = RawStates([s for s in results.states if s.group != "go"])
    assert ranking.over_all
    assert not answer_of(CellTables(results)).ranking.over_all


def test_what_is_left_out_is_told_with_its_files_for_training():
    """Of the code in the corpus, one file of Go was never held out, and JSON has two more."""
    results = answer_runs.stray()
    info = results.corpora["code"]
    counts, sizes = info.groups | {"json": 3, "go": 1}, dict.fromkeys([*info.groups, "go"], 100)
    results.corpora["code"] = replace(info, group_documents=counts, group_bytes=sizes)
    assert "; 7 files of code, 500 bytes (4 held out)." in answer_of(CellTables(results)).text
