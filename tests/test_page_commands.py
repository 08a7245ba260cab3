"""The commands of every page: each runs in a folder with small texts, or is listed with its reason; all are parsed."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from itertools import cycle

import click
import pytest
import yaml
from readme_tables import ROOT

import tokbench
from tokbench.cli.main import tokbench as command

TOPS = (".github", "configs", "plugins", "reports", "tests", "tokbench")
FOUND = [*ROOT.glob("*.md"), *(page for top in TOPS for page in (ROOT / top).rglob("*.md") if "html" not in page.parts)]
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(FOUND)}

NOT_RUN = {
    "python3 -m venv": "installs: .ci/run does it",
    "pip install": "needs a package registry",
    ". .venv/bin/activate": "belongs to the installation",
    "cp -r plugins/template": "test_plugin_guide.py does it",
    "cd my-plugin": "the same",
    "python -m pytest": "the same",
    "pytest": "measures for minutes: test_readme.py collects it",
    "pre-commit": "changes the clone",
    "dask": "does not end: the tests of tokbench-executors start it",
    "tokbench serve": "does not end: the tests of the playground start it",
    "tokbench run CONFIG --executor": "needs a cluster: the tests of tokbench-executors start it",
    "tokbench run quickstart": "test_readme.py runs it and compares its numbers",
    "tokbench run engines": "times every engine for minutes",
    "tokbench run size_measured": "trains models for minutes",
    "tokbench run bits_per_byte": "trains models for minutes",
    "tokbench run trainers": "trains for minutes",
    "tokbench ate": "the tests of tokbench-questions have vocabularies whose mixture is known",
    "python plugins/questions/tests/known_mixtures.py": "trains 30 vocabularies",
    "tokbench count web/": "belongs to the line before",
    "tokbench shards": "the tests of tokbench-questions have files of every form",
    "tokbench bills filled.csv": "needs the tokens of a provider: the tests of tokbench-questions make some",
    "tokbench compatible models/large": "needs two models",
    "tokbench cost 'corpus/": "needs a large corpus",
    "tokbench count --add parts/": "adds what the recipes of the page count: the tests of tokbench-executors run them",
    "tokbench train --backend superbpe:gpt4 --counts super.counts --vocab-size 320": "the same",
    "tokbench inject ./": "needs the folder of a model: the tests of tokbench-identity make some",
    "tokbench audit models/mine": "the same",
    "tokbench conform gpt-4o --cmd ./mine": "needs a program: the tests of tokbench-identity have some",
    "tokbench inspect tokenizer.json --weights": "needs the weights of a model: the tests of inspect make some",
    "tokbench pin org/name": "needs the network",
    "tokbench pin digits.yaml": "belongs to two versions of a package",
}
"""By the beginning of commands that are not run here, the reason."""

CHOOSE = "reports/site/docs/choose.md"
"""The tutorial; test_site.py runs all of it and compares its numbers."""

QUESTIONS = "reports/site/docs/questions/"
"""The folder of pages whose output is compared, too: by page, each line that is shown is printed, in this order."""

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] | trim }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""The chat template that pages name."""

ENDS_WITH_1 = (
    "tokbench audit tokenizer.json",
    "tokbench conform gpt-4o --like gpt-4",
    "tokbench inject llama-3 --template chat_template.jinja",
    "tokbench inject qwen-3 --template chat_template.jinja",
    "tokbench inject --template chat_template.jinja --mark '<s>'",
)
"""Commands that find what the page is about, and say so by their exit code."""


def commands_of(text):
    """Yield the commands of the blocks of a page, without comments, folders of programs and what follows in the shell.

    >>> list(commands_of("```sh\\nA=b time .venv/bin/tokbench run a && ls  # c\\n```"))
    ['tokbench run a', 'ls']
    """
    for block in re.findall(r"^ *```sh\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE):
        for part in re.split(r" && |\n", re.sub(r" +#.*", "", block)):
            if plain := re.sub(r"^(?:[A-Z_]+=\S+ |time |\.venv/bin/)+", "", part.strip()).removesuffix(" &"):
                yield plain


COMMANDS = {page: list(commands_of(text)) for page, text in PAGES.items() if "```sh" in text}
RUN = {page: [line for line in lines if not line.startswith(tuple(NOT_RUN))] for page, lines in COMMANDS.items()}
RUN = {page: lines for page, lines in RUN.items() if lines}
SPANS = {
    span
    for page, text in PAGES.items()
    for span in re.findall(
        r"`(tokbench [a-z][^`\n]*)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    )
    if not page.startswith(".github/changes")
}
SPANS |= {
    line
    for text in PAGES.values()
    for line in re.findall(r"^ +(?:- run: |run: )?(tokbench (?:run|compare) .*)$", text, re.MULTILINE)
}
"""Commands inside of sentences, and of workflows."""


WENT = {
    cell
    for row in re.findall(r"^\|.*\|$", PAGES[".github/COMPATIBILITY.md"], re.MULTILINE)
    for cell in re.findall(r"`(tokbench [^`]+)`", row.split("|")[1])
}
"""Commands that a table says are gone."""


def of_shell(words):
    """Return the click command of a line, and the words after its name."""
    inner = command
    while isinstance(inner, click.Group) and words and words[0] in inner.list_commands(None):
        inner, words = inner.get_command(None, words[0]), words[1:]
    return inner, words


@pytest.mark.packages
@pytest.mark.parametrize("line", sorted({line for lines in COMMANDS.values() for line in lines} | SPANS))
def test_a_command_and_its_options_exist(line):
    name, *words = shlex.split(line)
    if name != "tokbench":
        assert line.startswith(tuple(NOT_RUN)) or name == "python"
        return
    inner, rest = of_shell(words)
    if inner is command and line in WENT:
        return
    assert inner is not command or words[0].startswith("-")
    options = {opt for option in inner.params for opt in (*option.opts, *option.secondary_opts)} | {"--help"}
    assert {word.partition("=")[0] for word in rest if word.startswith("-") and word != "-"} <= options


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """A folder with what the pages name: texts, a configuration, a vocabulary, the README and the shipped sample."""
    base = tmp_path_factory.mktemp("page")
    sample = ROOT / "tokbench" / "sources" / "sample"
    for folder in ("texts", "mytexts"):
        (base / folder / "code").mkdir(parents=True)
        for language in ("de", "hi", "en"):
            shutil.copy(sample / "languages" / f"{language}.txt", base / folder)
            (base / "texts" / language).mkdir(exist_ok=True)
            shutil.copy(sample / "languages" / f"{language}.txt", base / "texts" / language)
        for row in map(json.loads, (sample / "code.jsonl").read_text("utf-8").splitlines()):
            if row["language"] == "python":
                name = row["name"].removeprefix("python_").removesuffix(".txt")
                (base / folder / "code" / name).write_text(row["text"], encoding="utf-8")
    (base / "texts" / "code" / "tide_table.py").unlink()  # it has U+2581
    shutil.copy(ROOT / "README.md", base)
    (base / "reports").mkdir()
    (base / "reports" / "referee").symlink_to(ROOT / "reports" / "referee")
    (base / "tokbench" / "sources").mkdir(parents=True)
    (base / "tokbench" / "sources" / "sample").symlink_to(sample)
    (base / "chat_template.jinja").write_text(CHATML, encoding="utf-8")
    tokbench.train("naive_bpe", ["abab"], 257).export("huggingface", base / "tokenizer.json")
    small = "schema: tokbench/1\nname: {}\ncorpora: {{t: {{source: text, path: texts/*.txt, document: line}}}}\n"
    small += "tokenizers: {{mine: tokenizer.json}}\nmetrics: [compression]\n"
    for day in ("monday", "tuesday", "test"):
        shutil.copytree(base / "texts", base / day)
    for name, language in (("held", "de"), ("first", "hi"), ("second", "en"), ("third", "de")):
        shutil.copy(base / "texts" / f"{language}.txt", base / f"{name}.txt")
    talk = [
        {"role": role, "content": text}
        for role, text in zip(cycle(["user", "assistant"]), ["Hi", "Hello!", "Why?", "So."], strict=False)
    ]
    (base / "chats.jsonl").write_text(json.dumps(talk), encoding="utf-8")
    for name in ("mine", "part1", "part2", "all"):
        (base / f"{name}.yaml").write_text(small.format(name), encoding="utf-8")
    return base


def run(line, folder):
    """Run a command of a page with the Python of the tests; return what it printed."""
    words = shlex.split(line)
    start = {"tokbench": [sys.executable, "-m", "tokbench"], "python": [sys.executable]}[words[0]]
    done = subprocess.run(
        [*start, *words[1:]], cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )  # fmt: skip
    assert done.returncode == int(line in ENDS_WITH_1), (line, done.stdout, done.stderr)
    return done.stdout


def run_page(page, folder):
    """Run the commands of a page; return what each printed."""
    for script in re.findall(r"```python\n(import json\n.*?)```", PAGES[page], re.DOTALL):
        shutil.rmtree(folder / "texts")  # the page makes its own
        (folder / "collect.py").write_text(script, encoding="utf-8")
    for config in re.findall(
        r"```yaml\n(schema: tokbench/1\nname: (?:counted|sample|shares)\n.*?)```", PAGES[page], re.DOTALL
    ):
        (folder / f"{yaml.safe_load(config)['name']}.yaml").write_text(config, encoding="utf-8")
    return {line: run(line, folder) for line in RUN[page]}


def lines_of(text):
    """Return the lines of a text, each with single spaces, without the sign for lines that are left out."""
    return [plain for line in text.splitlines() if (plain := " ".join(line.split())) not in {"", "…"}]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.packages
@pytest.mark.usefixtures("tiktoken_files")
@pytest.mark.parametrize("page", sorted(RUN.keys() - {CHOOSE}, key=lambda page: (len(RUN[page]), page)))
def test_the_commands_of_a_page_run(page, texts, tmp_path):
    pytest.importorskip("splintr")
    said = run_page(page, shutil.copytree(texts, tmp_path / "here", symlinks=True))
    if page.startswith(QUESTIONS):
        printed = iter(lines_of("\n".join(said.values())))
        shown = re.findall(r"^```text\n(.*?)^```", PAGES[page], re.DOTALL | re.MULTILINE)
        assert [line for line in lines_of("\n".join(shown)) if line not in printed] == []
        for code in re.findall(r"^```python\n(.*?)^```", PAGES[page], re.DOTALL | re.MULTILINE):
            exec(code, {})
