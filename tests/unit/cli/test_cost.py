"""`windlass cost`, and the dollars that `ps` and `show` tell of."""

from __future__ import annotations

import pytest

from builders import make_charge
from windlass.state.phases import RunPhase

RENTED = '{"rented": {"offer": "z/big/spot"}}'


@pytest.fixture
def spending(seeded):
    """Two runs that rented, one of them still does, and one that did not."""
    hour = 3600.0
    seeded.add(
        "big-1",
        options=RENTED,
        phase=RunPhase.RUNNING,
        spent_usd=36.0,
        charges=(
            make_charge("big-1", from_at=seeded.now - 30 * hour, until_at=seeded.now - 29 * hour),
            make_charge("big-1", 2, from_at=seeded.now - hour, team="nlp", owner="bob"),
        ),
    )
    seeded.add(
        "small-1",
        options=RENTED,
        spent_usd=3.6,
        charges=(
            make_charge(
                "small-1",
                from_at=seeded.now - 360.0,
                until_at=seeded.now,
                is_extra=True,
                team="nlp",
                env="dev",
            ),
        ),
    )
    seeded.add("free-1")
    return seeded


def totals(windlass, *arguments):
    found = windlass("cost", "--json", *arguments).document["totals"]
    return {total["key"]: round(total["usd"], 1) for total in found}


def test_what_a_twin_would_have_cost_is_no_cost(windlass, spending):
    charge = make_charge("far-1", from_at=spending.now - 3600.0, cloud="twin:/some/twin")
    spending.add("far-1", options=RENTED, cloud="twin:/some/twin", charges=(charge,))
    assert totals(windlass) == {"big-1": 72.0, "small-1": 3.6}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), {"big-1": 72.0, "small-1": 3.6}),
        (("--by", "run"), {"big-1": 72.0, "small-1": 3.6}),
        (("--by", "team"), {"nlp": 39.6, None: 36.0}),
        (("--by", "owner"), {"ada": 39.6, "bob": 36.0}),
        (("--by", "env"), {None: 72.0, "dev": 3.6}),
        (("--since", "1d"), {"big-1": 36.0, "small-1": 3.6}),
        (("--since", "30m"), {"big-1": 18.0, "small-1": 3.6}),
    ],
)
def test_costs_are_added_up(windlass, spending, arguments, expected):
    assert totals(windlass, *arguments) == expected


def cells(line):
    return [float(cell) if cell[0].isdigit() else cell for cell in line.split()]


def test_the_table_has_a_total(windlass, spending):
    header, first, second, total = windlass("cost").out.splitlines()
    assert header.split() == ["RUN", "USD", "RACES", "HOURS", "RUNS", "USD/H", "NOW"]
    # It costs a cent a second while we look.
    assert cells(first) == ["big-1", pytest.approx(72.0, abs=0.3), 0.0, 2.0, 1, 36.0]
    assert cells(second) == ["small-1", 3.6, 3.6, 0.1, 1, "-"]
    assert cells(total) == ["total", pytest.approx(75.6, abs=0.3), 3.6, 2.1, 2, 36.0]


def test_what_has_no_label_is_named_so(windlass, spending):
    assert "(none)" in windlass("cost", "--by", "team").out


def test_nothing_rented_is_said(windlass, seeded):
    assert windlass("cost").err == "Nothing was rented.\n"
    assert windlass("cost", "--since", "7d").err == "Nothing was rented in the last 7d.\n"
    assert windlass("cost", "--json").document["totals"] == []


def test_a_time_that_is_none_is_refused(windlass, seeded):
    refused = windlass("cost", "--since", "yesterday")
    assert refused.status == 2
    assert "--since" in refused.err


def test_ps_shows_dollars_where_there_are_any(windlass, spending):
    header, *rows = windlass("ps").out.splitlines()
    column = header.split().index("USD")
    assert {row.split()[0]: row.split()[column] for row in rows} == {
        "big-1": "72.00",
        "small-1": "3.60",
        "free-1": "-",
    }
    found = {one["id"]: one["usd"] for one in windlass("ps", "--json").document}
    assert found["big-1"] == pytest.approx(72.0, abs=0.1)
    assert found["free-1"] is None


def test_ps_has_no_column_for_dollars_where_nothing_is_rented(windlass, seeded):
    seeded.add("free-1")
    assert "USD" not in windlass("ps").out


def test_show_tells_what_a_run_cost(windlass, spending):
    assert "cost  72.00 USD, 36.00 an hour now" in windlass("show", "big-1").out
    told = windlass("show", "small-1").out
    assert "3.60 USD, 3.60 of it for offers that were not used" in told
    cost = windlass("show", "big-1", "--json").document["report"]["cost"]
    assert (round(cost["usd"], 1), cost["usd_per_h"], cost["claims"]) == (72.0, 36.0, 2)
