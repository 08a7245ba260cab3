"""Every example in a help text runs: it is taken from the text itself, and typed in a folder that has its files."""

import json
import re
import shlex
import shutil

import click
import pyarrow.parquet as pq
import pytest
import zstandard
from click.testing import CliRunner

import tokbench
from tokbench.cli.main import tokbench as command
from tokbench.registry.plugins import load_registry
from tokbench.registry.tokenizer_names import Grammar
from tokbench.segmentation.segment import recipe_of
from tokbench_plugins.counts.count import count_table

CONFIG = """\
schema: tokbench/1
name: mine
corpora: {mine: {source: text, path: texts/*.txt, document: line}}
tokenizers:
  bytes: utf8_bytes
  trained: {backend: naive_bpe, train: {corpus: mine, vocab_size: 270}}
metrics: [compression]
"""

CHAT = "{% for message in messages %}<s>{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"


def commands(group=command, name="tokbench"):
    """Yield every command with the words that call it."""
    yield name, group
    for sub in group.list_commands(None) if isinstance(group, click.Group) else ():
        yield from commands(group.get_command(None, sub), f"{name} {sub}")


def help_of(name, inner):
    """Return the help text of a command as a terminal of great width shows it."""
    context = click.Context(inner, info_name=name, terminal_width=1000, max_content_width=1000)
    return inner.get_help(context)


def examples_of(text):
    r"""Return the commands in a help text: lines that begin with tokbench, and lists that it refers to.

    >>> examples_of("Usage: tokbench list\n\n  See 'tokbench list suites'.\n\n  tokbench serve   a page\n")
    ['tokbench serve', 'tokbench list suites']
    """
    line = re.compile(r"^ +(tokbench .+?)(?: {2,}.*)?$", re.MULTILINE)
    words = " ".join(line.sub("", text).removeprefix("Usage: ").split())
    return [*line.findall(text), *re.findall(r"(?:'|: )(tokbench list [a-z]+)", words)]


EXAMPLES = list(dict.fromkeys(line for name, inner in commands() for line in examples_of(help_of(name, inner))))

ELSEWHERE = {
    *("ate", "referee", "run", "serve", "shards", "tokbench cost texts", "tokbench cost texts/mine.txt"),
    "tokbench cost chats.jsonl --chat -t gpt-4o,qwen-3",
    "tokbench conform gpt-4o --cmd ./mine",
}
"""What takes long, does not end, or needs a program or the repository: tests of these commands run them."""

FINDINGS = {"audit": {0, 1}, "conform": {0, 1}, "inject": {0, 1, 3}, "inspect": {0, 1}}
"""The exit codes of commands that tell by them what they found."""

BEFORE = {
    "pin --check ids.lock": "pin mine.yaml -o ids.lock",
    "--counts words.counts": "count texts/ -o words.counts",
    "--counts super.counts": "superwords texts/ --vocab-size 32768 -o super.counts",
}
"""By a part of an example, what makes the file that it names."""


def small(line):
    """Return an example with a small vocabulary in the place of the large ones."""
    line = line.replace("splintr:qwen3", "utf8_bytes")
    return re.sub(r"(gpt-4o|qwen-3|llama-3|tokbench_bpe:cl100k_base)(?! -O)", "tokenizer.json", line)


RUN = {small(line): line for line in EXAMPLES if line.split()[1] not in ELSEWHERE and line not in ELSEWHERE}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the examples name."""
    base = tmp_path_factory.mktemp("examples")
    (base / "texts").mkdir()
    lines = [f"The {k}th line of low, lower and lowest, née 만나서 {k * 677}" for k in range(200)]
    (base / "texts" / "mine.txt").write_text("\n".join(lines), encoding="utf-8")
    (base / "mine.yaml").write_text(CONFIG, encoding="utf-8")
    tokbench.train("regex_bpe:gpt4", lines, 300).export("huggingface", base / "tokenizer.json")
    (base / "web").mkdir()
    rows = "".join(json.dumps({"lang": "en", "text": line}) + "\n" for line in lines)
    (base / "web" / "a.jsonl.zst").write_bytes(zstandard.compress(rows.encode()))
    for number, name in enumerate(("monday", "tuesday", "news")):
        pq.write_table(count_table(lines, number), base / f"{name}.counts")
    for model in ("model", "models/mine"):
        (base / model).mkdir(parents=True)
        shutil.copy(base / "tokenizer.json", base / model)
        (base / model / "chat_template.jinja").write_text(CHAT, encoding="utf-8")
    shutil.copy(base / "model" / "chat_template.jinja", base)
    return base


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("line", RUN)
def test_an_example_runs(line, folder, monkeypatch, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    _, name, *words = shlex.split(line)
    if name == "new":  # it writes this very file
        (tmp_path / "mine.yaml").unlink()
    for part, first in BEFORE.items():
        if part in line:
            assert CliRunner().invoke(command, first.split()).exit_code == 0
    done = CliRunner().invoke(command, [name, *words])
    assert isinstance(done.exception, SystemExit | None), done.exception
    assert done.exit_code in FINDINGS.get(name, {0}), done.output


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_has_options_that_there_are(line):
    _, name, *words = shlex.split(line)
    command.get_command(None, name).make_context(name, words).close()  # raises for one that is not


def test_every_name_in_a_help_text_is_one():
    grammar = Grammar(load_registry())
    backends = grammar.registry.backends.entries
    texts = [help_of(name, inner) for name, inner in commands()]
    named = {
        word for text in texts for word in re.findall(r"\b(\w+:[\w.]+)", text) if word.partition(":")[0] in backends
    }
    assert "tokbench_bpe:cl100k_base" in named
    for name in named:
        assert recipe_of(name, grammar) if not name.startswith("regex_bpe") else grammar.resolve_training(name)
