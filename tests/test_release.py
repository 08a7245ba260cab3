"""The files of a release: version, changelog, workflows, forms, and the versions of what tokbench needs."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import tokbench

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github"
KINDS = {
    "workflows/*.yml": "vendor.github-workflows",
    "actions/*/action.yml": "vendor.github-actions",
    "ISSUE_TEMPLATE/[!c]*.yml": "vendor.github-issue-forms",
    "ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
    "../CITATION.cff": "vendor.citation-file-format",
}
"""By pattern of files, the published schema that they follow."""

if not FOLDER.is_dir():
    pytest.skip("the files of the repository are not here", allow_module_level=True)


def python(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def test_the_changelog_begins_with_this_version():
    heads = re.findall(
        r"^## (\S+) \(\d{4}-\d\d-\d\d\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert heads[0] == tokbench.__version__


def test_fragments_of_the_changelog_have_a_kind_and_one_line():
    for path in set((FOLDER / "changes").glob("*.md")) - {FOLDER / "changes" / "README.md"}:
        assert re.fullmatch(r"[a-z0-9_-]+\.(numbers|added|changed|fixed)\.md", path.name)
        assert len(path.read_text(encoding="utf-8").strip().splitlines()) == 1, path


@pytest.mark.parametrize("pattern", KINDS)
def test_files_follow_their_published_schemas(pattern):
    pytest.importorskip("check_jsonschema")
    paths = [str(path) for path in FOLDER.glob(pattern)] if ".." not in pattern else [str(FOLDER / pattern)]
    assert paths
    code, text = python("check_jsonschema", "--builtin-schema", KINDS[pattern], *paths)
    assert code == 0, text


def test_commands_of_workflows_name_files_that_are_there():
    for path in (FOLDER / "workflows").glob("*.yml"):
        named = re.findall(
            r"(?<![\w/.])(?:\.ci|\.github|configs|reports|tests|tokbench)/[\w./-]+", path.read_text("utf-8")
        )
        made = {"reports/quickstart", "reports/site/html"}
        assert [name for name in named if not (ROOT / name.rstrip(".")).exists() and name not in made] == [], path


@pytest.mark.slow
def test_the_message_about_a_missing_extra_works_where_no_index_has_tokbench():
    """pip keeps the tokbench that is installed, from a clone or from an index, and adds what the extra lacks."""
    if not (Path(tokbench.__file__).is_relative_to(ROOT) and python("pip", "show", "tokbench")[0] == 0):
        pytest.skip("tokbench is not installed here")
    code, text = python("pip", "install", "--dry-run", "--no-index", "tokbench[serve]")
    assert code == 0, text
    assert "Would install" not in text


NOT_IN_DEV = {"cloud", "icu"}
"""Extras that the development installation leaves out: one needs a compiler, the other accounts."""

PROJECTS = [
    tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    for path in (ROOT / "pyproject.toml", *(ROOT / "plugins").glob("*/pyproject.toml"))
]
"""Of tokbench and its packages."""


def declared(*, leave_out=()):
    """Yield the requirements of the package and its extras, but for those on extras of its own."""
    for project in PROJECTS:
        for extra, requirements in {"": project["dependencies"], **project.get("optional-dependencies", {})}.items():
            if extra not in leave_out:
                yield from (needed for needed in map(Requirement, requirements) if needed.name != "tokbench")


def versions(name):
    """Return the versions in a file of the folder; each line is a name, two equals signs and a version."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    pinned = [
        re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9._+!-]+)", line) for line in lines if not line.startswith("#")
    ]
    assert all(pinned), f"{name} names a place instead of a version"
    return {canonicalize_name(line[1]): line[2] for line in pinned}


def test_a_version_of_everything_declared_is_tested():
    tested = versions("constraints.txt")
    for needed in declared(leave_out=NOT_IN_DEV):
        assert needed.specifier.contains(tested[canonicalize_name(needed.name)]), needed


def test_each_lower_bound_is_among_the_lowest_versions():
    lowest = versions("lowest.txt")
    bounds = {
        canonicalize_name(needed.name): bound.version
        for needed in declared()
        for bound in needed.specifier
        if bound.operator == ">="
    }
    assert {name: lowest.get(name) for name in bounds} == bounds
