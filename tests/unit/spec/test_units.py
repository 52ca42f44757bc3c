"""Units read what people write, refuse what is unclear, and read back what they print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.spec import units
from windlass.spec.refused import Refused

DURATIONS = {
    "90s": 90,
    "15m": 900,
    "72h": 259_200,
    "2d": 172_800,
    "1h30m": 5400,
    "1h 30m": 5400,
    "1.5h": 5400,
    "0.25s": 0.25,
    "1d2h3m4s": 93_784,
    " 5M ": 300,
}
SIZES = {
    "512MiB": 512 * 1024**2,
    "10GB": 10**10,
    "1.5TiB": 3 * 1024**4 // 2,
    "1 kB": 1000,
    "1KiB": 1024,
    "7b": 7,
    "0.3B": None,
    "2 gib": 2 * 1024**3,
    "1PB": 10**15,
}
MONEY = {"900 USD": 900, "$900": 900, "$ 12.50": 12.5, "0.01usd": 0.01, "$5 USD": 5}


@pytest.mark.parametrize(("text", "seconds"), DURATIONS.items())
def test_a_duration_is_read(text, seconds):
    assert units.duration_s(text) == seconds


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("72", "duration-without-unit"),
        ("1e3", "duration-without-unit"),
        ("", "bad-duration"),
        ("h", "bad-duration"),
        ("-5s", "bad-duration"),
        ("5s 3", "bad-duration"),
        ("5 minutes", "bad-duration"),
        ("1h1h", "bad-duration"),
        ("1h,2m", "bad-duration"),
        ("٣s", "bad-duration"),
        ("9999999d", "duration-too-long"),
        ("1h" * 1000, "bad-duration"),
    ],
)
def test_a_duration_that_is_unclear_is_refused(text, code):
    with pytest.raises(Refused) as caught:
        units.duration_s(text)
    assert caught.value.code == code


@given(st.integers(0, int(units.DURATION_MAX_S * 10**6)))
def test_a_duration_reads_back_as_printed(microseconds):
    seconds = round(microseconds / 1e6, 6)
    assert units.duration_s(units.duration_text(seconds)) == pytest.approx(seconds, abs=1e-6)


@given(st.integers(0, int(units.DURATION_MAX_S)))
def test_a_duration_of_whole_seconds_reads_back_exactly(seconds):
    assert units.duration_s(units.duration_text(seconds)) == seconds


@pytest.mark.parametrize(("text", "size"), SIZES.items())
def test_a_size_is_read(text, size):
    if size is None:
        with pytest.raises(Refused, match="above zero"):
            units.size_bytes(text)
    else:
        assert units.size_bytes(text) == size


@pytest.mark.parametrize(
    "text", ["", "5G", "5 Gi", "GB", "-1GB", "1e3GB", "1..5GB", "9" * 99 + "B"]
)
def test_a_size_that_is_unclear_is_refused(text):
    with pytest.raises(Refused):
        units.size_bytes(text)


@given(st.integers(1, 10**18))
def test_a_size_reads_back_exactly(size):
    assert units.size_bytes(units.size_text(size)) == size


@pytest.mark.parametrize(("size", "text"), [(10**10, "10GB"), (1024**3, "1GiB"), (1001, "1001B")])
def test_a_size_is_printed_with_the_largest_unit_that_fits(size, text):
    assert units.size_text(size) == text


@pytest.mark.parametrize(("text", "amount"), MONEY.items())
def test_money_is_read(text, amount):
    assert units.money_usd(text) == amount


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("900", "money-without-currency"),
        ("900 EUR", "currency-refused"),
        ("€900", "currency-refused"),
        ("£5", "currency-refused"),
        ("0 USD", "not-positive"),
        ("", "bad-money"),
        ("1,200 USD", "bad-money"),
        ("lots", "bad-money"),
        ("1.234 USD", "bad-money"),
    ],
)
def test_money_that_is_unclear_is_refused(text, code):
    with pytest.raises(Refused) as caught:
        units.money_usd(text)
    assert caught.value.code == code


@given(st.integers(1, 10**12))
def test_money_reads_back_to_the_cent(cents):
    assert units.money_usd(units.money_text(cents / 100)) == cents / 100


@pytest.mark.parametrize(
    ("text", "value"), [("7e9", 7e9), ("20_000", 20_000), (".5", 0.5), ("+4", 4), ("2E11", 2e11)]
)
def test_a_number_is_read(text, value):
    assert units.number(text) == value


@pytest.mark.parametrize("text", ["", "x", "1e999", "nan", ".inf", "0x10", "1,5", "9" * 40, "_1"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(Refused) as caught:
        units.number(text)
    assert caught.value.code == "bad-number"


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_a_range_reads_back_as_printed(first, second):
    least, most = sorted((first, second))
    assert units.whole_range(units.range_text(least, most), low=1, high=10_000) == (least, most)


@given(st.text(max_size=60))
def test_no_text_breaks_a_reader(text):
    readers = (units.duration_s, units.size_bytes, units.money_usd, units.number)
    for reader in (*readers, lambda value: units.whole_range(value, low=1, high=9)):
        try:
            reader(text)
        except Refused as refused:
            assert refused.remedy
