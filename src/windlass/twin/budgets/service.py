"""Cloud Billing Budgets: what a billing account means to spend.

Must not stop anything when a budget is passed: neither does Google's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route
from windlass.twin.paging import page
from windlass.twin.refusals import Refusal
from windlass.twin.wellknown import patched

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud

MOST = 100
LONGEST_NAME = 60
BETA = "v1beta1"
CURRENCY = "USD"
"""Of the twin's billing account."""
FILTER = {"creditTypesTreatment": "INCLUDE_ALL_CREDITS", "calendarPeriod": "MONTH"}


class Budgets:
    """The budgets of the one billing account, kept in the shape of v1."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._budgets = cloud.documents("budgets")

    def create(self, call: Call) -> dict[str, Any]:
        """A budget with an id of Google's own."""
        parent = self._account(call.params["parent"])
        given = _first(call.body.get("budget", {})) if _is_beta(call) else call.body
        name = f"{parent}/budgets/{self._new_id()}"
        return self._kept({**given, "name": name}, call)

    def get(self, call: Call) -> dict[str, Any]:
        """One of them."""
        return _shown(self._find(call), call)

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of the account."""
        prefix = f"{self._account(call.params['parent'])}/budgets/"
        found = [_shown(one, call) for _, one in self._budgets.under(prefix)]
        size, token = call.query.get("pageSize"), call.query.get("pageToken", "")
        shown, following = page(found, size=size, token=token, usual=MOST, most=MOST)
        answer: dict[str, Any] = {"budgets": shown} if shown else {}
        if following:
            answer["nextPageToken"] = following
        return answer

    def patch(self, call: Call) -> dict[str, Any]:
        """Change what the mask names."""
        budget = self._find(call)
        mask, change = call.query.get("updateMask", ""), call.body
        if _is_beta(call):
            mask, change = call.body.get("updateMask", ""), _first(call.body.get("budget", {}))
            mask = mask.replace("allUpdatesRule", "notificationsRule")
            mask = mask.replace("all_updates_rule", "notifications_rule")
        etag = change.get("etag")
        if etag and etag != budget["etag"]:
            raise Refusal(409, "The budget was changed meanwhile.", status="ABORTED")
        fields = {key: value for key, value in change.items() if key not in ("name", "etag")}
        return self._kept(patched(budget, fields, mask, fixed=("name", "etag")), call)

    def delete(self, call: Call) -> dict[str, Any]:
        """It is gone."""
        self._budgets.drop(self._find(call)["name"])
        return {}

    def _kept(self, budget: dict[str, Any], call: Call) -> dict[str, Any]:
        if len(budget.get("displayName", "")) > LONGEST_NAME:
            raise Refusal(400, "Budget display name must be at most 60 characters.")
        amount = budget.get("amount") or {}
        if "specifiedAmount" not in amount and "lastPeriodAmount" not in amount:
            raise Refusal(400, "Budget amount must be specified.")
        currency = amount.get("specifiedAmount", {}).get("currencyCode") or CURRENCY
        if currency != CURRENCY:
            message = f"Currency code {currency} is not the billing account's: {CURRENCY}."
            raise Refusal(400, message)
        if "specifiedAmount" in amount:
            amount["specifiedAmount"]["currencyCode"] = currency
        chosen = budget.get("budgetFilter") or {}
        usual = dict(FILTER)
        if "customPeriod" in chosen:
            del usual["calendarPeriod"]
        budget["budgetFilter"] = {**usual, **chosen}
        budget["thresholdRules"] = [
            {"spendBasis": "CURRENT_SPEND", **rule} for rule in budget.get("thresholdRules", [])
        ]
        budget["etag"] = f"{int(self._cloud.new_id()):x}"
        self._budgets.put(budget["name"], budget)
        return _shown(budget, call)

    def _account(self, name: str) -> str:
        if name.split("/")[1] != self._cloud.settings.billing_account:
            raise Refusal(403, "The caller does not have permission")
        return name

    def _find(self, call: Call) -> dict[str, Any]:
        name = call.params["name"]
        self._account(name)
        budget = self._budgets.get(name)
        if budget is None:
            raise Refusal(404, f"Budget {name} was not found.")
        return budget

    def _new_id(self) -> str:
        text = f"{int(self._cloud.new_id()):016x}{int(self._cloud.new_id()):016x}"
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def routes(cloud: Cloud) -> dict[str, Route]:
    """The methods that are modelled."""
    budgets = Budgets(cloud)
    prefix = "billingbudgets.billingAccounts.budgets"
    return {
        f"{prefix}.create": Route(budgets.create, permission="billing.budgets.create"),
        f"{prefix}.get": Route(budgets.get, permission="billing.budgets.get"),
        f"{prefix}.list": Route(budgets.list_all, permission="billing.budgets.list"),
        f"{prefix}.patch": Route(budgets.patch, permission="billing.budgets.update"),
        f"{prefix}.delete": Route(budgets.delete, permission="billing.budgets.delete"),
    }


def _is_beta(call: Call) -> bool:
    return call.method.version == BETA


def _first(budget: dict[str, Any]) -> dict[str, Any]:
    """As v1 has it: who is notified has another name there."""
    kept = dict(budget)
    if "allUpdatesRule" in kept:
        kept["notificationsRule"] = kept.pop("allUpdatesRule")
    return kept


def _shown(budget: dict[str, Any], call: Call) -> dict[str, Any]:
    """As the version shows it that was asked."""
    if not _is_beta(call):
        return budget
    shown = {key: value for key, value in budget.items() if key != "spendCap"}
    if "notificationsRule" in shown:
        shown["allUpdatesRule"] = shown.pop("notificationsRule")
    return shown
