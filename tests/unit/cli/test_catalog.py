"""`windlass catalog` lists what can be rented, and takes newer prices only after a look at them."""

from __future__ import annotations

import pytest

from catalogs import change_cell, tampered, write_tables


def rows(result):
    """The cells of a table, without its header."""
    return [line.split("  ") for line in result.out.splitlines()[1:]]


def test_without_a_subcommand_it_says_what_there_is(windlass):
    result = windlass("catalog")
    assert result.status == 0
    for name in ("accelerators", "offers", "zones", "show", "update", "reset"):
        assert name in result.out


def test_offers_are_listed_cheapest_first_with_what_was_asked(windlass):
    result = windlass(
        *("catalog", "offers", "--accelerator", "h100:8", "--region", "us-*", "--buy", "spot"),
        *("--max-price", "60", "-n", "5", "--json"),
    )
    assert result.status == 0
    found = result.document
    assert len(found) == 5
    assert [offer["usd_per_h"] for offer in found] == sorted(o["usd_per_h"] for o in found)
    for offer in found:
        assert offer["accelerator"] == "H100"
        assert (offer["chips"], offer["buy"]) == (8, "spot")
        assert offer["region"].startswith("us-")
        assert offer["usd_per_h"] <= 60
        assert offer["usd_per_chip_h"] == offer["usd_per_h"] / 8
        assert offer["quota_metric"] == "PREEMPTIBLE_NVIDIA_H100_GPUS"


def test_a_table_says_how_many_more_there_are(windlass):
    result = windlass("catalog", "offers", "--accelerator", "v5e-16", "-n", "2")
    assert len(rows(result)) == 2
    assert result.out.splitlines()[0].split()[:2] == ["ZONE", "WHAT"]
    assert "16 chips, 4 hosts" in result.out
    assert "52 more: `-n 54` shows them all." in result.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--accelerator", "H100"), {"H100"}),
        (("--accelerator", "v5litepod-16", "--accelerator", "h200:8"), {"v5e", "H200"}),
        (("--machine", "a2-megagpu-16g"), {"A100"}),
        (("--machine", "n1-standard-8+T4:2"), {"T4"}),
        (("--machine", "e2-standard-4"), {None}),
        (("--accelerator", "gpu:16"), {"A100"}),
        (("--region", "us-central2-b"), {"v4"}),
        (("--buy", "calendar"), {"B200"}),
    ],
)
def test_filters_leave_only_what_was_meant(windlass, arguments, expected):
    result = windlass("catalog", "offers", *arguments, "--json", "-n", "99999")
    assert {offer["accelerator"] for offer in result.document} == expected


def test_any_gpu_means_every_gpu_and_no_tpu(windlass):
    found = windlass("catalog", "offers", "--accelerator", "gpu", "--json", "-n", "99999").document
    names = {offer["accelerator"] for offer in found}
    assert {"H100", "T4", "RTX-PRO-6000"} <= names
    assert not {None, "v5e"} & names


@pytest.mark.parametrize("sort", ["price", "chip", "zone"])
def test_the_order_is_the_one_asked_for(windlass, sort):
    key = {"price": "usd_per_h", "chip": "usd_per_chip_h", "zone": "zone"}[sort]
    arguments = ("--accelerator", "A100", "--sort", sort, "-n", "400", "--json")
    found = [offer[key] for offer in windlass("catalog", "offers", *arguments).document]
    assert found == sorted(found)
    assert len(found) > 100


def test_a_commitment_shows_on_demand_at_its_price(windlass):
    arguments = ("--accelerator", "A100-80:1", "--region", "us-central1", "--committed", "3")
    [first, *_] = windlass("catalog", "offers", *arguments, "--json").document
    assert first["buy"] == "on-demand"
    assert first["usd_per_h"] == pytest.approx(5.0688 * 0.45)
    assert first["basis"] == "3 years"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gb200", "with a reservation only"),
        ("ironwood-16", "no price for tpu7x"),
        ("H100:3", "H100:1, H100:2, H100:4, H100:8"),
    ],
)
def test_what_nobody_rents_is_explained(windlass, name, said):
    result = windlass("catalog", "offers", "--accelerator", name)
    assert (result.status, result.out) == (0, "")
    assert said in result.err
    assert windlass("catalog", "offers", "--accelerator", name, "--json").document == []


def test_filters_that_leave_nothing_say_so(windlass):
    result = windlass("catalog", "zones", "--accelerator", "H100", "--region", "mars-*")
    assert "No offer passes all of these" in result.err


def test_a_name_that_is_none_is_refused_with_a_guess(windlass):
    result = windlass("catalog", "offers", "--accelerator", "H1000:8")
    assert result.status == 2
    assert "Did you mean `H100:8`?" in result.err
    assert windlass("catalog", "accelerators", "cerebras").status == 2


def test_accelerators_are_listed_with_the_cheapest_hour_of_a_chip(windlass):
    result = windlass("catalog", "accelerators", "h100", "v5litepod-16")
    assert [line.split()[0] for line in result.out.splitlines()] == ["NAME", "H100", "v5e"]
    [tpu] = windlass("catalog", "accelerators", "tpu7x", "--json").document
    assert tpu["rented_as"] == []
    assert tpu["usd_per_chip_h_from"] == {
        "on-demand": None,
        "spot": None,
        "flex-start": None,
        "calendar": None,
    }
    assert len(windlass("catalog", "accelerators", "--json").document) == 21


def test_zones_name_what_each_has(windlass):
    result = windlass("catalog", "zones", "--region", "us-central2-b")
    assert result.out.splitlines()[1].split() == ["us-central2-b", "104", "v4"]
    found = windlass("catalog", "zones", "--accelerator", "H200", "--json").document
    assert {tuple(zone["accelerators"]) for zone in found} == {("H200",)}
    assert len(windlass("catalog", "zones", "--json").document) == 107


def test_show_says_which_snapshot_is_in_use(windlass):
    result = windlass("catalog", "show")
    assert "2026-08-21" in result.out
    assert "came with Windlass" in result.out
    document = windlass("catalog", "show", "--json").document
    assert document["is_packaged"] is True
    assert (document["offers"], document["other_prices"]) == (9351, 676)
    assert document["age_days"] >= 0


def test_an_update_is_used_from_then_on_and_reset_undoes_it(windlass, tmp_path):
    folder = write_tables(tmp_path / "tables")
    result = windlass("catalog", "update", "--from", str(folder))
    assert result.status == 0
    assert "The catalog of 2026-09-01 is used from now on." in result.err
    assert len(windlass("catalog", "offers", "--json").document) == 6
    assert windlass("catalog", "show", "--json").document["is_packaged"] is False
    assert windlass("catalog", "reset", "--json").document["is_changed"] is True
    assert windlass("catalog", "show", "--json").document["is_packaged"] is True
    assert windlass("catalog", "reset").status == 0


def test_a_bad_update_changes_nothing_and_says_everything(windlass, tmp_path):
    folder = write_tables(tmp_path / "tables")
    change_cell(folder, "offers", "spot_usd_per_hour", "cheap")
    result = windlass("catalog", "update", "--from", str(folder))
    assert result.status == 2
    assert "offers.csv:2: spot_usd_per_hour: 'cheap' is not a number" in result.err
    assert windlass("catalog", "show", "--json").document["is_packaged"] is True


def test_an_older_update_needs_force(windlass, tmp_path):
    path = tmp_path / "old.catalog"
    path.write_bytes(tampered(lambda sections: None, snapshot="2026-01-01"))
    assert windlass("catalog", "update", "--from", str(path)).status == 2
    assert windlass("catalog", "update", "--from", str(path), "--force").status == 0
    assert windlass("catalog", "show", "--json").document["snapshot"] == "2026-01-01"


def test_what_is_odd_is_told(windlass, tmp_path):
    folder = write_tables(tmp_path / "tables")
    change_cell(folder, "offers", "spot_usd_per_hour", "99")
    result = windlass("catalog", "update", "--from", str(folder))
    assert result.status == 0
    assert "note: 1 offers cost more on spot than on demand" in result.err
    again = windlass("catalog", "update", "--from", str(folder), "--json")
    assert len(again.document["notes"]) == 1


def test_a_damaged_installed_catalog_says_how_to_go_on(windlass, tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / "catalog").mkdir(parents=True)
    (home / "catalog" / "newer.catalog").write_bytes(b"{}\n")
    monkeypatch.setenv("WINDLASS_HOME", str(home))
    result = windlass("catalog", "offers")
    assert result.status == 3
    assert "windlass catalog reset" in result.err
    assert windlass("catalog", "reset").status == 0
    assert windlass("catalog", "offers").status == 0
