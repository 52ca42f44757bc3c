"""Vertex AI, put together: trainings, pipelines, and lists of what a user may have besides.

Must not do anything itself.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Route, locked
from windlass.twin.vertex.guest import ReplicaGuest
from windlass.twin.vertex.kinds import Kinds
from windlass.twin.vertex.operations import Operations
from windlass.twin.vertex.pipelines import Pipelines
from windlass.twin.vertex.places import place, resource
from windlass.twin.vertex.quota import TrainingQuota
from windlass.twin.vertex.training_methods import TrainingMethods, listed
from windlass.twin.vertex.trainings import Trainings
from windlass.twin.vertex.words import not_found

if TYPE_CHECKING:
    from windlass.catalog.query import Catalog
    from windlass.twin.cloud import Cloud
    from windlass.twin.fleet import Fleet
    from windlass.twin.market import Market
    from windlass.twin.quotas import Quotas
    from windlass.twin.vertex.speech import Speech

EMPTY = ("hyperparameterTuningJobs", "endpoints", "persistentResources")
"""What a twin has none of; its lists are asked for all the same."""


class Vertex:
    """The service."""

    def __init__(
        self,
        cloud: Cloud,
        *,
        catalog: Catalog,
        market: Market,
        quotas: Quotas,
        fleet: Fleet,
        speech: Speech,
    ) -> None:
        self._speech = speech
        self._kinds = Kinds(catalog)
        self.trainings = Trainings(
            cloud, fleet=fleet, market=market, kinds=self._kinds, speech=speech
        )
        self.guest = ReplicaGuest(cloud, self.trainings)
        self._operations = Operations(cloud, regions=self._kinds.regions)
        self._methods = TrainingMethods(
            self.trainings,
            kinds=self._kinds,
            quota=TrainingQuota(quotas, self._kinds),
            operations=self._operations,
        )
        self._pipelines = Pipelines(
            cloud,
            self.trainings,
            methods=self._methods,
            kinds=self._kinds,
            operations=self._operations,
        )

    def collect(self) -> None:
        """Write down what replicas have printed; called now and then, under the cloud's lock."""
        for machine in self._speech.collect():
            self.trainings.model(machine)

    def routes(self) -> dict[str, Route]:
        """Every method that is modelled."""
        prefix = "aiplatform.projects.locations"
        empty = {f"{prefix}.{one}.list": partial(self._nothing, one) for one in EMPTY}
        return locked(
            {
                **self._operations.handlers(),
                **self._methods.handlers(),
                **self._pipelines.handlers(),
                f"{prefix}.models.list": self.list_models,
                f"{prefix}.models.get": self.get_model,
                **empty,
            }
        )

    def list_models(self, call: Call) -> dict[str, Any]:
        """Those that pipelines have uploaded."""
        prefix = place(call, self._kinds.regions).name("models", "")
        found = [model for _, model in self._pipelines.models.under(prefix)]
        return listed(call, "models", found)

    def get_model(self, call: Call) -> dict[str, Any]:
        """One of them; a version may follow its name."""
        model = self._pipelines.models.get(resource(call, self._kinds.regions).partition("@")[0])
        if model is None:
            raise not_found("Model")
        return model

    def _nothing(self, collection: str, call: Call) -> dict[str, Any]:
        place(call, self._kinds.regions)
        return listed(call, collection, ())
