"""The table of languages, and slices of a corpus by what it says."""

from shared_fixtures import cell

import tokbench
from tokbench.corpus.languages import FACETS, find_language, language_names, slices
from tokbench.results.cells import Status


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
