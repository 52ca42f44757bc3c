"""One loopback port for everything: plain, TLS and CONNECT; and an orderly end."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from windlass.errors import OptionRefused, TwinPortTaken
from windlass.twin.messages import Bytes, FilePart, Request, Response, json_response
from windlass.twin.server.certificates import tls_context
from windlass.twin.server.listener import Server
from windlass.twin.server.stream import Limits

GET = "GET /a HTTP/1.1\nHost: {host}\n\n"


@pytest.fixture
def trusting(tmp_path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """TLS for the server, and for a client that trusts nothing but the twin's authority."""
    server = tls_context(tmp_path)
    return server, ssl.create_default_context(cafile=str(tmp_path / "ca.crt"))


@pytest.mark.parametrize(
    "address", ["0.0.0.0", "::", "10.0.0.1", "192.168.1.1", "", "localhost", "::ffff:127.0.0.1"]
)
def test_only_loopback_is_listened_on(address):
    with pytest.raises(OptionRefused, match="no loopback address"):
        Server(lambda request: Response(), address=address)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.9"])
def test_all_of_loopback_may_be_listened_on(address):
    Server(lambda request: Response(), address=address).stop()


def test_a_port_that_is_taken_is_said_to_be():
    with socket.create_server(("127.0.0.1", 0)) as other:
        with pytest.raises(TwinPortTaken) as refused:
            Server(lambda request: Response(), port=other.getsockname()[1])
    assert "--port" in refused.value.remedy


@pytest.mark.parametrize(
    "host",
    [
        "compute.googleapis.com",
        "us-central1-aiplatform.googleapis.com",
        "accounts.google.com",
        "bucket.storage.googleapis.com",
        "us-docker.pkg.dev",
        "gcr.io",
        "localhost",
        "127.0.0.1",
    ],
)
def test_a_tunnel_to_any_host_ends_in_the_twin(serving, trusting, host):
    server = serving.server(tls=trusting[0])
    client = serving.client(server)
    assert client.ask(f"CONNECT {host}:443 HTTP/1.1\nHost: {host}:443\n\n", is_head=True).status
    client.over(trusting[1].wrap_socket(client.sock, server_hostname=host))
    for _ in range(2):
        answer = client.ask(GET.format(host=host)).document
        assert (answer["host"], answer["base"]) == (host, f"https://{host}")


def test_a_host_that_the_twin_does_not_play_is_not_forwarded_to(serving, trusting):
    client = serving.client(serving.server(tls=trusting[0]))
    assert client.ask("CONNECT example.com:443 HTTP/1.1\nHost: x\n\n", is_head=True).status == 200
    with pytest.raises(ssl.SSLCertVerificationError):
        trusting[1].wrap_socket(client.sock, server_hostname="example.com")


def test_a_tunnel_may_be_plain_inside_and_has_no_tunnel_in_it(serving):
    client = serving.talk()
    assert client.ask("CONNECT metadata:80 HTTP/1.1\nHost: x\n\n", is_head=True).status == 200
    assert client.ask("GET / HTTP/1.0\nConnection: keep-alive\n\n").document["host"] == "metadata"
    assert client.ask("CONNECT other:80 HTTP/1.1\nHost: x\n\n").status == 400


def test_tls_is_spoken_without_a_tunnel_too(serving, trusting):
    server = serving.server(tls=trusting[0])
    client = serving.client(server)
    client.over(trusting[1].wrap_socket(client.sock, server_hostname="127.0.0.1"))
    answer = client.ask(GET.format(host=f"127.0.0.1:{server.port}")).document
    assert answer["base"] == f"https://127.0.0.1:{server.port}"
    plain = serving.client(server)
    assert plain.ask(GET.format(host="x")).document["base"] == "http://x"


def test_there_is_no_tunnel_inside_tls(serving, trusting):
    client = serving.client(serving.server(tls=trusting[0]))
    client.over(trusting[1].wrap_socket(client.sock, server_hostname="localhost"))
    assert client.ask("CONNECT a:443 HTTP/1.1\nHost: a\n\n").status == 400


def test_files_and_uploads_go_through_tls(serving, trusting, tmp_path):
    content = bytes(range(256)) * (3 << 12)
    path = tmp_path / "object"
    path.write_bytes(content)

    def handler(request: Request) -> Response:
        if request.method == "GET":
            return Response(content=FilePart(path=path, offset=1, length=len(content) - 1))
        return json_response({"same": request.body.read() == content})

    client = serving.client(serving.server(handler, tls=trusting[0]))
    client.over(trusting[1].wrap_socket(client.sock, server_hostname="localhost"))
    assert client.ask(GET.format(host="x")).content == content[1:]
    client.say(f"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: {len(content)}\r\n\r\n")
    client.say(content)
    assert client.answer().document == {"same": True}


def test_a_broken_handshake_hurts_nobody_else(serving, trusting):
    server = serving.server(tls=trusting[0])
    broken = serving.client(server)
    broken.say(b"\x16\x03\x01\x00\x05hello")
    assert serving.client(server).ask(GET.format(host="x")).status == 200
    broken.file.read()
    assert serving.log.getvalue() == ""


def test_a_server_without_certificates_hangs_up_on_tls(serving):
    client = serving.talk()
    client.say(b"\x16\x03\x01")
    assert client.is_closed()


def test_many_clients_are_served_at_once(serving):
    together = threading.Barrier(16)

    def handler(request: Request) -> Response:
        together.wait(timeout=10)
        return json_response({})

    server = serving.server(handler)
    with ThreadPoolExecutor(16) as pool:
        clients = [serving.client(server) for _ in range(16)]
        answers = pool.map(lambda client: client.ask(GET.format(host="x")).status, clients)
        assert set(answers) == {200}


def test_too_many_clients_are_turned_away(serving):
    server = serving.server(limits=Limits(connections=1))
    first = serving.client(server)
    assert first.ask(GET.format(host="x")).status == 200
    second = serving.client(server)
    assert second.answer().status == 503
    first.close()
    deadline = time.monotonic() + 5
    while serving.client(server).ask(GET.format(host="x")).status != 200:
        assert time.monotonic() < deadline


@pytest.mark.parametrize("is_welcome", [True, False])
def test_a_port_may_choose_whom_it_admits(serving, is_welcome):
    seen = []

    def admits(peer: tuple[str, int], local: tuple[str, int]) -> bool:
        seen.append((peer, local))
        return is_welcome

    server = Server(lambda request: json_response({}), log=serving.log)
    server.admits = admits
    server.start()
    serving.stack.callback(server.stop)
    client = serving.client(server)
    client.say(GET.format(host="x").replace("\n", "\r\n"))
    assert client.is_closed() is not is_welcome
    assert seen == [(client.sock.getsockname(), ("127.0.0.1", server.port))]


def test_at_the_end_answers_under_way_are_finished_and_idle_clients_let_go(serving):
    is_asked, may_answer = threading.Event(), threading.Event()

    def handler(request: Request) -> Response:
        if request.path == "/slow":
            is_asked.set()
            may_answer.wait(timeout=10)
        return json_response({})

    server = serving.server(handler)
    idle, busy = serving.client(server), serving.client(server)
    assert idle.ask(GET.format(host="x")).status == 200
    busy.say("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
    is_asked.wait(timeout=10)
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    assert idle.is_closed()
    may_answer.set()
    answer = busy.answer()
    assert (answer.status, answer.headers["connection"]) == (200, "close")
    stopping.join(timeout=10)
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port), timeout=1)


def test_a_body_in_memory_reads_like_one_that_arrives():
    body = Bytes(b"hello")
    assert (body.read(2), body.read(), body.read(1)) == (b"he", b"llo", b"")
