"""Messages write out what acts on a terminal, wherever a name comes from."""

import subprocess
import sys

import pytest

NAME = "a\x1b[31m\u202eb"
SHOWN = r"a\u{1b}[31m\u{202e}b"


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", f"{NAME}.yaml"],
        ["run", f"{NAME}.yaml"],
        ["report", NAME],
        ["compare", NAME, NAME],
        ["compare", "x", "-o", NAME],
        ["show", "x", "-t", f"{NAME}.json"],
        ["check", "there.yaml"],
    ],
)
def test_no_message_acts_on_the_terminal(tmp_path, arguments):
    (tmp_path / "there.yaml").write_text(f'schema: tokbench/1\nextends: "{NAME}.yaml"\n'.replace("\x1b", "\\e"))
    command = [sys.executable, "-m", "tokbench", *arguments]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, timeout=60, check=False)
    assert done.returncode in {1, 2}
    said = (done.stdout + done.stderr).decode()
    assert SHOWN in said or NAME.encode("unicode_escape").decode() in said
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_a_log_message_does_not_either():
    code = (
        f"import logging\nfrom tokbench.cli import main\nmain._show_log()\nlogging.getLogger('tokbench').info({NAME!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert done.stderr.decode() == f"{SHOWN}\n"
