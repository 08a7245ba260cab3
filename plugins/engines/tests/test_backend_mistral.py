"""Mistral's vocabularies: what the package holds, equal to SentencePiece's models, to splintr's Tekken and to its own."""

from functools import cache
from typing import get_args

import numpy as np
import pytest
from difficult_texts import TEXTS, hostile, pud
from pydantic import ValidationError

import tokbench
from tokbench_engines.mistral import backend as mistral_backend
from tokbench_engines.mistral.backend import SPEC, MistralLoadOptions, vocabularies

pytest.importorskip("mistral_common", reason="mistral-common is not installed")

NAMES = tuple(vocabularies())
TEKKEN = tuple(name for name in NAMES if name.startswith("tekken"))
every_tekken = pytest.mark.parametrize("name", TEKKEN)


@cache
def load(name):
    return SPEC.load(MistralLoadOptions(vocabulary=name))


@cache
def library(name):
    """Mistral's own class for a Tekken file."""
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    return Tekkenizer.from_file(vocabularies()[name])


def test_every_vocabulary_of_the_package_is_there():
    assert get_args(mistral_backend.Vocabulary) == NAMES
    assert {"v1", "v2", "v3", "v7", "tekken_240718", "tekken_240911"} <= set(NAMES)
    folder = vocabularies()["v1"].parent
    assert {path for path in folder.iterdir() if path.is_file()} == set(vocabularies().values())
    with pytest.raises(ValidationError, match="Input should be 'v1', 'v2'"):
        MistralLoadOptions(vocabulary="v99")


@pytest.mark.parametrize(("name", "file"), [("v1", "mistral_v1"), ("v3", "mistral_v3")])
def test_ids_are_those_of_the_published_models(name, file, data):
    texts = pud(data)[::10]
    published = tokbench.load("sentencepiece", path=data / "spm" / f"{file}.model")
    assert np.array_equal(load(name).encode_batch(texts).ids, published.encode_batch(texts).ids)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the library's own imports
def test_tekken_is_what_the_library_makes_of_it():
    name = "tekken_240911"
    tokenizer, theirs = load(name), library(name)
    texts = TEXTS + hostile() + ["[INST] <s> </s> [/INST] <SPECIAL_20>", " ".join(tokenizer.special_ids)]
    assert [tokenizer.encode(text) for text in texts] == [theirs.encode(text, bos=False, eos=False) for text in texts]
    assert tokenizer.vocab_size == theirs.n_words == 131072
    assert sorted(tokenizer.special_ids.values()) == list(range(theirs.num_special_tokens)) == list(range(1000))
    assert all(theirs.get_special_token(special) == i for special, i in tokenizer.special_ids.items())
    from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy

    ids = range(0, tokenizer.vocab_size, 17)
    assert [tokenizer.token_bytes(i) for i in ids] == [
        theirs.id_to_byte_piece(i, SpecialTokenPolicy.IGNORE) for i in ids
    ]


SYSTEM, ASK, ANSWER, AGAIN = (
    {"role": role, "content": content}
    for role, content in [("system", "Be brief."), ("user", "How many?"), ("assistant", "Three."), ("user", "Sure?")]
)


def by_hand(tokenizer, *parts):
    """The ids of parts that follow one another: special tokens by name, and text that is encoded by itself."""
    special = tokenizer.special_ids
    return [i for part in parts for i in ([special[part]] if part in special else tokenizer.encode(part))]


@pytest.mark.filterwarnings("ignore")  # of the library's own imports
def test_the_system_prompt_goes_with_the_last_message_of_the_user():
    """So all that follows its old place has other ids after each turn: no prefix of a conversation stays."""
    tokenizer = load("v3")
    asked = ["<s>", "[INST]", "How many?", "[/INST]"]
    assert tokenizer.encode_chat([ASK], reply=True) == by_hand(tokenizer, *asked)
    assert tokenizer.encode_chat([ASK, ANSWER], reply=False) == by_hand(tokenizer, *asked, "Three.", "</s>")
    assert tokenizer.encode_chat([SYSTEM, ASK], reply=True) == by_hand(
        tokenizer, "<s>", "[INST]", "Be brief.\n\nHow many?", "[/INST]"
    )
    assert tokenizer.encode_chat([SYSTEM, ASK, ANSWER, AGAIN], reply=True) == by_hand(
        tokenizer, *asked, "Three.", "</s>", "[INST]", "Be brief.\n\nSure?", "[/INST]"
    )


@pytest.mark.filterwarnings("ignore")  # of the library's own imports
@pytest.mark.parametrize("messages", [[], [3]])
def test_a_conversation_is_refused(messages):
    with pytest.raises(ValueError, match="refuses the conversation"):
        load("v3").encode_chat(messages, reply=True)


INCOMPLETE = (
    b'{"config": {"default_num_special_tokens": 1, "default_vocab_size": 3, "pattern": "."},'
    b' "vocab": [{"rank": 0, "token_bytes": "AA=="}]}'
)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{}", "not a Tekken file: KeyError"),
        (INCOMPLETE, "a damaged Tekken file: not every rank below 2 is there once"),
    ],
)
def test_damaged_files(content, reason, tmp_path, monkeypatch):
    path = tmp_path / "tekken_240911.json"
    path.write_bytes(content)
    monkeypatch.setattr(mistral_backend, "vocabularies", lambda: {"v1": path})
    with pytest.raises(tokbench.BackendError, match=f"tekken_240911.json: {reason}"):
        SPEC.load(MistralLoadOptions(vocabulary="v1"))
