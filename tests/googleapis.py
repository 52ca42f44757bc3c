"""All of Google's services of a twin in this process, asked by host as clients ask them.

Must not know a test.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from vms import ROUTER, TOKEN, Google
from windlass.twin.discovery.check import check
from windlass.twin.messages import Bytes, Request


class Service(Google):
    """A twin, asked at one service's host. Every good answer is checked against its schema."""

    host = "secretmanager.googleapis.com"
    prefix = "/v1"

    def call(
        self, method: str, path: str, body: Any = None, *, token: str = TOKEN, **query: Any
    ) -> tuple[int, Any]:
        """Status and body of the answer. Dots in names of the query are written as `__`."""
        full = f"{self.prefix}/{path}"
        pairs = {name.replace("__", "."): value for name, value in query.items()}
        request = Request(
            method=method,
            host=self.host,
            path=full,
            query=urlencode(pairs, doseq=True),
            headers={"authorization": f"Bearer {token}"},
            body=Bytes(b"" if body is None else json.dumps(body).encode()),
        )
        response = self.twin.door.answer(request)
        assert isinstance(response.content, bytes)
        answer = json.loads(response.content)
        if response.status == 200:
            found = ROUTER.find(self.host, method, full)
            assert found.match is not None
            self.asked.add(found.match.method.id)
            schema = found.match.method.response
            findings = check(found.api, schema, answer, answer=True) if schema else []
            assert not findings, (found.match.method.id, findings)
        return response.status, answer

    def done(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """The answer to a question that must succeed."""
        status, answer = self.call(method, path, body, **query)
        assert status == 200, answer
        return answer

    def no(self, method: str, path: str, body: Any = None, **query: Any) -> tuple[int, str, str]:
        """Code, status and message of a refusal."""
        code, answer = self.call(method, path, body, **query)
        assert code >= 400, answer
        return code, answer["error"]["status"], answer["error"]["message"]

    def account(self, name: str) -> tuple[str, str]:
        """A service account that has no role anywhere: its address and a token."""
        email = f"{name}@twin-project.iam.gserviceaccount.com"
        return email, self.twin.tokens.mint(email, seconds=3600.0)
