"""The form that every section of a compact file must have.

Must not judge what the values mean (check.py does). A file that passes can be decoded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from windlass.catalog.container import Container
from windlass.catalog.model import Buy

Form = Callable[[Any], bool]
TEXT_MAX = 2_000
OFFERS_MAX = 1_000_000
"""Zones times prices. A small file can stand for more than fits into memory."""


def text(value: Any) -> bool:
    """Words, printable and not endless."""
    return isinstance(value, str) and 0 < len(value) <= TEXT_MAX and value.isprintable()


def figure(value: Any) -> bool:
    """A number above zero, or zero."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e12


def count(value: Any) -> bool:
    """A whole number."""
    return isinstance(value, int) and figure(value)


def flag(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def maybe(form: Form) -> Form:
    """The form, or nothing."""
    return lambda value: value is None or form(value)


def many(form: Form) -> Form:
    """A list of them."""
    return lambda value: isinstance(value, list) and all(map(form, value))


def row(*forms: Form) -> Form:
    """A list of exactly these."""
    return lambda value: (
        isinstance(value, list)
        and len(value) == len(forms)
        and all(form(cell) for form, cell in zip(forms, value, strict=True))
    )


def record(**forms: Form) -> Form:
    """A mapping with exactly these keys."""
    return lambda value: (
        isinstance(value, dict)
        and set(value) == set(forms)
        and all(form(value[key]) for key, form in forms.items())
    )


def mapping(form: Form) -> Form:
    """A mapping from words."""
    return lambda value: (
        isinstance(value, dict) and all(text(key) and form(cell) for key, cell in value.items())
    )


def some(value: Any) -> bool:
    """A number above zero."""
    return figure(value) and value > 0


def priced_once(value: Any) -> bool:
    """Rows of prices, none of them for the same scope as another."""
    is_well_formed = many(row(text, figure, count))
    return is_well_formed(value) and len({scope for scope, *_ in value}) == len(value)


def either(*forms: Form) -> Form:
    """Any of these."""
    return lambda value: any(form(value) for form in forms)


def _written(value: Any) -> bool:
    return value == "" or text(value)


def _name_of_buy(value: Any) -> bool:
    return isinstance(value, str) and value in {str(buy) for buy in Buy}


_maybe_text, _maybe_figure = maybe(text), maybe(figure)
_zones = re.compile(r"[a-z0-9]+(,[a-z0-9]+)*|").fullmatch
_price_row = (text, lambda value: isinstance(value, str) and bool(_zones(value)), _maybe_figure)

FORMS: dict[str, Form] = {
    "chips": mapping(
        record(
            kind=lambda value: value in ("gpu", "tpu"),
            google_name=text,
            aliases=many(text),
            memory_gib=some,
            memory_gb_per_s=some,
            peak_bf16_tflops=_maybe_figure,
            peak_fp16_tflops=_maybe_figure,
            peak_fp8_tflops=_maybe_figure,
            scale_up_gb_per_s=_maybe_figure,
            quota_on_demand=_maybe_text,
            quota_spot=_maybe_text,
            gke_label=_maybe_text,
            source=text,
        )
    ),
    "machines": mapping(
        row(
            *(text, text, _maybe_text, count, some, some, _maybe_figure, maybe(count)),
            *(_maybe_figure, _maybe_text, _maybe_figure, many(_name_of_buy), maybe(flag)),
        )
    ),
    "slices": mapping(
        row(
            *(text, text, text, some, some, some, some, text),
            *(_maybe_text, _maybe_text, _maybe_text, text),
        )
    ),
    "zones": many(text),
    "local_ssd": mapping(row(figure, _maybe_figure)),
    "other_prices": record(
        sources=many(row(text, _written, text)),
        items=mapping(row(text, priced_once)),
    ),
    "images": many(
        record(
            kind=text,
            name=text,
            project=_maybe_text,
            os=text,
            os_version=text,
            arch=text,
            chips=many(text),
            notes=_written,
            source=text,
        )
    ),
}
OFFERS_FORM = mapping(
    many(
        either(
            row(*_price_row, _maybe_figure),
            row(*_price_row, *[_maybe_figure] * 4, text),
        )
    )
)


def problems(container: Container, offers: str) -> Iterator[str]:
    """What is wrong with the form of a file; `offers` begins the names of sections of offers."""
    for name in FORMS:
        if name not in container.names:
            yield f"the section {name!r} is missing"
    offers_count = 0
    for name in container.names:
        form = OFFERS_FORM if name.startswith(offers) else FORMS.get(name)
        if form is None:
            yield f"the section {name!r} is not known"
            continue
        try:
            value = json.loads(
                container.text(name), object_pairs_hook=_unique, parse_constant=_no_number
            )
        except (ValueError, RecursionError) as exc:
            yield f"the section {name!r} is not plain JSON: {exc}"
            continue
        if not form(value):
            yield f"the section {name!r} does not have the form that it must have"
        elif name.startswith(offers):
            offers_count += sum(_offers(prices) for rows in value.values() for prices in rows)
    if offers_count > OFFERS_MAX:
        yield f"{offers_count:,} offers are more than there can be"


def _offers(prices: list[Any]) -> int:
    zones: str = prices[1]
    return (zones.count(",") + 1) * (len(prices) - 2)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")
