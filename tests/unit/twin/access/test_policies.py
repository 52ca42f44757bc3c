from __future__ import annotations

import pytest

from doors import PROJECT, House
from windlass.twin.access.policies import Policies
from windlass.twin.access.roles import ROLES, allows
from windlass.twin.refusals import Refusal

PLACE = f"projects/{PROJECT}"


def policies() -> Policies:
    return House().twin.policies


def test_stale_etag_is_refused_and_changes_nothing() -> None:
    found = policies()
    first = found.get(PLACE)
    binding = {"role": "roles/viewer", "members": ["user:a@b.c"]}
    found.set(PLACE, {**first, "bindings": [*first["bindings"], binding]})
    with pytest.raises(Refusal, match="concurrent policy changes") as refused:
        found.set(PLACE, {**first, "bindings": []})
    assert refused.value.code == 409
    assert len(found.get(PLACE)["bindings"]) == len(first["bindings"]) + 1


@pytest.mark.parametrize("etag", ["rubbish", "=", "é", "AAAA"])
def test_etag_that_is_none_is_refused(etag: str) -> None:
    with pytest.raises(Refusal, match="concurrent"):
        policies().set(PLACE, {"etag": etag, "bindings": []})


def test_etag_may_come_back_in_either_alphabet() -> None:
    found = policies()
    etag = found.get(PLACE)["etag"]
    found.set(PLACE, {"etag": etag.rstrip("=").replace("+", "-"), "bindings": []})


def test_bindings_without_members_are_dropped() -> None:
    found = policies()
    found.set(
        "x", {"bindings": [{"role": "roles/viewer", "members": []}, {"members": ["allUsers"]}]}
    )
    assert found.get("x")["bindings"] == [{"members": ["allUsers"]}]
    assert not found.allows("a@b.c", ["x"], "compute.instances.get")


ALLOWED = {
    ("roles/owner", "compute.instances.create"): True,
    ("roles/owner", "resourcemanager.projects.setIamPolicy"): True,
    ("roles/owner", "iam.serviceAccounts.getAccessToken"): False,
    ("roles/editor", "compute.instances.create"): True,
    ("roles/editor", "iam.serviceAccounts.actAs"): True,
    ("roles/editor", "resourcemanager.projects.setIamPolicy"): False,
    ("roles/viewer", "compute.instances.get"): True,
    ("roles/viewer", "compute.instances.create"): False,
    ("roles/viewer", "secretmanager.versions.access"): False,
    ("roles/iam.serviceAccountAdmin", "iam.serviceAccounts.getAccessToken"): False,
    ("roles/iam.serviceAccountAdmin", "iam.serviceAccounts.actAs"): False,
    ("roles/iam.serviceAccountAdmin", "iam.serviceAccounts.setIamPolicy"): True,
    ("roles/iam.serviceAccountTokenCreator", "iam.serviceAccounts.getAccessToken"): True,
    ("roles/iam.serviceAccountUser", "iam.serviceAccounts.actAs"): True,
    ("roles/compute.viewer", "compute.instances.delete"): False,
    ("roles/compute.instanceAdmin.v1", "compute.instances.delete"): True,
    ("roles/compute.instanceAdmin.v1", "compute.networks.create"): False,
    ("roles/storage.objectViewer", "storage.objects.create"): False,
    ("roles/no.such", "compute.instances.get"): False,
}


@pytest.mark.parametrize("case", ALLOWED, ids=" ".join)
def test_role_allows(case: tuple[str, str]) -> None:
    assert allows(*case) == ALLOWED[case]


def test_only_the_owner_may_everything() -> None:
    assert [role for role, patterns in ROLES.items() if "*" in patterns] == [
        "roles/owner",
        "roles/editor",
    ]
