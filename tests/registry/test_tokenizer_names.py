"""The grammar of names: published ones, ``backend:value`` and files, the same wherever a tokenizer is named."""

import re
from importlib.util import find_spec

import pytest
from shared_fixtures import problems

import tokbench
from tokbench.plugin import BackendSpec, FileKind, Options
from tokbench.registry.plugins import Registry, load_registry, missing
from tokbench.registry.tokenizer_files import readers_of
from tokbench.registry.tokenizer_names import Grammar, catalogue

TEXT = "Hello world, née 만나서 반가워요\n\t127 + 677  <|endoftext|> for x in y:\n        print(x)"
RANKS = b"IQ== 0\nIg== 1\n"


class Mine(Options):
    """Options whose first one is not the main one."""

    seed: int = 0
    name: str = "a"


@pytest.fixture
def grammar():
    return Grammar(load_registry())


def test_a_published_name_is_loaded_with_the_ids_of_its_owner(data):
    import tiktoken

    assert tokbench.load("gpt-4o").encode(TEXT) == tiktoken.get_encoding("o200k_base").encode_ordinary(TEXT)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("name", catalogue(load_registry()))
def test_all_that_load_a_published_name_give_the_same_ids(name, grammar):
    local = []
    for candidate in grammar.published()[name]:
        spec = grammar.registry.backends.get(candidate.backend)
        if missing(spec) is None and spec.local(spec.load_options.model_validate(candidate.options)):
            local.append(candidate)
    if len(local) < 2:
        pytest.skip("not two that load it are installed")
    ids = {each.backend: list(tokbench.load(each.backend, **each.options).encode(TEXT)) for each in local}
    assert dict.fromkeys(ids, ids[local[0].backend]) == ids


def test_one_that_is_installed_and_needs_no_network_is_chosen():
    def spec(name, **more):
        return BackendSpec(name=name, summary="", load_options=Mine, published={"x-1": {"name": name}}, **more)

    grammar = Grammar(registry_of(spec("absent", requires=("no-such-library",), precedence=2), spec("b"), spec("a")))
    assert [candidate.backend for candidate in grammar.published()["x-1"]] == ["a", "b", "absent"]
    grammar = Grammar(registry_of(spec("a", local=lambda options: options.name != "a", precedence=5), spec("b")))
    assert grammar.resolve("x-1") == ("b", {"name": "b"})


def registry_of(*specs):
    registry = Registry()
    registry.backends.add(specs, None)
    return registry


def test_the_value_is_the_main_option_and_not_the_first():
    grammar = Grammar(registry_of(BackendSpec(name="mine", summary="", load_options=Mine, main="name")))
    assert grammar.resolve("mine:b:c") == ("mine", {"name": "b:c"})
    grammar = Grammar(registry_of(BackendSpec(name="mine", summary="", load_options=Mine)))
    message = "mine:7: backend 'mine' has no main option that '7' could set; its options are seed, name"
    with pytest.raises(tokbench.InputError, match=message):
        grammar.resolve("mine:7")


def test_a_hub_name_for_a_backend_of_files_is_told(tmp_path, monkeypatch, grammar):
    pytest.importorskip("huggingface_hub")
    monkeypatch.chdir(tmp_path)
    for backend in ("huggingface", "sentencepiece"):
        with pytest.raises(tokbench.InputError, match="the name on the hub is hf:acme/m-8B"):
            grammar.resolve(f"{backend}:acme/m-8B")
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "m-8B").write_text("{}")
    assert grammar.resolve("huggingface:acme/m-8B") == ("huggingface", {"path": "acme/m-8B"})


@pytest.mark.parametrize(
    ("name", "content", "resolved"),
    [
        ("tokenizer.json", b'{"version": "1.0"}', ("huggingface", "path")),
        ("llama.model", RANKS, ("tiktoken", "path")),
        ("t5.model", b"\n\x0e\n\x05<unk>", ("sentencepiece", "path")),
        ("mine.bpe.json", b'{"format": "tokbench-bpe/2", "kind": "naive_bpe"}', ("naive_bpe", "path")),
        ("ranks.of.mine", RANKS, ("tiktoken", "path")),
        ("pieces", b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02", ("sentencepiece", "path")),
        ("any.json", b'{"vocab": [{"rank": 0, "token_bytes": "AA=="}]}', ("tiktoken", "path")),
        ("tekken.json", b'{\n "config": {"pattern": "x", "default_vocab_size": 9}}', ("tiktoken", "path")),
        ("vocab.json", b'{"!": 0, "\\"": 1}', ("gpt2_files", "encoder")),
        ("ids.json", b'{"}": 5}', ("gpt2_files", "encoder")),
        ("merges.txt", b"a b\n", ("gpt2_files", "vocab")),
        ("order", b"#version: 0.2\na b\n", ("gpt2_files", "vocab")),
        ("vocab.txt", b"[PAD]\n[UNK]\n", ("huggingface", "vocab_txt")),
    ],
)
def test_a_file_is_known_by_its_end_and_its_first_bytes(tmp_path, grammar, name, content, resolved):
    path = tmp_path / name
    path.write_bytes(content)
    backend, option = resolved
    assert grammar.resolve(str(path)) == (backend, {option: str(path)})
    assert Grammar(grammar.registry, tmp_path).resolve(name) == (backend, {option: name})
    assert grammar.resolve(f"{backend}:{path}") == (backend, {option: str(path)})


def test_only_a_backend_that_is_wanted_takes_a_file_or_a_published_name(tmp_path, grammar):
    path = tmp_path / "mine.tiktoken"
    path.write_bytes(RANKS)
    adapting = Grammar(grammar.registry, wanted=lambda spec: spec.name == "tokbench_bpe")
    assert adapting.resolve(str(path)).backend == "tokbench_bpe"
    assert adapting.resolve("gpt-4o") == ("tokbench_bpe", {"encoding": "o200k_base"})
    assert adapting.resolve("tiktoken:gpt2").backend == "tiktoken"


@pytest.mark.packages
def test_what_is_no_name_says_what_is_known(tmp_path, grammar):
    (tmp_path / "empty.model").write_bytes(b"")
    (tmp_path / "a.exe").write_bytes(b"MZ")
    for name, message in (
        ("nobody", "unknown tokenizer 'nobody'; write backend:value, a file .*, or a published name: .*codellama,"),
        ("${NO_SUCH_FOLDER}/a.model", "the environment variable NO_SUCH_FOLDER is not set"),
        (str(tmp_path / "empty.model"), "the file is empty"),
        (str(tmp_path / "a.exe"), "no backend reads a file of this name; files that are read: .*.json, .model"),
    ):
        with pytest.raises(tokbench.InputError, match=message):
            grammar.resolve(name)
    with pytest.raises(tokbench.InputError, match="unknown tokenizer"):
        Grammar(grammar.registry, files=False).resolve(str(tmp_path / "a.exe"))


def test_a_kind_of_file_that_fits_better_goes_first(tmp_path):
    path = tmp_path / "x.a.json"
    path.write_bytes(b"mark")
    specs = [
        BackendSpec(name="end", summary="", files=(FileKind(".json"),)),
        BackendSpec(name="longer", summary="", files=(FileKind(".a.json"),)),
        BackendSpec(name="marked", summary="", files=(FileKind(".json", marks="ma"),)),
        BackendSpec(name="other", summary="", files=(FileKind(".json", marks="no"),)),
    ]
    assert [reader.spec.name for reader in readers_of(path.name, path, specs)] == ["marked", "longer", "end"]


@pytest.mark.skipif(find_spec("splintr") is None, reason="needs splintr-rs")
def test_python_takes_every_name_and_further_options(tmp_path):
    assert tokbench.load("splintr:o200k_base").encode(TEXT) == tokbench.load("gpt-4o").encode(TEXT)
    with pytest.raises(tokbench.InputError, match="tiktoken:gpt2: sets 'encoding' already; do not give it again"):
        tokbench.load("tiktoken:gpt2", encoding="gpt2")
    trained = tokbench.train("regex_bpe:gpt2", ["low lower lowest"] * 3, 260, tie="smallest")
    path = tmp_path / "mine.bpe.json"
    trained.save(path)
    assert tokbench.load(str(path)).encode("lowest") == trained.encode("lowest")


def test_a_configuration_names_tokenizers_by_plain_strings(write_config, tmp_path):
    tokbench.train("naive_bpe", ["aaabdaaabac"] * 3, 259).save(tmp_path / "mine.bpe.json")
    path = write_config(
        tokenizers="  a: utf8_bytes\n  b: mine.bpe.json\n  c: naive_bpe:mine.bpe.json\n  d: tokbench_bpe:gpt2"
    )
    results = tokbench.run(path, workers=0, only=["a", "b", "c"])
    backends = {name: info.backend for name, info in results.tokenizers.items()}
    assert backends == {"a": "utf8_bytes", "b": "naive_bpe", "c": "naive_bpe"}
    assert results.tokenizers["b"].options["path"].endswith("mine.bpe.json")


def test_a_wrong_string_in_a_configuration_is_told_with_its_place(write_config):
    path = write_config(tokenizers="  a: gpt4o\n  b: missing.model\n  c: tiktokn:gpt2\n  d: utf8_bytes:x\n  f: 4")
    assert problems(path) == [
        "run.yaml:6:6: unknown tokenizer 'gpt4o'; did you mean 'gpt-4o'?",
        "run.yaml:7:6: missing.model: cannot be read: No such file or directory",
        "run.yaml:8:6: tiktokn:gpt2: no such backend; did you mean 'tiktoken'?",
        "run.yaml:9:6: utf8_bytes:x: this backend has no options; write utf8_bytes",
        "run.yaml:10:6: must be a mapping of keys to values, but is 4",
    ]


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("gpt-5", "o200k_base"),
        ("gpt-5-mini-2025-08-07", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("o1", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
        ("text-davinci-003", "p50k_base"),
    ],
)
def test_names_of_tiktokens_table_have_its_encoding(name, encoding, grammar):
    backend, options = grammar.resolve(name)
    assert options == {"encoding": encoding, "model": name}
    assert (backend == "tiktoken") == (encoding == "p50k_base")


@pytest.mark.slow
def test_what_tiktokens_table_says_is_said():
    [note] = tokbench.load("gpt-5").notes
    assert note.startswith("caution: ")
    assert "o200k_base" in note
    assert tokbench.load("tokbench_bpe:o200k_base").notes == ()


@pytest.mark.parametrize("name", ["gpt-6", "llama-9", "qwen-7", "gemma-1", "deepseek-v9", "gpt5x"])
def test_another_version_is_never_the_nearest_name(name, grammar):
    with pytest.raises(tokbench.InputError, match="unknown tokenizer") as caught:
        grammar.resolve(name)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gpt4o", "gpt-4o"),
        ("lama-3", "llama-3"),
        ("Qwen3-8B", "Qwen/Qwen3-8B"),
        ("Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
        ("gemma-3-4b-it", "google/gemma-3-4b-it"),
        ("gpt-oss-20b-base", None),  # tiktoken's table has all that begins so
    ],
)
def test_what_is_meant(name, meant, grammar):
    if meant is None:
        assert grammar.resolve(name).options["encoding"] == "o200k_harmony"
        return
    with pytest.raises(tokbench.InputError, match=f"did you mean '{re.escape(meant)}'"):
        grammar.resolve(name)


@pytest.mark.parametrize("name", ["claude-sonnet-4", "gemini-2.5-pro", "grok-4", "claude-4"])
def test_closed_vocabularies_are_said_to_be(name, grammar):
    with pytest.raises(tokbench.InputError, match="does not publish its vocabulary") as caught:
        grammar.resolve(name)
    assert ("claude-3" in str(caught.value)) == name.startswith("claude")


@pytest.mark.slow
def test_the_s_after_an_apostrophe_is_openais():
    pytest.importorskip("tiktoken")
    for name in ("gpt-4o", "gpt-oss", "gpt-5"):
        assert list(tokbench.load(name).encode("x'ſ'Rex")) == [87, 6, 70067, 6, 49, 490]
