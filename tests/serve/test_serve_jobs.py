"""The questions of the playground: cut prompts, chat templates, merges step by step, searches and dropped files."""

import json

import pytest

import tokbench
from tokbench.inspect.tokens import list_tokens
from tokbench.measuring.encoded_shard import LoadedTokenizer
from tokbench.segmentation.chat_templates import PromptPart
from tokbench.segmentation.segment import MergeSteps
from tokbench.serve.catalogue import TokenizerCatalogue
from tokbench.serve.jobs import as_json, cut_prompt, find_tokens, parts_after_each

SPECIAL = "a <|endoftext|><|endoftext|> b<|endoftext|>"
HOSTILE = "<script>alert(1)</script> \u202e\x1b[31m {{ 7 * 7 }} &amp; \x00 👩‍👩‍👧 \u200b"


@pytest.fixture(scope="module")
def gpt2(data):
    return LoadedTokenizer("gpt2", tokbench.load("tiktoken", encoding="gpt2"))


@pytest.fixture(scope="module")
def small():
    return tokbench.train("regex_bpe", ["return returning aaaaaaaa 가 가 " * 9], 300, pattern="gpt4")


@pytest.mark.parametrize("text", ["", "Egg. 만나서 반가워요.\n\n    print(i)", SPECIAL, HOSTILE])
@pytest.mark.parametrize("special", [False, True])
def test_the_ids_are_those_of_tiktoken(gpt2, text, special):
    import tiktoken

    encoding = tiktoken.get_encoding("gpt2")
    prompt = cut_prompt(gpt2, [PromptPart(text)], special=special)
    assert prompt["ids"] == encoding.encode(text, allowed_special="all" if special else set(), disallowed_special=())
    assert sum(prompt["lengths"]) == len(text.encode())
    pieces = encoding.decode_tokens_bytes(prompt["ids"])
    assert [len(piece) for piece in pieces] == prompt["lengths"]
    assert prompt["special"] == [k for k, token in enumerate(prompt["ids"]) if token == 50256]
    assert bool(prompt["special"]) == (special and text == SPECIAL)
    assert json.loads(as_json(prompt)) == prompt


def test_no_prefix_stands_behind_a_special_token():
    llama = LoadedTokenizer("llama-2", tokbench.load("splintr", vocabulary="llama2"))
    for text in ("<s>Hi</s> you", "a</s>b"):
        prompt = cut_prompt(llama, [PromptPart(text)], special=True)
        assert prompt["ids"] == list(llama.tokenizer.encode_with_special(text, allowed_special="all"))
        assert (sum(prompt["lengths"]), len(prompt["special"])) == (len(text), text.count("<"))
    spelled = cut_prompt(llama, [PromptPart("<s>", control=True), PromptPart("a <s> b")], special=False)
    assert (spelled["special"], sum(spelled["lengths"])) == ([0], len("<s>a <s> b"))


def test_control_tokens_are_ids_and_a_message_never_is(gpt2):
    parts = [
        PromptPart("<|endoftext|>", control=True),
        PromptPart("<|endoftext|>"),
        PromptPart("<|none|>", control=True),
    ]
    prompt = cut_prompt(gpt2, parts, special=False)
    assert prompt["special"] == [0]
    assert prompt["missing"] == ["<|none|>"]
    assert prompt["ids"][1:] == gpt2.tokenizer.encode("<|endoftext|><|none|>"), "text side by side is one stretch"
    assert sum(prompt["lengths"]) == len("<|endoftext|><|endoftext|><|none|>")


def test_merges_are_shown_step_by_step(small):
    steps = MergeSteps(small)
    for word in (" return", " returning", "aaaaaaa", "가"):
        for token in small.encode(word):
            data = small.token_bytes(token).hex()
            states = parts_after_each(data, steps.of(token))
            assert states[0] == [data[k : k + 2] for k in range(0, len(data), 2)], "it begins with the bytes"
            assert states[-1] == [data]
            assert all("".join(state) == data for state in states)
            assert [len(state) for state in states] == list(range(len(states[0]), 0, -1)), "one merge a step"


def test_searches(small):
    listing = list_tokens(small)
    best, *others = find_tokens(listing, "return", "text")
    assert small.token_bytes(best) == b"return"
    assert all(b"return" in small.token_bytes(token) for token in others)
    assert find_tokens(listing, "65", "bytes")[0] == find_tokens(listing, "101", "id")[0] == 101
    assert len(find_tokens(listing, "65", "bytes")) == sum(b"e" in data for data in listing.data) > 1
    assert find_tokens(listing, "99999999999999999999", "id") == find_tokens(listing, "", "text") == []
    for query, by in (("x", "id"), ("-1", "id"), ("xyz", "bytes"), ("é", "bytes")):
        with pytest.raises(tokbench.InputError):
            find_tokens(listing, query, by)


def test_dropped_files_stay_in_their_folder(tmp_path):
    catalogue = TokenizerCatalogue()
    names = []
    for _ in range(3):
        path = tmp_path / "arrived"
        path.write_bytes(b"IQ== 0\n")
        names.append(catalogue.take_file("../../etc/a.tiktoken", path))
    assert (names[:2], len(set(names))) == (["a.tiktoken", "a.tiktoken (2)"], 3)
    assert catalogue.recipe(names[-1]).options.path.is_relative_to(catalogue.folder)
    assert len(list(catalogue.folder.rglob("dropped*"))) == 3
    path.write_bytes(b"[]")
    with pytest.raises(tokbench.InputError, match="not a JSON object"):
        catalogue.take_file("x.json", path)
    folder = catalogue.folder
    catalogue.close()
    assert not folder.exists()


def test_a_page_names_no_file_of_this_machine(tmp_path):
    path = tmp_path / "x.model"
    path.write_bytes(b"x")
    catalogue = TokenizerCatalogue()
    for name in (
        f"sentencepiece:{path}",
        "huggingface:/etc/passwd",
        f"tiktoken:{path}",
        f"hf:{tmp_path}",
        "hf:../x",
        "~/x",
        "tiktoken:x.tiktoken",
    ):
        with pytest.raises(tokbench.InputError, match="may not name files"):
            catalogue.recipe(name)
    with pytest.raises(tokbench.InputError, match="did you mean 'llama-3'"):
        catalogue.recipe("lama-3")
    assert catalogue.recipe("tiktoken:gpt2").options.encoding == "gpt2"
    catalogue.close()


@pytest.mark.slow
def test_names_of_the_command_come_first(write_config):
    path = write_config(tokenizers="  mine: {backend: naive_bpe, train: {corpus: sample, vocab_size: 260}}")
    catalogue = TokenizerCatalogue()
    catalogue.take_named(["gpt-4o", "utf8_bytes"], None, None)
    assert catalogue.first == ("gpt-4o", "utf8_bytes")
    with pytest.raises(tokbench.InputError, match="unknown tokenizer 'nobody'"):
        catalogue.take_named(["nobody"], None, None)
    catalogue.close()
    trained = TokenizerCatalogue()
    trained.take_named([], path, None)
    assert trained.first == ("mine",)
    assert trained.recipe("mine").pickled
    trained.close()
