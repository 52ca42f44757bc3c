from __future__ import annotations

import pytest

from windlass.twin.market import Model, Wanted
from yards import CATALOG, L4, SPOT, Yard, roomy


@pytest.fixture
def yard() -> Yard:
    return roomy()


def test_bill_is_hours_times_the_catalogs_price(yard: Yard) -> None:
    machine = yard.started(L4, boot_s=600)
    yard.wait(600)
    yard.wait(5400)
    yard.fleet.stop(machine)
    offer = CATALOG.offer("us-central1-a/g2-standard-4/spot")
    assert offer is not None
    assert offer.usd_per_h is not None
    (line,) = yard.billing.lines()
    assert (line["hours"], line["run"], line["model"]) == (pytest.approx(1.5), "r1", "SPOT")
    assert line["usd"] == pytest.approx(1.5 * offer.usd_per_h)
    assert yard.billing.total_usd() == line["usd"]


def test_notice_is_paid_for_and_lines_add_up(yard: Yard) -> None:
    for _ in range(3):
        machine = yard.started(SPOT)
        yard.wait(570)
        yard.fleet.preempt(machine)
        yard.wait(30)
    (line,) = yard.billing.lines()
    assert line["hours"] == pytest.approx(0.5)


def test_what_has_no_price_is_counted_in_hours(yard: Yard) -> None:
    odd = Wanted("us-central1-a", "no-such-type", "", 0, Model.STANDARD)
    machine = yard.started(odd)
    yard.wait(3600)
    yard.fleet.stop(machine)
    (line,) = yard.billing.lines()
    assert (line["hours"], line["usd"], line["is_priced"]) == (pytest.approx(1.0), 0.0, False)
