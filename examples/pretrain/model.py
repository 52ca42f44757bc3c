"""A small decoder-only transformer and Adam, in plain JAX.

Must be a pure function of its arguments, so that a resumed run computes the same numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class Size(NamedTuple):
    vocabulary: int
    length: int = 64
    width: int = 96
    layers: int = 3
    heads: int = 4
    dropout: float = 0.05


class State(NamedTuple):
    """Everything that training changes; what a checkpoint holds."""

    weights: Any
    mean: Any
    square: Any
    count: jax.Array
    key: jax.Array


def init(size: Size, seed: int) -> State:
    key, *keys = jax.random.split(jax.random.key(seed), 3 + size.layers)

    def normal(key: jax.Array, *shape: int) -> jax.Array:
        return jax.random.normal(key, shape) * shape[0] ** -0.5

    def small(key: jax.Array, *shape: int) -> jax.Array:
        return jax.random.normal(key, shape) * 0.04

    def layer(key: jax.Array) -> dict[str, jax.Array]:
        qkv, out, up, down = jax.random.split(key, 4)
        return {
            "qkv": normal(qkv, size.width, 3 * size.width),
            "out": normal(out, size.width, size.width),
            "up": normal(up, size.width, 4 * size.width),
            "down": normal(down, 4 * size.width, size.width),
            "norms": jnp.ones((2, size.width)),
        }

    weights = {
        "words": small(keys[0], size.vocabulary, size.width),
        "places": small(keys[1], size.length, size.width),
        "layers": [layer(key) for key in keys[2:]],
        "norm": jnp.ones(size.width),
    }
    zeros = jax.tree.map(jnp.zeros_like, weights)
    return State(weights, zeros, zeros, jnp.zeros((), jnp.int32), key)


def loss_of(weights: Any, words: jax.Array, key: jax.Array, size: Size) -> jax.Array:
    """How surprised the model is by the next word, in nats."""
    seen, wanted = words[:, :-1], words[:, 1:]
    hidden = weights["words"][seen] + weights["places"][: seen.shape[1]]
    keep = jax.random.bernoulli(key, 1 - size.dropout, hidden.shape)
    hidden = jnp.where(keep, hidden / (1 - size.dropout), 0)
    for layer in weights["layers"]:
        hidden = hidden + _attend(layer, _norm(hidden, layer["norms"][0]), size)
        up = jax.nn.gelu(_norm(hidden, layer["norms"][1]) @ layer["up"])
        hidden = hidden + up @ layer["down"]
    logits = _norm(hidden, weights["norm"]) @ weights["words"].T
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), wanted[..., None], axis=-1)
    return -chosen.mean()


def step(state: State, words: jax.Array, size: Size, rate: float) -> tuple[State, jax.Array]:
    """One step of Adam; the mean over the batch is the mean over every process's share of it."""
    key, dropout = jax.random.split(state.key)
    loss, slope = jax.value_and_grad(loss_of)(state.weights, words, dropout, size)
    count = state.count + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state.mean, slope)
    square = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, state.square, slope)
    pace = rate * jnp.minimum(1.0, count / 20)

    def moved(weight: jax.Array, m: jax.Array, v: jax.Array) -> jax.Array:
        return weight - pace * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.99**count)) + 1e-8)

    weights = jax.tree.map(moved, state.weights, mean, square)
    return State(weights, mean, square, count, key), loss


def _norm(hidden: jax.Array, scale: jax.Array) -> jax.Array:
    return hidden * jax.lax.rsqrt(jnp.mean(hidden**2, axis=-1, keepdims=True) + 1e-6) * scale


def _attend(layer: Any, hidden: jax.Array, size: Size) -> jax.Array:
    rows, length, width = hidden.shape
    split = (hidden @ layer["qkv"]).reshape(rows, length, 3, size.heads, width // size.heads)
    query, key, value = (split[:, :, index] for index in range(3))
    seen = jax.nn.dot_product_attention(query, key, value, is_causal=True)
    return seen.reshape(rows, length, width) @ layer["out"]
