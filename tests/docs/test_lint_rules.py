"""docs/concepts/lint-gcloud.md lists exactly the rules that there are."""

from __future__ import annotations

import tree
from windlass.gcloudlint.lint import RULES


def test_the_table_of_rules_is_the_one_of_the_program():
    page = tree.text("docs/concepts/lint-gcloud.md")
    table = page.partition("## Rules")[2].splitlines()
    rows = [line for line in table if line.startswith("| `")]
    assert rows == [f"| `{rule.id}` | {rule.severity} | {rule.summary} |" for rule in RULES]
