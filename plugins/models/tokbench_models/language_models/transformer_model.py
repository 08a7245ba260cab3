"""A small transformer whose bits per byte are compared: the same body and bytes of text for every tokenizer.

It is a decoder with RMS norms before each part (Zhang and Sennrich 2019) and on queries and keys (Henry and others
2020), rotary positions (Su and others 2021), a GELU of four times the width, and tied embeddings (Press and Wolf 2017).
A document is BOS w_1 ... w_n EOS; BOS is never predicted, and no token sees another document.

The training text, the context and the text of one step are equal in bytes. One training gives models of several amounts
of text: before each amount a copy is cooled down, its constant learning rate falling to 0 over the last fifth of the
text (Hu and others 2024; Hägele and others 2024).

The same seed gives the same number on the same machine.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

os.environ.setdefault("PJRT_NPROC", "1")  # XLA reads it when JAX is first used: the threads of its pool

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

from tokbench.plugin import Progress, silent
from tokbench_models.language_models.body import LOGITS_AT_ONCE, SHARES, Point, TransformerShape
from tokbench_models.language_models.contract import EncodedPart, ModelTask
from tokbench_models.language_models.windows import (
    Windows,
    batches,
    documents,
    scoring_windows,
    training_windows,
)

_WEIGHT_DECAY: Final = 0.1
_WARM_UP: Final = 0.125
_COOL_DOWN: Final = 0.2
_LONGEST_STEP: Final = 0.2
"""Makes seeds agree: they differ by .11 bits per byte, and by .34 without it (300 kB, Unigram of 1,024 ids)."""

Floats = NDArray[np.float64]


def window_of(part: EncodedPart, context_bytes: int) -> int:
    """Return the tokens of a window with a mean number of bytes, 2 or more.

    >>> from tokbench.tokenizers.contract import Encoded
    >>> encoded = Encoded(np.zeros(100, dtype=np.uint32), np.array([0, 100]))
    >>> window_of(EncodedPart(encoded, np.array([400])), context_bytes=256)
    64
    """
    return max(2, round(context_bytes * len(part.encoded.ids) / max(int(part.n_bytes.sum()), 1)))


Parameters = dict[str, Any]
"""Arrays: ``embedding`` [n_ids + 2, width], ``last`` [width], and each layer's."""


def initial(n_ids: int, body: TransformerShape, seed: int) -> Parameters:
    """Draw parameters."""
    keys = iter(jax.random.split(jax.random.key(seed), 1 + 4 * body.layers))
    width = body.width

    def normal(*shape: int) -> Any:
        return 0.02 * jax.random.normal(next(keys), shape)

    towards_sum = 1 / np.sqrt(2 * body.layers)  # what is added to the stream is smaller the more parts there are
    layers = [
        {
            "before_attention": jnp.ones(width),
            "attention": normal(width, 3 * width),
            "attended": normal(width, width) * towards_sum,
            "before_mlp": jnp.ones(width),
            "mlp": normal(width, 4 * width),
            "mlp_out": normal(4 * width, width) * towards_sum,
        }
        for _ in range(body.layers)
    ]
    return {"embedding": normal(n_ids + 2, width), "last": jnp.ones(width), "layers": layers}


def _norm(x: Any, scale: Any) -> Any:
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def _rotated(x: Any) -> Any:
    """Rotate pairs of numbers by position; ``x`` is [batch, window, heads, size]."""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] / 10_000 ** (jnp.arange(half) / half)
    sine, cosine = jnp.sin(angles)[None, :, None, :], jnp.cos(angles)[None, :, None, :]
    one, two = x[..., :half], x[..., half:]
    return jnp.concatenate([one * cosine - two * sine, one * sine + two * cosine], axis=-1)


def _hidden(parameters: Parameters, inputs: Any, document: Any, heads: int) -> Any:
    batch, window = inputs.shape
    x = _norm(parameters["embedding"][inputs], 1.0)
    seen = jnp.tril(jnp.ones((window, window), dtype=bool))[None] & (document[:, :, None] == document[:, None, :])
    for weights in parameters["layers"]:
        parts = _norm(x, weights["before_attention"]) @ weights["attention"]
        query, key, value = jnp.split(parts.reshape(batch, window, heads, -1), 3, axis=-1)
        query, key = _rotated(_norm(query, 1.0)), _rotated(_norm(key, 1.0))
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / np.sqrt(query.shape[-1])
        scores = jax.nn.softmax(jnp.where(seen[:, None], scores, -1e30), axis=-1)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", scores, value).reshape(batch, window, -1) @ weights["attended"]
        x = x + jax.nn.gelu(_norm(x, weights["before_mlp"]) @ weights["mlp"]) @ weights["mlp_out"]
    return _norm(x, parameters["last"])


def _nats_of(hidden: Any, table: Any, targets: Any) -> tuple[Any, Any]:
    """Return -ln p of each target, [n], and the logits less their logarithmic sum, [n, ids]."""
    logits = hidden @ table.T
    normed = logits - jax.nn.logsumexp(logits, axis=1, keepdims=True)
    chosen = jnp.take_along_axis(normed, jnp.maximum(targets, 0)[:, None], axis=1)[:, 0]
    return jnp.where(targets >= 0, -chosen, 0.0), normed


def _in_parts(hidden: Any, targets: Any, n_outputs: int) -> tuple[Any, Any]:
    parts = _parts(len(targets), n_outputs)
    fill = -len(targets) % parts
    hidden = jnp.pad(hidden, ((0, fill), (0, 0))).reshape(parts, -1, hidden.shape[-1])
    return hidden, jnp.pad(targets, (0, fill), constant_values=-1).reshape(parts, -1)


def _parts(tokens: int, n_outputs: int) -> int:
    """Return in how many parts tokens are scored, to bound memory."""
    return -(-tokens * n_outputs // LOGITS_AT_ONCE)


@jax.custom_vjp
def _sum_of_nats(hidden: Any, table: Any, targets: Any) -> Any:
    return _sum_and_gradients(hidden, table, targets)[0]


def _sum_and_gradients(hidden: Any, table: Any, targets: Any) -> tuple[Any, Any]:
    def of_part(so_far: tuple[Any, Any], part: tuple[Any, Any]) -> tuple[tuple[Any, Any], Any]:
        total, of_table = so_far
        some, wanted = part
        nats, normed = _nats_of(some, table, wanted)
        counted = (wanted >= 0)[:, None]
        errors = jnp.where(counted, jnp.exp(normed) - (jnp.arange(normed.shape[1]) == wanted[:, None]), 0.0)
        return (total + nats.sum(), of_table + errors.T @ some), errors @ table

    start = (jnp.zeros(()), jnp.zeros_like(table))
    (total, of_table), of_hidden = jax.lax.scan(of_part, start, _in_parts(hidden, targets, table.shape[0]))
    return total, (of_hidden.reshape(-1, hidden.shape[-1])[: len(targets)], of_table)


def _times_gradients(gradients: tuple[Any, Any], by: Any) -> tuple[Any, Any, None]:
    return by * gradients[0], by * gradients[1], None


_sum_of_nats.defvjp(_sum_and_gradients, _times_gradients)


_ADAM: Final = optax.chain(
    optax.clip_by_global_norm(_LONGEST_STEP),
    optax.scale_by_adam(b2=0.95),
    optax.add_decayed_weights(_WEIGHT_DECAY, mask=partial(jax.tree.map, lambda leaf: leaf.ndim > 1)),
)


class _State(NamedTuple):
    parameters: Parameters
    moments: Any


@partial(jax.jit, static_argnames="heads", donate_argnums=0)
def _step(state: _State, some: Windows, rate: Any, heads: int) -> _State:
    def loss(parameters: Parameters) -> Any:
        hidden = _hidden(parameters, some.inputs, some.document, heads)
        targets = some.targets.reshape(-1)
        table = parameters["embedding"][:-1]  # BOS is never predicted
        total = _sum_of_nats(hidden.reshape(-1, hidden.shape[-1]), table, targets)
        return total / jnp.maximum((targets >= 0).sum(), 1)

    gradients = jax.grad(loss)(state.parameters)
    updates, moments = _ADAM.update(gradients, state.moments, state.parameters)
    updates = jax.tree.map(lambda update: -rate * update, updates)
    return _State(optax.apply_updates(state.parameters, updates), moments)


@partial(jax.jit, static_argnames="heads")
def _nats(parameters: Parameters, some: Windows, heads: int) -> Any:
    """Return -ln p of each target, [batch * window]; 0 where nothing is predicted."""
    hidden = _hidden(parameters, some.inputs, some.document, heads)
    table, targets = parameters["embedding"][:-1], some.targets.reshape(-1)
    parts = _in_parts(hidden.reshape(-1, hidden.shape[-1]), targets, table.shape[0])
    nats = jax.lax.map(lambda part: _nats_of(part[0], table, part[1])[0], parts)
    return nats.reshape(-1)[: len(targets)]


def train_curve(
    task: ModelTask,
    body: TransformerShape,
    *,
    learning_rate: float,
    seed: int,
    shares: Sequence[float] = SHARES,
    progress: Progress = silent,
) -> list[Point]:
    """Train on documents, and score a model for each share of them that adds a document.

    The order of the documents is the same for every tokenizer. The models of a share have learned once from the first
    documents that fit into that share of the bytes; the last share is 1. The learning rate is the highest one, reached
    after an eighth of the steps. ``task.saved`` has finished points by learning rate and seed alone.
    """
    return _Training(task, body, learning_rate, seed, progress).points(shares)


@dataclass(frozen=True)
class _Training:
    task: ModelTask
    body: TransformerShape
    learning_rate: float
    seed: int
    progress: Progress

    def points(self, shares: Sequence[float]) -> list[Point]:
        since = time.perf_counter()
        window = window_of(self.task.training, self.body.context_bytes)
        segments = self._segments(shares, window)
        scored = batches(scoring_windows(self.task.scored.encoded, self.task.n_ids, window), self.body.windows)
        steps = [batch for segment in segments for batch in segment.batches]
        points: list[Point] = []
        state = None
        at = end = n_bytes = tokens = 0
        for number, segment in enumerate(segments):
            end, n_bytes, tokens = end + len(segment.batches), n_bytes + segment.n_bytes, tokens + segment.tokens
            cool = end - max(1, round(_COOL_DOWN * end))
            name = f"{self._name} point {number}"
            point = self.task.saved.get(name)
            if point is None:
                state, at = self._trained(state or self._begun(), steps, at, cool), cool
                bits = self._bits(self._cooled(state, steps, cool, end), scored, cool, len(steps))
                flops = self.body.flops(tokens, window, self.task.n_ids)
                self.task.saved[name] = point = Point(n_bytes, tokens, flops, time.perf_counter() - since, bits)
            points.append(point)
        return points

    @property
    def _name(self) -> str:
        return f"rate {self.learning_rate:g} seed {self.seed}"

    def _rate(self, step: int, steps: int) -> float:
        return self.learning_rate * min(1.0, (step + 1) / max(1, round(_WARM_UP * steps)))

    def _trained(self, state: _State, steps: Sequence[Windows], start: int, stop: int) -> _State:
        for at in range(start, stop):
            state = _step(state, steps[at], self._rate(at, len(steps)), self.body.heads)
            self._show(at + 1, len(steps), state.parameters)
        return state

    def _show(self, at: int, steps: int, computed: Any) -> None:
        """Wait for JAX's lazy results, so that the time limit counts for each step."""
        jax.block_until_ready(computed)
        self.progress(self._name, at, steps)

    def _cooled(self, state: _State, steps: Sequence[Windows], start: int, stop: int) -> Parameters:
        cooled = _State(*jax.tree.map(jnp.copy, tuple(state)))
        for at in range(start, stop):
            falling = (stop - at) / (stop - start)
            cooled = _step(cooled, steps[at], self._rate(at, len(steps)) * falling, self.body.heads)
            self._show(start, len(steps), cooled.parameters)
        return cooled.parameters

    def _segments(self, shares: Sequence[float], window: int) -> list[_Segment]:
        documents_in_order = np.random.default_rng(self.seed).permutation(len(self.task.training.n_bytes))
        sizes = self.task.training.n_bytes[documents_in_order]
        reached = np.cumsum(sizes) / sizes.sum()
        segments, start = [], 0
        for number, share in enumerate(shares):
            stop = int(np.searchsorted(reached, share + 1e-12, side="right"))
            if stop > start:
                part = documents(self.task.training, documents_in_order[start:stop])
                cut = training_windows(part.encoded, self.task.n_ids, window)
                order = np.random.default_rng([self.seed, number]).permutation(len(cut.inputs))
                mixed = Windows(*(array[order] for array in cut))
                tokens = int((cut.targets >= 0).sum())
                segments.append(_Segment(batches(mixed, self.body.windows), int(part.n_bytes.sum()), tokens))
                start = stop
        return segments

    def _begun(self) -> _State:
        parameters = initial(self.task.n_ids, self.body, self.seed)
        return _State(parameters, _ADAM.init(parameters))

    def _bits(self, parameters: Parameters, scored: Sequence[Windows], at: int, steps: int) -> Floats:
        costs = np.zeros(len(self.task.scored.n_bytes))
        for some in scored:
            nats = np.asarray(_nats(parameters, some, self.body.heads), dtype=np.float64)
            self.progress(self._name, at, steps)
            counted = some.targets.ravel() >= 0
            costs += np.bincount(some.document.ravel()[counted], nats[counted], len(costs))
        return costs / math.log(2)


class _Segment(NamedTuple):
    batches: list[Windows]
    n_bytes: int
    tokens: int
