from __future__ import annotations

import pytest

from googleapis import Service
from windlass.twin.oslogin.service import username_of

ME = "users/you@example.com"
KEY = "ssh-ed25519 AAAAC3Nz me@laptop"
USERNAMES = {
    "you@example.com": "you_example_com",
    "First.Last@example.com": "first_last_example_com",
    "a-very-long-name-indeed@an-even-longer-domain.example.com": "a_very_long_name_indeed_an_even_",
}


class Google(Service):
    host = "oslogin.googleapis.com"


def test_first_look_at_a_profile_makes_an_account() -> None:
    google = Google()
    profile = google.done("GET", f"{ME}/loginProfile")
    (account,) = profile["posixAccounts"]
    assert (account["username"], account["homeDirectory"]) == (
        "you_example_com",
        "/home/you_example_com",
    )
    assert account["uid"] == account["gid"]
    assert google.done("GET", f"{ME}/loginProfile") == profile


def test_imported_key_is_in_the_profile_by_its_fingerprint() -> None:
    google = Google()
    answer = google.done("POST", f"{ME}:importSshPublicKey", {"key": KEY})
    ((fingerprint, key),) = answer["loginProfile"]["sshPublicKeys"].items()
    assert (key["key"], key["fingerprint"]) == (KEY, fingerprint)
    assert google.done("GET", key["name"]) == key


def test_key_ends_when_it_says() -> None:
    google = Google()
    ends = str(int((google.clock.at + 60) * 1e6))
    key = google.done("POST", f"{ME}/sshPublicKeys", {"key": KEY, "expirationTimeUsec": ends})
    google.pass_time(61)
    assert "sshPublicKeys" not in google.done("GET", f"{ME}/loginProfile")
    assert google.no("GET", key["name"])[0] == 404


def test_time_of_a_key_can_be_changed_and_the_key_deleted() -> None:
    google = Google()
    key = google.done("POST", f"{ME}/sshPublicKeys", {"key": KEY})
    later = str(int((google.clock.at + 3600) * 1e6))
    body = {"expirationTimeUsec": later}
    assert google.done("PATCH", key["name"], body)["expirationTimeUsec"] == later
    google.done("DELETE", key["name"])
    assert google.no("GET", key["name"])[0] == 404


def test_account_can_be_removed_and_made_again() -> None:
    google = Google()
    assert google.no("DELETE", f"{ME}/projects/twin-project")[0] == 404
    made = google.done("POST", f"{ME}/projects/twin-project", {})
    assert made["username"] == "you_example_com"
    google.done("DELETE", f"{ME}/projects/twin-project")


def test_nobody_sees_or_changes_anothers_profile() -> None:
    google = Google()
    email, token = google.account("robot")
    assert google.no("GET", f"{ME}/loginProfile", token=token)[0] == 403
    assert google.no("POST", f"{ME}:importSshPublicKey", {"key": KEY}, token=token)[0] == 403
    profile = google.done("GET", f"users/{email}/loginProfile", token=token)
    assert profile["posixAccounts"][0]["username"].startswith("sa_")


def test_what_is_no_key_is_refused() -> None:
    assert Google().no("POST", f"{ME}:importSshPublicKey", {"key": "nonsense"})[0] == 400


@pytest.mark.parametrize("version", ["v1beta", "v1alpha"])
def test_other_versions_answer_the_same(version: str) -> None:
    google = Google()
    google.prefix = f"/{version}"
    assert google.done("GET", f"{ME}/loginProfile")["posixAccounts"]


@pytest.mark.parametrize("email", USERNAMES)
def test_username_is_made_of_the_address(email: str) -> None:
    assert username_of(email) == USERNAMES[email]
