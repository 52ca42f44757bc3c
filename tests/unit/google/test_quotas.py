"""Limits of every metric, also of those that regions do not tell."""

from __future__ import annotations

from doors import PROJECT, House
from houses import session_of
from windlass.google.quotas import COMPUTE, TPU, CloudQuotas


def test_limits_are_named_as_the_catalog_names_them():
    house = House()
    house.twin.quotas.set_limit("us-central1", "GPUS_PER_GPU_FAMILY:NVIDIA_H100", 16)
    house.twin.quotas.set_limit("us-east5-a", "TPUV6EPerProjectPerZoneForTPUAPI", 8)
    quotas = CloudQuotas(session_of(house), PROJECT)
    limits = {(one.place, one.metric): one.value for one in quotas.limits(COMPUTE)}
    assert limits["us-central1", "GPUS_PER_GPU_FAMILY:NVIDIA_H100"] == 16
    assert limits["us-east4", "GPUS_PER_GPU_FAMILY:NVIDIA_H100"] == 128
    assert limits["us-central1", "PREEMPTIBLE_NVIDIA_H100_GPUS"] == 128
    slices = {(one.place, one.metric): one.value for one in quotas.limits(TPU)}
    assert slices["us-east5-a", "TPUV6EPerProjectPerZoneForTPUAPI"] == 8
