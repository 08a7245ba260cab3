"""PickyBPE against the textbook loops, as a tokenizer, and the tokens that it removes."""

import json
import pickle
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st
from literal_picky import encode_picky_literally, train_picky_literally

import tokbench
from tokbench import plugin
from tokbench.foundation.errors import ContractError
from tokbench.tokenizers.merges import merge_order
from tokbench_plugins import regex_bpe
from tokbench_plugins.bpe.artefact import TrainingRecord, write_artefact
from tokbench_plugins.bpe.fast.train import count_chunks
from tokbench_plugins.bpe.patterns import Splitter
from tokbench_trainers.picky.events import PickyEvent
from tokbench_trainers.picky.picky_bpe import SPEC, PickyBPE, PickyEvents
from tokbench_trainers.picky.train_picky import train_picky

texts = st.lists(st.text(alphabet="abc d", max_size=40), min_size=1, max_size=4)
thresholds = st.sampled_from([0.5, 0.6, 0.75, 0.9, 1.0])
ties = st.sampled_from(["first", "smallest"])

WORDS = resources.files("tokbench").joinpath("foundation", "errors.py").read_text("utf-8").splitlines(keepends=True)


def chunks_of(documents):
    return [chunk.encode() for text in documents for chunk in Splitter("gpt4")(text)]


@given(texts, texts, thresholds, ties, st.integers(256, 276))
def test_training_and_encoding_are_the_loops(documents, others, threshold, tie, size):
    events = train_picky(count_chunks(documents, "gpt4"), size, threshold, tie)
    assert events == train_picky_literally(chunks_of(documents), size, threshold, tie)
    learned = PickyEvents(events)
    tokenizer = PickyBPE(learned, "gpt4")
    assert tokenizer.vocab_size == len(set(tokenizer.vocabulary.tokens)) <= 276
    for text in (*documents, *others):
        literal = [token for chunk in chunks_of([text]) for token in encode_picky_literally(chunk, events)]
        assert tokenizer.encode(text) == [learned.final_ids[token] for token in literal]
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_removal_by_hand():
    """``ab`` occurs three times, and two of them go into ``abc``: two thirds."""
    chunks = [b"abc", b"abc", b"ab"]
    merges = [PickyEvent((97, 98), (256,)), PickyEvent((256, 99), (257,))]
    assert train_picky_literally(chunks, 258, 0.7) == merges
    again = [*merges, PickyEvent((256,), (97, 98)), PickyEvent((97, 98), (256,))]
    assert train_picky_literally(chunks, 258, 0.66) == again  # removed, and made again of what was left
    assert encode_picky_literally(b"abcab", again) == [257, 256]
    assert encode_picky_literally(b"abcab", again[:3]) == [257, 97, 98]


def test_a_part_that_is_gone_is_replaced_by_its_parts():
    """``ab`` and ``abc`` are only steps to ``abcd``: both go, and ``abc`` in another text becomes three bytes."""
    events = train_picky_literally([b"abcd"] * 3, 259, 0.9)
    assert events[-1] == PickyEvent((257,), (97, 98, 99))
    assert PickyEvents(events).final_ids.keys() == {*range(256), 258}


def trained(**options):
    return SPEC.train(WORDS, 400, SPEC.train_options(pattern="gpt4", **options), plugin.silent)


def load(path):
    return SPEC.load(SPEC.load_options(path=str(path)))


def test_scaffold_tokens_are_gone_at_equal_size():
    picky = trained(share=0.9)
    plain = regex_bpe.SPEC.train(WORDS, 400, regex_bpe.SPEC.train_options(), plugin.silent)
    assert plain.vocab_size == picky.vocab_size == 400

    def unused(tokenizer):
        used = {i for text in WORDS for i in tokenizer.encode(text)}
        return set(range(256, 400)) - used

    assert len(unused(picky)) < len(unused(plain)) / 2


def test_saved_loaded_and_what_it_cannot(tmp_path):
    tokenizer = trained(special_tokens=["end_of_text"])
    path = tmp_path / "x.bpe.json"
    tokenizer.save(path)
    loaded = load(path)
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert loaded.learned == copy.learned == tokenizer.learned
    assert loaded.special_ids == copy.special_ids == {"<|endoftext|>": 400}
    assert loaded.encode(WORDS[0]) == copy.encode(WORDS[0]) == tokenizer.encode(WORDS[0])
    loaded.save(tmp_path / "again.bpe.json")
    assert (tmp_path / "again.bpe.json").read_bytes() == path.read_bytes()
    with pytest.raises(ContractError, match="tokens were removed"):
        merge_order(tokenizer)
    with pytest.raises(tokbench.BackendError, match="PickyBPE cannot be written as huggingface"):
        tokenizer.export("huggingface", tmp_path / "x")


@pytest.mark.parametrize(
    "event",
    [[[97, 700], [256]], [[97], []]],
)
def test_events_that_cannot_be_are_refused(tmp_path, event):
    path = tmp_path / "x.bpe.json"
    write_artefact(path, [], "gpt4", training=TrainingRecord(kind="picky_bpe", rule={"share": 0.9, "events": [event]}))
    assert json.loads(path.read_text())["format"] == "tokbench-bpe/4"
    with pytest.raises(tokbench.BackendError, match="event 0"):
        load(path)
