"""The small transformer: what it may see, what text costs, and trainings that are stopped and go on."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench.foundation.errors import InputError
from tokbench.tokenizers.contract import Encoded
from tokbench_models.language_models.contract import EncodedPart, ModelTask
from tokbench_models.language_models.windows import Windows, scoring_windows, training_windows

pytest.importorskip("jax")

import jax.numpy as jnp

from tokbench_models.language_models import learning_rate, transformer_model
from tokbench_models.language_models.body import TransformerShape
from tokbench_models.language_models.learning_rate import sweep
from tokbench_models.language_models.transformer_model import initial, train_curve

SMALL = TransformerShape(width=16, layers=1, heads=2, context_bytes=32, step_bytes=256)
documents_of_ids = st.lists(st.lists(st.integers(0, 9), max_size=20), min_size=1, max_size=6)


def encoded(documents):
    lengths = [len(document) for document in documents]
    ids = np.array([token for each in documents for token in each], dtype=np.uint32)
    return Encoded(ids, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def part(documents):
    return EncodedPart(encoded(documents), np.array([len(document) for document in documents]))


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
@settings(max_examples=40)
@given(documents_of_ids, st.integers(2, 9))
def test_every_token_and_every_end_is_predicted_once(cut, documents, window):
    prediction = predicted(cut(encoded(documents), 10, window), documents, 10)
    for number, document in enumerate(documents):
        assert [target for where, _, target in prediction if where == number] == [*document, 10]


@settings(max_examples=40)
@given(documents_of_ids, st.integers(2, 9))
def test_scored_tokens_see_half_a_window_or_all_of_their_document(documents, window):
    places = dict.fromkeys(range(len(documents)), 0)
    for number, before, _ in predicted(scoring_windows(encoded(documents), 10, window), documents, 10):
        places[number] += 1
        assert len(before) >= min(places[number], window // 2)


def nats(ids, document, n_ids=10):
    """-ln p of each id after those before it, in one of the windows of a batch as in training."""
    parameters = initial(n_ids, SMALL, seed=3)
    parameters["embedding"] = 20 * parameters["embedding"]
    windows = [np.full((SMALL.windows, 32), fill, dtype=np.int32) for fill in (0, -1, -1)]
    for array, row in zip(windows, (ids[:-1], ids[1:], document[:-1]), strict=True):
        array[0, : len(row)] = row
    return np.asarray(transformer_model._nats(parameters, Windows(*windows), SMALL.heads))[: len(ids) - 1]


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
    monkeypatch.setattr(transformer_model, "LOGITS_AT_ONCE", 22)  # two tokens at a time
    found = transformer_model.jax.value_and_grad(transformer_model._sum_of_nats, (0, 1))(hidden, table, targets)
    leaves = map(transformer_model.jax.tree.leaves, (found, expected))
    for ours, theirs in zip(*leaves, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def random_text(seed=0, documents=30):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 10, 60).tolist() for _ in range(documents)]


def trained(training, scored, n_ids=10, saved=None, **options):
    task = ModelTask(training, scored, n_ids, {} if saved is None else saved)
    return train_curve(task, SMALL, **{"learning_rate": 0.01, "seed": 0, **options})


@pytest.mark.slow
def test_a_point_has_seen_its_share_of_the_documents():
    points = trained(part(random_text()), part(random_text(1, 3)), shares=[0.2, 0.5, 1])
    assert [point.n_bytes for point in points] == [360, 900, 1800]
    assert [point.tokens for point in points] == [6 * 61, 15 * 61, 30 * 61]  # EOS is predicted, too
    assert [point.flops for point in points] == [SMALL.flops(n * 61, 32, 10) for n in (6, 15, 30)]
    assert all(point.bits.shape == (3,) for point in points)


def test_every_step_and_every_scored_batch_is_a_sign_of_life():
    training, scored, calls = part(random_text()), part(random_text(1, 30)), []
    trained(training, scored, shares=[1.0], progress=lambda _, done, total: calls.append((done, total)))
    windows = -(-len(training_windows(training.encoded, 10, 32).inputs) // SMALL.windows)
    batches = -(-len(scoring_windows(scored.encoded, 10, 32).inputs) // SMALL.windows)
    assert {total for _, total in calls} == {windows}
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert len(calls) == windows + batches


def test_the_same_seed_gives_the_same_number_and_another_seed_another():
    def bits(seed):
        return trained(part(random_text()), part(random_text(1, 3)), seed=seed, shares=[0.5, 1])[-1].bits.tolist()

    assert bits(0) == bits(0)
    assert bits(0) != bits(1)


def test_a_stopped_training_keeps_its_finished_points():
    def train(saved, progress=lambda *_: None):
        texts = part(random_text()), part(random_text(1, 3))
        points = trained(*texts, shares=[0.5, 1], saved=saved, progress=progress)
        return [point.bits.tolist() for point in points]

    def stop(*_):
        if saved:
            raise KeyboardInterrupt

    whole, saved = train({}), {}
    with pytest.raises(KeyboardInterrupt):
        train(saved, stop)
    assert [*saved] == ["rate 0.01 seed 0 point 0"]
    first = saved["rate 0.01 seed 0 point 0"]
    assert train(saved) == whole
    assert saved["rate 0.01 seed 0 point 0"] is first
    assert train(saved, lambda *_: pytest.fail("everything is there")) == whole


def test_a_sweep_tries_every_rate_on_a_tenth_and_keeps_what_it_found(monkeypatch):
    training, saved = part(random_text(documents=40)), {}
    task = ModelTask(training, training, 10, saved)
    swept = sweep(task, SMALL, seed=0, rates=[0.001, 0.01, 0.1])
    assert {0.001, 0.01, 0.1} <= set(swept)
    assert all(2 < bits < 5 for bits in swept.values())
    monkeypatch.setattr(learning_rate, "train_curve", lambda *_, **__: pytest.fail("all rates were tried"))
    assert sweep(task, SMALL, seed=0, rates=[0.001, 0.01, 0.1]) == swept
    assert sorted(saved) == sorted(f"sweep {rate:g} seed 0" for rate in swept)


@pytest.mark.parametrize(
    ("best", "tried"),
    [(0.02, [0.01, 0.02, 0.04]), (0.08, [0.01, 0.02, 0.04, 0.08, 0.16]), (9.0, [0.01, 0.02, 0.04, 0.08, 0.16, 0.32])],
)
def test_a_sweep_goes_on_beyond_its_rates_while_the_best_lies_at_an_end(monkeypatch, best, tried):
    training = part(random_text(documents=40))

    def curve(*_, **options):
        return [SimpleNamespace(bits=np.array([abs(math.log(options["learning_rate"] / best))]))]

    monkeypatch.setattr(learning_rate, "train_curve", curve)
    assert list(sweep(ModelTask(training, training, 10, {}), SMALL, seed=0, rates=[0.01, 0.02, 0.04])) == tried


def test_one_document_cannot_be_searched_for_a_learning_rate():
    one = part([[1, 2, 3]])
    with pytest.raises(InputError, match="two training documents or more"):
        sweep(ModelTask(one, one, 9, {}), SMALL, seed=0)


@pytest.mark.slow
def test_random_digits_cost_their_entropy_however_they_are_cut():
    rng = np.random.default_rng(0)
    digits = rng.integers(0, 10, (16, 1000))

    def cost(documents, n_ids):
        sizes = np.full(len(documents), 1000)
        parts = [EncodedPart(encoded(documents[some]), sizes[some]) for some in (slice(12), slice(12, 16))]
        [point] = trained(*parts, n_ids, learning_rate=0.002, shares=[1.0])
        return point.bits.sum() / 4000

    plain, permuted = cost(digits, 10), cost(rng.permutation(10)[digits], 10)
    assert plain == pytest.approx(math.log2(10), abs=0.05)
    assert permuted == pytest.approx(plain, abs=0.01)
    pairs = 10 * digits[:, ::2] + digits[:, 1::2]  # one token for every two digits
    assert cost(pairs, 100) == pytest.approx(plain, abs=0.03)
