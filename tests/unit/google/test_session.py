"""Calls to Google: what is tried again, and what is not."""

from __future__ import annotations

import httpx
import pytest

from windlass.errors import EngineAmbiguous, EngineRejected, EngineTransient, PlaceUnfit
from windlass.google.credentials import FixedBearer
from windlass.google.session import Missing, Session, Taken, Unmet

URL = "https://compute.googleapis.com/compute/v1/projects/p/zones"


class Google:
    """Answers as it was told, one after the other; an exception is raised instead."""

    def __init__(self, *answers):
        self._answers = list(answers)
        self.asked = []

    def __call__(self, request):
        self.asked.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer, json={"error": {"code": answer, "message": "no"}})

    def session(self, bearer=None):
        client = httpx.Client(transport=httpx.MockTransport(self))
        return Session(client, bearer or FixedBearer("token"))


class Renewed:
    """A bearer whose first token is refused."""

    quota_project = "payer"

    def token(self, *, anew=False):
        return "second" if anew else "first"


@pytest.mark.parametrize("passing", [500, 502, 503, 504, httpx.ReadError("cut")])
def test_what_passes_is_tried_once_more_where_that_is_safe(passing):
    google = Google(passing, 200)
    google.session().get(URL, what="looking")
    assert len(google.asked) == 2


@pytest.mark.parametrize("passing", [503, httpx.ReadError("cut")])
def test_what_lasts_is_for_the_caller_to_try_later(passing):
    google = Google(passing, passing)
    with pytest.raises(EngineTransient):
        google.session().get(URL, what="looking")
    assert len(google.asked) == 2


def test_who_asks_too_much_does_not_ask_again_at_once():
    google = Google(429)
    with pytest.raises(EngineTransient):
        google.session().get(URL, what="looking")
    assert len(google.asked) == 1


def test_a_change_that_may_have_happened_is_not_made_twice():
    google = Google(httpx.ReadError("cut"))
    with pytest.raises(EngineAmbiguous):
        google.session().call("POST", URL, what="making", body={})
    assert len(google.asked) == 1


def test_a_change_with_a_request_id_may_be_made_again():
    google = Google(503, 200)
    google.session().call("POST", URL, what="making", body={}, is_repeatable=True)
    assert len(google.asked) == 2


def test_a_token_that_is_refused_is_renewed_once_and_the_payer_is_named():
    google = Google(401, 200)
    google.session(Renewed()).get(URL, what="looking")
    tokens = [request.headers["authorization"] for request in google.asked]
    assert tokens == ["Bearer first", "Bearer second"]
    assert google.asked[0].headers["x-goog-user-project"] == "payer"


@pytest.mark.parametrize(("code", "error"), [(404, Missing), (409, Taken), (412, Unmet)])
def test_what_only_the_caller_can_judge_is_told_apart(code, error):
    with pytest.raises(error):
        Google(code).session().get(URL, what="looking")


NO_MACHINE = "The resource 'projects/p/zones/us-x1-a/machineTypes/a9' was not found"


def answering(status: int, message: str) -> Session:
    def answer(request):
        return httpx.Response(status, json={"error": {"code": status, "message": message}})

    return Session(httpx.Client(transport=httpx.MockTransport(answer)), FixedBearer("token"))


def test_who_looks_learns_that_it_is_not_there_and_who_asks_that_the_place_will_not_do():
    with pytest.raises(Missing):
        answering(404, NO_MACHINE).get(URL, what="looking")
    with pytest.raises(PlaceUnfit):
        answering(404, NO_MACHINE).call("POST", URL, what="asking", body={})


@pytest.mark.parametrize(("status", "kind"), [(404, Missing), (409, Taken), (412, Unmet)])
def test_what_nobody_expected_is_still_an_error_of_ours_with_a_remedy(status, kind):
    with pytest.raises(kind) as caught:
        answering(status, "The image is not there").call("POST", URL, what="asking", body={})
    assert isinstance(caught.value, EngineRejected)
    assert caught.value.message == "asking: The image is not there"
    assert caught.value.remedy
