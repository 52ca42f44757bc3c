"""The policy that the page shows is one that Windlass takes, and the page explains every key."""

from __future__ import annotations

import pages
import tree
from windlass.policy.document import KEYS, NO_POLICY, parse_policy

PAGE = "docs/concepts/policy.md"


def test_the_policy_that_is_shown_has_no_problems_and_uses_every_key():
    [block] = [one for one in pages.blocks(tree.text(PAGE)) if "required_labels:" in one.text]
    assert parse_policy(block.text, path=PAGE) != NO_POLICY
    assert [line.partition(":")[0] for line in block.text.splitlines()] == list(KEYS)


def test_every_key_has_a_row():
    rows = [line.split("`")[1] for line in tree.text(PAGE).splitlines() if line.startswith("| `")]
    assert rows == list(KEYS)
