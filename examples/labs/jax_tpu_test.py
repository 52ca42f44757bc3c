"""Says which devices JAX sees, and multiplies two matrices on them, twice."""

from __future__ import annotations

import time

import jax

SIZE = 2048


@jax.jit
def product(x: jax.Array, y: jax.Array) -> jax.Array:
    return x @ y


def main() -> None:
    print("JAX version:", jax.__version__)
    print("Devices:", jax.devices())
    print("Default backend:", jax.default_backend())
    a, b = (jax.random.normal(key, (SIZE, SIZE)) for key in jax.random.split(jax.random.PRNGKey(0)))
    for turn in ("first", "second"):
        began = time.monotonic()
        c = product(a, b).block_until_ready()
        print(f"Elapsed seconds, {turn} time:", round(time.monotonic() - began, 4))
    print("Result shape:", c.shape)
    print("First value:", float(c[0, 0]))


main()
