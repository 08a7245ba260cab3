"""The backend that adapts a published vocabulary: the textbook loop, tiktoken and Hugging Face's library agree with it."""

from itertools import chain

import pytest
import tiktoken
import tokenizers
from literal_loops import continue_literally

from tokbench.foundation.errors import BackendError
from tokbench.plugin import silent
from tokbench_plugins.bpe import BPETokenizer, Splitter, train
from tokbench_plugins.bpe.formats import read_ranks
from tokbench_plugins.bpe.patterns import PATTERNS
from tokbench_trainers.adaptation.backend import SPEC

TEXTS = ["low lower lowest, slow slower slowest\n", "the newest news of the new newspaper\n"]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A small published vocabulary: merges, of which the texts do not need some, and a special token."""
    path = tmp_path_factory.mktemp("base") / "base.tokenizer.json"
    merges = train([TEXTS[0] * 3, "zebras and quaggas"], 290, "gpt2")
    BPETokenizer(merges, "gpt2", {"<|endoftext|>": 256 + len(merges)}).export("huggingface", path)
    return path


def adapt(base, vocab_size, **options):
    return SPEC.train(TEXTS, vocab_size, SPEC.train_options(path=base, **options), silent)


def test_old_ids_stay_and_new_ones_come_after_the_special_token(base):
    before = SPEC.load(SPEC.load_options(path=base))
    size = before.vocab_size
    after = adapt(base, size + 12)
    assert after.vocab_size == size + 12
    assert dict(after.special_ids) == dict(before.special_ids) == {"<|endoftext|>": size - 1}
    assert [after.token_bytes(k) for k in range(size)] == [before.token_bytes(k) for k in range(size)]
    assert len(after.encode(TEXTS[1])) < len(before.encode(TEXTS[1]))
    assert after.encode("lowest") == before.encode("lowest")


def test_tokens_that_the_text_does_not_need_go(base):
    before = SPEC.load(SPEC.load_options(path=base))
    pruned = adapt(base, before.vocab_size, remove="unused")
    kept = [k for k in range(before.vocab_size) if pruned.token_bytes(k)]
    assert len(kept) < before.vocab_size
    assert pruned.notes == (f"{before.vocab_size - len(kept)} of its ids are free: their tokens were removed",)
    assert not before.notes
    assert [pruned.encode(text) for text in TEXTS] == [before.encode(text) for text in TEXTS]
    fewer = adapt(base, before.vocab_size, remove=before.vocab_size)
    assert not fewer.vocabulary.merges
    assert fewer.encode("low") == list(b"low")


def test_a_size_below_that_of_the_vocabulary_is_refused(base):
    size = SPEC.load(SPEC.load_options(path=base)).vocab_size
    with pytest.raises(BackendError, match=f"280.* {size}"):
        adapt(base, 280)


@pytest.fixture(scope="module")
def five_languages(data):
    return [
        line
        for language in ("en", "fi", "ko", "th", "tr")
        for line in (data / "pud" / f"{language}.txt").read_text(encoding="utf-8").splitlines()[:30]
    ]


@pytest.fixture(scope="module")
def gpt2_and_more(five_languages):
    return SPEC.train(five_languages, 50257 + 50, SPEC.train_options(encoding="gpt2"), silent)


@pytest.mark.slow
def test_gpt2_extended_equals_the_loop_that_goes_on_from_its_ids(gpt2_and_more, five_languages):
    gpt2 = tiktoken.get_encoding("gpt2")
    split = Splitter("gpt2")
    chunks = [gpt2.encode_ordinary(chunk) for chunk in chain.from_iterable(map(split, five_languages))]
    expected = continue_literally(chunks, range(50257, 50307))
    assert [merge[:2] for merge in gpt2_and_more.vocabulary.merges[-50:]] == expected


@pytest.mark.slow
def test_other_libraries_give_the_ids_of_gpt2_extended(gpt2_and_more, five_languages, tmp_path):
    gpt2_and_more.export("huggingface", tmp_path / "more.tokenizer.json")
    gpt2_and_more.export("tiktoken", tmp_path / "more.tiktoken")
    json = tokenizers.Tokenizer.from_file(str(tmp_path / "more.tokenizer.json"))
    ranks = tiktoken.Encoding(
        "more",
        pat_str=PATTERNS["gpt2"],
        mergeable_ranks=read_ranks(tmp_path / "more.tiktoken"),
        special_tokens={"<|endoftext|>": 50256},
    )
    ids = [gpt2_and_more.encode(text) for text in five_languages]
    assert [each.ids for each in json.encode_batch(five_languages)] == ids
    assert ranks.encode_ordinary_batch(five_languages) == ids
    assert max(chain.from_iterable(ids)) > 50257
