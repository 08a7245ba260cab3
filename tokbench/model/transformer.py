"""A small transformer whose bits per byte are compared: the same body and the same bytes of text for every tokenizer.

The body is a decoder of today's make: RMS norms before each part (Zhang and Sennrich 2019), rotary positions (Su and
others 2021), a GELU of four times the width, and one table for the embedding and the output (Press and Wolf 2017). A
document is BOS w_1 ... w_n EOS, as for the n-gram model: BOS is given and never predicted, EOS is predicted once, and
no token sees another document.

What is equal for all tokenizers is counted in bytes: the training text, the context, and the text of one step. So all
take the same number of steps, and a tokenizer with longer tokens has shorter windows. The learning rate is not equal:
the one that suits 1,000 ids does not suit 50,000. :func:`sweep` finds it on a tenth of the training text.

JAX and optax are needed (the extra ``lm``). The same seed gives the same number on the same machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

from tokbench.contracts.tokenizer import Encoded

LEARNING_RATES: Final = (1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2)
"""The learning rates of a sweep."""

_SWEEP_SHARE: Final = 10
"""A sweep trains on one in so many documents, and scores another one in so many."""

_LOGITS_AT_ONCE: Final = 1 << 24
"""Logits that are held at a time: 64 MB. More tokens are scored in parts, and computed again for the gradient."""

_WEIGHT_DECAY: Final = 0.1
_WARM_UP: Final = 0.05
_END: Final = 0.1

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Body:
    """All of a transformer but the table of embeddings, and how it is trained.

    Attributes:
        width: numbers of a position; a multiple of ``2 * heads``.
        layers: how many.
        heads: of attention.
        context_bytes: bytes of text that a window has, on average.
        step_bytes: bytes of text of one step of training.
        epochs: how often the training text is seen.
    """

    width: int
    layers: int
    heads: int
    context_bytes: int
    step_bytes: int
    epochs: int = 1

    @property
    def parameters(self) -> int:
        """How many parameters there are, without the embeddings.

        >>> Body(64, 2, 2, 256, 4096).parameters  # 2 * (12 * 64 * 64 + 2 * 64) + 64
        98624
        """
        return self.layers * (12 * self.width**2 + 2 * self.width) + self.width

    def flops(self, tokens: int, window: int, n_ids: int) -> int:
        """Return the floating-point operations of training on some tokens, forward and backward.

        6 for each parameter that multiplies and each token, the output's table included, and 6 * layers * window * width
        for the attention, of which a causal one needs half (Kaplan and others 2020; Hoffmann and others 2022, appendix F).

        >>> Body(64, 2, 2, 256, 4096).flops(tokens=1000, window=64, n_ids=4096)
        2212224000
        """
        table = (n_ids + 1) * self.width
        multiplied = 12 * self.layers * self.width**2
        return 6 * tokens * (multiplied + table + self.layers * window * self.width)


PRESETS: Final[Mapping[str, Body]] = MappingProxyType({
    "tiny": Body(width=64, layers=2, heads=2, context_bytes=256, step_bytes=4096),
    "small": Body(width=256, layers=6, heads=4, context_bytes=1024, step_bytes=16384),
    "gpu": Body(width=512, layers=12, heads=8, context_bytes=4096, step_bytes=131072),
})


class Windows(NamedTuple):
    """Text as windows of one length.

    Attributes:
        inputs: int32[n, w], what the model is given.
        targets: int32[n, w], what comes after; -1 where nothing is predicted.
        document: int32[n, w], the number of the document of each input; -1 where there is none.
    """

    inputs: NDArray[np.int32]
    targets: NDArray[np.int32]
    document: NDArray[np.int32]


def window_of(text: Encoded, n_bytes: int, context_bytes: int) -> int:
    """Return the tokens of a window that has so many bytes of this text on average, 2 or more.

    >>> text = Encoded(np.zeros(100, dtype=np.uint32), np.array([0, 100]))
    >>> window_of(text, n_bytes=400, context_bytes=256)
    64
    """
    return max(2, round(context_bytes * len(text.ids) / max(n_bytes, 1)))


def training_windows(text: Encoded, n_ids: int, window: int) -> Windows:
    """Cut documents, one after the other, into windows; each token and each EOS is predicted once.

    Args:
        text: the documents, with ids below ``n_ids``.
        n_ids: EOS has this id, and BOS the one after it.
        window: tokens of a window.

    >>> text = Encoded(np.array([5, 6, 7], dtype=np.uint32), np.array([0, 2, 3]))
    >>> windows = training_windows(text, n_ids=10, window=4)  # 11 5 6 10, 11 7 10
    >>> windows.inputs.tolist(), windows.targets.tolist()
    ([[11, 5, 6, 10], [11, 7, 10, 11]], [[5, 6, 10, -1], [7, 10, -1, -1]])
    """
    stream, document = _stream(text, n_ids)
    inputs, targets = stream, np.append(stream[1:], n_ids + 1)
    targets = np.where(targets == n_ids + 1, -1, targets)
    fill = -len(stream) % window
    shape = (-1, window)
    return Windows(
        np.append(inputs, np.full(fill, n_ids + 1)).reshape(shape).astype(np.int32),
        np.append(targets, np.full(fill, -1)).reshape(shape).astype(np.int32),
        np.append(document, np.full(fill, -1)).reshape(shape).astype(np.int32),
    )


def scoring_windows(text: Encoded, n_ids: int, window: int) -> Windows:
    """Cut each document by itself into windows that overlap by half; each token is predicted once.

    All but the first window of a document predict only their second half, so that a token has at least half a window
    before it, or all of its document.

    >>> text = Encoded(np.array([1, 2, 3, 4, 5], dtype=np.uint32), np.array([0, 5]))
    >>> windows = scoring_windows(text, n_ids=10, window=4)
    >>> windows.inputs.tolist(), windows.targets.tolist()
    ([[11, 1, 2, 3], [2, 3, 4, 5]], [[1, 2, 3, 4], [-1, -1, 5, 10]])
    """
    stream, document = _stream(text, n_ids)
    lengths = np.diff(text.offsets) + 1  # what is predicted: the tokens and EOS
    firsts = np.cumsum(lengths + 1) - (lengths + 1)
    stride = window - window // 2
    counts = 1 + np.maximum(0, -((window - lengths) // stride))  # after the first window, each adds a stride
    of_window = np.repeat(np.arange(len(lengths)), counts)
    place = np.arange(len(of_window)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = place * stride
    at = start[:, None] + np.arange(window)
    inside = at < lengths[of_window][:, None]
    absolute = np.where(inside, firsts[of_window][:, None] + at, 0)
    new = inside & ((place == 0)[:, None] | (np.arange(window) >= window - stride)[None, :])
    return Windows(
        np.where(inside, stream[absolute], n_ids + 1).astype(np.int32),
        np.where(new, stream[np.minimum(absolute + 1, len(stream) - 1)], -1).astype(np.int32),
        np.where(inside, document[absolute], -1).astype(np.int32),
    )


def _stream(text: Encoded, n_ids: int) -> tuple[Ints, Ints]:
    """Return int64[n], documents between BOS and EOS, and int64[n], the number of the document of each token."""
    lengths = np.diff(text.offsets).astype(np.int64) + 2
    ends = np.cumsum(lengths)
    stream = np.full(int(ends[-1]), n_ids + 1, dtype=np.int64)
    stream[ends - 1] = n_ids
    inside = np.ones(len(stream), dtype=np.bool_)
    inside[ends - 1] = inside[ends - lengths] = False
    stream[inside] = text.ids
    return stream, np.repeat(np.arange(len(lengths)), lengths)


Parameters = dict[str, Any]
"""The arrays of a model: ``embedding`` [n_ids + 2, width], ``last`` [width], and those of the layers, stacked."""


def initial(n_ids: int, body: Body, seed: int) -> Parameters:
    """Return the parameters before training, drawn by a seed."""
    keys = jax.random.split(jax.random.key(seed), 5)
    width, layers = body.width, body.layers
    normal = lambda key, *shape: 0.02 * jax.random.normal(key, shape)  # noqa: E731
    towards_sum = 1 / np.sqrt(2 * layers)  # what is added to the stream is smaller the more parts there are
    return {
        "embedding": normal(keys[0], n_ids + 2, width),
        "last": jnp.ones(width),
        "layers": {
            "before_attention": jnp.ones((layers, width)),
            "attention": normal(keys[1], layers, width, 3 * width),
            "attended": normal(keys[2], layers, width, width) * towards_sum,
            "before_mlp": jnp.ones((layers, width)),
            "mlp": normal(keys[3], layers, width, 4 * width),
            "mlp_out": normal(keys[4], layers, 4 * width, width) * towards_sum,
        },
    }


def _norm(x: Any, scale: Any) -> Any:
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def _rotated(x: Any) -> Any:
    """Turn pairs of numbers by an angle that grows with the position. ``x`` is [batch, window, heads, size]."""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] / 10_000 ** (jnp.arange(half) / half)
    sine, cosine = jnp.sin(angles)[None, :, None, :], jnp.cos(angles)[None, :, None, :]
    one, two = x[..., :half], x[..., half:]
    return jnp.concatenate([one * cosine - two * sine, one * sine + two * cosine], axis=-1)


def _hidden(parameters: Parameters, inputs: Any, document: Any, heads: int) -> Any:
    """Return what the body makes of windows: [batch, window, width]."""
    batch, window = inputs.shape
    x = _norm(parameters["embedding"][inputs], 1.0)
    seen = jnp.tril(jnp.ones((window, window), dtype=bool))[None] & (document[:, :, None] == document[:, None, :])

    def layer(x: Any, weights: Any) -> tuple[Any, None]:
        parts = _norm(x, weights["before_attention"]) @ weights["attention"]
        query, key, value = jnp.split(parts.reshape(batch, window, heads, -1), 3, axis=-1)
        scores = jnp.einsum("bqhd,bkhd->bhqk", _rotated(query), _rotated(key)) / np.sqrt(query.shape[-1])
        scores = jax.nn.softmax(jnp.where(seen[:, None], scores, -1e30), axis=-1)
        attended = jnp.einsum("bhqk,bkhd->bqhd", scores, value).reshape(batch, window, -1)
        x = x + attended @ weights["attended"]
        inner = jax.nn.gelu(_norm(x, weights["before_mlp"]) @ weights["mlp"])
        return x + inner @ weights["mlp_out"], None

    x, _ = jax.lax.scan(layer, x, parameters["layers"])
    return _norm(x, parameters["last"])


def _nats(parameters: Parameters, windows: tuple[Any, Any, Any], heads: int) -> Any:
    """Return -ln p of each target, [batch * window]; 0 where nothing is predicted."""
    inputs, targets, document = windows
    hidden = _hidden(parameters, inputs, document, heads)
    hidden, targets = hidden.reshape(-1, hidden.shape[-1]), targets.reshape(-1)
    table = parameters["embedding"][:-1]  # BOS is never predicted

    @jax.checkpoint
    def of_part(part: tuple[Any, Any]) -> Any:
        some, wanted = part
        logits = some @ table.T
        chosen = jnp.take_along_axis(logits, jnp.maximum(wanted, 0)[:, None], axis=1)[:, 0]
        return jnp.where(wanted >= 0, jax.nn.logsumexp(logits, axis=1) - chosen, 0.0)

    parts = _parts(len(targets), table.shape[0])
    if parts == 1:
        return of_part((hidden, targets))
    fill = -len(targets) % parts
    hidden = jnp.pad(hidden, ((0, fill), (0, 0))).reshape(parts, -1, hidden.shape[-1])
    wanted = jnp.pad(targets, (0, fill), constant_values=-1).reshape(parts, -1)
    return jax.lax.map(of_part, (hidden, wanted)).reshape(-1)[: len(targets)]


def _parts(tokens: int, n_outputs: int) -> int:
    """Return in how many parts tokens are scored, so that the logits of one fit into memory.

    >>> _parts(1024, 4097), _parts(1024, 200_001)
    (1, 13)
    """
    return -(-tokens * n_outputs // _LOGITS_AT_ONCE)


def memory_bytes(n_ids: int, body: Body, window: int) -> int:
    """Return about how many bytes a training takes: parameters, gradients, two moments, activations and logits.

    >>> memory_bytes(4096, PRESETS["tiny"], 64) // 10**6
    48
    """
    parameters = (n_ids + 2) * body.width + body.parameters
    tokens = max(1, body.step_bytes // body.context_bytes) * window
    activations = tokens * (body.layers * (12 * body.width + 2 * body.heads * window) + 4 * body.width)
    logits = min(tokens * (n_ids + 1), _LOGITS_AT_ONCE)
    return 4 * (4 * parameters + activations + 2 * logits)


class Trained(NamedTuple):
    """A model, and what it took.

    Attributes:
        parameters: the arrays.
        window: tokens of a window.
        tokens: how many tokens were predicted in training.
        flops: floating-point operations, see :meth:`Body.flops`.
        seconds: of wall time.
    """

    parameters: Parameters
    window: int
    tokens: int
    flops: int
    seconds: float


def train(
    text: Encoded,
    n_bytes: int,
    n_ids: int,
    body: Body,
    *,
    learning_rate: float,
    seed: int,
    report: Callable[[int, int], None] = lambda _done, _all: None,
) -> Trained:
    """Train a model on documents.

    Args:
        text: the documents, with ids below ``n_ids``.
        n_bytes: bytes of their text.
        n_ids: how many ids the tokenizer can emit.
        body: the model, and the bytes of a step.
        learning_rate: the highest one; it rises over a twentieth of the steps and falls to a tenth along a cosine.
        seed: of the parameters and of the order of the windows.
        report: called with the steps that are done and those of all.

    Raises:
        ValueError: there is no training text, or it has an id that is not below ``n_ids``.
    """
    if not len(text.ids) or int(text.ids.max()) >= n_ids:
        raise ValueError(f"the training text needs tokens, with ids below {n_ids}")
    start = time.perf_counter()
    window = window_of(text, n_bytes, body.context_bytes)
    windows = training_windows(text, n_ids, window)
    batch = max(1, body.step_bytes // body.context_bytes)
    steps = -(-len(windows.inputs) // batch) * body.epochs
    schedule = optax.warmup_cosine_decay_schedule(
        0.0, learning_rate, max(1, round(_WARM_UP * steps)), steps, _END * learning_rate
    )
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(schedule, b2=0.95, weight_decay=_WEIGHT_DECAY, mask=partial(jax.tree.map, lambda each: each.ndim > 1)),
    )
    parameters = initial(n_ids, body, seed)
    state = optimizer.init(parameters)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(parameters: Parameters, state: Any, some: tuple[Any, Any, Any]) -> tuple[Parameters, Any]:
        def loss(parameters: Parameters) -> Any:
            return _nats(parameters, some, body.heads).sum() / jnp.maximum((some[1] >= 0).sum(), 1)

        updates, state = optimizer.update(jax.grad(loss)(parameters), state, parameters)
        return optax.apply_updates(parameters, updates), state

    for done, some in enumerate(_batches(windows, batch, body.epochs, seed)):
        report(done, steps)
        parameters, state = step(parameters, state, some)
    parameters = jax.block_until_ready(parameters)
    tokens = int((windows.targets >= 0).sum()) * body.epochs
    return Trained(parameters, window, tokens, body.flops(tokens, window, n_ids), time.perf_counter() - start)


def _batches(windows: Windows, batch: int, epochs: int, seed: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield windows in an order drawn by a seed; the last batch of an epoch is filled with windows that predict nothing."""
    rng = np.random.default_rng(seed)
    filled = _filled(windows, batch)
    last = len(filled.inputs) - len(windows.inputs)
    for _ in range(epochs):
        order = rng.permutation(len(windows.inputs))
        order = np.append(order, len(windows.inputs) + np.arange(last))
        for chosen in order.reshape(-1, batch):
            yield filled.inputs[chosen], filled.targets[chosen], filled.document[chosen]


def _filled(windows: Windows, batch: int) -> Windows:
    """Add windows that predict nothing, until their number is a multiple of a batch."""
    some = ((0, -len(windows.inputs) % batch), (0, 0))
    fills = (0, -1, -1)
    return Windows(*(np.pad(each, some, constant_values=fill) for each, fill in zip(windows, fills, strict=True)))


def bits(trained: Trained, scored: Encoded, n_ids: int, body: Body) -> Floats:
    """Return float64[d], the bits that each document costs, EOS included.

    Args:
        trained: the model.
        scored: documents, with ids below ``n_ids``.
        n_ids: how many ids the tokenizer can emit, as in training.
        body: as in training.
    """
    windows = scoring_windows(scored, n_ids, trained.window)
    batch = max(1, body.step_bytes // body.context_bytes)
    filled = _filled(windows, batch)
    nats = jax.jit(partial(_nats, heads=body.heads))
    costs = np.zeros(len(scored.offsets) - 1)
    for at in range(0, len(filled.inputs), batch):
        some = Windows(*(each[at : at + batch] for each in filled))
        here = np.asarray(nats(trained.parameters, tuple(some)), dtype=np.float64)
        counted = some.targets.ravel() >= 0
        costs += np.bincount(some.document.ravel()[counted], weights=here[counted], minlength=len(costs))
    return costs / np.log(2)


def sweep(
    text: Encoded,
    document_bytes: Ints,
    n_ids: int,
    body: Body,
    *,
    seed: int,
    rates: tuple[float, ...] = LEARNING_RATES,
) -> dict[float, float]:
    """Try learning rates on a tenth of the training documents, and score another tenth of them.

    Args:
        text: the training documents.
        document_bytes: int64[d], bytes of each document.
        n_ids: how many ids the tokenizer can emit.
        body: the model.
        seed: of the parameters, and of the documents that are drawn.
        rates: the learning rates.

    Returns:
        bits per byte for each learning rate. The least one is to be taken.
    """
    drawn = np.random.default_rng(seed).permutation(len(document_bytes))
    share = max(1, len(drawn) // _SWEEP_SHARE)
    some, others = np.sort(drawn[:share]), np.sort(drawn[share : 2 * share])
    training, scored = _documents(text, some), _documents(text, others)
    n_bytes = int(document_bytes[some].sum())
    found = {}
    for rate in rates:
        trained = train(training, n_bytes, n_ids, body, learning_rate=rate, seed=seed)
        found[rate] = float(bits(trained, scored, n_ids, body).sum() / document_bytes[others].sum())
    return found


def _documents(text: Encoded, chosen: Ints) -> Encoded:
    """Return some of the documents."""
    spans = [text.ids[text.offsets[k] : text.offsets[k + 1]] for k in chosen]
    lengths = [len(each) for each in spans]
    return Encoded(np.concatenate(spans), np.concatenate([[0], np.cumsum(lengths)]))
