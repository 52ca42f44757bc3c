"""Clients of every kind get their answers; those that do not behave get one and are let go."""

from __future__ import annotations

import time

import pytest

from windlass.twin.messages import FilePart, Request, Response, json_response
from windlass.twin.refusals import Refusal
from windlass.twin.server.stream import Limits

GET = "GET /a?b=c HTTP/1.1\nHost: compute.googleapis.com\n\n"


def put(content: str, *lines: str) -> str:
    more = "".join(f"{line}\n" for line in lines)
    return f"PUT /x HTTP/1.1\nHost: h\n{more}\n{content}"


def test_a_connection_serves_many_requests(serving):
    client = serving.talk()
    for _ in range(3):
        answer = client.ask(GET)
        assert answer.status == 200
        assert answer.document["host"] == "compute.googleapis.com"
        assert answer.document["base"] == "http://compute.googleapis.com"
        assert (answer.document["path"], answer.document["query"]) == ("/a", "b=c")
        assert "date" in answer.headers


def test_requests_may_come_before_the_answers(serving):
    client = serving.talk()
    client.say((GET + put("hello", "Content-Length: 5") + GET).replace("\n", "\r\n") * 3)
    methods = [client.answer().document for _ in range(9)]
    assert [one["method"] for one in methods] == ["GET", "PUT", "GET"] * 3
    assert methods[1]["body"] == "hello"


def test_a_request_may_come_byte_by_byte(serving):
    client = serving.talk()
    for byte in put("hello", "Content-Length: 5").replace("\n", "\r\n"):
        client.say(byte)
    assert client.answer().document["body"] == "hello"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("5\nhello\n0\n\n", "hello"),
        ("2;name=value\nhe\n3\nllo\n0\nTrailer: x\n\n", "hello"),
        ("A\n0123456789\n0\n\n", "0123456789"),
        ("0\n\n", ""),
    ],
    ids=["one", "two with extras", "hexadecimal", "none"],
)
def test_chunks_are_put_together(serving, body, expected):
    client = serving.talk()
    for _ in range(2):
        answer = client.ask(put(body, "Transfer-Encoding: chunked"))
        assert answer.document["body"] == expected


@pytest.mark.parametrize(
    "body",
    ["x\nhello\n0\n\n", "5\nhelloX\n0\n\n", "-5\n", "\n\n", "5 5\nhello\n", "F" * 20 + "\n"],
)
def test_wrong_chunks_are_refused_and_end_the_connection(serving, body):
    client = serving.talk()
    answer = client.ask(put(body, "Transfer-Encoding: chunked"))
    assert (answer.status, answer.headers["connection"]) == (400, "close")
    assert client.is_closed()


def test_a_large_body_is_read_in_pieces_while_it_comes(serving):
    sizes = []

    def handler(request: Request) -> Response:
        while piece := request.body.read(1 << 20):
            sizes.append(len(piece))
        return json_response({})

    client = serving.talk(handler)
    client.say(f"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: {(5 << 20) + 7}\r\n\r\n")
    client.say(b"x" * ((5 << 20) + 7))
    assert client.answer().status == 200
    assert sizes == [1 << 20] * 5 + [7]


def test_a_client_that_waits_to_be_asked_is_asked_when_the_body_is_wanted(serving):
    client = serving.talk()
    assert client.ask(put("", "Content-Length: 5", "Expect: 100-continue")).status == 100
    client.say("hello")
    assert client.answer().document["body"] == "hello"
    assert client.ask(GET).status == 200


def test_a_client_is_not_asked_for_a_body_that_nobody_wants(serving):
    client = serving.talk(lambda request: json_response({}, status=403))
    answer = client.ask(put("", "Content-Length: 5", "Expect: 100-continue"))
    assert (answer.status, answer.headers["connection"]) == (403, "close")
    assert client.is_closed()


def test_a_small_body_that_nobody_reads_is_skipped(serving):
    client = serving.talk(lambda request: json_response({"path": request.path}))
    client.say((put("GET /no HTTP/1.1", "Content-Length: 16") + GET).replace("\n", "\r\n"))
    assert client.answer().document == {"path": "/x"}
    assert client.answer().document == {"path": "/a"}


def test_a_large_body_that_nobody_reads_ends_the_connection_after_the_answer(serving):
    client = serving.talk(lambda request: json_response({}, status=401))
    client.say(f"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: {8 << 20}\r\n\r\n")
    client.say(b"x" * (8 << 20))
    answer = client.answer()
    assert (answer.status, answer.headers["connection"]) == (401, "close")
    assert client.is_closed()


def test_a_proxy_request_names_the_whole_url(serving):
    client = serving.talk()
    answer = client.ask("GET http://127.0.0.1:9/v1?x=y HTTP/1.1\nHost: other\n\n").document
    assert (answer["host"], answer["path"], answer["query"]) == ("127.0.0.1", "/v1", "x=y")
    assert answer["base"] == "http://127.0.0.1:9"


def test_an_old_client_without_a_host_means_us(serving):
    server = serving.server()
    client = serving.client(server)
    answer = client.ask("GET / HTTP/1.0\n\n")
    assert answer.document["base"] == f"http://127.0.0.1:{server.port}"
    assert client.is_closed()


def test_an_old_client_may_ask_to_stay(serving):
    client = serving.talk()
    for _ in range(2):
        answer = client.ask("GET / HTTP/1.0\nConnection: keep-alive\n\n")
        assert answer.headers["connection"] == "keep-alive"


def test_head_gets_the_head_only(serving):
    client = serving.talk()
    answer = client.ask(GET.replace("GET", "HEAD"), is_head=True)
    assert int(answer.headers["content-length"]) > 10
    assert client.ask(GET).status == 200


def test_head_may_announce_the_length_of_what_is_not_read(serving):
    client = serving.talk(lambda request: Response(headers=(("Content-Length", "1234"),)))
    assert (
        client.ask("HEAD / HTTP/1.1\nHost: h\n\n", is_head=True).headers["content-length"] == "1234"
    )
    assert client.ask(GET).headers["content-length"] == "0"


@pytest.mark.parametrize("status", [204, 304])
def test_some_answers_have_no_content(serving, status):
    client = serving.talk(lambda request: Response(status=status, content=b"ignored"))
    for _ in range(2):
        answer = client.ask(GET)
        assert (answer.status, "content-length" in answer.headers) == (status, False)


@pytest.mark.parametrize(
    ("offset", "length"), [(0, 3 << 20), (0, 0), (5, 10), (1 << 20, 2 << 20), (100, 1 << 16)]
)
def test_a_part_of_a_file_is_sent(serving, tmp_path, offset, length):
    content = bytes(range(256)) * (3 << 12)
    path = tmp_path / "object"
    path.write_bytes(content)
    part = FilePart(path=path, offset=offset, length=length)
    client = serving.talk(lambda request: Response(status=206, content=part))
    for _ in range(2):
        assert client.ask(GET).content == content[offset : offset + length]


def test_a_file_that_is_too_short_is_a_bug_that_is_told(serving, tmp_path):
    path = tmp_path / "object"
    path.write_bytes(b"short")
    part = FilePart(path=path, offset=0, length=100_000)
    client = serving.talk(lambda request: Response(content=part))
    answer = client.ask(GET)
    assert answer.content == b"short"
    assert "is shorter than it was" in serving.log.getvalue()


def test_pieces_are_sent_in_chunks(serving):
    client = serving.talk(lambda request: Response(content=iter([b"one", b"", b"two"])))
    for _ in range(2):
        answer = client.ask(GET)
        assert answer.content == b"onetwo"
        assert answer.headers["transfer-encoding"] == "chunked"


def test_pieces_for_an_old_client_end_with_the_connection(serving):
    client = serving.talk(lambda request: Response(content=iter([b"one", b"two"])))
    assert client.ask("GET / HTTP/1.0\nConnection: keep-alive\n\n").content == b"onetwo"


def test_pieces_end_when_nobody_listens(serving):
    ended = []

    def pieces():
        try:
            while True:
                yield b"x" * 100_000
        finally:
            ended.append(True)

    client = serving.talk(lambda request: Response(content=pieces()))
    client.say(GET.replace("\n", "\r\n"))
    client.file.read(1000)
    client.close()
    deadline = time.monotonic() + 5
    while not ended and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ended == [True]
    assert serving.log.getvalue() == ""


def test_a_bug_is_answered_and_told_and_ends_nothing(serving):
    def handler(request: Request) -> Response:
        if request.path == "/a":
            raise KeyError("zone")
        return json_response({})

    client = serving.talk(handler)
    answer = client.ask(GET)
    assert answer.status == 500
    assert "KeyError" in answer.document["error"]["message"]
    log = serving.log.getvalue()
    assert "GET http://compute.googleapis.com/a went wrong" in log
    assert "Traceback" in log
    assert client.ask(GET.replace("/a", "/other")).status == 200


def test_a_refusal_is_answered_as_one(serving):
    def handler(request: Request) -> Response:
        raise Refusal(404, "nothing there")

    assert serving.talk(handler).ask(GET).document["error"]["message"] == "nothing there"


def test_a_bug_in_the_middle_of_pieces_hangs_up_and_is_told(serving):
    def pieces():
        yield b"x"
        raise OSError("the disk is gone")

    client = serving.talk(lambda request: Response(content=pieces()))
    client.say(GET.replace("\n", "\r\n"))
    assert not client.file.read().endswith(b"0\r\n\r\n")
    assert "the disk is gone" in serving.log.getvalue()


def test_a_header_cannot_smuggle_another(serving):
    client = serving.talk(lambda request: Response(headers=(("X-Name", "a\r\nSet-Cookie: b"),)))
    client.say(GET.replace("\n", "\r\n"))
    assert client.is_closed()
    assert "has a line end in it" in serving.log.getvalue()


def test_an_answer_that_is_lost_never_comes(serving):
    client = serving.talk(lambda request: Response(status=0))
    client.say(GET.replace("\n", "\r\n"))
    assert client.is_closed()


def test_an_upload_that_is_cut_tells_the_handler(serving):
    seen = []

    def handler(request: Request) -> Response:
        try:
            while request.body.read(3):
                pass
        except ConnectionError as error:
            seen.append(str(error))
            raise
        return json_response({})

    client = serving.talk(handler)
    client.say("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhello")
    client.close()
    deadline = time.monotonic() + 5
    while not seen and time.monotonic() < deadline:
        time.sleep(0.01)
    assert seen == ["the client has hung up in the middle"]
    assert serving.log.getvalue() == ""


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("nonsense\r\n\r\n", 400),
        ("GET / HTTP/1.1\nHost: a\n\n" + "x" * 70_000, 431),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: " + "x" * 70_000, 431),
        ("CONNECT nowhere HTTP/1.1 \r\n\r\n", 400),
        ("CONNECT a:99999 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\ntoo early", 400),
    ],
    ids=["nonsense", "half line ends", "a long head", "no host", "no port", "early bytes"],
)
def test_what_is_no_request_is_refused_and_ends_the_connection(serving, text, status):
    client = serving.talk()
    client.say(text)
    answer = client.answer()
    assert (answer.status, answer.headers["connection"]) == (status, "close")
    assert answer.document["error"]["code"] == status
    assert client.is_closed()


def test_empty_lines_before_a_request_are_skipped(serving):
    client = serving.talk()
    client.say("\r\n")
    client.say("\r\n" + GET.replace("\n", "\r\n"))
    assert client.answer().status == 200


def test_whoever_sends_a_head_too_slowly_is_let_go(serving):
    client = serving.talk(limits=Limits(head_s=0.2, silence_s=5.0))
    began = time.monotonic()
    client.say("GET / HTTP/1.1\r\n")
    try:
        for _ in range(40):
            client.say("X: y\r\n")
            time.sleep(0.02)
    except OSError:
        pass
    assert time.monotonic() - began < 3


def test_whoever_falls_silent_in_a_head_is_told_and_let_go(serving):
    client = serving.talk(limits=Limits(silence_s=0.1))
    client.say("GET / HTTP/1.1\r\n")
    assert client.answer().status == 408
    assert client.is_closed()


def test_whoever_falls_silent_in_a_body_is_let_go(serving):
    client = serving.talk(limits=Limits(silence_s=0.1))
    client.say("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhello")
    assert client.is_closed()


def test_whoever_asks_nothing_more_is_let_go_in_the_end(serving):
    client = serving.talk(limits=Limits(silence_s=0.05, idle_s=0.2))
    assert client.ask(GET).status == 200
    time.sleep(0.1)
    assert client.ask(GET).status == 200
    assert client.is_closed()
