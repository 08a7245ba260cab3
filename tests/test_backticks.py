"""Words in backticks: files, commands' options, classes, dotted names and variables that a page names exist."""

import contextlib
import functools
import importlib
import re
import subprocess

import click
import pytest
from readme_tables import ROOT
from test_page_commands import PAGES, command

FILES = set(subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True).split("\n"))
CODE = [ROOT / name for name in FILES if name.endswith(".py") and not name.endswith("test_backticks.py")]
WORDS = {word for path in CODE if path.exists() for word in re.findall(r"\w+", path.read_text("utf-8"))}
TOPS = r"(?:tokbench/|plugins/|configs/|reports/(?!NAME|choose|mine|quickstart)|tests/|\.ci/|\.github/)"
PATH = re.compile(rf"(?<![\w/.])(?:\.\./)*{TOPS}[\w./*{{}}-]*\w/?|(?<![\w/.*])(?:\.\./)*[\w/]+\.py(?!\w)")

CHECKED = {
    page: text
    for page, text in PAGES.items()
    if not re.match(r"CHANGELOG|\.github/changes/|\.github/COMPATIBILITY|reports/(?!site/)|.*/goldens/", page)
}
"""The pages of today; what went, and findings of finished studies, may name what is no more."""

OTHERS = {
    *("AutoTokenizer", "DecodeStream", "LlamaTokenizer", "TextStreamer", "Authorization"),  # of other libraries
    *("HttpOnly", "SameSite"),  # of the web
    *("--benchmark-autosave", "--benchmark-compare", "--benchmark-enable", "--benchmark-only"),  # of pytest-benchmark
    *("tokbench.commands", "tokbench.counts"),  # a group of entry points, and a key of Parquet
    *("collect.py", "fizzbuzz.py", "mine.py", ".github/changes/NAME.numbers.md"),  # of the reader
}
"""Names that are not tokbench's."""


def spans(text):
    """Return what stands in backticks outside of blocks of code."""
    return set(re.findall(r"`([^`\n]+)`", re.sub(r"(?ms)^ *```.*?^ *```", "", text)))


def is_file(name, page):
    """Return whether a path is there: from the top, from the folder of its page, or as the end of one file's path."""
    name = name.removesuffix("/").partition("::")[0]
    folder = (ROOT / page).parent
    places = (place for base in (ROOT, folder, ROOT / "tokbench", ROOT / "tests") for place in base.glob(name))
    return any(places) or any(file.endswith(f"/{name}") for file in FILES)


def options():
    """Return the options of every command."""
    context, found = click.Context(command), {"--help", "--version"}
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        every = [inner, *getattr(inner, "commands", {}).values()]
        found |= {opt for one in every for param in one.params for opt in (*param.opts, *param.secondary_opts)}
    return found


def wrong(page, text, known):
    """Yield the words of a page that name nothing."""
    kinds = {
        r"(?:[A-Z][a-z0-9]+){2,}|TOKBENCH_\w+": (WORDS | OTHERS).__contains__,
        r"--[a-z][\w-]+": (known | OTHERS).__contains__,
        r"tokbench\w*(?:\.\w+)+": lambda word: word in OTHERS or resolves(word),
    }
    for span in spans(text):
        for path in re.findall(PATH, span):
            if path not in OTHERS and not is_file(path, page):
                yield path
        word = re.split(r"[ =(]", span)[0]
        yield from (word for kind, is_name in kinds.items() if re.fullmatch(kind, word) and not is_name(word))


def resolves(name):
    """Return whether a dotted name is a module, or an attribute of one."""
    for dots in range(name.count(".") + 1):
        module, *rest = name.rsplit(".", dots)
        for root in (module, f"tokbench_plugins.{module}"):
            with contextlib.suppress(ImportError, AttributeError):
                functools.reduce(getattr, rest, importlib.import_module(root))
                return True
    return False


@pytest.mark.packages
def test_words_in_backticks_name_what_is_there():
    known = options()
    stale = {page: sorted(found) for page, text in CHECKED.items() if (found := set(wrong(page, text, known)))}
    assert stale == {}


def test_stale_words_are_noticed():
    text = (
        "`tokbench/nothing.py` `gone.py` `NoSuchClass` `--no-such` `TOKBENCH_NONE` `tokbench.nothing` `tokbench.load`"
    )
    assert len(set(wrong("README.md", text, {"--json"}))) == 6


def test_the_top_has_what_was_agreed():
    """What a test or a command leaves in the clone is not committed unseen."""
    folders = {"configs", "plugins", "reports", "tests", "tokbench"}
    pages = {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md", "pyproject.toml"}
    top = {name.partition("/")[0] for name in FILES if name}
    assert {name for name in top if not name.startswith(".")} == folders | pages
