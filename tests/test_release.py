"""The files of a release: version, changelog, workflows, forms, and an installation of extras without an index."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
