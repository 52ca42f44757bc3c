"""Labels and names of what engines rent from Google: how a claim's things are found again.

Must not look anything up. Pure.
"""

from __future__ import annotations

import hashlib

from windlass.engines.base import ClaimRequest, Handle

NAME_MAX = 63
OURS = "windlass"
CLAIM_LABEL = "windlass-claim"
RUN_LABEL = "windlass-run"
EXPIRY_LABEL = "windlass-expires"
NODES_KEY = "windlass-nodes"
"""In the metadata of machines: how many nodes their claim has, those included that are gone."""


def label_value(text: str) -> str:
    """A text as a label's value."""
    return fitted("".join(c if c.isalnum() or c in "-_" else "-" for c in text.lower()), NAME_MAX)


def labels(claim: ClaimRequest) -> dict[str, str]:
    """What every object of a claim carries."""
    own = {
        OURS: "true",
        CLAIM_LABEL: label_value(claim.id),
        RUN_LABEL: label_value(claim.run),
    }
    expires_at = claim.ends_at if claim.ends_at is not None else claim.expires_at
    if expires_at is not None:
        own[EXPIRY_LABEL] = str(int(expires_at))
    given = {label_value(key): label_value(value) for key, value in claim.labels.items()}
    return {**given, **own}


def request_id(claim: str, part: str) -> str:
    """The same for the same claim, whoever asks: Google does nothing twice for one id. It has the
    form of a UUID that is made of a name."""
    mark = hashlib.sha256(f"{claim}/{part}".encode()).hexdigest()
    return f"{mark[:8]}-{mark[8:12]}-5{mark[13:16]}-8{mark[17:20]}-{mark[20:32]}"


def handle_of(place: str, claim: str) -> Handle:
    """The engine's name for a claim: where it is, and which."""
    return Handle(f"{place}/{claim}")


def split_handle(handle: Handle) -> tuple[str, str]:
    """Place and claim of a handle."""
    place, _, claim = handle.partition("/")
    return place, claim


def fitted(text: str, length: int) -> str:
    """A text in so many characters; one that is cut is still told from others."""
    if len(text) <= length:
        return text.rstrip("-")
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{text[: length - 9].rstrip('-')}-{mark}"
