"""Requests to Cloud Storage: tried again while there is time, and never for longer."""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time

import pytest

import bucket_server
from bucket_server import BUCKET, BucketServer, lost_reply, lost_request, refusal, storage
from windlass.agent import storage as storages
from windlass.agent.storage import Ask, BucketError, Storage, connect, object_path

LIST = Ask("GET", f"/storage/v1/b/{BUCKET}/o", {})
THING = object_path(BUCKET, "thing")


@pytest.mark.parametrize("trouble", [lost_request, lost_reply, refusal(429), refusal(503)])
def test_what_may_pass_is_tried_again(server: BucketServer, trouble) -> None:
    server.next(trouble, trouble)
    answer = storage().ask(LIST)
    assert answer.status == 200 and answer.is_repeated
    assert len(server.asked) == 3


@pytest.mark.parametrize("status", [400, 403, 404, 412])
def test_what_will_not_pass_is_told_at_once(server: BucketServer, status: int) -> None:
    server.next(refusal(status))
    with pytest.raises(BucketError, match="not now") as caught:
        storage().ask(LIST)
    assert caught.value.status == status
    assert isinstance(caught.value, OSError), "to the agent it is a disk that fails"
    assert len(server.asked) == 1


def test_patience_has_an_end(server: BucketServer) -> None:
    server.next(*[refusal(503)] * 50)
    began = time.monotonic()
    with pytest.raises(BucketError, match="503"):
        storage(patience_s=1.0).ask(LIST)
    assert time.monotonic() - began < 2.0


def test_silence_costs_its_time_once_and_then_nothing_for_a_while(server: BucketServer) -> None:
    """A loop with ten things to write must not wait ten times."""
    asking = storage(patience_s=1.0)
    with server.hung():
        began = time.monotonic()
        for _ in range(10):
            with pytest.raises(BucketError):
                asking.ask(LIST)
        assert 0.9 < time.monotonic() - began < 2.5
    time.sleep(storages.REST_S)
    assert asking.ask(LIST).status == 200


def test_a_refused_token_is_renewed_once(server: BucketServer) -> None:
    given: list[bool] = []

    def token(is_anew: bool) -> str:
        given.append(is_anew)
        return "good" if is_anew else "old"

    asking = Storage(token)
    assert asking.ask(LIST).status == 200
    assert given == [False, True]
    server.tokens.clear()
    with pytest.raises(BucketError, match="401"):
        asking.ask(LIST)
    assert given == [False, True, False, True]


def test_one_connection_serves_many_requests(server: BucketServer, monkeypatch) -> None:
    made = []
    real = storages.connect
    monkeypatch.setattr(storages, "connect", lambda *a, **k: made.append(1) or real(*a, **k))
    asking = storage()
    for _ in range(5):
        asking.ask(LIST)
    assert len(made) == 1


def test_after_a_fork_parent_and_child_do_not_share_the_connection(server: BucketServer) -> None:
    asking = storage()
    asking.ask(Ask("POST", f"/upload{LIST.path}", {"uploadType": "media", "name": "thing"}, b"hi"))
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            for _ in range(20):
                os.write(writer, asking.ask(Ask("GET", THING, {"alt": "media"})).body)
        finally:
            os._exit(0)
    os.close(writer)
    for _ in range(20):
        assert asking.ask(LIST).body.startswith(b"{")
    os.waitpid(pid, 0)
    with os.fdopen(reader, "rb") as said:
        assert said.read() == b"hi" * 20


def test_cloud_storage_is_reached_through_a_proxy_by_its_own_name(tmp_path, monkeypatch) -> None:
    """The proxy is the twin itself, which plays the host behind CONNECT with TLS."""
    with bucket_server.serving(tmp_path, tls=True) as server:
        for name in ("STORAGE_EMULATOR_HOST", "https_proxy", "NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HTTPS_PROXY", server.url)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.crt"))
        assert storage().ask(LIST).status == 200
        assert server.headers[-1]["host"] == storages.HOST
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(BucketError, match="CERTIFICATE_VERIFY_FAILED"):
            storage(patience_s=0.1).ask(LIST)


def test_a_proxy_gets_its_password(monkeypatch) -> None:
    said: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def listen() -> None:
        client, _ = listening.accept()
        with client:
            said.append(client.recv(4096))

    thread = threading.Thread(target=listen)
    thread.start()
    monkeypatch.delenv("STORAGE_EMULATOR_HOST", raising=False)
    monkeypatch.setenv("https_proxy", f"http://ada:p%40ss@127.0.0.1:{listening.getsockname()[1]}")
    with pytest.raises(BucketError):
        storage(patience_s=0.1).ask(LIST)
    thread.join()
    listening.close()
    head = said[0].decode()
    assert head.startswith("CONNECT storage.googleapis.com:443")
    assert "Proxy-Authorization: Basic YWRhOnBAc3M=" in head


def test_a_host_that_needs_no_proxy_gets_none(monkeypatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", ".googleapis.com")
    assert connect(ssl.create_default_context()).host == storages.HOST
