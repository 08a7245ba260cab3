"""README.md: its tables equal the code, its commands run, its plugin works."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import readme_tables as tables

from tokbench.config.read import read_config
from tokbench.registry import load_registry
from tokbench.results.model import Results
from tokbench.runner.plan import make_plan

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize(
    ("path", "name"),
    [(path, name) for path, names in tables.SECTIONS.items() for name in names if name not in tables.MEASURED],
)
def test_what_is_made_from_the_code_is_up_to_date(path, name):
    text = path.read_text(encoding="utf-8")
    assert tables.section(text, name) == tables.made(name), "write it anew with: python tests/helpers/readme_tables.py"


@pytest.mark.slow
def test_vocabularies_at_equal_size_are_those_of_a_run():
    for module in ("mistral_common", "splintr"):
        pytest.importorskip(module)
    assert tables.section(TEXT, "equal size") == tables.made("equal size")


def test_the_commands_name_what_is_there():
    """The set-up itself is what CI does in a fresh environment; here, that it names real files and extras."""
    commands = [block for block in blocks("sh") if "pip install" in block]
    assert len(commands) == 2
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for command in commands:
        [extra] = re.findall(r"'\.\[(\w+)\]'", command)
        assert f"\n{extra} = [" in project
    assert (ROOT / "configs" / "quickstart.yaml").exists()
    assert "pytest -n 2 -q -m 'slow or not slow'" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/bin/unshare").exists(), reason="needs unshare to take the network away")
def test_the_quickstart_runs_without_network_and_measures_what_is_shown(tmp_path):
    pytest.importorskip("splintr")
    command = [sys.executable, "-m", "tokbench", "run", str(tables.QUICKSTART), "-o", str(tmp_path / "out")]
    probe = subprocess.run(["unshare", "-rn", "true"], check=False, timeout=30)
    if probe.returncode:
        pytest.skip("this machine does not let a process give up its network")
    done = subprocess.run(["unshare", "-rn", *command], capture_output=True, text=True, check=False, timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for name in ("gpt-4o", "llama-3", "gemma-3", "qwen-3", "deepseek-v3", "naive", "spm-byte_fallback", "words"):
        assert name in html
    shown = tables.quickstart(Results.read(tmp_path / "out" / "results.json"))
    assert tables.section(TEXT, "quickstart") == shown


def test_the_configuration_shown_is_right(tmp_path):
    text, study = blocks("yaml")
    (tmp_path / "news").mkdir()
    for language in ("fi", "en"):
        (tmp_path / "news" / f"{language}.txt").write_text(
            "".join(f"{language} {k}\n" for k in range(30)), encoding="utf-8"
        )
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(text + study, encoding="utf-8")
    plan, studied = (
        make_plan(read_config(tmp_path / name), load_registry(), lambda step, done, total: None)
        for name in ("mine.yaml", "study.yaml")
    )
    assert [str(problem) for problem in plan.problems + studied.problems] == []
    assert studied.config.study.vocabulary.model.width == 768
    assert [planned.name for planned in plan.tokenizers] == [
        *("gpt-4o", "mine-4096", "mine-8192", "spm-bpe-byte_fallback", "spm-bpe-no-byte_fallback"),
        *("spm-unigram-byte_fallback", "spm-unigram-no-byte_fallback", "cl100k", "gpt-4"),
    ]


def test_the_training_shown_works(tmp_path, monkeypatch):
    [command] = [block for block in blocks("sh") if "tokbench train" in block]
    [session] = [block for block in blocks("python") if "encode_with_special" in block]
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_text(TEXT, encoding="utf-8")
    words = shlex.split(command)
    assert words[0] == ".venv/bin/tokbench"
    done = subprocess.run(
        [sys.executable, "-m", "tokbench", *words[1:]], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    written = sorted(path.name for path in Path("artefacts").iterdir())
    assert written == ["mine.bpe.json", "mine.tiktoken", "mine.tokenizer.json"]
    example = doctest.DocTestParser().get_doctest(session, {}, "README.md", "README.md", 0)
    assert doctest.DocTestRunner().run(example).failed == 0
    assert len(example.examples) == 5


@pytest.mark.slow
def test_the_benchmarks_command_finds_benchmarks():
    [command] = [block for block in blocks("sh") if "--benchmark-enable" in block]
    words = shlex.split(command)
    assert words[0] == ".venv/bin/pytest"
    env = {name: value for name, value in os.environ.items() if "XDIST" not in name}  # it refuses to measure in there
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words[1:], "--collect-only"],
        cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "test_training.py::test_memory" in done.stdout


@pytest.mark.parametrize("path", tables.SECTIONS)
def test_every_linked_file_is_there(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target
