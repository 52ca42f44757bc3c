from __future__ import annotations

from typing import Any

import pytest

from googleapis import Service

ACCOUNT = "billingAccounts/0X0X0X-0X0X0X-0X0X0X"
BUDGETS = f"{ACCOUNT}/budgets"


class Google(Service):
    host = "billingbudgets.googleapis.com"


class Beta(Google):
    prefix = "/v1beta1"


def amount(units: int, currency: str = "USD") -> dict[str, Any]:
    return {"specifiedAmount": {"currencyCode": currency, "units": str(units)}}


BUDGET = {
    "displayName": "GPUs",
    "amount": amount(1000),
    "thresholdRules": [{"thresholdPercent": 0.5}],
    "notificationsRule": {"disableDefaultIamRecipients": True},
}


def test_budget_is_filled_in_and_listed() -> None:
    google = Google()
    budget = google.done("POST", BUDGETS, BUDGET)
    assert budget["thresholdRules"] == [{"thresholdPercent": 0.5, "spendBasis": "CURRENT_SPEND"}]
    assert budget["budgetFilter"]["calendarPeriod"] == "MONTH"
    assert google.done("GET", BUDGETS)["budgets"] == [budget]
    assert google.done("GET", budget["name"]) == budget


def test_only_what_the_mask_names_is_changed() -> None:
    google = Google()
    name = google.done("POST", BUDGETS, BUDGET)["name"]
    change = {"displayName": "TPUs", "amount": amount(2000)}
    google.done("PATCH", name, change, updateMask="amount.specified_amount")
    budget = google.done("GET", name)
    assert (budget["displayName"], budget["amount"]) == ("GPUs", amount(2000))


def test_stale_etag_is_refused() -> None:
    google = Google()
    budget = google.done("POST", BUDGETS, BUDGET)
    google.done("PATCH", budget["name"], {"displayName": "x"})
    stale = {"displayName": "y", "etag": budget["etag"]}
    assert google.no("PATCH", budget["name"], stale)[1] == "ABORTED"


def test_deleted_budget_is_gone() -> None:
    google = Google()
    name = google.done("POST", BUDGETS, BUDGET)["name"]
    google.done("DELETE", name)
    assert google.done("GET", BUDGETS) == {}
    assert google.no("GET", name)[0] == 404


def test_beta_has_its_own_word_for_who_is_notified() -> None:
    google = Beta()
    rule = {"disableDefaultIamRecipients": True}
    given = {"displayName": "b", "amount": amount(5), "allUpdatesRule": rule}
    budget = google.done("POST", BUDGETS, {"budget": given})
    assert budget["allUpdatesRule"] == rule
    change = {"budget": {"allUpdatesRule": {}}, "updateMask": "all_updates_rule"}
    assert google.done("PATCH", budget["name"], change)["allUpdatesRule"] == {}
    assert google.done("GET", BUDGETS)["budgets"][0]["name"] == budget["name"]


def test_custom_period_takes_the_place_of_the_month() -> None:
    period = {"startDate": {"year": 2026, "month": 1, "day": 1}}
    budget = Google().done("POST", BUDGETS, {**BUDGET, "budgetFilter": {"customPeriod": period}})
    assert "calendarPeriod" not in budget["budgetFilter"]


REFUSALS: dict[str, tuple[str, dict[str, Any], int]] = {
    "no amount": (BUDGETS, {"displayName": "x"}, 400),
    "other currency": (BUDGETS, {"amount": amount(5, "EUR")}, 400),
    "long name": (BUDGETS, {"amount": amount(5), "displayName": "x" * 61}, 400),
    "other account": ("billingAccounts/1-2-3/budgets", BUDGET, 403),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_wrong_budget_is_refused(case: str) -> None:
    path, body, code = REFUSALS[case]
    assert Google().no("POST", path, body)[0] == code


def test_budgets_need_a_role() -> None:
    google = Google()
    _, token = google.account("robot")
    assert google.no("GET", BUDGETS, token=token)[0] == 403
