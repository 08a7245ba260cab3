"""A stranger's package, really installed: the good plugin is usable, each broken one is a line with its reason."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The sample package, built and installed into a folder of its own that stands on the path."""
    site = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", str(site), str(HERE / "sample_plugin")], check=True, timeout=120)
    return {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "250"}


def tokbench(env, *args, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "tokbench", *map(str, args)],
        env=env, cwd=cwd, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_list_tells_five_reasons_and_exits_0(installed):
    done = tokbench(installed, "list")
    assert done.returncode == 0, done.stderr
    lines = {
        line.split()[0]: " ".join(line.split()[1:]) for line in done.stdout.splitlines() if line.startswith("acme")
    }
    assert lines["acme"] == "acme-tokenizers 3.1 usable"
    assert "ModuleNotFoundError: No module named 'library_that_nobody_has'" in lines["acme-missing-library"]
    assert "RuntimeError: configured for the moon not for the earth" in lines["acme-import-error"]
    assert "hook 'register_backends'" in lines["acme-wrong-signature"]
    assert "colour" in lines["acme-wrong-signature"]
    assert "unknown hook 'register_tokenisers'" in lines["acme-unknown-hook"]
    assert "the backend 'tiktoken' is already there, from tokbench" in lines["acme-duplicate"]
    assert "acme_fresh" not in done.stdout, "of a plugin that clashes nothing is taken over"
    assert lines["acme_chunks"] == "acme-tokenizers chunks of characters"


def test_the_good_plugin_works_and_reports_tell_of_the_others(installed, tmp_path):
    (tmp_path / "run.yaml").write_text(
        """schema: tokbench/1
name: acme
corpora: {h: {source: acme_haiku}}
tokenizers: {chunks: {backend: acme_chunks, size: 5}}
metrics: [compression, acme_longest]
report: {formats: [acme_txt, html, md]}
""",
        encoding="utf-8",
    )
    done = tokbench(installed, "run", "run.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "reports" / "acme"
    assert (folder / "acme.txt").read_text(encoding="utf-8") == "12 cells\n"
    for name in ("report.html", "report.md"):
        text = (folder / name).read_text(encoding="utf-8")
        for reason in ("library_that_nobody_has", "for the moon", "colour", "register_tokenisers", "is already there"):
            assert reason in text, (name, reason)
        assert "longest_document" in text


def test_a_broken_plugin_s_backend_is_unknown(installed, tmp_path):
    (tmp_path / "run.yaml").write_text(
        "schema: tokbench/1\nname: x\ncorpora: {h: {source: acme_haiku}}\n"
        "tokenizers: {c: {backend: acme_fresh}}\nmetrics: [compression]\n",
        encoding="utf-8",
    )
    done = tokbench(installed, "check", "run.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "run.yaml:4:27: unknown backend 'acme_fresh'" in done.stderr
