"""``tokbench train``: what it writes loads again, and its summary is true."""

import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
from random import Random

import pytest
from click.testing import CliRunner
from conftest import interruptible
from full_disk import NO_BYTECODE

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.foundation.failures import HEARTBEAT_BYTES
from tokbench_plugins.bpe import patterns


@pytest.fixture
def text(tmp_path):
    lines = (f"the {word} number {k} of the list" for k in range(40) for word in ("low", "lower", "lowest"))
    (tmp_path / "t.txt").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "t.txt"


def invoke(*args):
    return CliRunner().invoke(command, ["train", *map(str, args)], standalone_mode=False)


def test_from_options(text, tmp_path):
    outcome = invoke(
        *("--backend", "regex_bpe", "--text", text, "--vocab-size", 300, "-O", "pattern=gpt2"),
        *("--holdout", 0.3, "--name", "mine", "-o", tmp_path / "out"),
    )
    assert outcome.exit_code in {0, None}, outcome.output
    tokenizer = tokbench.load("regex_bpe", path=tmp_path / "out" / "mine.bpe.json")
    assert tokenizer.vocab_size == 300
    assert tokenizer.decode(tokenizer.encode("the lowest ever")) == "the lowest ever"
    row = next(line.split() for line in outcome.output.splitlines() if line.startswith("mine"))
    assert row[1] == "300"
    assert float(row[-2]) > 2
    assert row[-1] == "0.00%"


@pytest.mark.slow
def test_the_summary_s_compression_is_that_of_a_run(text, tmp_path):
    config = {
        "schema": "tokbench/1",
        "name": "x",
        "corpora": {"t": {"source": "text", "path": "t.txt", "document": "line", "holdout": 0.3}},
        "tokenizers": {
            "n": {"backend": "naive_bpe", "train": {"corpus": "t", "vocab_size": 280}},
            "b": {"backend": "utf8_bytes"},
        },
        "metrics": ["compression"],
    }
    (tmp_path / "run.yaml").write_text(json.dumps(config), encoding="utf-8")
    [ratio] = [
        c.value
        for c in tokbench.run(tmp_path / "run.yaml").cells
        if (c.tokenizer, c.group, c.metric) == ("n", "*", "compression_ratio")
    ]
    outcome = invoke(tmp_path / "run.yaml", "-o", tmp_path / "out")
    row = next(line.split() for line in outcome.output.splitlines() if re.match(r"n +280", line))
    assert row[-2:] == [f"{ratio:.3f}", "0.00%"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["n.bpe.json"], "b is not trained"


def test_a_larger_vocabulary_than_the_text_gives(text, tmp_path):
    (tmp_path / "s.txt").write_text("ab\ncd\n", encoding="utf-8")
    outcome = invoke(
        "--backend",
        "naive_bpe",
        "--text",
        tmp_path / "s.txt",
        "--vocab-size",
        900,
        "--holdout",
        0,
        "-o",
        tmp_path / "out",
    )
    assert "asked for 900 tokens, the text gave 260: its real size counts" in outcome.output
    assert "nothing held out" in outcome.output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--backend", "regex_bpe"], "give a CONFIG, or all of --backend, --text and --vocab-size"),
        (["--backend", "regex_bpe", "--text", "t.txt", "--vocab-size", "300", "-O", "x"], "write it as KEY=VALUE"),
        (["c.yaml", "--backend", "regex_bpe"], "CONFIG says what to train"),
    ],
)
def test_usage(args, message):
    outcome = invoke(*args)
    assert message in str(outcome.exception)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--vocab-size", 100], "vocab_size 100 is too small: regex_bpe needs at least 256"),
        (["--vocab-size", 300, "-O", "patern=gpt2"], "unknown key 'patern'; did you mean 'pattern'?"),
        (["--vocab-size", 300, "-O", "pattern=[a"], "is not a regular expression"),
        (["--vocab-size", 300, "--text", "none.txt"], "no file matches"),
    ],
)
def test_bad_input(text, tmp_path, args, message):
    outcome = invoke("--backend", "regex_bpe", "--text", text, *args, "-o", tmp_path / "out")
    assert isinstance(outcome.exception, tokbench.InputError)
    assert message in str(outcome.exception)
    assert not (tmp_path / "out").exists()


def test_an_unknown_format_and_an_unwritable_folder(text, tmp_path):
    given = ("--backend", "naive_bpe", "--text", text, "--vocab-size", 260)
    outcome = invoke(*given, "--format", "pdf", "-o", tmp_path / "out")
    assert "cannot be written as 'pdf'" in outcome.output
    (tmp_path / "file").write_text("", encoding="utf-8")
    outcome = invoke(*given, "-o", tmp_path / "file" / "out")
    assert "cannot be written to" in str(outcome.exception)


def spawned(*args, **popen):
    """The command in a process of its own."""
    call = [sys.executable, "-c", "from tokbench.cli.main import main; main()", "train", *map(str, args)]
    return subprocess.Popen(call, text=True, **popen)


@pytest.fixture
def long_text(tmp_path):
    """Return a text on which Python trains for some seconds."""
    random = Random(1)
    words = ["".join(random.choices("abcdefgh", k=9)) for _ in range(40_000)]
    (tmp_path / "long.txt").write_text("\n".join(words), encoding="utf-8")
    return tmp_path / "long.txt"


@pytest.mark.slow
def test_a_full_disk(long_text, tmp_path):
    """A limit on the size of files acts as a full disk does; the artefact is larger than the limit."""
    given = (
        "--backend",
        "regex_bpe",
        "--text",
        long_text,
        "--vocab-size",
        4000,
        "-o",
        tmp_path / "out",
        "--holdout",
        0,
    )
    process = spawned(
        *given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (HEARTBEAT_BYTES, HEARTBEAT_BYTES)),
        env={**os.environ, **NO_BYTECODE},
    )
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "\nerror: trained: OSError: " in errors
    assert str(tmp_path / "out" / "trained.bpe.json") in errors
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.slow
def test_progress_and_ctrl_c(long_text, tmp_path):
    """Merges a second and the time left are shown; an interrupt leaves no half-written artefact."""
    terminal, end = pty.openpty()
    given = ("--backend", "regex_bpe", "--text", long_text, "--vocab-size", 30_000, "-o", tmp_path / "out")
    process = spawned(
        *given,
        stdout=subprocess.DEVNULL,
        stderr=end,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "99"},
        preexec_fn=interruptible,
    )
    os.close(end)
    seen = ""
    while not re.search(r"training trained .*\d+/29744 +[\d,]+/s 0:00:\d\d", re.sub(r"\x1b\[[\d;?]*\w", "", seen)):
        seen += os.read(terminal, 1000).decode(errors="replace")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    os.close(terminal)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.slow
def test_progress_is_shown_while_a_corpus_is_read(write_config, faulty, tmp_path):
    """The first line comes at once, and moves while a long corpus is read for the first time."""
    config = write_config("  long: {source: endless}")
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "tokbench", "run", str(config), "-o", str(tmp_path / "out")]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "99"}
    popen = {"stderr": end, "env": environment, "preexec_fn": interruptible}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, **popen)
    os.close(end)
    seen = ""
    while len({int(done) for done in re.findall(r"reading corpora \(MB\).*?(\d+)/", seen)}) < 3:
        seen = re.sub(r"\x1b\[[\d;?]*\w", "", seen + os.read(terminal, 1000).decode(errors="replace"))
    assert seen.startswith(f"reading {config}"), "before anything is loaded"
    assert int(re.search(r"reading corpora \(MB\).*?(\d+)/", seen)[1]) == 0, "before anything was read"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    os.close(terminal)


@pytest.mark.slow
def test_a_pattern_that_backtracks_without_end(tmp_path, monkeypatch, install):
    monkeypatch.setattr(patterns, "_TIMEOUT_S", patterns._TIMEOUT_S)  # what the plugin changes is restored
    install("impatient_patterns")
    (tmp_path / "t.txt").write_text("a" * 40 + "!c", encoding="utf-8")
    given = ("--backend", "regex_bpe", "--text", tmp_path / "t.txt", "--vocab-size", 300, "--holdout", 0)
    outcome = invoke(*given, "-O", "pattern=(?:a|a)*c", "-o", tmp_path / "out")
    assert outcome.exit_code == 1
    assert "was still at work after 1 s" in outcome.output
    assert "make its quantifiers possessive" in outcome.output


def test_an_empty_corpus(tmp_path):
    (tmp_path / "t.txt").write_text("\n", encoding="utf-8")
    outcome = invoke(
        "--backend", "naive_bpe", "--text", tmp_path / "t.txt", "--vocab-size", 300, "-o", tmp_path / "out"
    )
    assert isinstance(outcome.exception, tokbench.InputError)
    assert str(outcome.exception) == "corpus 'text' is empty: its files hold no text"


def code_files(folder, number):
    folder.mkdir()
    for k in range(number):
        code = "".join(f"def low_{k}_{n}():\n    return {n}\n\n\n" for n in range(4))
        (folder / f"{k}.py").write_text(code, encoding="utf-8")
    return folder / "*.py"


@pytest.mark.parametrize(("number", "document"), [(200, "file"), (20, "paragraph")])
def test_code_keeps_its_line_ends(tmp_path, number, document):
    pattern = code_files(tmp_path / "py", number)
    outcome = invoke(
        *("--backend", "regex_bpe:gpt4", "--text", pattern, "--vocab-size", 300, "--json", "-o", tmp_path / "out"),
    )
    found = json.loads(outcome.stdout)
    assert found["document"] == document
    [made] = found["tokenizers"]
    tokenizer = tokbench.load("regex_bpe", path=made["files"][0])
    assert any(tokenizer.token_bytes(number).endswith(b":\n") for number in range(tokenizer.vocab_size))
    assert any(tokenizer.token_bytes(number) == b"\n\n\n" for number in range(tokenizer.vocab_size))


def test_lines_are_trained_with_line_ends(text, tmp_path):
    invoke("--backend", "regex_bpe:gpt4", "--text", text, "--vocab-size", 300, "--holdout", 0, "-o", tmp_path / "out")
    by_line = tokbench.load("regex_bpe", path=tmp_path / "out" / "trained.bpe.json")
    whole = tokbench.train("regex_bpe", [text.read_text() + "\n"], 300, pattern="gpt4")
    assert by_line.merges == whole.merges


def test_lost_text_is_marked_beside_its_compression(tmp_path):
    letters = "".join(map(chr, range(0x4E00, 0x4E60)))
    lines = (f"the word {letters[k % 96]}{letters[k * 7 % 96]} of {k}" for k in range(300))
    (tmp_path / "t.txt").write_text("\n".join(lines), encoding="utf-8")
    options = ("--backend", "huggingface", "-O", "model=bpe", "-O", "limit_alphabet=12", "--vocab-size", 200)
    given = (*options, "--text", tmp_path / "t.txt", "--holdout", 0.3, "-o", tmp_path / "out")
    [found] = json.loads(invoke(*given, "--json").stdout)["tokenizers"]
    assert found["held_out_round_trip"] == "lossy"
    assert found["held_out_characters_lost"] > 0.05
    assert f"{found['held_out_bytes_per_token']:.3f}‡" in invoke(*given).output
