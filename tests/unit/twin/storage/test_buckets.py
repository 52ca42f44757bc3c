"""Buckets are made, shown, changed and removed as at Google."""

from __future__ import annotations

import pytest

from buckets import Client, place

BUCKET = "/storage/v1/b/shelf"


def test_a_bucket_is_shown_with_what_google_adds(client):
    made = client.make_bucket("other", location="us-central1", labels={"team": "nlp"})
    assert client.json("GET", "/storage/v1/b/other") == made
    assert made["location"] == "US-CENTRAL1"
    assert made["locationType"] == "region"
    assert made["storageClass"] == "STANDARD"
    assert made["labels"] == {"team": "nlp"}
    assert made["iamConfiguration"]["uniformBucketLevelAccess"] == {"enabled": False}
    assert made["etag"] == "CAE="
    assert made["timeCreated"] == "2027-01-15T08:00:00.000Z"


@pytest.mark.parametrize(
    ("project", "message"),
    [
        (
            "twin",
            "Your previous request to create the named bucket succeeded and you already own it.",
        ),
        (
            "strangers",
            "The requested bucket name is not available. The bucket namespace is shared by all "
            "users of the system. Please select a different name and try again.",
        ),
    ],
)
def test_a_name_is_given_once(client, project, message):
    body = {"name": "shelf"}
    assert client.refused("POST", "/storage/v1/b", 409, project=project, body=body) == message


@pytest.mark.parametrize(
    "name",
    [
        "ab",
        "a" * 64,
        "Upper",
        "sp ace",
        "-dash",
        "dash-",
        "10.0.0.1",
        "goog-x",
        "my-google-x",
        "my-g00gle-x",
        "a..b",
        "../../etc",
        "a/b",
        "name\n",
        f"{'a' * 64}.b",
        "ümlaut",
    ],
)
def test_a_name_that_google_refuses_is_refused(client, name):
    message = client.refused("POST", "/storage/v1/b", 400, project="twin", body={"name": name})
    assert message == f"Invalid bucket name: '{name}'"


@pytest.mark.parametrize("name", ["abc", "a" * 63, "a_b-c.d", "0-0", f"{'a' * 63}.{'b' * 63}"])
def test_a_name_that_google_takes_is_taken(client, name):
    client.make_bucket(name)
    assert Client(client.storage).json("GET", f"/storage/v1/b/{name}")["name"] == name


def test_a_project_and_a_name_are_required(client):
    assert client.refused("POST", "/storage/v1/b", 400, body={"name": "abc"})
    assert client.refused("POST", "/storage/v1/b", 400, project="twin", body={})
    assert client.refused("GET", "/storage/v1/b", 400)


def test_buckets_are_listed_by_project_in_pages(client):
    for name in ("b-1", "b-2", "c-1"):
        client.make_bucket(name)
    client.json("POST", "/storage/v1/b", project="other", body={"name": "b-3"})
    page = client.json("GET", "/storage/v1/b", project="twin", prefix="b-", maxResults=1)
    assert [item["name"] for item in page["items"]] == ["b-1"]
    token = page["nextPageToken"]
    page = client.json("GET", "/storage/v1/b", project="twin", prefix="b-", pageToken=token)
    assert [item["name"] for item in page["items"]] == ["b-2"]
    assert "nextPageToken" not in page


def test_only_an_empty_bucket_is_removed(client):
    client.put("a")
    message = "The bucket you tried to delete is not empty."
    assert client.refused("DELETE", BUCKET, 409) == message
    client.delete("a")
    client.json("DELETE", BUCKET, status=204)
    client.refused("GET", BUCKET, 404)
    client.make_bucket()
    assert client.names() == []


def test_a_patch_changes_what_it_names(client):
    client.json("PATCH", BUCKET, body={"labels": {"a": "1", "b": "2"}})
    made = client.json(
        "PATCH", BUCKET, body={"labels": {"a": None}, "versioning": {"enabled": True}}
    )
    assert made["labels"] == {"b": "2"}
    assert made["metageneration"] == "3"
    assert made["etag"] == "CAM="
    client.refused("PATCH", BUCKET, 412, body={}, ifMetagenerationMatch=1)
    made = client.json("PUT", BUCKET, body={"cors": [{"origin": ["*"]}]})
    assert "labels" not in made
    assert made["cors"] == [{"origin": ["*"]}]


@pytest.mark.parametrize(
    "body",
    [{"labels": 5}, {"versioning": {"enabled": "perhaps"}}, {"lifecycle": {"rule": "none"}}],
    ids=str,
)
def test_a_field_of_the_wrong_type_is_named(client, body):
    assert next(iter(body)) in client.refused("PATCH", BUCKET, 400, body=body)


def test_a_body_that_is_no_json_object_is_refused(client):
    assert client.refused("PATCH", BUCKET, 400, body=b"{") == "Parse Error"
    assert client.refused("PATCH", BUCKET, 400, body=b"[]") == "Parse Error"


def test_a_policy_is_kept_and_guarded_by_its_etag(client):
    policy = client.json("GET", f"{BUCKET}/iam")
    assert policy["resourceId"] == "projects/_/buckets/shelf"
    binding = {"role": "roles/storage.objectViewer", "members": ["allUsers"]}
    policy["bindings"].append(binding)
    changed = client.json("PUT", f"{BUCKET}/iam", body=policy)
    assert binding in changed["bindings"]
    assert changed["etag"] != policy["etag"]
    client.refused("PUT", f"{BUCKET}/iam", 412, body=policy)


def test_whoever_asks_may(client):
    answer = client.json("GET", f"{BUCKET}/iam/testPermissions", permissions="storage.objects.get")
    assert answer["permissions"] == ["storage.objects.get"]


def test_what_gcloud_asks_about_a_bucket_is_answered(client):
    layout = client.json("GET", f"{BUCKET}/storageLayout")
    assert layout["hierarchicalNamespace"] == {"enabled": False}
    assert "items" not in client.json("GET", f"{BUCKET}/managedFolders")
    account = client.json("GET", "/storage/v1/projects/twin/serviceAccount")
    assert account["email_address"].endswith("@gs-project-accounts.iam.gserviceaccount.com")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{BUCKET}/lockRetentionPolicy"),
        ("GET", f"{BUCKET}/acl"),
        ("GET", f"{BUCKET}/notificationConfigs"),
        ("GET", f"{BUCKET}/folders"),
        ("POST", f"{BUCKET}/anywhereCaches"),
        ("GET", f"{place('a')}/acl"),
    ],
)
def test_what_is_not_modelled_says_so(client, method, path):
    assert "does not model" in client.refused(method, path, 501)


def test_what_google_does_not_have_is_not_found(client):
    client.refused("GET", f"{BUCKET}/nothing", 404)
    client.refused("GET", "/storage/v1/nothing", 404)
