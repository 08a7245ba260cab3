"""The small transformer: what it may see, what text costs, and trainings that are stopped and go on."""

import argparse
import inspect
import json
import math
from pydoc_data import topics
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench import train
from tokbench.foundation.errors import InputError
from tokbench.studies.language_models.contract import EncodedPart
from tokbench.studies.language_models.windows import scoring_windows, training_windows
from tokbench.tokenizers.batch import encode_batch
from tokbench.tokenizers.contract import Encoded
from tokbench.tokenizers.inspect.examine import examine
from tokbench.tokenizers.inspect.undertrained import Weights, under_trained

pytest.importorskip("jax")

import jax.numpy as jnp

from tokbench.studies.language_models import learning_rate, transformer_model
from tokbench.studies.language_models.body import PRESETS, Body
from tokbench.studies.language_models.learning_rate import sweep
from tokbench.studies.language_models.transformer_model import initial, train_curve

SMALL = Body(width=16, layers=1, heads=2, context_bytes=32, step_bytes=256)
documents_of_ids = st.lists(st.lists(st.integers(0, 9), max_size=20), min_size=1, max_size=6)


def encoded(documents):
    lengths = [len(each) for each in documents]
    ids = np.array([token for each in documents for token in each], dtype=np.uint32)
    return Encoded(ids, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def part(documents):
    return EncodedPart(encoded(documents), np.array([len(each) for each in documents]))


def predicted(windows, documents, n_ids):
    """The tokens that windows predict, by document and place, with all that comes before them in the window."""
    found = []
    for inputs, targets, numbers in zip(*windows, strict=True):
        for at in np.flatnonzero(targets >= 0):
            before = [token for token, number in zip(inputs[: at + 1], numbers, strict=False) if number == numbers[at]]
            found.append((numbers[at], tuple(before), targets[at]))
            whole = [n_ids + 1, *documents[numbers[at]], n_ids]
            joined = [*before, targets[at]]
            assert any(whole[k : k + len(joined)] == joined for k in range(len(whole)))
    return found


@pytest.mark.parametrize("cut", [training_windows, scoring_windows])
@given(documents_of_ids, st.integers(2, 9))
def test_every_token_and_every_end_is_predicted_once(cut, documents, window):
    found = predicted(cut(encoded(documents), 10, window), documents, 10)
    for number, document in enumerate(documents):
        assert [target for where, _, target in found if where == number] == [*document, 10]


@given(documents_of_ids, st.integers(2, 9))
def test_scored_tokens_see_half_a_window_or_all_of_their_document(documents, window):
    places = dict.fromkeys(range(len(documents)), 0)
    for number, before, _ in predicted(scoring_windows(encoded(documents), 10, window), documents, 10):
        places[number] += 1
        assert len(before) >= min(places[number], window // 2)


def nats(ids, document, n_ids=10, body=SMALL):
    """-ln p of each id after those before it in one window."""
    parameters = initial(n_ids, body, seed=3)
    parameters["embedding"] = 20 * parameters["embedding"]
    windows = transformer_model.Windows(
        *(np.array([row], dtype=np.int32) for row in (ids[:-1], ids[1:], document[:-1]))
    )
    return np.asarray(transformer_model._nats(parameters, windows, body.heads))


@pytest.mark.slow
def test_probabilities_sum_to_one():
    start = [11, 4, 2, 7]
    costs = [nats([*start, token], [0] * 5)[-1] for token in range(11)]  # ten ids and EOS
    assert np.exp(-np.array(costs)).sum() == pytest.approx(1, abs=1e-5)


def test_no_token_sees_what_comes_later_or_another_document():
    costs = nats([11, 4, 2, 7, 10], [0] * 5)
    assert nats([11, 4, 2, 7, 5], [0] * 5)[:3] == pytest.approx(costs[:3], abs=1e-6)
    assert nats([11, 4, 2, 8, 10], [0] * 5)[3] != pytest.approx(costs[3], abs=1e-3)
    one, other = nats([11, 4, 10, 11, 5, 6], [0, 0, 0, 1, 1, 1]), nats([11, 9, 10, 11, 5, 6], [0, 0, 0, 1, 1, 1])
    assert one[3:] == pytest.approx(other[3:], abs=1e-6)
    assert one[1] != pytest.approx(other[1], abs=1e-3)


@pytest.mark.slow
def test_gradients_in_parts_are_those_of_the_plain_loss(monkeypatch):
    rng = np.random.default_rng(0)
    hidden, table = (jnp.asarray(rng.normal(size=shape), dtype=jnp.float32) for shape in ((7, 5), (11, 5)))
    targets = jnp.array([0, 10, -1, 3, 3, -1, 7])

    def plain(hidden, table):
        logits = hidden @ table.T
        normed = logits - transformer_model.jax.nn.logsumexp(logits, axis=1, keepdims=True)
        return -sum(normed[k, target] for k, target in enumerate(targets.tolist()) if target >= 0)

    expected = transformer_model.jax.value_and_grad(plain, (0, 1))(hidden, table)
    for at_once in (1 << 22, 22):  # all at once; two tokens at a time
        monkeypatch.setattr(transformer_model, "LOGITS_AT_ONCE", at_once)
        found = transformer_model.jax.value_and_grad(transformer_model._sum_of_nats, (0, 1))(hidden, table, targets)
        for ours, theirs in zip(
            transformer_model.jax.tree.leaves(found), transformer_model.jax.tree.leaves(expected), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def random_text(seed=0, documents=30):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 10, 60).tolist() for _ in range(documents)]


@pytest.mark.slow
def test_a_point_has_seen_its_share_of_the_documents():
    training = part(random_text())
    points = train_curve(training, part(random_text(1, 3)), 10, SMALL, learning_rate=0.01, seed=0, shares=[0.2, 0.5, 1])
    assert [point.n_bytes for point in points] == [360, 900, 1800]
    assert [point.tokens for point in points] == [6 * 61, 15 * 61, 30 * 61]  # EOS is predicted, too
    assert [point.flops for point in points] == [SMALL.flops(n * 61, 32, 10) for n in (6, 15, 30)]
    assert all(point.bits.shape == (3,) for point in points)


@pytest.mark.slow
def test_every_step_and_every_scored_batch_is_a_sign_of_life():
    training, scored, calls = part(random_text()), part(random_text(1, 30)), []
    train_curve(
        training, scored, 10, SMALL, learning_rate=0.01, seed=0, shares=[1.0],
        progress=lambda _, done, total: calls.append((done, total)),
    )  # fmt: skip
    windows = -(-len(training_windows(training.encoded, 10, 32).inputs) // SMALL.windows)
    batches = -(-len(scoring_windows(scored.encoded, 10, 32).inputs) // SMALL.windows)
    assert {total for _, total in calls} == {windows}
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert len(calls) == windows + batches


def test_the_same_seed_gives_the_same_number_and_another_seed_another():
    def bits(seed, shares=(0.5, 1.0)):
        training, scored = part(random_text()), part(random_text(1, 3))
        points = train_curve(training, scored, 10, SMALL, learning_rate=0.01, seed=seed, shares=shares)
        return points[-1].bits.tolist()

    assert bits(0) == bits(0)
    assert bits(0) != bits(1)


def test_a_stopped_training_keeps_its_finished_points():
    training, scored = part(random_text()), part(random_text(1, 3))

    def train(saved, progress=lambda *_: None):
        return train_curve(
            training, scored, 10, SMALL, learning_rate=0.01, seed=0, shares=[0.5, 1], saved=saved, progress=progress
        )

    def stop(*_):
        if saved:
            raise KeyboardInterrupt

    whole, saved = train({}), {}
    with pytest.raises(KeyboardInterrupt):
        train(saved, stop)
    assert [*saved] == ["rate 0.01 seed 0 point 0"]
    first = saved["rate 0.01 seed 0 point 0"]
    assert [point.bits.tolist() for point in train(saved)] == [point.bits.tolist() for point in whole]
    assert saved["rate 0.01 seed 0 point 0"] is first
    again = train(saved, lambda *_: pytest.fail("everything is there"))
    assert [point.bits.tolist() for point in again] == [point.bits.tolist() for point in whole]


def test_a_damaged_point_is_made_again():
    training, saved = part(random_text()), {}

    def train():
        return train_curve(training, training, 10, SMALL, learning_rate=0.01, seed=0, shares=[1], saved=saved)

    [whole] = train()
    saved["rate 0.01 seed 0 point 0"] = b"damaged"
    [again] = train()
    assert again.bits.tolist() == whole.bits.tolist()
    assert saved["rate 0.01 seed 0 point 0"] != b"damaged"


def test_a_sweep_tries_every_rate_on_a_tenth_and_keeps_what_it_found(monkeypatch):
    training, saved = part(random_text(documents=40)), {}
    found = sweep(training, 10, SMALL, seed=0, rates=[0.001, 0.01, 0.1], saved=saved)
    assert {0.001, 0.01, 0.1} <= set(found)
    assert all(2 < bits < 5 for bits in found.values())
    monkeypatch.setattr(learning_rate, "train_curve", lambda *_, **__: pytest.fail("all rates were tried"))
    assert sweep(training, 10, SMALL, seed=0, rates=[0.001, 0.01, 0.1], saved=saved) == found
    assert sorted(saved) == sorted(f"sweep {rate:g} seed 0" for rate in found)


@pytest.mark.parametrize(
    ("best", "tried"),
    [(0.02, [0.01, 0.02, 0.04]), (0.08, [0.01, 0.02, 0.04, 0.08, 0.16]), (9.0, [0.01, 0.02, 0.04, 0.08, 0.16, 0.32])],
)
def test_a_sweep_goes_on_beyond_its_rates_while_the_best_lies_at_an_end(monkeypatch, best, tried):
    training = part(random_text(documents=40))

    def curve(*_, **options):
        return [SimpleNamespace(bits=np.array([abs(math.log(options["learning_rate"] / best))]))]

    monkeypatch.setattr(learning_rate, "train_curve", curve)
    assert list(sweep(training, 10, SMALL, seed=0, rates=[0.01, 0.02, 0.04])) == tried


def test_an_id_that_the_tokenizer_cannot_emit_is_refused():
    with pytest.raises(ValueError, match="with ids below 9"):
        train_curve(part([[9]]), part([[1]]), 9, SMALL, learning_rate=0.01, seed=0)


def test_one_document_cannot_be_searched_for_a_learning_rate():
    with pytest.raises(InputError, match="two training documents or more; give one learning rate"):
        sweep(part([[1, 2, 3]]), 9, SMALL, seed=0)


@pytest.mark.slow
def test_text_that_repeats_costs_next_to_nothing():
    documents = [list(b"the quick brown fox jumps. " * 100) for _ in range(25)]
    points = train_curve(part(documents[:20]), part(documents[20:]), 256, PRESETS["tiny"], learning_rate=0.01, seed=0)
    costs = [point.bits.sum() / (5 * 2700) for point in points]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < 0.1


@pytest.mark.slow
def test_random_bytes_cost_eight_bits_and_permuted_ids_the_same():
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 256, 2000) for _ in range(16)]
    halves = [np.stack([each // 16, each % 16], axis=1).ravel() for each in documents]  # two tokens for every byte
    chosen = rng.permutation(256)

    def cost(documents, n_ids):
        sizes = np.full(len(documents), 2000)
        parts = [EncodedPart(encoded(documents[some]), sizes[some]) for some in (slice(12), slice(12, 16))]
        [point] = train_curve(*parts, n_ids, PRESETS["tiny"], learning_rate=0.002, seed=0, shares=[1.0])
        return point.bits.sum() / 8000

    plain, permuted = cost(documents, 256), cost([chosen[each] for each in documents], 256)
    assert plain == pytest.approx(8, abs=0.05)
    assert permuted == pytest.approx(plain, abs=0.02)
    assert cost(halves, 16) == pytest.approx(8, abs=0.05)


@pytest.mark.slow
def test_a_model_s_own_weights_show_the_ids_that_it_never_trained(tmp_path, monkeypatch):
    """A vocabulary of English, and a model of code: 13 ids that UTF-8 never has tell what untrained rows look like."""
    bits, kept = transformer_model._Training._bits, []
    monkeypatch.setattr(
        transformer_model._Training, "_bits", lambda self, weights, at: kept.append(weights) or bits(self, weights, at)
    )
    english, code = inspect.getsource(topics)[:100_000], inspect.getsource(argparse)[:60_000]
    tokenizer = train("regex_bpe", [english], 1024, pattern="gpt4")
    texts = [code[start : start + 2000] for start in range(0, len(code), 2000)]
    training = EncodedPart(encode_batch(tokenizer, texts), np.array([len(text.encode()) for text in texts]))
    train_curve(training, training, 1024, SMALL, learning_rate=0.008, seed=0, shares=[1.0])
    embedding = np.asarray(kept[0]["embedding"])[:1024]  # the rows after it are the end and the beginning of a document
    entry = {"dtype": "F32", "shape": embedding.shape, "data_offsets": [0, embedding.nbytes]}
    header = json.dumps({"wte.weight": entry}).encode()
    (tmp_path / "m.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + embedding.tobytes())
    trained = under_trained(tokenizer, examine(tokenizer), Weights(tmp_path / "m.safetensors"))
    listed = np.array(trained.indicators) <= trained.threshold
    counts = np.bincount(training.encoded.ids, minlength=1024)
    never = counts == 0
    assert never.sum() > 300
    assert listed[never].mean() > 0.5
    assert never[listed].mean() > 0.9
    assert counts[listed].max() < 5
