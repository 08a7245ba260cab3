"""The n-gram's eye for tokenizers that are known to be worse: what it sees, and what it does not."""

from __future__ import annotations

import numpy as np
import pytest

import tokbench
from tokbench.corpus.corpus import Corpus
from tokbench.foundation.progress import silent
from tokbench.sources.python import StdlibOptions, StdlibSource
from tokbench.sources.sample import SampleOptions, SampleSource
from tokbench_models.language_models.bits_per_byte import DECIDING, ModelTextOptions, NgramBits
from tokbench_models.language_models.contract import ModelTask, ModelTexts
from tokbench_models.language_models.fit import emitted_ids, encoded_part
from tokbench_models.language_models.scored_bits import bits_verdict
from tokbench_models.language_models.texts import text_parts

PACKAGES = ("asyncio", "email", "http", "importlib", "json", "logging", "multiprocessing", "unittest", "urllib", "xml")


@pytest.fixture(scope="module")
def parts():
    corpus = Corpus("library", StdlibSource(StdlibOptions(packages=PACKAGES)), holdout=0.35)
    return text_parts(corpus, corpus, ModelTexts("", 0.1, 600_000, 300_000, 4096))


@pytest.fixture(scope="module")
def fit(parts):
    def bits(tokenizer):
        training, scored = encoded_part(tokenizer, parts.training), encoded_part(tokenizer, parts.scored)
        n_ids = emitted_ids(tokenizer, training.encoded.ids, scored.encoded.ids)
        return NgramBits(ModelTextOptions()).fit(ModelTask(training, scored, n_ids, {}), silent)

    return bits


def trained(texts):
    return tokbench.train("regex_bpe", list(texts), 1024, pattern="gpt4", store=False)


@pytest.fixture(scope="module")
def base(parts):
    return trained(parts.training)


@pytest.fixture(scope="module")
def base_bits(fit, base):
    return fit(base)


@pytest.mark.slow
def test_a_vocabulary_of_another_domain_is_found_worse(fit, base_bits):
    prose = [each.text for each in SampleSource(SampleOptions(part="languages")).documents()]
    differences = base_bits.minus(fit(trained(prose)))
    assert bits_verdict([differences[order - 1] for order in DECIDING]) == ("better", False)


@pytest.mark.slow
def test_half_of_the_training_text_makes_a_level_tokenizer(parts, fit, base_bits):
    """Another tokenizer of equal quality, of which no id need be the same."""
    differences = fit(trained(parts.training[::2])).minus(base_bits)
    assert any(each.value for each in differences)
    assert bits_verdict([differences[order - 1] for order in DECIDING]) == ("level", False)


class Padded:
    """A vocabulary with special tokens, an unknown one, ids without bytes, and two of use."""

    vocab_size = 8
    unk_id = 2

    @property
    def special_ids(self):
        return {"<s>": 0, "</s>": 1, "<far>": 99}

    def token_bytes(self, token, /):
        return {3: b"a", 4: b"b", 0: b"<s>", 1: b"</s>", 2: b"?"}.get(token, b"")

    def encode(self, text, /):
        return [3 if char == "a" else 4 for char in text]

    def decode(self, ids, /):
        return "".join("ab"[token - 3] for token in ids)

    def encode_with_special(self, text, /, allowed_special):
        return self.encode(text)


def test_ids_that_can_be_emitted():
    assert emitted_ids(Padded()) == 2
    assert emitted_ids(Padded(), np.array([3, 6, 6], dtype=np.uint32)) == 3
