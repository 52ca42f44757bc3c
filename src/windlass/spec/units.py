"""Durations, sizes, money, counts and ranges: text to value and back.

Must not know which key they stand for. Each reader takes text and raises Refused.
"""

from __future__ import annotations

import math
import re

from windlass.spec.refused import Refused, quoted

# A longer number is a mistake, and turning it into a value could take long.
_DIGITS_MAX = 30
DURATION_MAX_S = 3650 * 86400.0

# Patterns are compiled when they are first used, so that start-up does not pay for them.
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_PART = r"(?a)(\d+(?:\.\d+)?)([a-z]+)"
_NUMBER = r"(?ai)[+-]?(\d[\d_]*(\.\d*)?|\.\d+)(e[+-]?\d+)?"
_SIZE = r"(?a)(\d+)(?:\.(\d+))?\s*([A-Za-z]*)"
_MONEY = r"(?a)(?P<sign>\$)?\s*(?P<amount>\d+(?:\.\d{1,2})?)\s*(?P<currency>[A-Za-z]*)"
_FOREIGN = r"(?i)[€£¥₹]|\b(?!usd)[a-z]{3}\b"
_RANGE = r"(?a)(\d+)(?:\s*\.\.\s*(\d+))?"

_BYTES: dict[str, int] = {
    "B": 1,
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("kMGTP", start=1)},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGTP", start=1)},
}
_BYTES_FOLDED = {unit.casefold(): size for unit, size in _BYTES.items()}

_DURATION_REMEDY = "Write a number and s, m, h or d, such as 90s, 15m, 72h, 2d or 1h30m."
_SIZE_REMEDY = "Write a number and a unit, such as 512MiB, 10GB or 1.5TiB."
_MONEY_REMEDY = "Write it in US dollars, such as 900 USD or $900."


def duration_s(text: str) -> float:
    """Seconds of `90s`, `15m`, `72h`, `2d` or `1h30m`, to the microsecond."""
    compact = "".join(text.split()).casefold()
    if re.fullmatch(_NUMBER, compact):
        raise Refused(
            "duration-without-unit",
            f"{quoted(text)} has no unit",
            remedy=f"Write {compact}s for seconds or {compact}h for hours."
            if compact.isdigit() and len(compact) < _DIGITS_MAX
            else _DURATION_REMEDY,
        )
    parts = re.findall(_PART, compact)
    units = [unit for _, unit in parts]
    is_whole = "".join(number + unit for number, unit in parts) == compact
    if not parts or not is_whole or len(compact) > _DIGITS_MAX:
        raise Refused("bad-duration", f"{quoted(text)} is not a duration", remedy=_DURATION_REMEDY)
    unknown = [unit for unit in units if unit not in _SECONDS]
    if unknown or len(set(units)) < len(units):
        what = f"unit {quoted(unknown[0])} is unknown" if unknown else "a unit is named twice"
        raise Refused("bad-duration", f"in {quoted(text)}, {what}", remedy=_DURATION_REMEDY)
    total = round(sum(float(number) * _SECONDS[unit] for number, unit in parts), 6)
    if total > DURATION_MAX_S:
        raise Refused(
            "duration-too-long", f"{quoted(text)} is longer than ten years", remedy=_DURATION_REMEDY
        )
    return total


def positive_duration_s(text: str) -> float:
    """A duration above zero."""
    seconds = duration_s(text)
    if seconds <= 0:
        raise Refused("not-positive", "the duration must be above zero", remedy=_DURATION_REMEDY)
    return seconds


def duration_text(seconds: float) -> str:
    """The shortest way to write a duration that reads back as the same number of seconds."""
    micro = round(seconds * 1e6)
    whole, rest = divmod(micro, 1_000_000)
    text = ""
    for unit, size in _SECONDS.items():
        count, whole = divmod(whole, size)
        if unit == "s" and rest:
            text += f"{count}.{rest:06d}".rstrip("0") + "s"
        elif count:
            text += f"{count}{unit}"
    return text or "0s"


def size_bytes(text: str) -> int:
    """Bytes of `512MiB`, `10GB` or `1.5TiB`, rounded to a whole byte."""
    match = re.fullmatch(_SIZE, text.strip())
    if match is None or len(text) > _DIGITS_MAX:
        raise Refused("bad-size", f"{quoted(text)} is not a size", remedy=_SIZE_REMEDY)
    whole, fraction, unit = match.group(1), match.group(2) or "", match.group(3)
    if not unit:
        remedy = f"Write {text.strip()}GiB or {text.strip()}GB if gigabytes are meant."
        raise Refused("size-without-unit", f"{quoted(text)} has no unit", remedy=remedy)
    scale = _BYTES_FOLDED.get(unit.casefold())
    if scale is None:
        message = f"in {quoted(text)}, unit {quoted(unit)} is unknown"
        raise Refused("bad-size", message, remedy=_SIZE_REMEDY)
    divisor: int = 10 ** len(fraction)
    size = (int(whole + fraction) * scale * 2 + divisor) // (2 * divisor)
    if size <= 0:
        raise Refused("not-positive", "the size must be above zero", remedy=_SIZE_REMEDY)
    return size


def size_text(size: int) -> str:
    """The unit that gives the smallest whole number: reads back as exactly this many bytes."""
    whole = [unit for unit, scale in _BYTES.items() if size % scale == 0]
    unit = max(whole, key=_BYTES.__getitem__)
    return f"{size // _BYTES[unit]}{unit}"


def money_usd(text: str) -> float:
    """Dollars of `900 USD` or `$900`; other currencies are refused."""
    match = re.fullmatch(_MONEY, text.strip())
    if match is not None and len(text) <= _DIGITS_MAX:
        currency = match["currency"].upper()
        amount = float(match["amount"])
        if currency == "USD" or (match["sign"] and not currency):
            return _positive_money(amount)
        if not currency:
            remedy = f"Write {match['amount']} USD."
            raise Refused(
                "money-without-currency", f"{quoted(text)} has no currency", remedy=remedy
            )
    if re.search(_FOREIGN, text):
        message = f"{quoted(text)} is not in US dollars, the currency prices are known in"
        raise Refused("currency-refused", message, remedy=_MONEY_REMEDY)
    raise Refused("bad-money", f"{quoted(text)} is not an amount of money", remedy=_MONEY_REMEDY)


def _positive_money(amount: float) -> float:
    if amount <= 0:
        raise Refused("not-positive", "the amount must be above zero", remedy=_MONEY_REMEDY)
    return amount


def money_text(amount_usd: float) -> str:
    """An amount to the cent, as it is written in a spec."""
    text = f"{amount_usd:.2f}"
    return f"{text.removesuffix('.00')} USD"


def number(text: str) -> float:
    """A finite number: `4`, `0.5`, `7e9`, `20_000`."""
    compact = text.strip()
    value = math.nan
    if re.fullmatch(_NUMBER, compact) and len(compact) <= _DIGITS_MAX:
        value = float(compact.replace("_", ""))
    if not math.isfinite(value):
        remedy = "Write a plain number, such as 4, 0.5 or 7e9."
        raise Refused("bad-number", f"{quoted(text)} is not a number", remedy=remedy)
    return value


def positive_number(text: str) -> float:
    """A finite number above zero."""
    value = number(text)
    if value <= 0:
        message = f"{quoted(text)} is not above zero"
        raise Refused("not-positive", message, remedy="Write a number above zero.")
    return value


def whole_number(text: str, *, low: int, high: int) -> int:
    """A whole number between the two, which may be written `2e4`."""
    value = number(text)
    if value != int(value):
        remedy = f"Write a whole number from {low} to {high}."
        raise Refused("bad-number", f"{quoted(text)} is not a whole number", remedy=remedy)
    if not low <= value <= high:
        message = f"{quoted(text)} is not between {low} and {high}"
        raise Refused("out-of-range", message, remedy=f"Write a number from {low} to {high}.")
    return int(value)


def whole_range(text: str, *, low: int, high: int) -> tuple[int, int]:
    """Both ends of `2..64`; of `4`, twice that."""
    match = re.fullmatch(_RANGE, text.strip())
    if match is None or len(text) > _DIGITS_MAX:
        remedy = "Write a number such as 4, or a range such as 2..64."
        raise Refused("bad-range", f"{quoted(text)} is not a number of nodes", remedy=remedy)
    least = whole_number(match.group(1), low=low, high=high)
    most = whole_number(match.group(2) or match.group(1), low=low, high=high)
    if least > most:
        message = f"in {quoted(text)}, the first number is above the second"
        raise Refused("bad-range", message, remedy=f"Write {most}..{least}.")
    return least, most


def range_text(least: int, most: int) -> str:
    """The range as it is written in a spec."""
    return str(least) if least == most else f"{least}..{most}"
