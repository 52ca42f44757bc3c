"""A catalog that cannot be right is refused before it is used, with everything that is wrong."""

from __future__ import annotations

import hashlib
import json
from binascii import crc32

import pytest

from catalogs import tampered
from windlass.catalog.check import check
from windlass.catalog.container import Container, body
from windlass.catalog.load import PACKAGED
from windlass.catalog.tables import Complaints
from windlass.errors import CatalogRefused

H100 = "offers:H100"


def set_price(value, *, place=2):
    def change(sections):
        sections[H100]["a3-highgpu-8g"][0][place] = value

    return change


def set_in(section, key, index, value):
    def change(sections):
        sections[section][key][index] = value

    return change


def add_row(row):
    return lambda sections: sections[H100]["a3-highgpu-8g"].append(row)


def set_unit(sections):
    sections["other_prices"]["items"]["gcs_standard"][0] = "EUR/GiB-month"


def set_source(sections):
    sections["other_prices"]["items"]["gcs_standard"][1][0][2] = 9999


def set_confidence(sections):
    sections["other_prices"]["sources"][0][2] = "sure"


def double_scope(sections):
    rows = sections["other_prices"]["items"]["gcs_standard"][1]
    rows.append(rows[0])


def set_fee(sections):
    sections["other_prices"]["items"]["vertex_training_management_fee"][1][0][1] = 15.0


def many_zones(sections):
    zones = ",".join(f"z{number}" for number in range(300))
    sections[H100]["a3-highgpu-8g"] = [[f"r{n}", zones, 88.0, 52.0] for n in range(2000)]


def rename(section, old, new):
    def change(sections):
        sections[section][new] = sections[section].pop(old)

    return change


WRONG = {
    "a price of zero": (set_price(0.0), "0 USD per hour cannot be"),
    "a negative price": (set_price(-3.0), "form"),
    "cents for dollars": (set_price(8848999.0), "cannot be"),
    "a price as text": (set_price("88"), "form"),
    "true for a price": (set_price(True), "form"),
    "a tiny spot price": (set_price(1e-6, place=3), "cannot be"),
    "an offer twice": (add_row(["us-central1", "a", 88.0, 52.0]), "is there twice"),
    "a zone that is not listed": (add_row(["us-moon1", "a", 88.0, 52.0]), "list of zones"),
    "a zone with a slash": (add_row(["us-central1", "a/b", 88.0, 52.0]), "form"),
    "a row that is short": (add_row(["us-central1", "z", 88.0]), "form"),
    "a machine without vcpus": (set_in("machines", "a3-highgpu-8g", 4, 0), "form"),
    "a machine that is missing": (
        lambda sections: sections["machines"].pop("a3-highgpu-8g"),
        "described nowhere",
    ),
    "a machine of an unknown chip": (set_in("machines", "a3-highgpu-8g", 2, "H1"), "no accel"),
    "a way to buy that is none": (set_in("machines", "a3-highgpu-8g", 11, ["free"]), "form"),
    "a slice whose hosts do not add up": (set_in("slices", "v5e-16", 5, 3), "do not have 16"),
    "a slice on a machine of nobody": (set_in("slices", "v5e-16", 7, "x"), "or no x"),
    "a chip that Windlass does not know": (rename("chips", "T4", "T44"), "does not know"),
    "a section that is missing": (lambda sections: sections.pop("chips"), "'chips' is missing"),
    "a section that nobody knows": (lambda s: s.update(more={}), "'more' is not known"),
    "a unit that nobody knows": (set_unit, "not a unit"),
    "a price without a source": (set_source, "without a source"),
    "a confidence that is none": (set_confidence, "a confidence of 'sure'"),
    "two prices for one thing": (double_scope, "form"),
    "a fee above one": (set_fee, "cannot be"),
    "Local SSD for gold": (set_in("local_ssd", "us-central1", 0, 80), "Local SSD"),
    "more offers than there can be": (many_zones, "more than there can be"),
    "text without an end": (set_in("machines", "a3-highgpu-8g", 0, "a" * 9999), "form"),
    "text that moves the cursor": (set_in("machines", "a3-highgpu-8g", 0, "a\x1b[2J"), "form"),
}


@pytest.mark.parametrize(("change", "said"), WRONG.values(), ids=WRONG.keys())
def test_a_catalog_that_cannot_be_right_is_refused(change, said):
    with pytest.raises(CatalogRefused) as caught:
        check(tampered(change), Complaints(), where="it")
    assert said in caught.value.context
    assert "has not been changed" in caught.value.remedy


def signed(text: bytes) -> bytes:
    trailer = {"crc32": crc32(text), "sha256": hashlib.sha256(text).hexdigest()}
    return text + json.dumps(trailer).encode() + b"\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"v5e-4":[', b'"v5e-1":[', "a key is there twice"),
        (b"88.48999", b"Infinity", "no number"),
        (b"88.48999", b"88.48e999", "form"),
        (b"88.48999", b"[" * 100_000 + b"]" * 100_000, "not plain JSON"),
        (b"2026-08-21", b"2026-13-21", "not the day"),
    ],
    ids=["double key", "infinity", "overflow", "deep nesting", "no date"],
)
def test_json_that_reads_two_ways_is_refused(old, new, said):
    text = body(PACKAGED.read_bytes())
    assert old in text
    with pytest.raises(CatalogRefused) as caught:
        check(signed(text.replace(old, new, 1)), Complaints(), where="it")
    assert said in caught.value.context


def test_a_changed_price_with_a_mended_short_checksum_is_found_by_the_long_one():
    data = PACKAGED.read_bytes()
    text = body(data).replace(b"88.48999", b"38.48999", 1)
    trailer = {"crc32": crc32(text), "sha256": Container(data, where="it").sha256}
    with pytest.raises(CatalogRefused) as caught:
        check(text + json.dumps(trailer).encode() + b"\n", Complaints(), where="it")
    assert "checksum" in caught.value.context


def test_every_problem_is_told_at_once():
    def change(sections):
        set_unit(sections)
        sections["machines"]["a3-highgpu-8g"][2] = "H1"
        sections["slices"]["v5e-16"][5] = 3

    with pytest.raises(CatalogRefused, match="3 problems") as caught:
        check(tampered(change), Complaints(), where="it")
    assert len(caught.value.context.splitlines()) >= 3


def test_a_long_list_of_problems_is_cut():
    def change(sections):
        for rows in sections[H100].values():
            for row in rows:
                row[3] = 0.0

    with pytest.raises(CatalogRefused) as caught:
        check(tampered(change), Complaints(), where="it")
    assert caught.value.context.splitlines()[-1].startswith("and ")
    assert len(caught.value.context.splitlines()) == 21


def test_spot_above_on_demand_is_odd_and_no_hindrance():
    complaints = Complaints()
    check(tampered(set_price(500.0, place=3)), complaints, where="it")
    assert len(complaints.notes) == 1
    assert "cost more on spot than on demand" in complaints.notes[0]


def test_the_catalog_of_windlass_passes_without_a_note():
    complaints = Complaints()
    assert check(PACKAGED.read_bytes(), complaints, where="it").snapshot == "2026-08-21"
    assert complaints.notes == []
