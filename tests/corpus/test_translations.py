"""Languages, translations, and very many groups."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from shared_fixtures import cell

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.config.read import read_config
from tokbench.corpus.languages import FACETS, find_language, language_names, slices
from tokbench.corpus.translations import find_translations
from tokbench.results.cells import Status
from tokbench.sources.text import TextOptions, TextSource

LINES = [
    "an egg",
    "a white egg",
    "x",
    "two large white eggs of a hen",
    "no",
    "yes",
    "what is it",
    "an",
    "a b c",
    "d e f g h",
]


def write(folder, lines, ends="\n"):
    """Write lines by language; numbers are those of ``LINES``, and texts are as they are."""
    folder.mkdir(exist_ok=True)
    for name, text in lines.items():
        own = text if isinstance(text, str) else ends.join(LINES[k] for k in text) + ends
        (folder / f"{name}.txt").write_bytes(own.encode())
    return folder


def found(folder):
    return find_translations(TextSource(TextOptions(path=folder / "*.txt", document="line")).documents(), "line")


ALL = range(10)
SHORT = "\n".join(LINES)


@pytest.mark.parametrize(
    ("lines", "reference"),
    [
        ({"en": ALL, "de": ALL}, "en"),
        ({"eng": ALL, "deu_Latn": ALL, "swa": ALL}, "eng"),
        ({"en_GB": ALL, "en": ALL}, "en"),
        ({"English": ALL, "German": ALL}, "English"),
        ({"swa": ALL, "deu": ALL}, "deu"),
        ({"en": ALL, "de": SHORT + "\n\n\n"}, "en"),
        ({"en": SHORT, "de": SHORT.replace("\n", "\r\n")}, "en"),
        ({"en": "a\n\nbc", "de": "a\n\nbc"}, "en"),
        ({"en": ALL, "de": ALL, "README": [0, 1]}, "en"),
        ({"en": ALL, "de": [3, 2, 1, 4, 5, 6, 7, 8, 9]}, ""),
        ({"en": ALL, "de": SHORT + "\nx"}, ""),
        ({"en": "a\n\nbc", "de": "a\nbc\n"}, ""),
        ({"en": ALL, "README": ALL}, ""),
        ({"en": ALL, "de": ALL, **dict.fromkeys(["README", "LICENSE", "NOTICE", "draft"], "x")}, "en"),
        ({"en": ALL, "aeb": ALL, "dyu": ALL[1:]}, ""),
        ({"en": ALL, "de": "b\n" * 10}, "en"),
        ({"en": "one", "de": "eins"}, ""),
        ({"en": ALL, "de": [3, 4, 1, 2, 9, 6, 5, 8, 7, 0]}, ""),
        ({"en": ALL[:9], "de": [3, 4, 1, 2, 5, 6, 8, 7, 0]}, "en"),
        ({"en": "a\n" * 12, "de": "b\n" * 12}, "en"),
    ],
)
def test_languages_are_translations_if_their_lines_match(tmp_path, lines, reference):
    assert found(write(tmp_path, lines)).reference == reference


def test_the_reason_names_who_differs(tmp_path):
    codes = ("en", "de", "fr", "es")
    assert (
        found(write(tmp_path, dict.fromkeys(codes, ALL) | {"fi": ALL[:9]})).reason
        == "4 of 5 languages have 10 lines, fi has 9"
    )
    many = write(tmp_path / "many", {"en": ALL, "de": ALL, "fr": ALL[1:], "es": ALL[2:], "fi": ALL[3:], "sv": ALL[4:]})
    assert found(many).reason == "the languages have 6 to 10 lines"
    three = write(tmp_path / "three", {"en": [0, 1], "de": [0], "fr": ALL})
    assert found(three).reason == "the languages have 1 to 10 lines"
    two = write(tmp_path / "two", {"en": "a\n\nbc", "de": "a\nbc"})
    assert found(two).reason == "en has line 3 where de has line 2"


@pytest.mark.slow
def test_real_translations_are_seen_and_the_same_lines_in_another_order_are_not(data, tmp_path):
    lines = (data / "ntrex/swa.txt").read_text("utf-8").splitlines()
    assert found(data / "ntrex").documents == 1997
    for name in ("eng", "deu"):
        (tmp_path / f"{name}.txt").write_bytes((data / f"ntrex/{name}.txt").read_bytes())
    (tmp_path / "swa.txt").write_text("\n".join(np.random.default_rng(1).permutation(lines)), "utf-8")
    assert found(tmp_path).reason == "long lines of eng are not long in swa"


def new(folder):
    return CliRunner().invoke(
        command, ["new", str(folder), "--for", "languages", "-t", "utf8_bytes"], catch_exceptions=False
    )


@pytest.mark.parametrize("parallel", [True, False])
def test_new_compares_translations_and_its_file_runs(tmp_path, monkeypatch, parallel):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "texts", {"eng": ALL, "deu": ALL if parallel else ALL[:8], "swa": ALL, "README": [0]})
    outcome = new("texts")
    assert ("3 files of 10 lines: compared line by line, English = 1" in outcome.output) == parallel
    assert ("2 of 3 languages have 10 lines, deu has 8" in outcome.output) != parallel
    config = read_config(Path("languages.yaml"))
    entry = config.corpora["prose"]
    assert (entry.parallel, entry.reference) == ((True, "eng") if parallel else (False, ""))
    assert ("fairness" in [metric.name for metric in config.metrics]) == parallel
    assert entry.options.get("groups") == (["deu", "eng", "swa"] if parallel else None)
    comment = Path("languages.yaml").read_text("utf-8")
    assert ("reference: eng" in comment.partition("corpora:")[0]) != parallel
    done = CliRunner().invoke(command, ["run", "languages.yaml"])
    assert done.exit_code == 0, done.output
    assert ("Swahili 1.00" in done.output) == parallel


@pytest.mark.parametrize("name", ["en", "English", "eng_Latn"])
def test_another_code_of_a_language_is_answered_with_its_group(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "texts", {"eng": ALL, "enm": ALL})
    assert new("texts").exit_code == 0
    text = Path("languages.yaml").read_text("utf-8")
    for place in (f"reference: {name}", f"reference: eng, groups: [{name}]"):
        Path("languages.yaml").write_text(text.replace("reference: eng", place), "utf-8")
        checked = CliRunner().invoke(command, ["check", "languages.yaml"])
        assert f"'{name}'; did you mean 'eng'?" in f"{checked.output}{checked.exception}"


def test_languages_by_any_of_their_codes():
    for codes in (("zh", "zho", "cmn", "zho-CN", "zh_Hant"), ("fa", "fas", "pes"), ("sw", "swa", "swh_Latn")):
        assert len({find_language(code) for code in codes}) == 1
    assert find_language("sr").script == ""
    assert find_language("srp_Cyrl").script == "Cyrillic"
    assert [find_language(word) for word in ("python", "hostile", "xx", "")] == [None] * 4


def test_names_are_for_codes_of_languages_only():
    flores = ["ace_Arab", "ace_Latn", "kea_Latn", "zho_Hans"]
    assert list(language_names(flores).values()) == ["Achinese, Arabic", "Achinese, Latin", "Kabuverdianu", "Chinese"]
    assert language_names(["cs", "ts", "python"]) == {}


def test_unknown_languages_are_a_slice_with_a_message(write_config, tmp_path):
    for name in ("en", "q1", "q2"):
        (tmp_path / f"{name}.txt").write_text("".join(f"{name} {k}\n" for k in range(20)), encoding="utf-8")
    corpora = "  c: {source: text, path: '??.txt', document: line, parallel: true, reference: en}"
    results = tokbench.run(write_config(corpora, metrics="[fairness]"), workers=0)
    assert cell(results, "bytes", "premium", "q1").value == 1
    for facet in FACETS:
        unknown = cell(results, "bytes", "premium", f"{facet}: unknown")
        assert unknown.status == Status.NOT_APPLICABLE
        assert unknown.reason == f"nothing is known of the {facet} of q1, q2"
    assert [s.groups for s in slices(["q2", "en"]) if not s.value] == [("q2",)] * 3


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """301 files of k // 100 + 1 lines."""
    folder = tmp_path_factory.mktemp("many")
    for k in range(301):
        (folder / f"d{k:03d}.txt").write_text(f"one two {k}\n" * (k // 100 + 1), encoding="utf-8")
        (folder / f"d{k:03d}.jsonl").write_text('{"text": "one"}\n', encoding="utf-8")
    return folder


@pytest.mark.parametrize(("source", "suffix"), [("text", "txt"), ("jsonl", "jsonl")])
def test_very_many_files_are_one_group_and_a_note_says_so(write_config, many, source, suffix):
    results = tokbench.run(write_config(f"  c: {{source: {source}, path: '{many}/*.{suffix}'}}"), workers=0)
    assert results.corpora["c"].groups == {"files": 301}
    note = "corpus c: 301 files are one group, 'files', because their names tell no language; for a group of each file "
    assert f"{note}write group: '{{stem}}'" in results.notes
