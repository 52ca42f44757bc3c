"""Secret Manager put together: which method is which act, and what it takes to be allowed it.

Must not hold logic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.twin.call import ANYBODY, Call, Handler, Route
from windlass.twin.secretmanager.names import secret_of
from windlass.twin.secretmanager.secrets import Secrets
from windlass.twin.secretmanager.versions import Versions

if TYPE_CHECKING:
    from windlass.twin.access.policies import Policies
    from windlass.twin.cloud import Cloud

PREFIXES = ("secretmanager.projects.secrets", "secretmanager.projects.locations.secrets")


def routes(cloud: Cloud, *, policies: Policies) -> dict[str, Route]:
    """The methods that are modelled, of global secrets and of regional ones."""
    secrets = Secrets(cloud, policies)
    versions = Versions(cloud, secrets)
    # Acts on one secret, which its own policy may allow.
    acts: dict[str, tuple[Handler, str]] = {
        "get": (secrets.get, "secrets.get"),
        "patch": (secrets.patch, "secrets.update"),
        "delete": (secrets.delete, "secrets.delete"),
        "getIamPolicy": (secrets.get_policy, "secrets.getIamPolicy"),
        "setIamPolicy": (secrets.set_policy, "secrets.setIamPolicy"),
        "addVersion": (versions.add, "versions.add"),
        "versions.get": (versions.get, "versions.get"),
        "versions.list": (versions.list_all, "versions.list"),
        "versions.access": (versions.access, "versions.access"),
        "versions.enable": (versions.enable, "versions.enable"),
        "versions.disable": (versions.disable, "versions.disable"),
        "versions.destroy": (versions.destroy, "versions.destroy"),
    }
    found = {}
    for prefix in PREFIXES:
        found[f"{prefix}.create"] = Route(secrets.create)
        found[f"{prefix}.list"] = Route(secrets.list_all)
        tested = Route(secrets.test_permissions, permission=ANYBODY)
        found[f"{prefix}.testIamPermissions"] = tested
        for act, (handler, permission) in acts.items():
            allowed = f"secretmanager.{permission}"
            found[f"{prefix}.{act}"] = Route(handler, permission=allowed, resources=_secret)
    return found


def _secret(call: Call) -> list[str]:
    return [secret_of(call)]
