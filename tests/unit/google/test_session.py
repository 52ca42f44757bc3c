"""Calls to Google: what is tried again, and what is not."""

from __future__ import annotations

import httpx
import pytest

from windlass.errors import EngineAmbiguous, EngineTransient
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
