"""The program is called tokbench however it is started, and shells complete its commands."""

import os
import subprocess
import sys

import pytest


def run(*arguments, **environment):
    command = [sys.executable, "-m", "tokbench", *arguments]
    return subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_usage_names_the_program():
    wrong = run("compare", "one").stderr
    assert wrong.startswith("Usage: tokbench compare [OPTIONS] RUNS...\nTry 'tokbench compare ")


@pytest.mark.packages
def test_commands_are_completed():
    done = run(_TOKBENCH_COMPLETE="bash_complete", COMP_WORDS="tokbench pi", COMP_CWORD="1")
    assert done.stdout == "plain,pin\n"
