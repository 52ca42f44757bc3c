from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import google_crc32c
import pytest

from googleapis import Service
from windlass.twin.journal import SqliteJournal

SECRETS = "projects/twin-project/secrets"
NAME = "projects/415926535897/secrets/key"
AUTOMATIC = {"replication": {"automatic": {}}}
ACCESSOR = "roles/secretmanager.secretAccessor"


def with_secret(*payloads: bytes, **fields: Any) -> Service:
    google = Service()
    google.done("POST", SECRETS, {**AUTOMATIC, **fields}, secretId="key")
    for payload in payloads:
        add(google, payload)
    return google


def add(google: Service, payload: bytes, **more: Any) -> Any:
    data = base64.b64encode(payload).decode()
    body = {"payload": {"data": data, **more}}
    return google.done("POST", f"{SECRETS}/key:addVersion", body)


def access(google: Service, version: str = "latest") -> bytes:
    answer = google.done("GET", f"{SECRETS}/key/versions/{version}:access")
    payload = base64.b64decode(answer["payload"]["data"])
    assert answer["payload"]["dataCrc32c"] == str(google_crc32c.value(payload))
    return payload


def test_secret_is_named_by_the_projects_number_and_has_an_etag() -> None:
    google = with_secret(labels={"team": "ml"})
    secret = google.done("GET", f"{SECRETS}/key")
    assert (secret["name"], secret["labels"]) == (NAME, {"team": "ml"})
    assert secret["etag"].startswith('"')


def test_latest_is_the_newest_version_and_numbers_name_the_others() -> None:
    google = with_secret(b"one", b"two \xff")
    assert (access(google), access(google, "1"), access(google, "2")) == (
        b"two \xff",
        b"one",
        b"two \xff",
    )


def test_alias_names_a_version() -> None:
    google = with_secret(b"one", b"two")
    google.done(
        "PATCH", f"{SECRETS}/key", {"versionAliases": {"prod": "1"}}, updateMask="version_aliases"
    )
    assert access(google, "prod") == b"one"


def test_checksum_of_the_client_is_checked_and_remembered() -> None:
    google = with_secret()
    version = add(google, b"x", dataCrc32c=str(google_crc32c.value(b"x")))
    assert version["clientSpecifiedPayloadChecksum"] is True
    assert "clientSpecifiedPayloadChecksum" not in add(google, b"y")
    body = {"payload": {"data": "eA==", "dataCrc32c": "7"}}
    code, status, message = google.no("POST", f"{SECRETS}/key:addVersion", body)
    assert (code, status) == (400, "INVALID_ARGUMENT")
    assert "checksum" in message


def test_versions_are_listed_newest_first_and_by_state() -> None:
    google = with_secret(b"one", b"two", b"three")
    google.done("POST", f"{SECRETS}/key/versions/2:disable", {})
    names = [one["name"] for one in google.done("GET", f"{SECRETS}/key/versions")["versions"]]
    assert [name.rpartition("/")[2] for name in names] == ["3", "2", "1"]
    page = google.done("GET", f"{SECRETS}/key/versions", filter="state:DISABLED")
    assert [one["name"] for one in page["versions"]] == [f"{NAME}/versions/2"]


def test_list_is_filtered_and_paged() -> None:
    google = Service()
    for number in range(3):
        body = {**AUTOMATIC, "labels": {"n": str(number)}}
        google.done("POST", SECRETS, body, secretId=f"s{number}")
    first = google.done("GET", SECRETS, pageSize=2)
    rest = google.done("GET", SECRETS, pageSize=2, pageToken=first["nextPageToken"])
    assert (first["totalSize"], len(first["secrets"]), len(rest["secrets"])) == (3, 2, 1)
    found = google.done("GET", SECRETS, filter="labels.n=1")["secrets"]
    assert [one["name"].rpartition("/")[2] for one in found] == ["s1"]


@pytest.mark.parametrize("state", ["DISABLED", "DESTROYED"])
def test_version_that_is_not_enabled_cannot_be_had(state: str) -> None:
    google = with_secret(b"one")
    verb = {"DISABLED": "disable", "DESTROYED": "destroy"}[state]
    shown = google.done("POST", f"{SECRETS}/key/versions/1:{verb}", {})
    assert shown["state"] == state
    code, status, message = google.no("GET", f"{SECRETS}/key/versions/latest:access")
    assert (code, status) == (400, "FAILED_PRECONDITION")
    assert message.endswith(f"is in {state} state.")


def test_disabled_version_can_be_enabled_and_a_destroyed_one_cannot() -> None:
    google = with_secret(b"one")
    google.done("POST", f"{SECRETS}/key/versions/1:disable", {})
    google.done("POST", f"{SECRETS}/key/versions/1:enable", {})
    assert access(google) == b"one"
    google.done("POST", f"{SECRETS}/key/versions/1:destroy", {})
    assert google.no("POST", f"{SECRETS}/key/versions/1:enable", {})[1] == "FAILED_PRECONDITION"


def test_destruction_waits_where_the_secret_says_so() -> None:
    google = with_secret(b"one", versionDestroyTtl="86400s")
    shown = google.done("POST", f"{SECRETS}/key/versions/1:destroy", {})
    assert (shown["state"], "scheduledDestroyTime" in shown) == ("DISABLED", True)
    google.pass_time(86_401)
    assert google.done("GET", f"{SECRETS}/key/versions/1")["state"] == "DESTROYED"


def test_secret_expires_with_its_versions() -> None:
    google = with_secret(b"one", ttl="3600s")
    assert "ttl" not in google.done("GET", f"{SECRETS}/key")
    google.pass_time(3601)
    assert google.no("GET", f"{SECRETS}/key")[0] == 404
    google.done("POST", SECRETS, AUTOMATIC, secretId="key")
    assert google.done("GET", f"{SECRETS}/key/versions")["totalSize"] == 0


def test_replicas_are_told_with_each_version() -> None:
    google = Service()
    places = {"replicas": [{"location": "us-east1"}, {"location": "us-west1"}]}
    google.done("POST", SECRETS, {"replication": {"userManaged": places}}, secretId="key")
    assert add(google, b"x")["replicationStatus"] == {"userManaged": places}


def test_regional_secret_lives_beside_a_global_one_of_the_same_name() -> None:
    google = with_secret(b"global")
    regional = "projects/twin-project/locations/us-central1/secrets"
    google.done("POST", regional, {}, secretId="key")
    body = {"payload": {"data": base64.b64encode(b"regional").decode()}}
    google.done("POST", f"{regional}/key:addVersion", body)
    answer = google.done("GET", f"{regional}/key/versions/latest:access")
    assert answer["name"].startswith("projects/415926535897/locations/us-central1/")
    assert access(google) == b"global"
    assert google.done("GET", SECRETS)["totalSize"] == 1


REFUSALS = {
    "no secret": (
        "GET",
        "nope",
        None,
        404,
        "Secret [projects/415926535897/secrets/nope] not",
    ),
    "no version": ("GET", "key/versions/9:access", None, 404, "versions/9] not found."),
    "no version yet": ("GET", "key/versions/latest:access", None, 404, "has no versions"),
    "too large": ("POST", "key:addVersion", {"payload": {"data": "A" * 90_000}}, 400, "too large"),
    "fixed field": ("PATCH", "key?updateMask=replication", {}, 400, "cannot be updated"),
    "no mask": ("PATCH", "key", {"labels": {}}, 400, "update_mask"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal_says_what_google_says(case: str) -> None:
    method, path, body, code, words = REFUSALS[case]
    path, _, mask = path.partition("?updateMask=")
    query = {"updateMask": mask} if mask else {}
    found, _, message = with_secret().no(method, f"{SECRETS}/{path}", body, **query)
    assert found == code
    assert words in message


@pytest.mark.parametrize(
    ("secret_id", "body", "code"),
    [("a b", AUTOMATIC, 400), ("key", AUTOMATIC, 409), ("other", {}, 400)],
    ids=["bad id", "twice", "no replication"],
)
def test_secret_that_cannot_be_made_is_refused(
    secret_id: str, body: dict[str, Any], code: int
) -> None:
    assert with_secret().no("POST", SECRETS, body, secretId=secret_id)[0] == code


def test_stale_etag_is_refused() -> None:
    google = with_secret(b"one")
    stale = google.done("GET", f"{SECRETS}/key")["etag"]
    google.done("PATCH", f"{SECRETS}/key", {"labels": {"a": "b"}}, updateMask="labels")
    change = {"labels": {}, "etag": stale}
    code, status, _ = google.no("PATCH", f"{SECRETS}/key", change, updateMask="labels")
    assert (code, status) == (400, "FAILED_PRECONDITION")
    assert google.no("DELETE", f"{SECRETS}/key", etag=stale)[1] == "FAILED_PRECONDITION"
    version = google.no("POST", f"{SECRETS}/key/versions/1:destroy", {"etag": '"1"'})
    assert version[1] == "FAILED_PRECONDITION"


def test_payload_needs_a_role_that_the_secret_itself_may_grant() -> None:
    google = with_secret(b"one")
    email, token = google.account("robot")
    path = f"{SECRETS}/key/versions/latest:access"
    code, status, message = google.no("GET", path, token=token)
    assert (code, status) == (403, "PERMISSION_DENIED")
    assert "secretmanager.versions.access" in message
    grant = {"bindings": [{"role": ACCESSOR, "members": [f"serviceAccount:{email}"]}]}
    google.done("POST", f"{SECRETS}/key:setIamPolicy", {"policy": grant})
    google.done("GET", path, token=token)
    assert google.no("DELETE", f"{SECRETS}/key", token=token)[0] == 403
    wish = {"permissions": ["secretmanager.versions.access", "secretmanager.secrets.delete"]}
    tested = google.done("POST", f"{SECRETS}/key:testIamPermissions", wish, token=token)
    assert tested == {"permissions": ["secretmanager.versions.access"]}
    assert google.done("GET", f"{SECRETS}/key:getIamPolicy")["bindings"] == grant["bindings"]


def test_machines_usual_account_may_make_secrets_but_not_read_them() -> None:
    google = with_secret(b"one")
    token = google.twin.tokens.mint(google.cloud.settings.default_service_account)
    google.done("POST", SECRETS, AUTOMATIC, secretId="other", token=token)
    assert google.no("GET", f"{SECRETS}/key/versions/1:access", token=token)[0] == 403


def test_deleted_secret_takes_its_policy_along() -> None:
    google = with_secret(b"one")
    grant = {"bindings": [{"role": ACCESSOR, "members": ["user:a@b.c"]}]}
    google.done("POST", f"{SECRETS}/key:setIamPolicy", {"policy": grant})
    google.done("DELETE", f"{SECRETS}/key")
    google.done("POST", SECRETS, AUTOMATIC, secretId="key")
    assert google.done("GET", f"{SECRETS}/key:getIamPolicy")["bindings"] == []


def test_secrets_outlive_the_process_in_a_file_that_only_the_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    journal = SqliteJournal(path)
    google = Service(journal=journal)
    google.done("POST", SECRETS, AUTOMATIC, secretId="key")
    add(google, b"kept")
    assert {one.stat().st_mode & 0o077 for one in tmp_path.iterdir()} == {0}
    journal.close()
    again = SqliteJournal(path)
    assert access(Service(journal=again)) == b"kept"
    again.close()
