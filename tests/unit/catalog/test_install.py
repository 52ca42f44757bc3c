"""A newer catalog is taken whole or not at all, and never an older one by accident."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalogs import SMALL, change_cell, tampered, write_table, write_tables
from windlass.catalog.install import install, read_checked, reset
from windlass.catalog.load import PACKAGED, chosen, load_catalog, snapshot_of
from windlass.catalog.model import Buy
from windlass.errors import CatalogRefused, HomeUnusable

TODAY = "2026-11-15"


@pytest.fixture
def folder(tmp_path):
    return write_tables(tmp_path / "tables")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home" / "catalog"


def write_file(tmp_path, *, snapshot):
    path = tmp_path / f"{snapshot}.catalog"
    path.write_bytes(tampered(lambda sections: None, snapshot=snapshot))
    return path


def test_a_folder_of_tables_becomes_the_catalog_in_use(folder, home):
    path = install(read_checked(folder, today=TODAY), home)
    assert chosen(home) == path
    catalog = load_catalog(path)
    assert catalog.snapshot == "2026-09-01"
    assert {offer.id: offer.usd_per_h for offer in catalog.all_offers()} == {
        "us-central1-b/e2-standard-2/on-demand": 0.067,
        "us-central1-b/e2-standard-2/spot": 0.027,
        "us-central1-a/a3-highgpu-8g/on-demand": 88.49,
        "us-central1-a/a3-highgpu-8g/spot": 52.962,
        "us-central1-a/a3-highgpu-8g/flex-start": 38.32,
        "us-central1-a/v5e-16/on-demand": 19.2,
    }


def test_a_compact_file_becomes_the_catalog_in_use(tmp_path, home):
    path = write_file(tmp_path, snapshot="2026-10-01")
    install(read_checked(path, today=TODAY), home)
    assert load_catalog(chosen(home)).snapshot == "2026-10-01"
    assert chosen(home).read_bytes() == path.read_bytes()


def test_an_older_one_needs_force_and_then_stays(tmp_path, home):
    newer = read_checked(write_file(tmp_path, snapshot="2026-10-01"), today=TODAY)
    older = read_checked(write_file(tmp_path, snapshot="2026-05-01"), today=TODAY)
    install(newer, home)
    with pytest.raises(CatalogRefused, match="older than the one in use") as caught:
        install(older, home)
    assert "--force" in caught.value.remedy
    assert snapshot_of(chosen(home)) == "2026-10-01"
    install(older, home, is_forced=True)
    assert snapshot_of(chosen(home)) == "2026-05-01"
    install(newer, home)
    assert snapshot_of(chosen(home)) == "2026-10-01"


def test_one_between_a_forced_one_and_windlass_itself_is_used_too(tmp_path, home):
    for snapshot, is_forced in (("2026-01-01", True), ("2026-02-01", False)):
        source = write_file(tmp_path, snapshot=snapshot)
        install(read_checked(source, today=TODAY), home, is_forced=is_forced)
        assert snapshot_of(chosen(home)) == snapshot


def test_reset_goes_back_to_the_one_of_windlass(tmp_path, home):
    assert reset(home) is False
    install(read_checked(write_file(tmp_path, snapshot="2026-10-01"), today=TODAY), home)
    assert reset(home) is True
    assert chosen(home) == PACKAGED


def test_a_snapshot_of_the_future_is_refused(tmp_path):
    with pytest.raises(CatalogRefused, match="today is 2026-11-15"):
        read_checked(write_file(tmp_path, snapshot="2026-11-16"), today=TODAY)


def test_nothing_half_written_is_left_when_the_disk_refuses(tmp_path, home):
    checked = read_checked(write_file(tmp_path, snapshot="2026-10-01"), today=TODAY)
    home.parent.mkdir()
    home.write_text("a file where the folder should be")
    with pytest.raises(HomeUnusable, match="cannot be written"):
        install(checked, home)
    home.unlink()
    install(checked, home)
    assert [path.name for path in home.iterdir()] == [chosen(home).name]


def test_a_reader_never_sees_a_part(tmp_path, home):
    checked = read_checked(write_file(tmp_path, snapshot="2026-10-01"), today=TODAY)
    path = install(checked, home)
    with path.open("rb") as reader:
        install(replace(checked, data=PACKAGED.read_bytes()), home)
        assert reader.read() == checked.data
    assert [kept.name for kept in home.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("table", "column", "value", "said"),
    [
        ("offers", "on_demand_usd_per_hour", "-1", "is not a number"),
        ("offers", "on_demand_usd_per_hour", "1e3", "is not a number"),
        ("offers", "on_demand_usd_per_hour", "nan", "is not a number"),
        ("offers", "on_demand_usd_per_hour", "0", "cannot be"),
        ("offers", "zone", "us-east1-a", "not a zone of us-central1"),
        ("offers", "kind", "fpga", "none of gpu, tpu, cpu"),
        ("offers", "accelerator", "nvidia-x", "accelerators.csv has no 'nvidia-x'"),
        ("offers", "machine_type", "a9-high", "machine_types.csv has no a9-high"),
        ("offers", "vcpus", "8.5", "not a whole number"),
        ("offers", "memory_gib", "1", "other vcpus or memory_gib"),
        ("machine_types", "supports_spot", "yes", "neither true nor false"),
        ("machine_types", "vcpus", "", "vcpus is not a whole number"),
        ("tpu_slices", "accelerator_type", "v5litepod-17", "no slice of that size"),
        ("dws_prices", "basis", "guessed", "none of published"),
        ("dws_prices", "machine_type", "a9-high", "a9-high is offered nowhere"),
        ("other_prices", "unit", "EUR/GiB", "not a unit"),
        ("other_prices", "confidence", "sure", "none of high, medium, low"),
        ("accelerators", "hbm_gb_per_s", "", "hbm_gb_per_s is empty"),
    ],
)
def test_a_wrong_field_is_named_with_its_line(folder, table, column, value, said):
    change_cell(folder, table, column, value)
    with pytest.raises(CatalogRefused) as caught:
        read_checked(folder, today=TODAY)
    assert said in caught.value.context


def test_rows_that_are_there_twice_are_refused(folder):
    for table in ("offers", "machine_types", "tpu_slices", "dws_prices", "other_prices"):
        write_table(folder, table, [*SMALL[table], SMALL[table][0]])
        with pytest.raises(CatalogRefused) as caught:
            read_checked(folder, today=TODAY)
        assert "twice" in caught.value.context or "two prices" in caught.value.context
        write_table(folder, table, SMALL[table])


def test_an_accelerator_that_this_windlass_does_not_know_is_left_out_and_told(folder):
    new = {**SMALL["accelerators"][0], "name": "nvidia-r300", "aliases": "r300"}
    write_table(folder, "accelerators", [*SMALL["accelerators"], new])
    offer = {**SMALL["offers"][0], "accelerator": "nvidia-r300", "machine_type": "a9-highgpu-8g"}
    write_table(folder, "offers", [*SMALL["offers"], offer])
    checked = read_checked(folder, today=TODAY)
    assert checked.notes == ("this Windlass does not know nvidia-r300: 2 rows are left out",)
    assert len(list(checked.catalog.all_offers())) == 6


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda f: (f / "images.csv").unlink(), "images.csv: No such file"),
        (lambda f: (f / "images.csv").write_bytes(b"\xff\xfe\x00"), "not UTF-8"),
        (lambda f: (f / "images.csv").write_text("a,b\n1,2\n"), "are missing"),
        (lambda f: (f / "local_ssd_prices.csv").write_text("x"), "are missing"),
    ],
)
def test_a_file_that_is_no_table_is_named(folder, spoil, said):
    spoil(folder)
    with pytest.raises(CatalogRefused) as caught:
        read_checked(folder, today=TODAY)
    assert said in caught.value.context


def test_a_line_with_too_many_fields_is_named(folder):
    with (folder / "local_ssd_prices.csv").open("a") as file:
        file.write("us-east1,0.08,0.03,7\n")
    with pytest.raises(CatalogRefused) as caught:
        read_checked(folder, today=TODAY)
    assert "local_ssd_prices.csv:3: too many fields" in caught.value.context


def test_a_folder_must_say_of_which_day_it_is(folder):
    (folder / "README.md").unlink()
    with pytest.raises(CatalogRefused, match="of which day") as caught:
        read_checked(folder, today=TODAY)
    assert "--snapshot" in caught.value.remedy
    assert read_checked(folder, today=TODAY, snapshot="2026-09-09").catalog.snapshot == "2026-09-09"


def test_what_is_no_catalog_is_refused(tmp_path):
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate((16 << 20) + 1)
    for path, said in (
        (tmp_path, "has no offers.csv"),
        (tmp_path / "none", "cannot be read"),
        (big, "larger than 16 MiB"),
    ):
        with pytest.raises(CatalogRefused, match=said):
            read_checked(path, today=TODAY)


def test_prices_that_differ_between_zones_of_a_region_are_kept_apart(folder):
    other = {**SMALL["offers"][0], "zone": "us-central1-c", "spot_usd_per_hour": "40"}
    write_table(folder, "offers", [*SMALL["offers"], other])
    catalog = read_checked(folder, today=TODAY).catalog
    spot = {o.zone: o.usd_per_h for o in catalog.offers_with("H100") if o.buy is Buy.SPOT}
    assert spot == {"us-central1-a": 52.962, "us-central1-c": 40.0}


def test_a_price_without_a_zone_is_kept_as_list_price_only(folder):
    write_table(
        folder,
        "dws_prices",
        [*SMALL["dws_prices"], {**SMALL["dws_prices"][0], "region": "us-east1"}],
    )
    catalog = read_checked(folder, today=TODAY).catalog
    assert {offer.region for offer in catalog.offers_with("H100")} == {"us-central1"}
