"""Names the user chooses: of runs, environment variables, labels, data, engines.

Must not accept what would break a shell or a file system.
"""

from __future__ import annotations

import re

from windlass.spec.refused import Refused, quoted

NAME_MAX = 100
SLUG_MAX = 40
LABEL_MAX = 63
LABEL_BYTES_MAX = 128

# What a shell or a file system would act upon.
FORBIDDEN = frozenset("/\\:'\"$`;|&<>*?!")
# Patterns are compiled when they are first used, so that start-up does not pay for them.
# Two joiners that scripts and emoji need inside a word; otherwise nothing unprintable is allowed.
_JOINERS = {ord("\u200c"): None, ord("\u200d"): None}
_WINDOWS = r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?"

_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_DATA = r"[A-Za-z][A-Za-z0-9_]*"
_ENGINE = r"[a-z][a-z0-9-]{0,62}"
_REGION = r"[a-z0-9*-]{1,63}"
_MACHINE = r"[a-z][a-z0-9-]{0,62}"
_IMAGE = r"[^\s'\"$`;|&<>\\]{1,512}"
RESERVED_VARIABLES = "WINDLASS_"
_RESERVED_LABELS = ("windlass", "goog")


def run_name(text: str) -> str:
    """The name of a run: letters of any script, digits, spaces and most punctuation."""
    fault = _name_fault(text)
    if fault is not None:
        remedy = f"Use letters, digits, spaces, `-`, `_` and `.`, such as `{safe_name(text)}`."
        raise Refused("bad-name", f"the name {quoted(text)} {fault}", remedy=remedy)
    return text


def is_run_name(text: str) -> bool:
    """Whether a run may go by that name."""
    return _name_fault(text) is None


def safe_name(text: str) -> str:
    """The text when it may name a run, otherwise a name that is like it."""
    for name in (text, slug(text)):
        if is_run_name(name):
            return name
    return f"run-{slug(text)}"


def _name_fault(text: str) -> str | None:
    if not text.strip():
        return "is empty"
    if len(text) > NAME_MAX:
        return f"is longer than {NAME_MAX} characters"
    if not text.translate(_JOINERS).isprintable():
        return "holds a character that cannot be seen"
    strange = sorted(set(text) & FORBIDDEN)
    if strange:
        return f"holds {' '.join(strange)}"
    if text[0] in "-.":
        return f"starts with `{text[0]}`"
    if text != text.strip() or text.endswith("."):
        return "starts or ends with a space, or ends with a dot"
    if re.fullmatch(_WINDOWS, text):
        return "is one that Windows keeps for a device"
    return None


def slug(name: str) -> str:
    """The stem of a run's id: `[a-z][a-z0-9-]*`, at most 40 characters, `run` if nothing is left.

    The slug of a slug is itself.
    """
    folded = name[: NAME_MAX * 10].casefold()
    if not folded.isascii():
        import unicodedata  # noqa: PLC0415 - most names are ASCII and need no tables.

        folded = unicodedata.normalize("NFKD", folded).casefold()
        folded = "".join(c for c in folded if not unicodedata.combining(c))
    stem = re.sub("[^a-z0-9]+", "-", folded).strip("-")
    if stem and not stem[0].isalpha():
        stem = f"run-{stem}"
    return stem[:SLUG_MAX].rstrip("-") or "run"


def variable_name(text: str) -> str:
    """The name of an environment variable that is the user's to set."""
    if not re.fullmatch(_VARIABLE, text) or len(text) > 255:
        remedy = "Use letters, digits and `_`, not starting with a digit."
        message = f"{quoted(text)} is not the name of an environment variable"
        raise Refused("bad-variable", message, remedy=remedy)
    if text.upper().startswith(RESERVED_VARIABLES):
        message = f"{quoted(text)} is set by Windlass itself"
        raise Refused("reserved-name", message, remedy="Choose a name without `WINDLASS_`.")
    return text


def data_name(text: str) -> str:
    """A name under `data`: it becomes `WINDLASS_DATA_<NAME>` in the environment."""
    if not re.fullmatch(_DATA, text) or len(text) > LABEL_MAX:
        remedy = "Use letters, digits and `_`, starting with a letter."
        raise Refused("bad-data-name", f"{quoted(text)} cannot name data", remedy=remedy)
    return text


def engine_name(text: str) -> str:
    """The name of an engine; whether there is one by that name is for others to say."""
    return _matching(_ENGINE, text, "an engine", "such as `local`")


def region_pattern(text: str) -> str:
    """A region, or several with `*`."""
    return _matching(_REGION, text, "a region", "such as `us-*` or `europe-west4`")


def machine_name(text: str) -> str:
    """A machine type."""
    return _matching(_MACHINE, text, "a machine type", "such as `a3-highgpu-8g`")


def image_name(text: str) -> str:
    """A container image."""
    return _matching(_IMAGE, text, "a container image", "such as `python:3.12-slim`")


def _matching(pattern: str, text: str, what: str, example: str) -> str:
    if not re.fullmatch(pattern, text):
        remedy = f"Write {what}, {example}."
        raise Refused("bad-name", f"{quoted(text)} cannot be {what}", remedy=remedy)
    return text


def label_key(text: str) -> str:
    """The key of a label, by Google's rules."""
    if not text or not text[0].isalpha() or not _is_label(text):
        raise _bad_label(text, "key", "It starts with a lower-case letter.")
    if text.startswith(_RESERVED_LABELS):
        message = f"the label {quoted(text)} is reserved"
        raise Refused("reserved-name", message, remedy="Choose one without `windlass` or `goog`.")
    return text


def label_value(text: str) -> str:
    """The value of a label, by Google's rules; it may be empty."""
    if not _is_label(text):
        raise _bad_label(text, "value", "It may be empty.")
    return text


def _is_label(text: str) -> bool:
    if len(text) > LABEL_MAX or len(text.encode("utf-8")) > LABEL_BYTES_MAX:
        return False
    return all(c in "-_" or (c.isalnum() and c == c.lower()) for c in text)


def _bad_label(text: str, part: str, more: str) -> Refused:
    return Refused(
        "bad-label",
        f"{quoted(text)} cannot be the {part} of a label",
        remedy=f"Use up to {LABEL_MAX} lower-case letters, digits, `-` and `_`. {more}",
    )
