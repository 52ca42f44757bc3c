"""TrainingPipelines, as the SDK's CustomTrainingJob makes them: CustomJobs that yield a model.

Must not have a life of its own: how it stands is read off its CustomJob until that is over.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from windlass.twin.call import Call, Handler
from windlass.twin.discovery.names import camel
from windlass.twin.refusals import Refusal
from windlass.twin.vertex.places import place, resource
from windlass.twin.vertex.training import FAILED, OVER, SUCCEEDED, shown
from windlass.twin.vertex.training_methods import listed
from windlass.twin.vertex.words import EXHAUSTED, found_errors, not_found, not_in_state

if TYPE_CHECKING:
    from windlass.twin.cloud import Cloud
    from windlass.twin.vertex.kinds import Kinds
    from windlass.twin.vertex.operations import Operations
    from windlass.twin.vertex.training import Training
    from windlass.twin.vertex.training_methods import TrainingMethods
    from windlass.twin.vertex.trainings import Trainings

KIND = "TrainingPipeline"
COLLECTION = "trainingPipelines"
GIVEN = (
    "displayName",
    "inputDataConfig",
    "trainingTaskDefinition",
    "trainingTaskInputs",
    "modelToUpload",
    "modelId",
    "parentModel",
    "labels",
    "encryptionSpec",
)
CUSTOM = re.compile(r"gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_.*")
STRATEGIES = {1: "ON_DEMAND", 2: "LOW_COST", 3: "STANDARD", 4: "SPOT", 6: "FLEX_START"}
"""The SDK sends the strategy by its number, inside of a free-form value."""
TIMES = ("startTime", "endTime", "updateTime")


class Pipelines:
    """Create, get, list, cancel, delete."""

    def __init__(
        self,
        cloud: Cloud,
        trainings: Trainings,
        *,
        methods: TrainingMethods,
        kinds: Kinds,
        operations: Operations,
    ) -> None:
        self._cloud = cloud
        self._trainings = trainings
        self._methods = methods
        self._regions = kinds.regions
        self._operations = operations
        self._shelf = cloud.documents("aiplatform.pipelines")
        self._behind = {_backing(one): name for name, one in self._shelf.items()}
        self.models = cloud.documents("aiplatform.models")
        trainings.listeners.append(self._settle)

    def handlers(self) -> dict[str, Handler]:
        """The methods that are modelled."""
        prefix = f"aiplatform.projects.locations.{COLLECTION}"
        return {
            f"{prefix}.create": self.create,
            f"{prefix}.get": self.get,
            f"{prefix}.list": self.list_all,
            f"{prefix}.cancel": self.cancel,
            f"{prefix}.delete": self.delete,
        }

    def create(self, call: Call) -> dict[str, Any]:
        """Start one, and the CustomJob behind it."""
        where = place(call, self._regions)
        body = {name: call.body[name] for name in GIVEN if name in call.body}
        if not body.get("displayName"):
            raise found_errors([("training_pipeline.display_name", "Required field is not set.")])
        if not CUSTOM.fullmatch(body.get("trainingTaskDefinition", "")):
            raise Refusal(501, "The twin models custom training only.", reason="notImplemented")
        name = where.name(COLLECTION, self._cloud.new_id())
        document = {**body, "name": name, "createTime": self._cloud.stamp()}
        spec = _spec(body.get("trainingTaskInputs") or {})
        backing = {"displayName": f"{body['displayName'][:117]}-custom-job", "jobSpec": spec}
        if body.get("labels"):
            backing["labels"] = body["labels"]
        try:
            training = self._methods.submit(where, backing, cloud=self._cloud)
            document["trainingTaskMetadata"] = {"backingCustomJob": training.name}
            self._behind[training.name] = name
        except Refusal as refusal:
            # A pipeline is taken though its CustomJob is over quota, and fails then.
            if refusal.code != 429:
                raise
            document["error"] = {"code": EXHAUSTED, "message": refusal.message}
            document["endTime"] = document["createTime"]
        self._shelf.put(name, document)
        return self._shown(document)

    def get(self, call: Call) -> dict[str, Any]:
        """How it is."""
        return self._shown(self._named(call))

    def list_all(self, call: Call) -> dict[str, Any]:
        """Those of a region, the newest first."""
        prefix = place(call, self._regions).name(COLLECTION, "")
        found = [self._shown(one) for _, one in self._shelf.under(prefix)]
        found.sort(key=lambda one: str(one["createTime"]), reverse=True)
        return listed(call, COLLECTION, found)

    def cancel(self, call: Call) -> dict[str, Any]:
        """End its CustomJob."""
        training = self._trainings.find(_backing(self._named(call)))
        if training is not None:
            self._trainings.cancel(training)
        return {}

    def delete(self, call: Call) -> dict[str, Any]:
        """Forget one that is over; its CustomJob stays."""
        document = self._shown(self._named(call))
        state = document["state"]
        if state.replace("PIPELINE", "JOB") not in OVER:
            raise not_in_state(KIND, document["name"], state=state, verb="deleted")
        self._shelf.drop(document["name"])
        where = place(call, self._regions)
        return self._operations.deleted(where, version=call.method.version)

    def _named(self, call: Call) -> dict[str, Any]:
        document = self._shelf.get(resource(call, self._regions))
        if document is None:
            raise not_found(KIND)
        return document

    def _shown(self, document: dict[str, Any]) -> dict[str, Any]:
        """As the API gives it: with the state of its CustomJob, and its model once it has one."""
        training = self._trainings.find(_backing(document))
        state = document.get("lastState", FAILED)
        shown_one = {"updateTime": document["createTime"], **document}
        if training is not None and "lastState" not in document:
            state = training.state
            shown_one |= self._seen(training)
        shown_one.pop("lastState", None)
        shown_one["state"] = state.replace("JOB_", "PIPELINE_")
        return shown_one

    def _seen(self, training: Training) -> dict[str, Any]:
        behind = shown(training, self._cloud)
        return {name: behind[name] for name in (*TIMES, "error") if name in behind}

    def _settle(self, training: Training) -> None:
        """A CustomJob is over, and may be deleted from now on: its pipeline remembers."""
        document = self._shelf.get(self._behind.pop(training.name, ""))
        if document is None:
            return
        document |= {**self._seen(training), "lastState": training.state}
        if training.state == SUCCEEDED and document.get("modelToUpload"):
            document["modelToUpload"] = self._uploaded(document)
        self._shelf.put(document["name"], document)

    def _uploaded(self, document: dict[str, Any]) -> dict[str, Any]:
        where = document["name"].rpartition(f"/{COLLECTION}/")[0]
        now = self._cloud.stamp()
        model = {
            **document["modelToUpload"],
            "name": f"{where}/models/{document.get('modelId') or self._cloud.new_id()}",
            "trainingPipeline": document["name"],
            "versionId": "1",
            "versionAliases": ["default"],
            "createTime": now,
            "updateTime": now,
        }
        self.models.put(model["name"], model)
        return model


def _backing(document: dict[str, Any]) -> str:
    return str((document.get("trainingTaskMetadata") or {}).get("backingCustomJob", ""))


def _spec(value: Any) -> Any:
    """A free-form value as a jobSpec: the SDK sends names with underscores, and nulls."""
    if isinstance(value, list):
        return [_spec(one) for one in value]
    if not isinstance(value, dict):
        # Numbers come as floating point ones, because a free-form value has no others.
        return int(value) if isinstance(value, float) and value.is_integer() else value
    found = {camel(name): _spec(one) for name, one in value.items() if one is not None}
    if isinstance(found.get("strategy"), int):
        found["strategy"] = STRATEGIES.get(found["strategy"], "STANDARD")
    if "replicaCount" in found:
        found["replicaCount"] = str(found["replicaCount"])
    return found
