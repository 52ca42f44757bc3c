"""Text that never ends and costs nothing: little stories with a sum in them.

Must give the same words for the same position on every machine: a resumed run reads on.
"""

from __future__ import annotations

import numpy as np

NAMES = "ada ben cleo dan eva finn".split()
NUMBERS = [str(number) for number in range(19)]
COLOURS = "red green blue yellow".split()
THINGS = "apples books coins keys shells stones".split()
VERBS = "finds buys gets".split()
WORDS = [*NUMBERS, *NAMES, *COLOURS, *THINGS, *VERBS, "has", "and", "more", "so", "."]
NUMBER_OF = {word: number for number, word in enumerate(WORDS)}

SENTENCE = "name has first colour thing and verb second more so name has sum colour thing ."
CHOICES = {"name": NAMES, "colour": COLOURS, "thing": THINGS, "verb": VERBS}


def tokens(position: int, length: int) -> np.ndarray:
    """The word numbers of the text at this position."""
    chance = np.random.default_rng((2024, position))
    count = length // len(SENTENCE.split()) + 1
    blanks = {
        blank: NUMBER_OF[words[0]] + chance.integers(len(words), size=count)
        for blank, words in CHOICES.items()
    }
    blanks["first"], blanks["second"] = chance.integers(10, size=(2, count))
    blanks["sum"] = blanks["first"] + blanks["second"]
    columns = [
        blanks[word] if word in blanks else np.full(count, NUMBER_OF[word])
        for word in SENTENCE.split()
    ]
    offset = int(chance.integers(len(columns)))
    return np.roll(np.stack(columns, axis=1).reshape(-1), -offset)[:length].astype(np.int32)


def batch(position: int, rows: int, length: int) -> np.ndarray:
    """`rows` texts from this position on, one word longer than `length`: the last is predicted."""
    return np.stack([tokens(position + row, length + 1) for row in range(rows)])


def words(numbers: np.ndarray) -> str:
    """The text that the numbers stand for."""
    return " ".join(WORDS[int(number)] for number in numbers)
