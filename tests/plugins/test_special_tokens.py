"""Special tokens on every backend: the ids of other libraries where they are allowed, and sets added to loaded ranks."""

import json
import pickle

import pytest
import tiktoken
import tokenizers

import tokbench
from tokbench.plugin import encode_batch
from tokbench_plugins.bpe import PATTERNS, BPETokenizer, train
from tokbench_plugins.bpe.special import SPECIAL_SETS

pytestmark = pytest.mark.usefixtures("shared_store")

FIM = SPECIAL_SETS["fill_in_the_middle"]
TEXT = (
    "def f(x):\n<|fim_prefix|>    return 1<|fim_suffix|>  # é 日本<|fim_middle|> <|endoftext|><|im_start|>user <|fim_"
)
ENGINES = ["tokbench_bpe", "fastokens", "gigatoken", "kitoken", "snaptokens", "tokie"]


def extended(name, tokens):
    """tiktoken's encoding with more special tokens, made as its README says."""
    base = tiktoken.get_encoding(name)
    special = {**base._special_tokens}
    for token in tokens:
        special.setdefault(token, max(*special.values(), base.n_vocab - 1) + 1)
    ranks = base._mergeable_ranks
    return tiktoken.Encoding("more", pat_str=base._pat_str, mergeable_ranks=ranks, special_tokens=special)


def need(backend):
    """Skip without the package or the library of a backend."""
    if backend not in {"tokbench_bpe", "splintr"}:
        pytest.importorskip("tokbench_engines")
        pytest.importorskip({"mistral": "mistral_common"}.get(backend, backend))


def check_like_tiktoken(tokenizer, oracle):
    assert tokenizer.vocab_size == oracle.n_vocab
    for allowed in ("all", {"<|fim_suffix|>"}, set()):
        expected = oracle.encode(TEXT, allowed_special=allowed, disallowed_special=())
        ids = list(tokenizer.encode_with_special(TEXT, allowed_special=allowed))
        assert ids == expected
        assert tokenizer.decode(ids) == TEXT
    names = {name: oracle.encode_single_token(name) for name in oracle.special_tokens_set}
    assert dict(tokenizer.special_ids) == names
    assert [tokenizer.token_bytes(token_id) for token_id in names.values()] == list(map(str.encode, names))


@pytest.mark.slow
def test_gpt2_with_three_tokens_to_fill_in_the_middle(data):
    tokenizer = tokbench.load("tiktoken", encoding="gpt2", special_tokens=["fill_in_the_middle"])
    assert [tokenizer.special_ids[name] for name in FIM] == [50257, 50258, 50259]
    check_like_tiktoken(tokenizer, extended("gpt2", FIM))


@pytest.mark.parametrize("backend", ENGINES)
def test_ranks_of_a_file_with_a_set_in_every_engine(backend, tmp_path):
    need(backend)
    trained = BPETokenizer(train([TEXT, "low lower lowest"], 270, "gpt2"), "gpt2")
    trained.export("tiktoken", tmp_path / "ranks.tiktoken")
    ranks = {trained.token_bytes(i): i for i in range(trained.vocab_size)}
    special = {name: len(ranks) + k for k, name in enumerate((*FIM, "<|endoftext|>"))}
    oracle = tiktoken.Encoding("x", pat_str=PATTERNS["gpt2"], mergeable_ranks=ranks, special_tokens=special)
    names = ["fill_in_the_middle", "end_of_text"]
    options = {"path": tmp_path / "ranks.tiktoken", "pattern": "gpt2", "special_tokens": names}
    check_like_tiktoken(tokbench.load(backend, **options), oracle)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["splintr", "quicktok"])
def test_cl100k_with_the_chat_set(backend, data):
    need(backend)
    named = "vocabulary" if backend == "splintr" else "encoding"
    tokenizer = tokbench.load(backend, **{named: "cl100k_base"}, special_tokens=["chat", "fill_in_the_middle"])
    assert tokenizer.special_ids["<|fim_prefix|>"] == 100258  # its own
    assert [tokenizer.special_ids[name] for name in SPECIAL_SETS["chat"]] == [100277, 100278, 100279]
    check_like_tiktoken(tokenizer, extended("cl100k_base", SPECIAL_SETS["chat"]))


def test_an_encoding_takes_ids_of_your_own(data):
    tokenizer = tokbench.load("tiktoken", encoding="gpt2", special_tokens={"<|im_start|>": 50300})
    assert tokenizer.encode_with_special("<|im_start|>", allowed_special="all") == [50300]
    for taken in (50256, 0):
        with pytest.raises(tokbench.BackendError, match=f"'<x>' has id {taken}"):
            tokbench.load("tiktoken", encoding="gpt2", special_tokens={"<x>": taken})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t5-small", "roberta-base"])
def test_a_pipeline_gives_the_ids_of_its_library(data, name):
    path = data / "hf" / f"{name}.tokenizer.json"
    library = tokenizers.Tokenizer.from_file(str(path))
    library.no_padding()
    library.no_truncation()
    ours = tokbench.load("huggingface", path=path)
    names = list(ours.special_ids)
    text = "".join(f"one {token} two{token}" for token in names[:9]) + " été"
    expected = library.encode(text, add_special_tokens=False).ids
    assert ours.encode_with_special(text, allowed_special="all") == expected
    assert set(ours.encode_with_special(text, allowed_special=[names[0]])) & {*ours.special_ids.values()} == {
        ours.special_ids[names[0]]
    }
    assert ours.encode_with_special(text, allowed_special=()) == ours.encode(text)


@pytest.mark.parametrize("vocabulary", ["llama2", "qwen3"])
def test_splintr_gives_the_ids_of_its_library(vocabulary):
    splintr = pytest.importorskip("splintr")
    library = splintr.Tokenizer.from_pretrained(vocabulary)
    ours = tokbench.load("splintr", vocabulary=vocabulary)
    name = next(name for name in sorted(ours.special_ids) if name.startswith("<"))
    text = f"one {name} two{name}{name}x日本 été{name} a 12{name}"
    ids = ours.encode_with_special(text, allowed_special={name})
    assert ids == library.encode_allowed_special(text, [name])
    assert ids.count(ours.special_ids[name]) == 5


def test_a_dummy_prefix_stands_at_the_beginning_only(data):
    for tokenizer in (
        tokbench.load("sentencepiece", path=data / "spm" / "mistral_v1.model"),
        tokbench.load("splintr", vocabulary="mistral_v1"),
    ):
        end = tokenizer.special_ids["</s>"]
        ids = tokenizer.encode_with_special("one</s>two</s> three", allowed_special={"</s>"})
        assert b"".join(map(tokenizer.token_bytes, ids)) == b" onetwo three"
        assert [k for k in ids if k == end] == [end, end]
        assert tokenizer.decode(ids) == "onetwo three"
        ids = tokenizer.encode_with_special("<s>Hello", allowed_special="all")
        assert b"".join(map(tokenizer.token_bytes, ids)) == b"Hello"


def test_a_model_that_drops_spaces_keeps_the_one_after_a_special_token(data):
    tokenizer = tokbench.load("sentencepiece", path=data / "spm" / "t5_base.model")
    texts = {"one</s> two": "one two", "one</s>two": "onetwo", "</s>two": "two", "one</s>\xa0two": "one two"}
    for text, back in texts.items():
        assert tokenizer.decode(tokenizer.encode_with_special(text, allowed_special="all")) == back


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """A ``tokenizer.json`` of byte-level BPE: ids with a gap below the last one, and two added tokens after it."""
    trained = BPETokenizer(train([TEXT, "low lower lowest"], 270, "gpt2"), "gpt2", {"<end>": 271})
    path = tmp_path_factory.mktemp("pipeline") / "gap.tokenizer.json"
    trained.export("huggingface", path)
    content = json.loads(path.read_text())
    vocab = content["model"]["vocab"]
    last = max((token for token in vocab if token != "<end>"), key=vocab.get)
    vocab[last] = 300
    tool = {**content["added_tokens"][0], "content": "<tool>", "id": 301, "special": False}
    content["added_tokens"].append(tool)
    vocab["<tool>"] = 301
    path.write_text(json.dumps(content))
    return path


def check_added(tokenizer, plain, ids):
    """Ordinary text stays as it was, and the added names are one id each, after all others, alone and together."""
    added = {name: token_id for name, token_id in tokenizer.special_ids.items() if name not in plain.special_ids}
    assert added == ids
    assert tokenizer.vocab_size == plain.vocab_size + len(added)
    for name, token_id in added.items():
        text = f"low{name}lower {name}"
        assert list(tokenizer.encode(text)) == list(plain.encode(text))
        for allowed in ({name}, "all"):
            items = list(tokenizer.encode_with_special(text, allowed_special=allowed))
            assert [k for k in items if k >= plain.vocab_size] == [token_id] * 2
            assert items[: items.index(token_id)] == list(plain.encode("low"))
        assert pickle.loads(pickle.dumps(tokenizer)).encode_with_special(name, allowed_special=[name]) == [token_id]
    batch = [TEXT, "", "low lower"]
    assert encode_batch(tokenizer, batch).ids.tolist() == encode_batch(plain, batch).ids.tolist()


def test_a_pipeline_gets_ids_after_its_own_across_a_gap(pipeline):
    plain = tokbench.load("huggingface", path=pipeline)
    assert plain.vocab_size == 302
    ids = {"<|fim_prefix|>": 302, "<|fim_middle|>": 303, "<|fim_suffix|>": 304, "<a>": 305}
    tokenizer = tokbench.load("huggingface", path=pipeline, special_tokens=["fill_in_the_middle", "<end>", "<a>"])
    check_added(tokenizer, plain, ids)
    assert tokenizer.special_ids["<end>"] == 271
    assert tokenizer.encode("low<tool>lower") == plain.encode("low<tool>lower")
    assert tokenizer.merges == plain.merges
    assert tokenizer.decode([302, *tokenizer.encode("low"), 305]) == "<|fim_prefix|>low<a>"


def test_a_saved_pipeline_has_the_added_tokens(pipeline, tmp_path):
    tokbench.load("huggingface", path=pipeline, special_tokens=["chat"]).save(tmp_path / "more.tokenizer.json")
    again = tokbench.load("huggingface", path=tmp_path / "more.tokenizer.json")
    assert again.special_ids["<|im_sep|>"] == 304
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "more.tokenizer.json"))
    assert library.encode("<|im_start|>low<|im_sep|>").ids == [302, *again.encode("low"), 304]


def test_an_added_token_of_a_file_becomes_special_and_keeps_its_id(pipeline):
    plain = tokbench.load("huggingface", path=pipeline)
    tokenizer = tokbench.load("huggingface", path=pipeline, special_tokens=["<tool>"])
    assert 301 in plain.encode("a<tool>")
    assert 301 not in tokenizer.encode("a<tool>")
    assert tokenizer.encode_with_special("<tool>", allowed_special="all") == [301]
    assert tokenizer.vocab_size == plain.vocab_size


def test_a_name_that_is_an_ordinary_token_of_a_pipeline_is_refused(pipeline):
    with pytest.raises(tokbench.BackendError, match=r"gap\.tokenizer\.json: 'lo' .* id \d+"):
        tokbench.load("huggingface", path=pipeline, special_tokens=["lo"])


@pytest.mark.parametrize("backend", ["kitoken", "tokie"])
def test_every_backend_that_reads_a_pipeline_adds_to_it(backend, tmp_path):
    need(backend)
    trained = BPETokenizer(train([TEXT, "low lower lowest"], 270, "gpt2"), "gpt2", {"<end>": 270})
    path = tmp_path / "mine.tokenizer.json"
    trained.export("huggingface", path)
    tokenizer = tokbench.load(backend, path=path, special_tokens=["end_of_text"])
    check_added(tokenizer, tokbench.load(backend, path=path), {"<|endoftext|>": 271})


@pytest.mark.parametrize(
    ("backend", "options"),
    [("splintr", {"vocabulary": "mistral_v1"}), ("mistral", {"vocabulary": "v1"})],
)
def test_a_closed_vocabulary_gets_special_tokens(backend, options):
    need(backend)
    plain = tokbench.load(backend, **options)
    tokenizer = tokbench.load(backend, **options, special_tokens=["fill_in_the_middle"])
    check_added(tokenizer, plain, {name: 32000 + k for k, name in enumerate(FIM)})
    ids = tokenizer.encode_with_special("one<|fim_suffix|>two</s> three", allowed_special="all")
    assert b"".join(map(tokenizer.token_bytes, ids)) == b" onetwo three"
    assert tokenizer.decode(ids) == "onetwo three"
    assert tokenizer.dummy_prefix == plain.dummy_prefix
    assert tokenizer.unk_id == plain.unk_id


def test_a_model_of_sentencepiece_gets_special_tokens(tmp_path):
    trained = tokbench.train(
        "sentencepiece", ["low lower slow"] * 9, 20, model_type="bpe", control_symbols=["<|im_end|>"]
    )
    trained.save(tmp_path / "mine.model")
    plain = tokbench.load("sentencepiece", path=tmp_path / "mine.model")
    tokenizer = tokbench.load("sentencepiece", path=tmp_path / "mine.model", special_tokens=["chat"])
    check_added(tokenizer, plain, {"<|im_start|>": plain.vocab_size, "<|im_sep|>": plain.vocab_size + 1})
    assert tokenizer.special_ids["<|im_end|>"] == plain.special_ids["<|im_end|>"]
    assert tokenizer.merges == plain.merges
    assert tokenizer.merges
    assert not hasattr(tokenizer, "save")  # the file has no place for the added tokens
