"""The compact catalog loses nothing, names nothing twice, and answers as a plain scan would."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tree
from windlass.catalog.load import load_catalog
from windlass.catalog.model import Buy
from windlass.catalog.query import GIB
from windlass.spec.accelerators import GPUS, TPUS, accelerators, canonical
from windlass.spec.model import ANY_GPU, Accelerators
from windlass.spec.topology import devices_per_node, hosts_per_slice

CATALOG = load_catalog()
OFFERS = list(CATALOG.all_offers())

# Where the tables lie that the catalog was made of, when they do.
SOURCE = tree.ROOT.parent / "shared" / "data" / "gcp"
needs_source = pytest.mark.skipif(not SOURCE.is_dir(), reason="the tables are not there")

# What the tables add up to: how many prices of each kind, and their sum in dollars.
TOTALS = {
    Buy.ON_DEMAND: (4601, 13_338_172.877),
    Buy.SPOT: (4699, 2_952_859.09),
    Buy.FLEX_START: (50, 767.814),
    Buy.CALENDAR: (1, 90.216),
}


def table(name):
    with (SOURCE / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def number(text):
    return float(text) if text else None


@pytest.mark.parametrize("buy", Buy)
def test_as_many_prices_as_there_were_rows(buy):
    prices = [offer.usd_per_h for offer in OFFERS if offer.buy is buy]
    assert (len(prices), round(sum(prices), 3)) == TOTALS[buy]


def test_the_other_tables_have_as_many_rows_as_there_were():
    assert len(CATALOG.chips) == 21
    assert len([m for m in CATALOG.machines.values() if m.chip]) == 94
    assert len(CATALOG.slices) == 273
    assert len(CATALOG.zones) == 107
    assert len(CATALOG.images) == 19
    assert len(CATALOG.local_ssd) == 42
    assert len(list(CATALOG.other_prices)) == 676


@needs_source
def test_every_row_of_the_offers_survives():
    rows = {}
    names = {chip.google_name: chip.name for chip in CATALOG.chips.values()}
    for row in table("offers"):
        machine = row["machine_type"]
        if row["kind"] == "tpu":
            label = str(accelerators(row["accelerator"]))
        elif machine.startswith("n1-"):
            label = f"{machine}+{names[row['accelerator']]}:{row['accelerator_count']}"
        else:
            label = machine
        for buy, column in (("on-demand", "on_demand"), ("spot", "spot")):
            if row[f"{column}_usd_per_hour"]:
                key = f"{row['zone']}/{label}/{buy}"
                rows[key] = (float(row[f"{column}_usd_per_hour"]), int(row["vcpus"]))
    found = {
        offer.id: (offer.usd_per_h, offer.machine.vcpus)
        for offer in OFFERS
        if offer.buy in (Buy.ON_DEMAND, Buy.SPOT)
    }
    assert found == rows


@needs_source
def test_every_flex_start_and_calendar_price_survives():
    zones = {}
    for row in table("offers"):
        zones.setdefault((row["region"], row["machine_type"]), set()).add(row["zone"])
    expected = {}
    for row in table("dws_prices"):
        for buy, column in (("flex-start", "flex_start"), ("calendar", "calendar")):
            usd = row[f"{column}_usd_per_hour"]
            name = row["accelerator"]
            label = name if name.startswith("v") else row["machine_type"]
            for zone in zones[row["region"], row["machine_type"]] if usd else ():
                expected[f"{zone}/{label}/{buy}"] = (float(usd), row["basis"])
        listed = {
            offer.list_usd_per_h
            for offer in CATALOG.offers(machine=row["machine_type"])
            if offer.region == row["region"] and offer.label == label
        }
        assert listed == {number(row["list_usd_per_hour"])}
    found = {
        offer.id: (offer.usd_per_h, offer.basis)
        for offer in OFFERS
        if offer.buy in (Buy.FLEX_START, Buy.CALENDAR)
    }
    assert found == expected


@needs_source
def test_every_row_of_the_other_tables_survives():
    for row in table("accelerators"):
        chip = CATALOG.chips[canonical(row["name"])]
        assert chip.google_name == row["name"]
        assert chip.memory_gib == float(row["memory_gib_per_chip"])
        assert chip.scale_up_gb_per_s == number(row["scale_up_gb_per_s"])
        assert chip.peak_tflops == number(row["peak_bf16_tflops"] or row["peak_fp16_tflops"])
        assert chip.quota[Buy.ON_DEMAND] == (row["quota_metric_on_demand"] or None)
        assert all(canonical(alias) == chip.name for alias in row["aliases"].split(";"))
    for row in table("machine_types"):
        name, chip = row["machine_type"], canonical(row["accelerator"])
        count = int(row["accelerator_count"])
        machine = CATALOG.machines[f"{name}+{chip}:{count}" if row["family"] == "n1" else name]
        assert (machine.chip, machine.chips, machine.vcpus) == (chip, count, int(row["vcpus"]))
        assert machine.network_gbps == number(row["network_gbps"])
        assert machine.busbw_gb_per_s == number(row["expected_busbw_gb_per_s"])
        assert (Buy.CALENDAR in machine.supports) == (row["supports_dws_calendar"] == "true")
    for row in table("tpu_slices"):
        slice_ = CATALOG.slices[str(accelerators(row["accelerator_type"]))]
        assert slice_.accelerator_type == row["accelerator_type"]
        assert (slice_.chips, slice_.hosts) == (int(row["chips"]), int(row["hosts"]))
        assert slice_.topology == row["topology"]
    for row in table("other_prices"):
        price = CATALOG.other_prices.find(row["item"], row["scope"])
        assert price.usd == float(row["price_usd"])
        assert (price.unit, price.source) == (row["unit"], row["source"])
        assert (price.date, price.confidence) == (row["source_date"], row["confidence"])
    for row in table("local_ssd_prices"):
        ssd = CATALOG.local_ssd[row["region"]]
        assert ssd.usd_per_gib_month == float(row["on_demand_usd_per_gib_month"])
    assert [image.name for image in CATALOG.images] == [row["name"] for row in table("images")]


def test_ids_are_unique():
    assert len({offer.id for offer in OFFERS}) == len(OFFERS)


def test_every_alias_and_every_name_of_google_resolves():
    for chip in CATALOG.chips.values():
        for written in (*chip.aliases, chip.google_name, chip.name):
            assert canonical(written) == chip.name
    for slice_ in CATALOG.slices.values():
        found = accelerators(slice_.accelerator_type)
        assert (str(found), found.name) == (slice_.name, slice_.chip)


def test_every_accelerator_that_a_spec_can_name_is_in_the_catalog():
    assert set(CATALOG.chips) == {*GPUS, *TPUS} - {ANY_GPU}
    for name, sizes in TPUS.items():
        assert {slice_.name for slice_ in CATALOG.slices.values() if slice_.chip == name} == {
            f"{name}-{size}" for size in sizes
        }


def test_slices_have_the_hosts_and_devices_that_specs_count_with():
    for slice_ in CATALOG.slices.values():
        wanted = accelerators(slice_.name)
        assert hosts_per_slice(wanted) == slice_.hosts
        per_chip = 2 if slice_.chip in ("v2", "v3", "tpu7x") else 1
        assert devices_per_node(wanted) == slice_.chips_per_host * per_chip


def test_prices_and_sizes_can_be():
    for offer in OFFERS:
        assert offer.usd_per_h > 0
        assert offer.zone in CATALOG.zones
        assert offer.zone.startswith(f"{offer.region}-")
        assert offer.chips == 0 or offer.chip is not None
        if offer.buy is not Buy.ON_DEMAND and offer.list_usd_per_h is not None:
            assert offer.usd_per_h <= offer.list_usd_per_h


def naive(wanted, machine, *, cpus, memory_bytes):
    """The same question, asked of every offer."""
    for offer in OFFERS:
        host = offer.machine
        if wanted and not any(
            offer.label == str(one)
            if one.is_tpu
            else offer.chip is not None
            and not offer.chip.is_tpu
            and offer.chips == one.count
            and one.name in (offer.chip.name, ANY_GPU)
            for one in wanted
        ):
            continue
        if not wanted and machine is None and offer.chip is not None:
            continue
        if machine is not None:
            is_whole = bool(wanted) or "+" not in offer.label
            if machine != offer.label and not (machine == host.name and is_whole):
                continue
        if cpus is not None and host.vcpus < cpus:
            continue
        if memory_bytes is not None and host.memory_gib * GIB < memory_bytes:
            continue
        yield offer.id


gpus = st.sampled_from(sorted(GPUS)).flatmap(
    lambda name: st.integers(1, GPUS[name]).map(
        lambda count: Accelerators(name=name, count=count, is_tpu=False)
    )
)
tpus = st.sampled_from(sorted(TPUS)).flatmap(
    lambda name: st.sampled_from(TPUS[name]).map(
        lambda size: Accelerators(name=name, count=size, is_tpu=True)
    )
)
machines = st.sampled_from(
    sorted({machine.name for machine in CATALOG.machines.values()} | set(CATALOG.machines))
)


@given(
    wanted=st.lists(gpus | tpus, max_size=4),
    machine=st.none() | machines | st.just("nonsense"),
    cpus=st.none() | st.floats(0, 400),
    memory_gib=st.none() | st.integers(0, 4000),
)
def test_offers_are_those_that_a_plain_scan_finds(wanted, machine, cpus, memory_gib):
    memory_bytes = None if memory_gib is None else memory_gib * GIB
    found = CATALOG.offers(
        accelerators=wanted, machine=machine, cpus=cpus, memory_bytes=memory_bytes
    )
    expected = naive(wanted, machine, cpus=cpus, memory_bytes=memory_bytes)
    assert sorted(offer.id for offer in found) == sorted(expected)
