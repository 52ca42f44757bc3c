"""Requests are led to the method that Google would have called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from windlass.twin.discovery import api as apis
from windlass.twin.discovery.check import check, check_params, check_query
from windlass.twin.discovery.router import PREFIXES, Router

# What gcloud sends for the commands of this project's tutorials, recorded.
RECORDED = json.loads(Path(__file__).with_name("seed_requests.json").read_text())
ON_VM = "projects/p/zones/us-central1-a/instances/vm"

BY_HOST = [
    ("compute.googleapis.com", "GET", f"/compute/v1/{ON_VM}", "v1", "compute.instances.get"),
    ("www.googleapis.com", "GET", f"/compute/beta/{ON_VM}", "beta", "compute.instances.get"),
    (
        "compute.googleapis.com:443",
        "GET",
        f"/compute/alpha/{ON_VM}",
        "alpha",
        "compute.instances.get",
    ),
    ("www.googleapis.com", "GET", "/storage/v1/b/x", "v1", "storage.buckets.get"),
    ("Storage.googleapis.com", "GET", "/storage/v1/b/x", "v1", "storage.buckets.get"),
    ("www.googleapis.com", "GET", "/oauth2/v2/userinfo", "v2", "oauth2.userinfo.get"),
    ("www.googleapis.com", "GET", "/userinfo/v2/me", "v2", "oauth2.userinfo.v2.me.get"),
    (
        "us-central1-aiplatform.googleapis.com",
        "POST",
        "/v1/projects/p/locations/us-central1/customJobs",
        "v1",
        "aiplatform.projects.locations.customJobs.create",
    ),
    (
        "aiplatform.us-central1.rep.googleapis.com",
        "GET",
        "/v1beta1/projects/p/locations/l/endpoints",
        "v1beta1",
        "aiplatform.projects.locations.endpoints.list",
    ),
    (
        "tpu.mtls.googleapis.com",
        "GET",
        "/v2alpha1/projects/p/locations/z/queuedResources/q",
        "v2alpha1",
        "tpu.projects.locations.queuedResources.get",
    ),
    (
        "iamcredentials.googleapis.com",
        "POST",
        "/v1/projects/-/serviceAccounts/a@b.iam.gserviceaccount.com:generateAccessToken",
        "v1",
        "iamcredentials.projects.serviceAccounts.generateAccessToken",
    ),
]
BY_SHAPE = [
    ("GET", "/v1/projects/p", "cloudresourcemanager.projects.get"),
    ("POST", "/v1/projects/p:getIamPolicy", "cloudresourcemanager.projects.getIamPolicy"),
    ("GET", "/v3/projects/p", "cloudresourcemanager.projects.get"),
    ("GET", "/v3/projects/p/alertPolicies", "monitoring.projects.alertPolicies.list"),
    ("GET", "/v1/projects/p/services", "serviceusage.services.list"),
    ("GET", "/v1/projects/p/serviceAccounts", "iam.projects.serviceAccounts.list"),
    ("GET", "/v1/projects/p/secrets/s", "secretmanager.projects.secrets.get"),
    ("GET", "/v1/projects/p/billingInfo", "cloudbilling.projects.getBillingInfo"),
    ("GET", "/v1/billingAccounts/x/budgets", "billingbudgets.billingAccounts.budgets.list"),
    ("GET", "/v2/projects/p/locations/z/nodes", "tpu.projects.locations.nodes.list"),
    ("POST", "/v2/entries:write", "logging.entries.write"),
    ("POST", "/v1/projects/p/locations/l/jobs", "batch.projects.locations.jobs.create"),
    ("GET", "/v1/projects/p/locations/l/clusters", "container.projects.locations.clusters.list"),
    (
        "POST",
        "/v1/projects/p/locations/l/trainingPipelines",
        "aiplatform.projects.locations.trainingPipelines.create",
    ),
    (
        "GET",
        "/v1/projects/p/locations/l/operations/1234567890",
        "aiplatform.projects.locations.operations.get",
    ),
    (
        "GET",
        "/v1/projects/p/locations/l/operations/operation-1-ab",
        "container.projects.locations.operations.get",
    ),
    ("GET", "/v1/operations/acat.p2-1", "serviceusage.operations.get"),
    ("GET", "/v1/operations/cp.123", "cloudresourcemanager.operations.get"),
]
NOTHING = [
    ("compute.googleapis.com", "/compute/v1/projects/p/zones/z/nonsense", "compute"),
    ("compute.googleapis.com", "/compute/v7/projects/p", "compute"),
    ("file.googleapis.com", "/v1/projects/p/locations/-/instances", "file"),
    ("storage.googleapis.com", "/a-bucket/an/object", "storage"),
    ("a-bucket.storage.googleapis.com", "/an/object", "storage"),
    ("oauth2.googleapis.com", "/token", "oauth2"),
    ("pypi.org", "/compute/v1/projects/p", ""),
    ("127.0.0.1", "/v1/nonsense", ""),
    ("127.0.0.1", "/a-bucket/an/object", ""),
    ("127.0.0.1", "/", ""),
]


@pytest.mark.parametrize("request_", RECORDED, ids=lambda row: f"{row['method']} {row['id']}")
def test_a_recorded_request_leads_to_its_method_and_nothing_is_wrong_with_it(request_):
    found = Router().find("127.0.0.1:8080", request_["method"], request_["path"])
    assert found.match is not None
    method = found.match.method
    assert (method.id, method.version) == (request_["id"], request_["version"])
    findings = check_params(found.match) + check_query(method, request_["query"])
    if "body" in request_:
        findings += check(found.api, method.request, request_["body"])
    assert findings == []


@pytest.mark.parametrize(("host", "http_method", "path", "version", "expected"), BY_HOST)
def test_a_host_names_its_service(host, http_method, path, version, expected):
    found = Router().find(host, http_method, path)
    assert found.match is not None
    assert (found.match.method.id, found.match.method.version) == (expected, version)
    assert found.api.version == version
    assert not found.nothing


@pytest.mark.parametrize(("http_method", "path", "expected"), BY_SHAPE)
def test_services_that_share_their_first_words_are_told_apart_by_shape(http_method, path, expected):
    found = Router().find("localhost", http_method, path)
    assert found.match is not None
    assert found.match.method.id == expected
    assert found.service == expected.partition(".")[0]


@pytest.mark.parametrize(("host", "path", "service"), NOTHING)
def test_what_no_document_describes_is_named_as_far_as_the_host_tells(host, path, service):
    found = Router().find(host, "GET", path)
    assert found.nothing
    assert (found.service, found.path) == (service, path)


def test_a_service_without_a_document_has_no_api():
    found = Router().find("file.googleapis.com", "GET", "/v1/projects/p")
    assert (found.service, found.path, found.described) == ("file", "/v1/projects/p", None)
    with pytest.raises(LookupError):
        _ = found.api


@pytest.mark.parametrize("prefix", sorted(PREFIXES))
def test_a_prefix_is_taken_off_the_path(prefix):
    found = Router().find("[::1]:80", "GET", f"/{prefix}/v1/x")
    assert (found.service, found.path) == (PREFIXES[prefix], "/v1/x")


def test_a_prefix_wins_over_the_shape():
    path = "/v1/projects/p/locations/l/operations/1"
    found = Router().find("127.0.0.1", "GET", f"/batchapi{path}")
    assert found.match is not None
    assert found.match.method.id == "batch.projects.locations.operations.get"
    assert found.match.params == {"name": path.removeprefix("/v1/")}


@pytest.mark.parametrize(
    ("host", "path", "service"),
    [
        ("127.0.0.1", "/batch/compute/v1", "compute"),
        ("www.googleapis.com", "/batch/compute/beta", "compute"),
        ("storage.googleapis.com", "/batch/storage/v1", "storage"),
        ("container.googleapis.com", "/batch", "container"),
        ("127.0.0.1", "/tpu/batch", "tpu"),
    ],
)
def test_a_batch_is_recognised(host, path, service):
    found = Router().find(host, "POST", path)
    assert found.batch
    assert found.service == service


def test_large_documents_are_not_read_before_they_are_asked_for():
    apis.load_api.cache_clear()
    Router().find("127.0.0.1", "GET", "/tpu/v2/projects/p/locations/z/nodes")
    assert apis.load_api.cache_info().currsize == 1
