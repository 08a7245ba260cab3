"""One refusal of a name, in the same words and with the same exit code at every command."""

import pytest
from click.testing import CliRunner

from tokbench.cli.main import tokbench as command
from tokbench.foundation.errors import InputError

pytestmark = pytest.mark.usefixtures("no_process")

DOORS = {
    "cost": ["cost", "a.txt", "-t", "{}"],
    "budget": ["cost", "a.txt", "-t", "{}", "--reference", "utf8_bytes", "--budget", "9"],
    "chat": ["cost", "chat.json", "--chat", "-t", "{}"],
    "show": ["show", "abc", "-t", "{}"],
    "exactly": ["show", "--exactly", "3", "-t", "{}"],
    "inspect": ["inspect", "{}"],
    "audit": ["audit", "{}"],
    "equal": ["equal", "utf8_bytes", "{}"],
    "compatible": ["compatible", "utf8_bytes", "{}"],
    "pin": ["pin", "{}"],
    "adapt": ["adapt", "{}", "--text", "a.txt", "--log", "none"],
}
REFUSED = {
    "tiktoken:nope": "tiktoken knows no encoding 'nope'; known: ",
    "utf8_byte": "unknown tokenizer 'utf8_byte'; did you mean 'utf8_bytes'?",
    "regex_bpe": "regex_bpe: the key 'path' is missing",
    "torn.tiktoken": "torn.tiktoken",
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("door", DOORS)
def test_a_name_is_refused_alike(door, name, tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("low lower")
    (tmp_path / "chat.json").write_text('[{"role": "user", "content": "Hi"}]')
    (tmp_path / "torn.tiktoken").write_text("IQ== 0\nI")
    arguments = [part.format(name) for part in DOORS[door]]
    if arguments[0] not in command.list_commands(None):
        pytest.skip(f"no package with {arguments[0]} is installed")
    error = CliRunner().invoke(command, arguments).exception
    assert isinstance(error, InputError), error
    assert REFUSED[name] in str(error)
    if not name.startswith("torn"):
        assert str(error).startswith(REFUSED[name])


def test_names_have_commas_at_every_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("low lower\n" * 99)
    for arguments in (["cost", "a.txt"], ["show", "abc"], ["new", "a.txt", "--for", "choose"]):
        found = CliRunner().invoke(command, [*arguments, "-t", "utf8_bytes,utf16_units"])
        assert found.exit_code == 0, found.output
        text = (tmp_path / "choose.yaml").read_text() if arguments[0] == "new" else found.stdout
        assert "utf8_bytes" in text
        assert "utf16_units" in text


def test_a_suite_that_is_misspelt_is_suggested():
    error = CliRunner().invoke(command, ["pin", "quikstart"]).exception
    assert str(error).endswith("did you mean 'quickstart'?")


def test_only_is_named_when_no_training_has_it(write_config):
    config = write_config(tokenizers="  mine: {backend: naive_bpe, train: {corpus: sample, vocab_size: 260}}")
    error = CliRunner().invoke(command, ["train", str(config), "--only", "min"]).exception
    assert str(error) == "--only min: no training is called 'min'; did you mean 'mine'?"
