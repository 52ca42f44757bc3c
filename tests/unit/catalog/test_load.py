"""A catalog file loads lazily, and a damaged one is never taken for a catalog."""

from __future__ import annotations

import json

import pytest

from catalogs import tampered
from windlass.catalog import load
from windlass.catalog.container import Container
from windlass.catalog.load import FORCED, NEWER, PACKAGED, chosen, decoded, load_catalog
from windlass.catalog.model import Buy
from windlass.errors import CatalogUnusable
from windlass.spec.accelerators import accelerators


class Watched(Container):
    """Notes which sections are parsed."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data, where="a file")
        self.asked: list[str] = []

    def section(self, name):
        self.asked.append(name)
        return super().section(name)


def test_a_question_about_one_accelerator_parses_no_other():
    container = Watched(PACKAGED.read_bytes())
    assert decoded(container).offers(accelerators=[accelerators("H100:8")])
    assert sorted(container.asked) == ["chips", "machines", "offers:H100", "zones"]


def test_each_part_is_parsed_once():
    container = Watched(PACKAGED.read_bytes())
    catalog = decoded(container)
    for _ in range(3):
        list(catalog.all_offers())
        list(catalog.other_prices)
        assert catalog.other_prices.find("gcs_standard", "us-central1")
        assert len(catalog.images) == len(list(catalog.images))
    assert len(container.asked) == len(set(container.asked))


def test_the_same_offer_is_the_same_object():
    catalog = load_catalog()
    first = catalog.offers(accelerators=[accelerators("v5e-16")])
    assert all(a is b for a, b in zip(first, catalog.offers_with("v5e"), strict=False) if a == b)
    assert first[0] is catalog.offer(first[0].id)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda data: data[: len(data) // 2], "damaged"),
        (lambda data: data.replace(b"88.48999", b"08.48999", 1), "checksum"),
        (lambda data: data.replace(b'"version":1', b'"version":2', 1), "version 2"),
        (lambda data: data.replace(b"windlass-catalog", b"wandlass-catalog", 1), "not a catalog"),
        (lambda data: b"", "not a catalog"),
        (lambda data: b"[]\n[]\n[]\n", "not a catalog"),
        (lambda data: b"zone,region\n", "not a catalog"),
        (lambda data: b"\x00" * 4096, "not a catalog"),
    ],
    ids=["cut", "digit", "version", "format", "empty", "lists", "csv", "zeros"],
)
def test_a_damaged_file_is_refused_with_a_way_out(tmp_path, spoil, said):
    path = tmp_path / "c.catalog"
    path.write_bytes(spoil(PACKAGED.read_bytes()))
    with pytest.raises(CatalogUnusable, match=said) as caught:
        load_catalog(path)
    assert "windlass catalog reset" in caught.value.remedy


def test_a_file_whose_header_names_other_sections_is_refused(tmp_path):
    head, rest = PACKAGED.read_bytes().split(b"\n", 1)
    header = json.loads(head)
    header["sections"].pop()
    path = tmp_path / "c.catalog"
    path.write_bytes(json.dumps(header).encode() + b"\n" + rest)
    with pytest.raises(CatalogUnusable):
        load_catalog(path)


def test_a_file_that_is_not_there_says_so(tmp_path):
    with pytest.raises(CatalogUnusable, match="No such file"):
        load_catalog(tmp_path / "none")


def test_a_section_that_is_not_there_says_so():
    container = Container(PACKAGED.read_bytes(), where="it")
    with pytest.raises(CatalogUnusable, match="no section 'offers:H1000'"):
        container.section("offers:H1000")


def test_what_was_installed_is_used_until_windlass_itself_is_newer(tmp_path):
    assert chosen(tmp_path) == PACKAGED
    (tmp_path / NEWER).write_bytes(tampered(lambda sections: None, snapshot="2026-08-22"))
    assert chosen(tmp_path) == tmp_path / NEWER
    (tmp_path / NEWER).write_bytes(tampered(lambda sections: None, snapshot="2026-08-20"))
    assert chosen(tmp_path) == PACKAGED
    (tmp_path / FORCED).write_bytes(tampered(lambda sections: None, snapshot="2025-01-01"))
    assert chosen(tmp_path) == tmp_path / FORCED
    assert load_catalog(chosen(tmp_path)).snapshot == "2025-01-01"


def test_a_damaged_installed_file_is_not_passed_over_in_silence(tmp_path):
    (tmp_path / NEWER).write_bytes(PACKAGED.read_bytes()[:1000])
    with pytest.raises(CatalogUnusable):
        load_catalog(chosen(tmp_path))


def test_quota_of_flex_start_is_that_of_spot_and_of_calendar_is_not_known():
    quota = load.load_catalog().chips["H100"].quota
    assert quota == {
        Buy.ON_DEMAND: "GPUS_PER_GPU_FAMILY:NVIDIA_H100",
        Buy.SPOT: "PREEMPTIBLE_NVIDIA_H100_GPUS",
        Buy.FLEX_START: "PREEMPTIBLE_NVIDIA_H100_GPUS",
        Buy.CALENDAR: None,
    }
