"""The probes: their texts, hand-computed values, and their way through a run into the reports."""

import json
import xml.etree.ElementTree as ET

import pytest
import yaml
from cutting import ByPattern
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_fixtures import cell
from tokbench_research.probes.block import PROBES
from tokbench_research.probes.plugin import CLASSIC, FAMILIES
from tokbench_research.probes.section import probes_document
from tokbench_research.probes.spelling import longest_words

import tokbench
from tokbench.formats import html, markdown
from tokbench.measuring.metric import Measured, NotApplicable
from tokbench.registry.plugins import load_registry
from tokbench.report.document import Name, Table
from tokbench.report.tables import CellTables
from tokbench.results.cells import OWN_TEXTS, Status

BY_NAME = {probe.name: probe for probe in CLASSIC}


def asked(name, tokenizer):
    return BY_NAME[name].ask(tokenizer)


def value(name, tokenizer, metric):
    return asked(name, tokenizer).values[f"probe_{metric}"].value


@pytest.fixture(scope="module")
def utf8_bytes():
    return tokbench.load("utf8_bytes")


def test_every_value_is_answered(utf8_bytes):
    given_ = {name: each for probe in CLASSIC for name, each in probe.ask(utf8_bytes).values.items()}
    assert set(given_) == {each.id for each in FAMILIES[0].values}
    assert [name for name, each in given_.items() if isinstance(each, NotApplicable)] == [
        "probe_longest_word",
        "probe_longest_token",
    ]


def test_the_formats_have_the_same_data():
    texts = dict(BY_NAME["formats"].texts)
    data = yaml.safe_load(texts["YAML"])
    assert json.loads(texts["JSON, indented by two"]) == json.loads(texts["JSON without white space"]) == data

    def plain(element):
        if element.tag == "items":
            return [plain(child) for child in element]
        return {child.tag: plain(child) for child in element} if len(element) else element.text

    def written(part):
        if isinstance(part, dict):
            return {name: written(each) for name, each in part.items()}
        return [written(each) for each in part] if isinstance(part, list) else str(part).replace("True", "true")

    root = ET.fromstring(texts["XML"])
    assert {root.tag: plain(root)} == written(data)


def test_bytes_by_hand(utf8_bytes):
    assert value("case", utf8_bytes, "case") == (3 * 3 + 3 * 4) / 6
    assert value("spaces", utf8_bytes, "trailing_space") == 0
    assert value("spelling", utf8_bytes, "reversal") == 1
    assert value("spelling", utf8_bytes, "spelling") == 1
    assert value("arithmetic", utf8_bytes, "operands_alike") == 1
    assert value("dates", utf8_bytes, "dates_alike") == 1
    # Six of 10 bytes, then 10, 12 and 20.
    assert value("dates", utf8_bytes, "dates") == (6 * 10 + 10 + 12 + 20) / 9
    assert value("urls", utf8_bytes, "urls") == 1
    # Joiners and variation selectors have three bytes each, a picture four.
    assert value("emoji", utf8_bytes, "emoji_joined") == ((4 * 4 + 3 * 3) + (4 + 3 + 3 + 4)) / 2
    answer = asked("formats", utf8_bytes)
    sizes = [len(each.text.encode()) for each in answer.segmented]
    assert [answer.values[f"probe_{name}"].value for name in ("yaml", "json", "json_compact", "xml")] == sizes


def test_a_space_that_belongs_to_the_next_word_leads_away():
    assert value("spaces", ByPattern(r" ?\w+|[^\w\s]|\s"), "trailing_space") == 1
    assert value("spaces", ByPattern(r"\w+|[^\w\s]|\s"), "trailing_space") == 0


def test_letters_that_share_a_token_are_not_seen():
    alone = ByPattern(r"-?\w|.")
    assert value("spelling", alone, "spelling") == 1
    # s-t is one token: of 10 + 8 + 16 letters two are together in strawberry, and in responsibilities none.
    assert value("spelling", ByPattern(r"s-t|."), "spelling") == 1 - 2 / 34


def test_operands_of_equal_length_may_be_cut_differently():
    # 12|34 and 5678, 1000 and 2047 and all others whole.
    assert value("arithmetic", ByPattern(r"12(?=34)|\d+|\D"), "operands_alike") == 5 / 6


def test_dates_of_one_format_may_be_cut_differently():
    assert value("dates", ByPattern(r"20(?=\d\d-)|\d+|\D"), "dates_alike") == 3 / 6
    assert value("dates", ByPattern(r"\d+|\D"), "dates_alike") == 1


@settings(max_examples=25)
@given(st.text("0123456789", min_size=4, max_size=4))
def test_operands_are_compared_place_by_place(cut):
    tokenizer = ByPattern(rf"(?<=\d)[{cut}]|\d+?(?=[{cut}])|\d+|\D")
    shares = []
    for text, _ in BY_NAME["arithmetic"].texts:
        left, right = text.split(" = ")[0].split(" + ")
        pieces = ([tokenizer.decode([token]) for token in tokenizer.encode(part)] for part in (left, right))
        lengths = [list(map(len, part)) for part in pieces]
        shares.append(lengths[0] == lengths[1])
    assert value("arithmetic", tokenizer, "operands_alike") == pytest.approx(sum(shares) / len(shares))


def test_longest_words():
    class Words(ByPattern):
        vocab_size = 7

        def __init__(self):
            super().__init__(" ?[A-Za-z]+|.")
            self._pieces = [
                "strawberries",
                " Strawberries",
                "aaaaaaaaaaaaaaaaaaaa",
                " lollipops",
                "CAPITALLETTERS",
                "né",
                "hat",
            ]

    assert longest_words(Words(), 2) == ["strawberries", " lollipops"]
    assert asked("spelling", ByPattern(".")).own == []


@pytest.mark.slow
def test_longest_words_of_a_production_vocabulary():
    pytest.importorskip("splintr")
    tokenizer = tokbench.load("splintr", vocabulary="cl100k_base")
    assert longest_words(tokenizer, 2) == ["abcdefghijklmnopqrstuvwxyz", " disproportionately"]
    # A model that puts a space before every text has its words with that space.
    assert longest_words(tokbench.load("splintr", vocabulary="llama2"), 1) == ["characteristics"]
    answer = asked("spelling", tokenizer)
    assert answer.values["probe_longest_word"] == Measured(26, 1)
    assert [len(each.tokens) for each in answer.own[::3]] == [1, 1, 1]
    assert [(each.label, each.text[:4]) for each in answer.own[3:6]] == [
        ("␣disproportionately", " dis"),
        ("disproportionately reversed", "ylet"),
        ("disproportionately spelled", "d-i-"),
    ]


def own(results, tokenizer, metric):
    found = cell(results, tokenizer, metric)
    assert found.corpus == OWN_TEXTS
    return found


CONFIG = {
    "schema": "tokbench/1",
    "name": "probed",
    "corpora": {"c": {"source": "sample", "part": "hostile"}},
    "tokenizers": {
        "bytes": {"backend": "utf8_bytes"},
        "units": {"backend": "utf16_units"},
        "gone": {"backend": "pretokenized", "path": "nowhere.jsonl", "optional": True},
    },
    "metrics": ["probes"],
}


@pytest.fixture(scope="module")
def results():
    return tokbench.run(CONFIG, workers=0, store=False)


def test_a_run_has_cells_and_segmentations(results):
    assert not results.failed
    assert {each.corpus for each in results.cells} == {OWN_TEXTS}
    assert own(results, "bytes", "probe_case").value == 3.5
    assert own(results, "units", "probe_emoji_joined").value == (2 * 4 + 3 + 2 + 1 + 1 + 2) / 2
    assert own(results, "gone", "probe_case").status == Status.UNAVAILABLE
    assert [each.probe for each in results.studies.get(PROBES)] == list(BY_NAME)
    case = results.studies.get(PROBES)[0]
    assert case.texts[3] == ("␣hat", " hat")
    assert case.answers["bytes"].tokens[3] == [(32, " "), (104, "h"), (97, "a"), (116, "t")]
    assert case.answers["gone"].reason
    assert results.metrics["probe_case"].family == "probes"


@pytest.mark.slow
def test_two_workers_change_nothing(results):
    assert tokbench.run(CONFIG, workers=2, store=False).studies.get(PROBES) == results.studies.get(PROBES)


def test_reports_show_texts_and_tokens(results):
    text, page = markdown.render(results), html.render(results)
    assert all(f"### {probe.title}\n" in text for probe in CLASSIC)
    assert all(f"<h3>{probe.title}</h3>" in page for probe in CLASSIC)
    assert "| bytes | 3: h ¦ a ¦ t | 3: H ¦ a ¦ t |" in text
    assert '<span class="token" title="id 32"><bdi>␣</bdi></span><span class="token" title="id 104">' in page
    assert "\\u{200d}" in page  # the joiner of a family can be seen
    case = next(node for node in probes_document(CellTables(results)).nodes if isinstance(node, Table))
    heads = [column.line for column in case.columns]
    assert heads == ["tokenizer", *map(Name, ["hat", "Hat", "HAT", "␣hat", "␣Hat", "␣HAT"])]
    assert not any(column.below for column in case.columns), "the labels say what the texts are"


@pytest.mark.slow
def test_a_crash_costs_the_probe_and_those_after_it(write_config, corpus, faulty):
    tokenizers = "  bytes: {backend: utf8_bytes}\n  crashes: {backend: CrashesInEncode}"
    results = tokbench.run(write_config(corpus, tokenizers, "[probes]"))
    assert own(results, "bytes", "probe_emoji").status == Status.OK
    assert own(results, "crashes", "probe_case").value == 3.5
    # strawberry has a b
    for metric in ("probe_reversal", "probe_emoji"):
        crashed = own(results, "crashes", metric)
        assert crashed.status == Status.FAILED
        assert "SIGSEGV" in crashed.reason


def test_who_raises_goes_on_with_the_next_probe(write_config, corpus, faulty):
    results = tokbench.run(write_config(corpus, "  raises: {backend: OutOfRange}", "[probes]"), workers=0)
    # It raises where there is a b, as in strawberry.
    assert own(results, "raises", "probe_reversal").status == Status.FAILED
    assert own(results, "raises", "probe_yaml").status == Status.OK


@pytest.mark.parametrize(
    ("backend", "vocabulary", "single"),
    [
        # Of 18 strings: GPT-2 has its own eight; Llama 2 its three.
        ("tiktoken", "gpt2", 8),
        ("splintr", "llama2", 3),
    ],
)
def test_a_vocabulary_has_the_glitch_tokens_that_are_published_for_it(backend, vocabulary, single, data):
    option = "encoding" if backend == "tiktoken" else "vocabulary"
    answer = BY_NAME["glitch"].ask(tokbench.load(backend, **{option: vocabulary}))
    assert answer.values["probe_glitch"].value == single / 18
    tokens = {each.label: len(each.tokens) for each in answer.segmented}
    assert (tokens["␣SolidGoldMagikarp"] == 1) == (vocabulary == "gpt2")
    assert [len(each.tokens) for each in answer.own] == [1] * 4
    assert answer.values["probe_longest_token"].value == len(answer.own[0].text)


def test_the_composition_of_bytes_by_hand():
    """128 bytes are ASCII: 52 letters, 10 digits, 6 of white space, 32 of punctuation and symbols, 28 controls."""
    [probe] = load_registry().metrics.get("composition").make(None)
    found = {name: each.value for name, each in probe.ask(tokbench.load("utf8_bytes")).values.items()}
    expected = {"fragment": 128, "word_inside": 52, "digits": 10, "white_space": 6, "punctuation": 32, "mixed": 28}
    assert {name: share for name, share in found.items() if name.startswith("kind_") and share} == {
        f"kind_{kind}": count / 256 for kind, count in expected.items()
    }
    assert (found["script_latin"], found["script_none"]) == (52 / 128, 76 / 128)
    assert sum(share for name, share in found.items() if name.startswith("script_")) == 1


def test_a_probe_without_texts_has_no_section():
    results = tokbench.run({**CONFIG, "metrics": ["composition"]}, workers=0, store=False, only=["bytes"])
    assert cell(results, "bytes", "kind_digits").value == 10 / 256
    assert 'id="probes"' not in html.render(results)
