from __future__ import annotations

import pytest

from windlass.twin.market import Model
from yards import CPU, L4, Yard, roomy


@pytest.fixture
def yard() -> Yard:
    return roomy()


def test_quota_names_the_first_limit_that_is_passed(yard: Yard) -> None:
    gpu = L4._replace(model=Model.STANDARD)
    assert yard.quotas.exceeded(gpu) is None
    yard.quotas.set_limit("us-central1", "NVIDIA_L4_GPUS", 2)
    yard.started(gpu)
    exceeded = yard.quotas.exceeded(gpu, 2)
    assert exceeded is not None
    assert exceeded == ("us-central1", "NVIDIA_L4_GPUS", 2.0, 1.0, 2.0)
    assert yard.quotas.exceeded(gpu, 1) is None
    assert yard.quotas.exceeded(L4, 2) is None, "spot GPUs have a quota of their own"
    yard.quotas.set_limit("global", "GPUS_ALL_REGIONS", 1)
    assert yard.quotas.exceeded(gpu, 1) == ("global", "GPUS_ALL_REGIONS", 1.0, 1.0, 1.0)


def test_limit_of_a_place_goes_before_that_of_every_place(yard: Yard) -> None:
    yard.quotas.set_limit("*", "E2_CPUS", 8)
    yard.quotas.set_limit("us-central1", "E2_CPUS", 4)
    assert yard.quotas.exceeded(CPU, 2) is not None
    assert yard.quotas.exceeded(CPU._replace(zone="europe-west4-a"), 2) is None
    assert yard.quotas.exceeded(CPU._replace(zone="europe-west4-a"), 3) is not None


def test_a_limit_that_is_taken_away_again_holds_no_more(yard: Yard) -> None:
    before = yard.quotas.limit("us-central1", "NVIDIA_L4_GPUS")
    yard.quotas.set_limit("us-central1", "NVIDIA_L4_GPUS", 0)
    assert yard.quotas.limit("us-central1", "NVIDIA_L4_GPUS") == 0
    yard.quotas.unset_limit("us-central1", "NVIDIA_L4_GPUS")
    assert yard.quotas.limit("us-central1", "NVIDIA_L4_GPUS") == before
