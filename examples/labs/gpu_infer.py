"""Continues a sentence with a small language model on whatever device there is.

The tutorial takes distilgpt2 from the network. This is a model of the same kind, a transformer that
reads what was said and draws the next word, but a thousand times smaller and with weights that
follow from a seed: it needs nothing but JAX, and its words make no sense.
"""

from __future__ import annotations

import time
from pathlib import Path

import jax
import jax.numpy as jnp

WORDS = """google cloud ai hypercomputer helps teams to train models on many machines with less
waiting and more work done while costs stay low because data is near and a job that ends early
starts again where it was so that nobody loses a night""".split()
PROMPT = "google cloud ai hypercomputer helps teams"
WIDTH, HEADS, LAYERS, CONTEXT = 64, 4, 2, 64
NEW_WORDS, TEMPERATURE = 40, 0.9


def load(seed: int) -> dict[str, jax.Array]:
    """The weights."""
    shapes = {"words": (len(WORDS), WIDTH), "places": (CONTEXT, WIDTH)}
    for layer in range(LAYERS):
        shapes |= {f"{layer}.attend": (WIDTH, 3 * WIDTH), f"{layer}.mix": (WIDTH, WIDTH)}
        shapes |= {f"{layer}.up": (WIDTH, 4 * WIDTH), f"{layer}.down": (4 * WIDTH, WIDTH)}
    keys = jax.random.split(jax.random.PRNGKey(seed), len(shapes))
    return {
        name: jax.random.normal(key, shape) / shape[0] ** 0.5
        for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def normal(x: jax.Array) -> jax.Array:
    """Each row with mean 0 and variance 1."""
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)


@jax.jit
def scores(weights: dict[str, jax.Array], ids: jax.Array, length: int) -> jax.Array:
    """How likely each word is to come after the first `length` of them."""
    x = weights["words"][ids] + weights["places"]
    seen = jnp.tril(jnp.ones((CONTEXT, CONTEXT), bool))
    for layer in range(LAYERS):
        parts = jnp.split(normal(x) @ weights[f"{layer}.attend"], 3, axis=-1)
        query, key, value = (p.reshape(CONTEXT, HEADS, -1).swapaxes(0, 1) for p in parts)
        near = query @ key.swapaxes(1, 2) / (WIDTH / HEADS) ** 0.5
        mixed = jax.nn.softmax(jnp.where(seen, near, -1e9)) @ value
        x += mixed.swapaxes(0, 1).reshape(CONTEXT, WIDTH) @ weights[f"{layer}.mix"]
        x += jax.nn.gelu(normal(x) @ weights[f"{layer}.up"]) @ weights[f"{layer}.down"]
    return normal(x)[length - 1] @ weights["words"].T


def main() -> None:
    began = time.monotonic()
    weights = load(seed=0)
    device = jax.devices()[0].platform
    loaded = time.monotonic()
    ids = [WORDS.index(word) for word in PROMPT.split()]
    key = jax.random.PRNGKey(1)
    for _ in range(NEW_WORDS):
        key, draw = jax.random.split(key)
        padded = jnp.array(ids + [0] * (CONTEXT - len(ids)))
        likely = scores(weights, padded, len(ids)) / TEMPERATURE
        ids.append(int(jax.random.categorical(draw, likely)))
    text = " ".join(WORDS[id_] for id_ in ids)
    print("Device:", device)
    print("Load time (s):", round(loaded - began, 3))
    print("Generate time (s):", round(time.monotonic() - loaded, 3))
    print("--- Output ---")
    print(text)
    Path("output.txt").write_text(f"{text}\n", encoding="utf-8")


main()
