"""Planted attacks on files of tokenizers are named; untouched files are not accused."""

import base64
import json
import shutil
from importlib.resources import files

import pytest
from click.testing import CliRunner
from sentencepiece import sentencepiece_model_pb2 as proto

import tokbench
from tokbench.command import load_named, local_names
from tokbench.plugin import HasTokenBytes
from tokbench_identity.audit import audit, published_sizes
from tokbench_identity.commands.audit import audit as command

pytestmark = pytest.mark.usefixtures("tiktoken_files")


def remap(content):
    """Two tokens change ids."""
    vocabulary = content["model"]["vocab"]
    vocabulary["Ġthe"], vocabulary["Ġand"] = vocabulary["Ġand"], vocabulary["Ġthe"]


def rotate(content):
    """All ids above 1,000 are those of their neighbours."""
    vocabulary = content["model"]["vocab"]
    some = [token for token, k in vocabulary.items() if 1000 < k < 50_000]
    ids = [vocabulary[token] for token in some]
    vocabulary.update(zip(some, ids[1:] + ids[:1], strict=True))


def lose_a_merge(content):
    """One word is never made."""
    merges = content["model"]["merges"]
    content["model"]["ignore_merges"] = False
    content["model"]["merges"] = [pair for pair in merges if "".join(_pair(pair)) != "Ġgovernment"]


def lose_many_merges(content):
    """Texts have more tokens."""
    content["model"]["ignore_merges"] = False
    content["model"]["merges"] = [pair for k, pair in enumerate(content["model"]["merges"]) if k < 300 or k % 5]


def add_a_token(content):
    """A word of two tokens becomes one."""
    vocabulary = content["model"]["vocab"]
    vocabulary.update({token["content"]: token["id"] for token in content["added_tokens"]})
    ends = [token for token in vocabulary if token.isascii() and token.isalpha() and len(token) > 2]
    end = next(token for token in ends if f"Ġcat{token}" not in vocabulary)
    vocabulary[f"Ġcat{end}"] = max(vocabulary.values()) + 1
    content["model"]["merges"].append(["Ġcat", end])


def _pair(merge):
    return merge.split(" ") if isinstance(merge, str) else merge


def _pattern(before, after):
    def change(content):
        step = content["pre_tokenizer"]
        if "pretokenizers" in step:
            step = step["pretokenizers"][0]["pattern"]
            assert before in step["Regex"]
            step["Regex"] = step["Regex"].replace(before, after)
        else:
            steps = [{"type": "Digits", "individual_digits": True}, step]
            content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}

    return change


def compose(content):
    """Compatibility characters are others."""
    content["normalizer"] = {"type": "NFKC"}


def lower(content):
    """Capitals are lost."""
    content["normalizer"] = {"type": "Lowercase"}


def rename_a_mark(content):
    """The end of a text has another name."""
    token = content["added_tokens"][0]
    if token["content"] in content["model"]["vocab"]:
        content["model"]["vocab"]["<|stop|>"] = content["model"]["vocab"].pop(token["content"])
    token["content"] = "<|stop|>"


def read_a_mark(content):
    """A mark in a text is read as the mark."""
    content["added_tokens"][0]["special"] = False


JSON = {
    "remap": (remap, {"ids"}),
    "rotate": (rotate, {"ids"}),
    "lose a merge": (lose_a_merge, {"merges"}),
    "lose many": (lose_many_merges, {"merges"}),
    "add a token": (add_a_token, {"token"}),
    "digits": (_pattern("{1,3}", "{1,2}"), {"split"}),
    "compose": (compose, {"normalizer"}),
    "lower": (lower, {"normalizer"}),
    "rename a mark": (rename_a_mark, {"marks"}),
    "read a mark": (read_a_mark, {"marks", "added tokens"}),
}
VOCABULARY = ("remap", "rotate", "lose many", "add a token", "rename a mark")
"""What a file of ranks or of GGUF keeps of an attack."""


def swap_pieces(model):
    one, other = (next(p for p in model.pieces if p.piece == text) for text in ("▁the", "▁and"))
    one.piece, other.piece = other.piece, one.piece


def rotate_pieces(model):
    texts = [piece.piece for piece in model.pieces]
    for k in range(2000, 9000):
        model.pieces[k].piece = texts[2000 + (k - 1999) % 7000]


def lose_a_piece(model):
    next(p for p in model.pieces if p.piece == "▁government").piece = "▁governmenx"


def lose_many_pieces(model):
    for k, piece in enumerate(model.pieces):
        if piece.type == 1 and len(piece.piece) > 3 and k % 5 == 0:
            piece.piece += "zqz"


def add_a_piece(model):
    model.pieces.add(piece="▁catgovernment", score=model.pieces[-1].score - 1, type=1)


def no_prefix(model):
    model.normalizer_spec.add_dummy_prefix = False


def join_spaces(model):
    model.normalizer_spec.remove_extra_whitespaces = True


def rename_a_control(model):
    next(p for p in model.pieces if p.piece == "</s>").piece = "<stop>"


def swap_controls(model):
    one, other = (next(p for p in model.pieces if p.piece == text) for text in ("<s>", "</s>"))
    one.piece, other.piece = other.piece, one.piece


def cut_whole(model):
    next(p for p in model.pieces if p.piece == "ing").type = 4


MODEL = {
    swap_pieces: {"ids"},
    rotate_pieces: {"ids"},
    lose_a_piece: {"token"},
    lose_many_pieces: {"token"},
    add_a_piece: {"token"},
    no_prefix: {"prefix space"},
    join_spaces: {"normalizer"},
    rename_a_control: {"marks"},
    swap_controls: {"marks"},
    cut_whole: {"merges", "split", "added tokens"},
}


def swap_ranks(content):
    one, other = content["vocab"][5000], content["vocab"][6000]
    one["token_bytes"], other["token_bytes"] = other["token_bytes"], one["token_bytes"]


def lose_a_rank(content):
    content["vocab"][4000]["token_bytes"] = base64.b64encode(b"zqzqzq").decode()


def no_space_before_signs(content):
    content["config"]["pattern"] = content["config"]["pattern"].replace("| ?[", "|[")


def no_slash(content):
    content["config"]["pattern"] = content["config"]["pattern"].replace("[\\r\\n/]*", "[\\r\\n]*")


def ascii_words(content):
    content["config"]["pattern"] = content["config"]["pattern"].replace(r"\p{Ll}", "a-z")


TEKKEN = {
    swap_ranks: {"ids"},
    lose_a_rank: {"token"},
    no_space_before_signs: {"split"},
    no_slash: {"split"},
    ascii_words: {"split", "normalizer"},  # the library drops what it skips
}
MODELS = {"mistral-7b-v1": "tokenizer.model.v1"}
EXPORTED = ("gpt-2", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("gpt-4", "llama-3", "gpt-4o")))
NOT_WRITTEN = {("gpt2", "lose many"), *(("tiktoken", attack) for attack in VOCABULARY)}
"""Tokens without merges, or ids that are no ranks, are refused."""
RANKED = {"gguf": ".gguf", "gpt2": "", "tiktoken": ".tiktoken"}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The content of the tokenizer.json of some names."""
    folder, read = tmp_path_factory.mktemp("exported"), {}

    def content(name):
        if name not in read:
            path = folder / f"{name}.tokenizer.json"
            tokbench.load(name).export("huggingface", path)
            read[name] = path.read_text(encoding="utf-8")
        return json.loads(read[name])

    return content


def accused(path, name):
    """The causes that an audit names; the file must be held against its own name."""
    answer = audit(str(path))
    assert answer.name == name
    return {str(finding.cause) for finding in answer.findings}, answer


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPORTED)
def test_attacks_on_a_tokenizer_json_are_named(exported, tmp_path, name):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(exported(name)))
    assert accused(path, name)[0] == set()
    for attack, (change, causes) in JSON.items():
        content = exported(name)
        change(content)
        path.write_text(json.dumps(content))
        found, answer = accused(path, name)
        assert found & causes, (attack, answer.findings)
        assert attack != "lose many" or answer.cost > 1


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("form", RANKED)
def test_attacks_on_files_without_split_are_named(exported, tmp_path, form):
    for attack in ("", *VOCABULARY):
        if (form, attack) in NOT_WRITTEN:
            continue
        content = exported("gpt-2")
        if attack:
            JSON[attack][0](content)
        (tmp_path / "tokenizer.json").write_text(json.dumps(content))
        path = tmp_path / f"{attack or 'untouched'}{RANKED[form]}"
        tokbench.load("tokbench_bpe", path=str(tmp_path / "tokenizer.json")).export(form, path)
        found, answer = accused(path, "gpt-2")
        assert bool(found & JSON[attack][1]) if attack else not found, (attack, answer.findings)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_attacks_on_a_sentencepiece_model_are_named(tmp_path, name):
    data = files("mistral_common").joinpath("data", MODELS[name]).read_bytes()
    path = tmp_path / "tokenizer.model"
    path.write_bytes(data)
    assert accused(path, name)[0] == set()
    for change, causes in MODEL.items():
        model = proto.ModelProto.FromString(data)
        change(model)
        path.write_bytes(model.SerializeToString())
        found, answer = accused(path, name)
        assert found & causes, (change.__name__, answer.findings)


@pytest.mark.slow
@pytest.mark.nightly
def test_attacks_on_tekken_are_named(tmp_path):
    source = files("mistral_common").joinpath("data", "tekken_240911.json")
    path = tmp_path / "tekken.json"
    shutil.copy(str(source), path)
    assert accused(path, "tekken-2411")[0] == set()
    for change, causes in TEKKEN.items():
        content = json.loads(source.read_text(encoding="utf-8"))
        change(content)
        path.write_text(json.dumps(content))
        found, answer = accused(path, "tekken-2411")
        assert found & causes, (change.__name__, answer.findings)


def test_exit_codes_say_whether_it_differs(tmp_path):
    run = CliRunner().invoke
    shown = run(command, ["gpt-2", "--json"])
    assert (shown.exit_code, json.loads(shown.stdout)["findings"]) == (0, [])
    other = run(command, ["gpt-2", "--as", "gpt-4"])
    assert (other.exit_code, "gpt-4" in other.output) == (1, True)
    damaged = tmp_path / "tokenizer.json"
    damaged.write_text("{}")
    with pytest.raises(tokbench.InputError):
        audit(str(damaged))


@pytest.mark.packages
def test_sizes_are_those_of_the_names():
    """To write them again: ``python -m tokbench_identity.write_kits gpt-2``, with all packages installed."""
    sizes = published_sizes()
    for name in local_names():
        tokenizer = load_named(name)
        assert sizes.get(name) == (tokenizer.vocab_size if isinstance(tokenizer, HasTokenBytes) else None)


@pytest.mark.parametrize("name", ["mistral-7b-v3", "llama-4", "kimi-k3"])
def test_names_without_a_kit_are_recognised(name):
    answer = audit(name)
    assert (answer.name, answer.findings) == (name, ())
