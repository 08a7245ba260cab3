"""README files: their tables equal the code, their commands run, their links hold."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import included
import pytest
import readme_tables as tables
from shared_fixtures import sharing_store

import tokbench
from tokbench.config.read import read_config
from tokbench.engine.planning import make_plan
from tokbench.registry.plugins import load_registry
from tokbench.results.cells import COLUMNS
from tokbench.results.model import Results

ROOT = tables.ROOT
TOPS = ("configs", "plugins", "reports", "tests", "tokbench")
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / ".github").glob("*.md"),
        *(page for top in TOPS for page in (ROOT / top).rglob("*.md") if "html" not in page.parts),
    ]
)


def read(path):
    return path.read_text(encoding="utf-8")


def blocks(path, language):
    return re.findall(rf"```{language}\n(.*?)```", read(path), re.DOTALL)


@pytest.mark.packages
@pytest.mark.parametrize(
    ("path", "name"),
    [(path, name) for path, names in tables.SECTIONS.items() for name in names if name not in tables.MEASURED],
)
def test_what_is_made_from_the_code_is_up_to_date(path, name):
    text = path.read_text(encoding="utf-8")
    assert tables.section(text, name) == tables.made(name), "write it again with: python .ci/readme_tables.py"


@pytest.mark.nightly
@pytest.mark.slow
def test_vocabularies_at_equal_size_are_those_of_a_run(tmp_path_factory):
    for module in ("mistral_common", "splintr"):
        pytest.importorskip(module)
    with sharing_store(tmp_path_factory):
        made = tables.made("equal size")
    assert tables.section(read(tables.VOCABULARY), "equal size") == made


def test_two_lines_of_the_readme_set_everything_up():
    """CI reads the second one from the page, and types it in a clean checkout."""
    assert len(read(tables.README).splitlines()) <= 100
    lines = [line for block in blocks(tables.README, "sh") for line in block.splitlines() if "pip install" in line]
    assert len(lines) == 2
    project = read(ROOT / "pyproject.toml")
    for line in lines:
        [extra] = re.findall(r"'\.\[(\w+)\]'", line)
        assert f"\n{extra} = [" in project
        assert all((ROOT / folder / "pyproject.toml").exists() for folder in re.findall(r"-e (plugins/\w+)", line))
    (find,) = re.findall(r"^line=\$\((.+) README\.md\)$", read(ROOT / ".ci" / "run"), re.MULTILINE)
    results = subprocess.run([*shlex.split(find), str(tables.README)], capture_output=True, text=True, check=True)
    assert results.stdout.strip() == lines[1]


def test_a_page_has_at_most_900_words():
    """Code, the bars of tables, pages that are made, and findings of studies aside."""
    made = {*tables.SECTIONS, ROOT / "CHANGELOG.md"}
    written = {path: re.sub(r"(?ms)^(```\w*\n).*?^```|[|]", "", read(path)) for path in PAGES if path not in made}
    counts = {path.relative_to(ROOT).as_posix(): len(text.split()) for path, text in written.items()}
    studies = re.compile(r"reports/(?!site/)|.*/goldens/")
    assert {page: n for page, n in counts.items() if n > 900 and not studies.match(page)} == {}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/bin/unshare").exists(), reason="needs unshare to take the network away")
def test_the_quickstart_runs_without_network_and_measures_what_is_shown(tmp_path):
    pytest.importorskip("splintr")
    folder = tmp_path / "out"
    if done := os.environ.get("TOKBENCH_QUICKSTART"):  # .ci/run has done it, without network
        folder = Path(done)
    else:
        command = [sys.executable, "-m", "tokbench", "run", str(tables.QUICKSTART), "-o", str(folder)]
        probe = subprocess.run(["unshare", "-rn", "true"], check=False, timeout=30)
        if probe.returncode:
            pytest.skip("this machine does not let a process give up its network")
        done = subprocess.run(["unshare", "-rn", *command], capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    html = (folder / "report.html").read_text(encoding="utf-8")
    for name in ("gpt-4o", "llama-3", "gemma-3", "qwen-3", "deepseek-v3", "naive", "spm-byte_fallback", "words"):
        assert name in html
    shown = tables.quickstart(Results.read(folder / "results.json"))
    assert tables.section(read(tables.README), "quickstart") == shown


@pytest.mark.slow
def test_the_configurations_shown_are_right(tmp_path):
    [short], [long, extension, _] = blocks(tables.README, "yaml"), blocks(tables.PAGES / "configure.md", "yaml")
    [study, sized] = blocks(tables.VOCABULARY, "yaml")
    (tmp_path / "news").mkdir()
    for language in ("fi", "en"):
        (tmp_path / "news" / f"{language}.txt").write_text(
            "".join(f"{language} {k}\n" for k in range(30)), encoding="utf-8"
        )
    (tmp_path / "_base.yaml").write_text(long, encoding="utf-8")
    (tmp_path / "models").mkdir()
    tokbench.train("naive_bpe", ["abab"], 257).export("huggingface", tmp_path / "models" / "tokenizer.json")
    plans = []
    start = "schema: tokbench/1\nname: sized\ncorpora: {texts: {source: text, path: 'news/*.txt', document: line}}\n"
    for text in (short, long, long + study, extension, start + sized):
        (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
        config = read_config(tmp_path / "run.yaml")
        plans.append(make_plan(config, load_registry(), lambda step, done, total: None))
    assert [str(problem) for plan in plans for problem in plan.problems] == []
    assert plans[2].studies["vocabulary_size"].model == "1b"
    names = [[planned.name for planned in plan.tokenizers] for plan in plans]
    assert names[0] == ["gpt-4o", "mine-4096", "mine-8192"]
    assert [len(some) for some in names] == [3, 10, 10, 5, 6]
    assert {planned.name: planned.vocab_size for planned in plans[3].tokenizers}["mine"] == 16384


@pytest.mark.slow
def test_the_training_shown_works(tmp_path, monkeypatch):
    page = tables.PAGES / "train.md"
    command = blocks(page, "sh")[0]
    [session] = blocks(page, "python")
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_text(read(tables.README), encoding="utf-8")
    words = shlex.split(command)
    assert words[0] == "tokbench"
    done = subprocess.run(
        [sys.executable, "-m", "tokbench", *words[1:]], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    written = sorted(path.name for path in Path("artefacts").iterdir())
    assert written == ["mine.bpe.json", "mine.tiktoken", "mine.tiktoken.pattern", "mine.tokenizer.json"]
    example = doctest.DocTestParser().get_doctest(session, {}, "README.md", "README.md", 0)
    assert doctest.DocTestRunner().run(example).failed == 0
    assert len(example.examples) == 5


def test_the_python_shown_runs(tmp_path, write_config):
    """The lines of README.md, on a smaller run."""
    pytest.importorskip("splintr")
    [code] = [block for block in blocks(tables.README, "python") if "tokbench.run" in block]
    space = {}
    exec(code.replace("configs/quickstart.yaml", str(write_config())), space)
    assert list(space["table"].columns) == list(COLUMNS)
    assert space["tokenizer"].decode(space["ids"]) == "Hello, world"
    assert space["mine"].token_bytes(256)


def anchors(path):
    """The anchors of a page, as GitHub makes them of its headings."""
    return {heading.anchor for heading in included.headings(read(path).splitlines())}


def broken_links(path):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", read(path), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)]+)\)", text):
        target, _, anchor = link.partition("#")
        page = path.parent / target if target else path
        if not re.match(r"[a-z]+:|live/", link) and not (page.exists() and (not anchor or anchor in anchors(page))):
            yield link


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_holds(path):
    assert list(broken_links(path)) == []
