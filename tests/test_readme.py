"""README.md: its tables equal the code, its commands run, its plugin works."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import readme_tables as tables

from tokbench.config.read import read_config
from tokbench.registry import load_registry
from tokbench.runner.plan import make_plan

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("name", [name for name in tables.SECTIONS if name != "quickstart"])
def test_tables_equal_the_code(name):
    made = getattr(tables, name)()
    assert tables.section(TEXT, name) == made, "write them anew with: python tests/readme_tables.py"


def test_the_quickstart_s_table_equals_a_run():
    pytest.importorskip("splintr")
    assert tables.section(TEXT, "quickstart") == tables.quickstart(tables.without_speed())


def test_the_commands_name_what_is_there():
    """The set-up itself is what CI does in a fresh environment; here, that it names real files and extras."""
    commands = blocks("sh")
    assert len(commands) == 2
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for command in commands:
        [extra] = re.findall(r"'\.\[(\w+)\]'", command)
        assert f"\n{extra} = [" in project
    assert (ROOT / "configs" / "quickstart.yaml").exists()
    assert "pytest -n 2 -q -m 'slow or not slow'" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/bin/unshare").exists(), reason="needs unshare to take the network away")
def test_the_quickstart_runs_without_network(tmp_path):
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


def test_the_configuration_shown_is_right(tmp_path):
    [text] = blocks("yaml")
    (tmp_path / "news").mkdir()
    for language in ("fi", "en"):
        (tmp_path / "news" / f"{language}.txt").write_text(
            "".join(f"{language} {k}\n" for k in range(30)), encoding="utf-8"
        )
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    plan = make_plan(read_config(tmp_path / "mine.yaml"), load_registry(), lambda step, done, total: None)
    assert [str(problem) for problem in plan.problems] == []
    assert [planned.name for planned in plan.tokenizers] == [
        *("gpt-4o", "mine-4096", "mine-8192", "spm-bpe-byte_fallback", "spm-bpe-no-byte_fallback"),
        *("spm-unigram-byte_fallback", "spm-unigram-no-byte_fallback", "cl100k"),
    ]


def test_the_plugin_shown_works(tmp_path):
    code = next(block for block in blocks("python") if block.startswith("# my_tokenizer.py"))
    assert len(code.splitlines()) <= 38
    [entry] = blocks("toml")
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        entry.replace("project.entry-points.", "").replace('"', ""), encoding="utf-8"
    )
    (tmp_path / "my_tokenizer.py").write_text(code, encoding="utf-8")
    (tmp_path / "run.yaml").write_text(
        "schema: tokbench/1\nname: x\ncorpora: {s: {source: sample, part: hostile}}\n"
        "tokenizers: {c: {backend: chunks, size: 2}}\nmetrics: [compression, continued_words, roundtrip]\n",
        encoding="utf-8",
    )
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import tokbench; results = tokbench.run({str(tmp_path / 'run.yaml')!r});"
        "print({c.metric: c.value for c in results.cells if c.group == '*'})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert "'roundtrip_exact': 1.0" in done.stdout
    assert "'continued_word_rate': 0." in done.stdout
    test = next(block for block in blocks("python") if "tokbench.testing" in block)
    assert len(list(filter(None, test.splitlines()))) == 2
    (tmp_path / "test_mine.py").write_text(test, encoding="utf-8")
    arguments = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=tmp_path, env=env, timeout=200)
    assert done.returncode == 0, done.stdout
    assert "13 passed, 9 skipped" in done.stdout


def test_every_linked_file_is_there():
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / target).exists(), target
