"""Names of the hub against a server on the loopback that speaks its protocol; each load in a fresh process."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from loopback_hub import COMMIT, OLD, serving

import tokbench
from tokbench.registry.plugins import load_registry
from tokbench.registry.tokenizer_names import Grammar

pytestmark = pytest.mark.skipif(find_spec("huggingface_hub") is None, reason="needs huggingface_hub")

TEXT = "lower and lowest, déjà vu"
LOAD = """
import sys, tokbench
for name in sys.argv[2:]:
    try:
        tokenizer = tokbench.load(name)
    except tokbench.TokbenchError as error:
        print(type(error).__name__, error)
    else:
        print(tokenizer.encode(sys.argv[1]), tokenizer.identity, tokenizer.notes[-1])
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    made = {}
    for name, text in (("new", "low lower lowest slow " * 5), ("old", "déjà vu " * 9)):
        tokenizer = tokbench.train("huggingface", [text], 280)
        tokenizer.save(folder / f"{name}.json")
        made[name] = (folder / f"{name}.json").read_bytes()
    tokbench.train("sentencepiece:bpe", ["low lower lowest slow and, déjà vu"] * 9, 40).save(folder / "made.model")
    return made | {"model": (folder / "made.model").read_bytes()}


@pytest.fixture
def hub(files, tmp_path):
    both = {COMMIT: {"tokenizer.json": files["new"]}, OLD: {"tokenizer.json": files["old"]}}
    python = {"tokenizer_config.json": b'{"tokenizer_class": "ByT5Tokenizer"}', "config.json": b"{}"}
    repositories = {
        **dict.fromkeys(["org/plain", "org/gated", "org/large"], both),
        "org/pieces": {COMMIT: {"tokenizer.model": files["model"]}},
        "org/python": {COMMIT: python},
        "org/empty": {COMMIT: {"README.md": b"nothing"}},
        "org/damaged": {COMMIT: {"tokenizer.json": b"{"}},
    }
    with serving(repositories) as server:
        yield server


@pytest.fixture
def call(hub, tmp_path):
    def call(*command, **environment):
        settings = {"HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}"}
        plain = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
        done = subprocess.run(
            [sys.executable, *command],
            env=plain | settings | {"NO_PROXY": "*", "no_proxy": "*"} | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            cwd=tmp_path,
        )
        assert "Traceback" not in done.stderr
        return done

    return call


@pytest.fixture
def load(call):
    """Load names in one process, and return what it says of each."""
    return lambda *names, **environment: call("-c", LOAD, TEXT, *names, **environment).stdout.splitlines()


def expected(files, which, tmp_path):
    path = tmp_path / ("expected.model" if which == "model" else "expected.json")
    path.write_bytes(files[which])
    return str(list(tokbench.load(str(path)).encode(TEXT)))


def test_names_give_the_ids_of_their_files(load, files, tmp_path):
    names = {
        "org/plain": ("new", COMMIT),
        "hf:org/plain": ("new", COMMIT),
        "org/plain@v1": ("old", OLD),
        f"hf:org/plain@{OLD}": ("old", OLD),
        "moved/plain": ("new", COMMIT),
        "org/large": ("new", COMMIT),
        "org/pieces": ("model", COMMIT),
    }
    for said, (file, commit) in zip(load(*names), names.values(), strict=True):
        assert said.startswith(f"{expected(files, file, tmp_path)} {commit} "), said
        assert said.endswith(f"commit {commit}")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("transformers") is None, reason="needs transformers")
def test_other_tokenizers_are_left_to_transformers(load):
    for environment in ({}, {"HF_HUB_OFFLINE": "1"}):
        [said] = load("org/python", **environment)
        assert said.startswith(f"{[byte + 3 for byte in TEXT.encode()]} {COMMIT}")


@pytest.mark.slow
def test_cache_is_used_without_network(load, hub, files, tmp_path):
    first = load("org/plain")
    asked = hub.RequestHandlerClass.asked
    got = ("GET", f"/org/plain/resolve/{COMMIT}/tokenizer.json")
    assert [path for command, path in asked if command == "GET" and "/resolve/" in path] == [got[1]]
    assert load("org/plain", HF_HUB_OFFLINE="1") == load("org/plain", HF_ENDPOINT="http://127.0.0.1:9") == first
    assert load("org/plain") == first
    assert asked.count(got) == 1


@pytest.mark.slow
def test_token_opens_what_is_gated(load, files, tmp_path):
    for settings, said in (({}, "gated"), ({"HF_TOKEN": "bad"}, "gated"), ({"HF_TOKEN": "good"}, None)):
        [line] = load("org/gated", **settings)
        assert (said or expected(files, "new", tmp_path)) in line


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("environment", "causes"),
    [
        (
            {},
            {
                "org/absent": "no such name",
                "org/plain@v9": "no revision 'v9'",
                "org/empty": "no tokenizer there",
                "org/damaged": "tokenizer.json",
                "hf:a/b/c": "not a name of the hub",
            },
        ),
        ({}, {"org/failing": "the hub failed"}),  # the library retries for long
        ({"HF_TOKEN": "good"}, {"org/absent": "no such name"}),
        ({"HF_ENDPOINT": "http://127.0.0.1:9"}, {"org/plain": "does not answer"}),
        ({"HF_HUB_OFFLINE": "1"}, {"org/plain": "HF_HUB_OFFLINE"}),
    ],
)
@pytest.mark.slow
def test_failures_name_their_causes(environment, causes, load):
    said = load(*causes, **environment)
    for line, (name, cause) in zip(said, causes.items(), strict=True):
        assert line.startswith("BackendError " if name == "org/damaged" else "BackendUnavailable ")
        assert cause in line


@pytest.mark.slow
def test_commands_take_names_of_the_hub(call, tmp_path):
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "run.yaml").write_text(
        "schema: tokbench/1\nname: n\ncorpora:\n  c: {source: text, path: text.txt}\n"
        "tokenizers:\n  a: org/plain\n  b: {backend: hf, name: org/plain, revision: v1}\nmetrics: [fertility]\n",
        encoding="utf-8",
    )
    for command in (["show", TEXT, "-t"], ["cost", "text.txt", "-t"], ["inspect"]):
        done = call("-m", "tokbench", *command, "org/plain")
        assert done.returncode == 0, done.stdout + done.stderr
    done = call("-m", "tokbench", "run", "run.yaml", "-o", "out", "--workers", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    written = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    notes = {name: info["notes"][-1] for name, info in written["tokenizers"].items()}
    assert (notes["a"].endswith(COMMIT), notes["b"].endswith(OLD)) == (True, True)


def test_file_or_folder_precedes_a_name_of_the_hub(tmp_path):
    grammar = Grammar(load_registry(), tmp_path)
    assert grammar.resolve("org/name") == ("hf", {"name": "org/name"})
    (tmp_path / "org" / "name").mkdir(parents=True)
    assert grammar.resolve("org/name") == ("hf", {"path": "org/name"})
    for other in ("org/name/more", "../name", "/name", "name"):
        with pytest.raises(tokbench.InputError):
            grammar.resolve(other)


def test_one_revision_is_enough():
    with pytest.raises(tokbench.InputError, match="revision"):
        tokbench.load("org/name@v1", revision="v2")
