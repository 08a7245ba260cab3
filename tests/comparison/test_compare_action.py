"""The action runs a configuration, compares it with a baseline, and fails by the rules."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ACTION = Path(__file__).parents[2] / ".github" / "actions" / "compare" / "action.yml"
CONFIG = """\
schema: tokbench/1
name: mine
corpora: {mine: {source: text, path: texts.txt, document: line}}
tokenizers: {mine: NAME}
metrics: [compression, roundtrip]
"""


@pytest.mark.slow
def test_a_broken_rule_fails_the_action(tmp_path):
    [step] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["runs"]["steps"]
    (tmp_path / "texts.txt").write_text("만나서\n반가워요\n", encoding="utf-8")
    environment = os.environ | {
        "CONFIG": "mine.yaml",
        "RULES": "compression_ratio < -1%\nroundtrip_exact < 0\n",
        "GITHUB_STEP_SUMMARY": "summary.md",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }

    def run(tokenizer, output, baseline=""):
        (tmp_path / "mine.yaml").write_text(CONFIG.replace("NAME", tokenizer), encoding="utf-8")
        more = {"OUTPUT": output, "BASELINE": baseline}
        bash = ["bash", "-e", "-c", step["run"]]
        return subprocess.run(bash, cwd=tmp_path, env=environment | more, timeout=300, check=False).returncode

    assert run("utf16_units", "before") == 0
    assert not (tmp_path / "summary.md").exists()
    assert run("utf16_units", "same", "before") == 0
    assert run("utf8_bytes", "other", "same") == 1
    assert "mine" in (tmp_path / "summary.md").read_text(encoding="utf-8")
