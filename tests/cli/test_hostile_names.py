"""Messages write out what acts on a terminal, wherever a name comes from."""

import logging
import re

import pytest

from tokbench.cli import main

NAME = "a\x1b[31m\u202eb"
SHOWN = r"a\u{1b}[31m\u{202e}b"


@pytest.fixture(autouse=True)
def own_log(monkeypatch):
    monkeypatch.setattr(logging.getLogger("tokbench"), "handlers", [])


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", f"{NAME}.yaml"],
        ["report", NAME],
        ["compare", "x", "-o", NAME],
        ["show", "x", "-t", f"{NAME}.json"],
        ["check", "there.yaml"],
    ],
)
def test_no_message_acts_on_the_terminal(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.yaml").write_text(f'schema: tokbench/1\nextends: "{NAME}.yaml"\n'.replace("\x1b", "\\e"))
    monkeypatch.setattr("sys.argv", ["tokbench", *arguments])
    monkeypatch.setattr(main, "stop_on_signals", lambda: None)
    with pytest.raises(SystemExit) as stopped:
        main.main()
    assert stopped.value.code in {1, 2}
    said = "".join(capsys.readouterr())
    assert SHOWN in said or NAME.encode("unicode_escape").decode() in said
    assert not re.search("[\x1b\u202e]", said)


def test_a_log_message_does_not_either(capsys):
    main._show_log()
    logging.getLogger("tokbench").info(NAME)
    assert capsys.readouterr().err == f"{SHOWN}\n"
