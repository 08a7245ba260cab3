"""The plugin guide's template: a package that can be installed, whose own tests pass."""

import os
import shutil
import subprocess
import sys

import pytest
from readme_tables import EXAMPLES, GUIDE, TEMPLATE


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_short(name):
    code = (TEMPLATE / "my_tokbench_plugin" / f"{name}.py").read_text(encoding="utf-8")
    assert len(code.splitlines()) < 40


@pytest.mark.slow
def test_the_template_is_installed_and_its_tests_pass(tmp_path):
    """As the guide says: copied, installed, tested."""
    assert "cp -r plugins/template my-plugin && cd my-plugin && pip install -e . && pytest" in GUIDE.read_text(
        encoding="utf-8"
    )
    shutil.copytree(TEMPLATE, tmp_path / "my-plugin", ignore=shutil.ignore_patterns("__pycache__"))
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--target", str(tmp_path / "site"), str(tmp_path / "my-plugin")], check=True, timeout=120)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error"],
        cwd=tmp_path / "my-plugin",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
