from __future__ import annotations

import pytest

from windlass.twin.compute.filters import parsed
from windlass.twin.refusals import Refusal

VM = {
    "name": "train-7",
    "status": "RUNNING",
    "zone": "https://www.googleapis.com/compute/v1/projects/p/zones/us-east5-a",
    "labels": {"team": "vision"},
    "disks": [{"diskSizeGb": "50"}, {"diskSizeGb": "200"}],
    "deletionProtection": False,
}
HOLDS = {
    "nothing is asked": "",
    "equal": "status = RUNNING",
    "equal without spaces": "status=RUNNING",
    "unequal": "status != TERMINATED",
    "a label": "labels.team = vision",
    "contains": "zone:us-east5",
    "has the field": "labels.team:*",
    "wildcard": "name = train-*",
    "both": "status = RUNNING AND labels.team:vision",
    "side by side": "(status = RUNNING) (name = train-7)",
    "one of two": "status = STOPPED OR name = train-7",
    "negated": "NOT status = STOPPED",
    "in brackets": "(status = STOPPED OR status = RUNNING) AND name = train-7",
    "more than": "disks.diskSizeGb > 100",
    "a boolean": "deletionProtection = false",
    "quoted": 'name = "train-7"',
    "what gcloud sends for a zone": r'(zone eq ".*\bus\-east5\-a\b.*")(status eq RUNNING)',
    "what gcloud sends for a name": r'name eq ".*\btrain\b.*"',
    "what gcloud sends for a pattern": 'name eq ".*(^train).*"',
    "not equal, of old": "status ne STOPPED",
}
FAILS = {
    "another status": "status = STOPPED",
    "another label": "labels.team = speech",
    "a field that is not there": "labels.owner:*",
    "an old expression must match all": "name eq train",
    "one of both": "status = RUNNING AND name = other",
    "less than": "disks.diskSizeGb < 50",
}
REFUSED = {
    "no value": "status =",
    "no field": "= RUNNING",
    "open bracket": "(status = RUNNING",
    "a broken expression": 'name eq "("',
    "too long": "status = RUNNING OR " * 300 + "status = X",
    "only a word": "RUNNING",
}


@pytest.mark.parametrize("text", HOLDS.values(), ids=HOLDS)
def test_filter_lets_through(text: str) -> None:
    assert parsed(text)(VM)


@pytest.mark.parametrize("text", FAILS.values(), ids=FAILS)
def test_filter_holds_back(text: str) -> None:
    assert not parsed(text)(VM)


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_filter_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        parsed(text)
    assert caught.value.code == 400
