"""Cloud Quotas put together.

Must not hold logic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windlass.twin.call import Route
from windlass.twin.cloudquotas.infos import Infos
from windlass.twin.cloudquotas.preferences import Preferences

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.cloud import Cloud
    from windlass.twin.quotas import Quotas

READ = "cloudquotas.quotas.get"
CHANGE = "cloudquotas.quotas.update"


def routes(cloud: Cloud, *, catalog: Catalog, quotas: Quotas) -> dict[str, Route]:
    """The methods that are modelled."""
    infos = Infos(cloud, catalog=catalog, quotas=quotas)
    preferences = Preferences(cloud, infos=infos, quotas=quotas)
    prefix = "cloudquotas.projects.locations"
    return {
        f"{prefix}.services.quotaInfos.get": Route(infos.get, permission=READ),
        f"{prefix}.services.quotaInfos.list": Route(infos.list_all, permission=READ),
        f"{prefix}.quotaPreferences.get": Route(preferences.get, permission=READ),
        f"{prefix}.quotaPreferences.list": Route(preferences.list_all, permission=READ),
        f"{prefix}.quotaPreferences.create": Route(preferences.create, permission=CHANGE),
        f"{prefix}.quotaPreferences.patch": Route(preferences.patch, permission=CHANGE),
    }
