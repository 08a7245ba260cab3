"""Chips and filters in Chromium: what is switched off does not count, as in a run that never had it."""

from __future__ import annotations

from dataclasses import replace

import answer_runs
import pytest
from chromium import chromium

from tokbench.formats import html
from tokbench.report.answer.answer import answer_of
from tokbench.report.answer.ranking import bars
from tokbench.report.tables import CellTables
from tokbench.results.states import RawStates

pytestmark = [pytest.mark.slow, pytest.mark.one_of_file]
LANGUAGES = {
    "hi": {"a": 8.8, "b": 7.6, "a-long": 7.0},
    "sw": {"a": 4.1, "b": 4.0, "a-long": 4.3},
    "zh": {"a": 3.9, "b": 4.4, "a-long": 4.4},
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chips")
    with chromium(folder / "profile") as chrome:
        chrome.folder = folder
        yield chrome


def opened(browser, results, link=""):
    path = browser.folder / "report.html"
    path.write_text(html.render(results), encoding="utf-8")
    browser.get("about:blank")
    browser.get(path.as_uri() + f"#{link}")
    settle(browser)


def settle(browser):
    browser.execute_async_script(
        "const done = arguments[0]; setTimeout(() => requestAnimationFrame(() => done()), 200)"
    )


def click(browser, *names):
    for name in names:
        script = "[...document.querySelectorAll('.chips button')].find(e => e.textContent === arguments[0]).click()"
        browser.execute_script(script, name)
        settle(browser)


def seen(browser, selector):
    shown = "return [...document.querySelectorAll(arguments[0])].filter(e => e.getClientRects().length).map(e => e.textContent)"
    return browser.execute_script(shown, selector)


def sentences(browser):
    return seen(browser, "#answer .headline, #answer .mixture") + seen(
        browser, "#answer .ranks, #answer .made > p:not(.mixture, .legend)"
    )


def drawn(browser):
    """Return the bars of the page: names and numbers."""
    return list(
        zip(seen(browser, "#answer svg.ranking .name"), seen(browser, "#answer svg.ranking .value"), strict=True)
    )


def expected(results, *, whole=True):
    """Return what Python writes and draws; of a part of the run the page says the first sentences alone."""
    tables = CellTables(results)
    answer = answer_of(tables)
    pick, *others = [line for line in answer.lines if line.ranks]
    said = [f"{pick.label}: {pick.sentences[0]}" if others else pick.sentences[0], answer.text]
    said += pick.sentences[1:] if whole else []
    said += [f"{line.label}: {' '.join(line.sentences if whole else line.sentences[:1])}" for line in others]
    return said, [(bar.tokenizer, f"{bar.value:.2f}") for bar in bars(tables, answer.ranking)]


def without(results, groups=(), tokenizers=()):
    """Return the results of a run without some groups and tokenizers."""

    def kept(each):
        return each.group not in groups and each.tokenizer not in tokenizers

    corpora = {
        name: replace(info, groups={group: n for group, n in info.groups.items() if group not in groups})
        for name, info in results.corpora.items()
    }
    return replace(
        results,
        corpora={name: info for name, info in corpora.items() if info.groups},
        tokenizers={name: info for name, info in results.tokenizers.items() if name not in tokenizers},
        cells=[cell for cell in results.cells if kept(cell) and corpora[cell.corpus].groups],
        states=RawStates([state for state in results.states if kept(state)]),
    )


@pytest.mark.parametrize(
    ("run", "chips", "groups", "tokenizers"),
    [
        ("published", ["Hindi", "Thai"], ["hi", "th"], []),
        ("published", ["code", "German"], ["python", "rust", "de"], []),
        ("published", ["Python", "gpt-4o"], ["python"], ["gpt-4o"]),
        ("weighted", ["old"], [], ["old"]),
        ("sum-and-mean", ["Thai"], ["th"], []),
        ("tie", ["Finnish"], ["fi"], []),
        ("tie", ["a"], [], ["a"]),
        ("stray", ["Finnish"], ["fi"], []),
        ("stray", ["prose"], ["fi", "vi", "eo"], []),
        ("stray", ["a"], [], ["a"]),
        ("small-programs", ["Python"], ["python"], []),
        ("small-programs", ["Go", "German"], ["go", "de"], []),
        ("first-try", ["Finnish"], ["fi"], []),
        ("copies", ["c"], [], ["c"]),
        ("copies", ["a"], [], ["a"]),
        ("own-and-published", ["Hindi"], ["hi"], []),
        ("own-and-published", ["mine-8192"], [], ["mine-8192"]),
    ],
)
def test_chips_answer_as_a_smaller_run(browser, run, chips, groups, tokenizers):
    results = answer_runs.RUNS[run]()
    opened(browser, results)
    written = sentences(browser), drawn(browser)
    assert written == expected(results)
    click(browser, *chips)
    assert (sentences(browser), drawn(browser)) == expected(without(results, groups, tokenizers), whole=False)
    assert sentences(browser) != written[0] or drawn(browser) != written[1]
    click(browser, *reversed(chips))
    assert (sentences(browser), drawn(browser)) == written
    assert "=" not in browser.current_url


def test_the_link_has_the_chips_and_the_front_follows(browser):
    results = answer_runs.published()
    results.tokenizers["gpt-4o"] = replace(results.tokenizers["gpt-4o"], vocab_size=200_000)
    opened(browser, results)
    first = seen(browser, "#answer svg.front")
    click(browser, "code", "old")
    assert browser.current_url.endswith("#skip=code&off=old")
    off = "return [...document.querySelectorAll('.chips [aria-pressed=false]')].map(e => e.textContent)"
    assert sorted(browser.execute_script(off)) == ["Python", "Rust", "code", "old"]
    moved = seen(browser, "#answer svg.front")
    assert (len(first), len(moved), first == moved) == (1, 1, False)
    opened(browser, results, "skip=code&off=old")
    assert seen(browser, "#answer svg.front") == moved
    click(browser, "Python")
    assert sorted(browser.execute_script(off)) == ["Rust", "old"]
    click(browser, "all")
    click(browser, "none")
    assert drawn(browser) == []


@pytest.mark.parametrize(("languages", "buttons"), [(9, 0), (10, 1), (40, 1)])
def test_more_than_twelve_chips_are_folded_to_one_line(browser, languages, buttons):
    """Beside the languages there are chips of two corpora and of the other's language."""
    groups = [f"{a}{b}" for a in "abcdefghij" for b in "wxyz"][:languages]
    rates = {group: {"a": 4.0, "b": 3.0} for group in groups}
    opened(browser, answer_runs.made_up({"one": rates, "two": {"en": {"a": 4.0, "b": 3.0}}}))
    assert len(seen(browser, ".chips .fold")) == buttons
    if languages == 40:
        height = "return document.querySelector('.chips').getBoundingClientRect().height"
        assert browser.execute_script(height) < 30
        click(browser, "all 43 ▾")
        assert browser.execute_script(height) > 40
        assert browser.execute_script("return document.querySelector('.chips .fold').ariaExpanded") == "true"
        assert "=" not in browser.current_url


@pytest.mark.parametrize(
    ("word", "groups"), [("hi", ["hi"]), ("HI,sw", ["hi", "sw"]), ("chin", ["zh"]), ("-hi", ["sw", "zh"]), ("indi", [])]
)
def test_codes_match_exactly_and_names_by_prefix(browser, word, groups):
    opened(browser, answer_runs.made_up({"prose": LANGUAGES}), f"groups={word}")
    assert [row.split()[0] for row in seen(browser, "#groups .heat tbody tr:not(.whole) th")] == groups
    if groups:
        names = {"hi": "Hindi", "sw": "Swahili", "zh": "Chinese"}
        assert (
            browser.execute_script("return document.querySelectorAll('.chips .whole[aria-pressed=true]').length") == 1
        )
        assert [name in sentences(browser)[1] for name in names.values()] == [code in groups for code in names]
