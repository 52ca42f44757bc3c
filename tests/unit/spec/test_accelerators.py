"""Accelerators are understood as people write them, and impossible ones are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.spec.accelerators import GPUS, TPUS, accelerators
from windlass.spec.refused import Refused

WRITTEN = {
    "H100:8": "H100:8",
    "h100": "H100:1",
    "H100 : 8": "H100:8",
    "NVIDIA H100:4": "H100:4",
    "nvidia-h100-80gb:8": "H100:8",
    "h100-mega-80gb:8": "H100-MEGA:8",
    "a100": "A100:1",
    "A100-40GB:16": "A100:16",
    "A100-80GB": "A100-80:1",
    "a100-80": "A100-80:1",
    "A100_80GB:8": "A100-80:8",
    "l4:4": "L4:4",
    "nvidia-tesla-t4:2": "T4:2",
    "Tesla V100:8": "V100:8",
    "RTX PRO 6000": "RTX-PRO-6000:1",
    "rtx-pro-6000:8": "RTX-PRO-6000:8",
    "b200:8": "B200:8",
    "H200": "H200:1",
    "gpu": "GPU:1",
    "GPU:2": "GPU:2",
    "v5e-16": "v5e-16",
    "V5E-1": "v5e-1",
    "tpu-v5e-16": "v5e-16",
    "tpuv5e-8": "v5e-8",
    "v5litepod-16": "v5e-16",
    "TPU v4-8": "v4-8",
    "v5p-12288": "v5p-12288",
    "trillium-256": "v6e-256",
    "v2-8": "v2-8",
    "nvidia-gb200:4": "GB200:4",
    "gb300": "GB300:1",
    "a3-mega:8": "H100-MEGA:8",
    "tpu7x-16": "tpu7x-16",
    "ironwood-18432": "tpu7x-18432",
    "TPU v7x-8": "tpu7x-8",
}
REFUSED = {
    "H100:9": ("impossible-count", "H100:8"),
    "H100:0": ("impossible-count", "H100:8"),
    "gpu:17": ("impossible-count", "GPU:16"),
    "GB200:8": ("impossible-count", "GB200:4"),
    "tpu7x": ("impossible-count", "tpu7x-8"),
    "ironwood-100": ("impossible-count", "tpu7x-128"),
    "v5e-17": ("impossible-count", "v5e-16"),
    "v5e": ("impossible-count", "v5e-1"),
    "v5p-129": ("impossible-count", "v5p-128"),
    "v5e:16": ("bad-accelerator", "v5e-16"),
    "H100-8": ("bad-accelerator", "H100:8"),
    "8xH100": ("bad-accelerator", "H100:8"),
    "H100x8": ("bad-accelerator", "H100:8"),
    "16 x v5e": ("bad-accelerator", "v5e-16"),
    "H1000:8": ("unknown-accelerator", "H100:8"),
    "v5litpod-16": ("unknown-accelerator", "v5e-16"),
    "A10G": ("unknown-accelerator", "A100"),
    "cerebras": ("unknown-accelerator", "Known are GPU, T4"),
    "": ("unknown-accelerator", "Known are"),
    "H100:": ("unknown-accelerator", "H100"),
}


@pytest.mark.parametrize(("text", "canonical"), WRITTEN.items())
def test_an_accelerator_is_understood_as_people_write_it(text, canonical):
    assert str(accelerators(text)) == canonical


@pytest.mark.parametrize(("text", "expected"), REFUSED.items())
def test_an_impossible_accelerator_says_what_there_is(text, expected):
    with pytest.raises(Refused) as caught:
        accelerators(text)
    code, remedy = expected
    assert caught.value.code == code
    assert remedy in caught.value.remedy


@pytest.mark.parametrize("name", [*GPUS, *TPUS])
def test_every_count_that_exists_reads_back_as_printed(name):
    is_tpu = name in TPUS
    for count in TPUS[name] if is_tpu else range(1, GPUS[name] + 1):
        found = accelerators(f"{name}-{count}" if is_tpu else f"{name}:{count}")
        assert (found.name, found.count, found.is_tpu) == (name, count, is_tpu)
        assert accelerators(str(found)) == found


@pytest.mark.parametrize(
    ("name", "sizes"), [("v2", 5), ("v3", 8), ("v4", 52), ("v5p", 94), ("tpu7x", 98)]
)
def test_the_table_holds_every_slice_that_google_lists(name, sizes):
    assert len(TPUS[name]) == len(set(TPUS[name])) == sizes


@given(st.text(max_size=80))
def test_no_text_breaks_the_reader(text):
    try:
        accelerators(text)
    except Refused as refused:
        assert refused.remedy
