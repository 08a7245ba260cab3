"""A kit notices known mistakes, and says which one an implementation makes."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
from click.testing import CliRunner

import tokbench
from tokbench_identity.commands.conform import conform as command
from tokbench_identity.conform import conform, program
from tokbench_identity.kit import kit_of, make_kit, read_kit, suspects
from tokbench_identity.mutants.decide import Decider
from tokbench_identity.mutants.splits import read_split, wrong_splits
from tokbench_plugins.bpe import PATTERNS, BPETokenizer

TEXTS = ["the thin thing then thinks of the other 1234567 things 12 123 12 123 don't WE'RE\n\n  naïve été"] * 3


@pytest.fixture(scope="module")
def trained():
    return tokbench.train("regex_bpe:gpt4", TEXTS, 330, store=False)


@pytest.fixture(scope="module")
def kit(trained):
    return make_kit("trained", trained)


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_trees_are_their_expressions(pattern):
    assert str(read_split(pattern)) == pattern
    wrong = list(wrong_splits(pattern))
    assert len({changed for _, changed in wrong}) == len(wrong) > 120
    assert pattern not in {changed for _, changed in wrong}


@pytest.mark.slow
def test_a_kit_notices_what_any_text_notices(trained, kit):
    assert kit.mutants >= 300
    assert kit.not_kept == 0
    assert len(kit.texts) <= 60
    assert all(row.ids == list(trained.encode(row.text)) for row in kit.texts)
    assert all(b"".join(map(bytes.fromhex, row.tokens)) == row.text.encode() for row in kit.texts)
    assert {"split: digits one by one", "normalizer: NFC of the text"} <= {w for row in kit.texts for w in row.notices}


@pytest.mark.slow
def test_a_mutant_is_named(trained, kit):
    for mutant in suspects(trained).mutants[::40]:
        answers = [mutant.model.encode(row.text) for row in kit.texts]
        fails = any(ids != row.ids for ids, row in zip(answers, kit.texts, strict=True))
        assert fails == (str(mutant) not in {*kit.unnoticed, *chain.from_iterable(kit.same.values())})


@pytest.mark.slow
def test_own_texts_of_a_mutant_are_tried(trained):
    model, wrong, _ = suspects(trained)
    mutant = next(mutant for mutant in wrong if mutant.words == "stops after 512 characters")
    assert Decider(trained, model).decide(mutant).text in mutant.hints


PROGRAM = """
import json, sys
for line in sys.stdin:
    text = json.loads(line)["text"]
    print(json.dumps({"ids": list(text%s.encode())}))
"""


def asked(code):
    return shlex.join([sys.executable, "-c", code])


@pytest.mark.parametrize(("change", "code", "words"), [("", 0, ""), (".lower()", 1, "normalizer: lower case")])
def test_a_program_is_asked_by_lines(change, code, words):
    shown = CliRunner().invoke(command, ["utf8_bytes", "--cmd", asked(PROGRAM % change), "--json"])
    assert shown.exit_code == code, shown.output
    assert words in json.loads(shown.stdout)["sentence"]


@pytest.mark.parametrize("change", [lambda k: k + (k > 50), lambda k: {32: 101, 101: 32}.get(k, k), lambda k: k & 0x3F])
def test_other_ids_for_right_cuts(change):
    kit = make_kit("utf8_bytes", most=9)
    answer = conform(kit, lambda texts: [[change(k) for k in text.encode()] for text in texts])
    assert answer.cause == "ids"


def test_bad_input_of_the_command(tmp_path):
    run = CliRunner().invoke
    for options in ([], ["--write", str(tmp_path / "none" / "kit.json")], ["--cmd", "x", "--like", "utf8_bytes"]):
        assert isinstance(run(command, ["gpt-2", *options]).exception, tokbench.InputError), options
    with pytest.raises(tokbench.InputError, match="loading"):
        program(asked("print('loading model'); print('{\"ids\": [1]}')"))(["a"])


@pytest.mark.parametrize("code", ["print('no')", "import sys; sys.exit(3)", "print('{}\\n' * 999)"])
def test_nonsense_of_a_program_is_an_input_error(code):
    with pytest.raises(tokbench.InputError):
        program(asked(code))(["a", "b"])
    with pytest.raises(tokbench.InputError):
        program("/no/such/program")(["a"])


def test_kits_are_plain_json():
    kit = make_kit("utf8_bytes", most=4)
    assert read_kit(json.loads(json.dumps(kit.content()))) == kit
    with pytest.raises(tokbench.InputError):
        read_kit({"texts": []})
    answer = conform(kit, lambda texts: [list(text.encode()) for text in texts])
    assert answer.conforms
    assert answer.noticed == kit.noticed > 0


def page_program(language):
    """Return the program of the page in a language."""
    page = (Path(__file__).parents[1] / "docs" / "conform.md").read_text(encoding="utf-8")
    return page.partition(f"```{language}\n")[2].partition("```")[0]


def in_node(_):
    return ["node", "-e", page_program("js")]


def in_go(folder):
    imports = 'package main\nimport ("bufio"; "encoding/json"; "os")\n'
    encode = "func encode(text string) []int { ids := []int{}\nfor _, b := range []byte(text) { ids = append(ids, int(b)) }\nreturn ids }\n"
    (folder / "mine.go").write_text(imports + encode + page_program("go"))
    subprocess.run(
        ["go", "build", "-o", "mine", "mine.go"], cwd=folder, check=True, env={**os.environ, "HOME": str(folder)}
    )
    return [str(folder / "mine")]


def in_cpp(folder):
    includes = "#include <iostream>\n#include <nlohmann/json.hpp>\n#include <string>\n#include <vector>\n"
    encode = "std::vector<int> encode(const std::string& text) {\n  std::vector<int> ids;\n  for (unsigned char b : text) ids.push_back(b);\n  return ids;\n}\n"
    (folder / "mine.cpp").write_text(includes + encode + page_program("cpp"))
    subprocess.run(["g++", "-std=c++17", "-O0", "mine.cpp", "-o", "mine"], cwd=folder, check=True)
    return [str(folder / "mine")]


def in_rust(folder):
    encode = "fn encode(text: &str) -> Vec<u32> { text.bytes().map(u32::from).collect() }\n"
    (folder / "src").mkdir()
    (folder / "src" / "main.rs").write_text(encode + page_program("rust"))
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "mine"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nserde_json = "1"\n'
    )
    (folder / ".cargo").mkdir()
    (folder / ".cargo" / "config.toml").write_text(
        f'[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "{CRATES}"\n'
    )
    subprocess.run(["cargo", "build", "-q", "--offline"], cwd=folder, check=True)
    return [str(folder / "target" / "debug" / "mine")]


CRATES = Path("/usr/share/cargo/registry")
"""Debian's packages of Rust."""
HEADERS = Path("/usr/include/nlohmann/json.hpp")


def programs():
    """Yield the languages of the page; those without a compiler here are skipped."""
    for build, there in (
        (in_node, shutil.which("node")),
        (in_cpp, shutil.which("g++") and HEADERS.exists()),
        (in_go, shutil.which("go")),
        (in_rust, shutil.which("cargo") and [*CRATES.glob("serde_json-*")]),
    ):
        marks = [] if there else [pytest.mark.skip(reason="its compiler or its JSON is not here")]
        marks += [] if build is in_node else [pytest.mark.slow, pytest.mark.nightly]
        yield pytest.param(build, marks=marks, id=build.__name__)


@pytest.mark.parametrize("build", [*programs()])
def test_programs_of_the_page_conform(build, tmp_path):
    command = shlex.join(build(tmp_path))
    kit = make_kit("utf8_bytes", most=9)
    assert conform(kit, program(command)).conforms
    assert program(command)(["", "\U0001f600"]) == [[], [*"\U0001f600".encode()]]


def as_carried(vocabulary):
    """Return what a carrying package makes of texts, without what the backend puts back."""
    tokenizer = pytest.importorskip("splintr").Tokenizer.from_pretrained(vocabulary)
    return lambda texts: [list(tokenizer.encode_ordinary(text)) for text in texts]


def under_split(name, split):
    """Return the ranks of a published name under the split of another one."""
    published = tokbench.load(name)
    special = set(published.special_ids.values())
    ranks = {published.token_bytes(k): k for k in range(published.vocab_size) if k not in special}
    ranks.pop(b"", None)
    return lambda texts: [list(ids) for ids in map(BPETokenizer.from_ranks(ranks, split).encode, texts)]


@pytest.mark.slow
@pytest.mark.packages
@pytest.mark.parametrize(
    ("name", "mine", "mistake"),
    [
        pytest.param(
            "gpt-4o", lambda: as_carried("o200k_base"), "without Unicode's case folding", marks=pytest.mark.nightly
        ),
        pytest.param("qwen-3", lambda: as_carried("qwen3"), "normalizer: none at all", marks=pytest.mark.nightly),
        pytest.param(
            "gemma-3", lambda: as_carried("gemma3"), "added tokens: none read whole", marks=pytest.mark.nightly
        ),
        ("tekken-2411", lambda: under_split("tekken-2411", "gpt4"), "the split of gpt4"),
        pytest.param("kimi-k2", lambda: under_split("kimi-k2", "gpt4"), "the split llama3", marks=pytest.mark.nightly),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_packages_drop_is_named(name, mine, mistake):
    answer = conform(kit_of(name), mine())
    assert 0 < len(answer.failed) < 10
    assert any(mistake in words for words in answer.is_ or answer.like)
