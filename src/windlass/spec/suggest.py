"""What a misspelt word was probably meant to be.

Must not be costly when nothing is misspelt: difflib is imported only then.
"""

from __future__ import annotations

from collections.abc import Sequence

# A longer word is junk, and comparing junk costs time.
LONGEST = 64


def nearest(word: str, choices: Sequence[str]) -> str | None:
    """The choice nearest to the word, or None when none is near."""
    if len(word) > LONGEST:
        return None
    folded = {_fold(choice): choice for choice in choices}
    exact = folded.get(_fold(word))
    if exact is not None:
        return exact
    import difflib  # noqa: PLC0415 - only a file with a mistake pays for it.

    found = difflib.get_close_matches(_fold(word), list(folded), n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def did_you_mean(word: str, choices: Sequence[str], *, otherwise: str) -> str:
    """A remedy: the nearest choice, or the given sentence when none is near."""
    found = nearest(word, choices)
    return f"Did you mean `{found}`?" if found else otherwise


def _fold(word: str) -> str:
    return word.casefold().replace("_", "-").replace(" ", "-")
