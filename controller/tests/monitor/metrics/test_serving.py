"""The server of `/metrics`: what is negotiated, what is refused, and that nobody holds it up."""

import asyncio
import gzip
import re
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

import pytest
from made_up import observations
from metrics_pages import Clock, samples

from phb.errors import InputError
from phb.monitor.metrics import serve
from phb.web import server
from phb.web.server import Answer, Pace, Server

# What Prometheus 2.42 sends, and what 3 does.
PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"


@asynccontextmanager
async def serving(switches=("edge",), **options):
    async with serve("127.0.0.1:0", switches, **options) as taker:
        yield taker, int(taker.address.rpartition(":")[2])


@asynccontextmanager
async def connected(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def answer_to(reader, writer, request: str):
    """Send a request; give status, headers and body."""
    writer.write(request.encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.rstrip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    bodiless = request.startswith("HEAD")
    body = b"" if bodiless else await reader.readexactly(int(headers["content-length"]))
    return int(first.split()[1]), headers, body


def request(path="/metrics", method="GET", **headers):
    lines = [f"{method} {path} HTTP/1.1", "Host: monitor"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""])


async def ask(port, *of, **headers):
    async with connected(port) as ends:
        return await answer_to(*ends, request(*of, **headers))


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (None, TEXT),
        ("*/*", TEXT),
        ("text/plain;version=0.0.4", TEXT),
        ("text/html,application/xhtml+xml", TEXT),
        (PROMETHEUS_2, OPENMETRICS),
        (PROMETHEUS_3, OPENMETRICS),
    ],
)
async def test_the_format_is_what_the_reader_asks_for(accept, content_type):
    async with serving() as (taker, port):
        for observation in observations(3):
            taker.take(observation)
        asked = {} if accept is None else {"Accept": accept}
        status, headers, body = await ask(port, **asked)
        assert (status, headers["content-type"]) == (200, content_type)
        read = samples(body.decode(), openmetrics=content_type == OPENMETRICS)
        assert read["phb_class_sent_packets_total", (("class", "class-1"), ("switch", "edge"))] == 200
        assert read["phb_metrics_scrapes_total", ()] == 1
        assert any(name == "process_cpu_seconds_total" for name, _ in read)
        status, headers, zipped = await ask(port, **asked, Accept_Encoding="br;q=1, gzip")
        assert headers["content-encoding"] == "gzip"
        assert gzip.decompress(zipped).count(b"\n") == body.count(b"\n")


@pytest.mark.parametrize(
    ("of", "status", "words"),
    [
        (("/metrics?name[]=x",), 200, None),
        (("/",), 404, b"there are /metrics and /healthz\n"),
        (("/metrics/x",), 404, b"there are /metrics and /healthz\n"),
        (("/healthz",), 200, b"ok\n"),
        (("/metrics", "POST"), 405, b"GET or HEAD\n"),
        (("/metrics", "HEAD"), 200, b""),
    ],
)
async def test_paths_and_methods(of, status, words):
    async with serving() as (_, port):
        found, headers, body = await ask(port, *of)
        assert (found, words in (None, body)) == (status, True)
        assert "allow" not in headers or headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("hello\r\n\r\n", 400),
        ("GET /metrics HTTP/1.1\r\n\r\n", 400),
        (f"GET /{'x' * 20_000} HTTP/1.1\r\nHost: x\r\n\r\n", 431),
        (f"GET / HTTP/1.1\r\nHost: x\r\nX: {'x' * 20_000}", 431),
        (f"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n{'x' * 9000}", 413),
    ],
)
async def test_what_is_no_request_is_told_so_and_ended(sent, status):
    async with serving() as (_, port), connected(port) as (reader, writer):
        found, headers, _ = await answer_to(reader, writer, sent)
        assert (found, headers["connection"]) == (status, "close")
        assert await reader.read() == b""


async def test_a_connection_is_asked_again_and_again():
    async with serving() as (_, port), connected(port) as ends:
        for _ in range(3):
            assert (await answer_to(*ends, request("/healthz")))[0] == 200
        # Two requests at once, and a last one.
        both = request("/healthz") + request("/nothing")
        assert (await answer_to(*ends, both))[0] == 200
        assert (await answer_to(*ends, ""))[0] == 404
        assert (await answer_to(*ends, request("/healthz", Connection="close")))[0] == 200
        assert await ends[0].read() == b""


async def test_half_open_connections_give_way_to_the_next():
    async with serving() as (_, port):
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(server.MOST_CONNECTIONS)]
        silent[1][1].write(b"GET /metrics HTTP/1.1\r\n")
        # One that has been answered and waits counts from then on.
        assert (await answer_to(*silent[0], request("/healthz")))[0] == 200
        for _ in range(3):
            assert (await ask(port, "/healthz"))[0] == 200
        assert await silent[1][0].read() == b""
        assert (await answer_to(*silent[0], request("/healthz")))[0] == 200
        for _, writer in silent:
            writer.close()


async def test_who_sends_nothing_is_ended(monkeypatch):
    monkeypatch.setattr(server, "REQUEST_S", 0.05)
    async with serving() as (_, port), connected(port) as (reader, writer):
        writer.write(b"GET /metrics HTTP/1.1\r\n")
        assert await reader.read() == b""


async def test_who_reads_nothing_is_ended_and_nobody_waits_for_it(monkeypatch):
    monkeypatch.setattr(server, "ANSWER_S", 0.2)

    async def answering(asked):
        if asked.path == "/endless":
            return Answer(HTTPStatus.OK, TEXT, (bytes(1 << 16) for _ in range(1 << 14)), 1 << 30)
        return Answer.words(HTTPStatus.OK, "ok")

    listening = Server(answering)
    port = await listening.start("127.0.0.1", 0)
    try:
        async with connected(port) as (slow, writer):
            writer.write(request("/endless").encode())
            await slow.readexactly(1000)
            assert (await ask(port, "/healthz"))[0] == 200
            await asyncio.sleep(0.3)
            read = 0
            with suppress(ConnectionError):
                while some := await slow.read(1 << 20):
                    read += len(some)
            assert read < 1 << 30
    finally:
        await listening.close()


async def test_a_hundred_questions_make_few_pages():
    async with serving() as (taker, port):
        for observation in observations(3, classes=20):
            taker.take(observation)
        bodies = await asyncio.gather(*(ask(port) for _ in range(50)))
        assert {status for status, _, _ in bodies} == {200}
        _, _, body = await ask(port)
        read = samples(body.decode())
        assert read["phb_metrics_pages_total", ()] < read["phb_metrics_scrapes_total", ()] / 2


async def test_answers_take_turns_and_rest_after_each(monkeypatch):
    clock, rests, order = Clock(), [], []

    async def sleep(seconds):
        rests.append(round(seconds, 6))
        order.append("rest")

    pace = Pace(clock)

    async def work(name, seconds):
        async with pace:
            order.append(name)
            clock.now_s += seconds

    monkeypatch.setattr(server.asyncio, "sleep", sleep)
    await asyncio.gather(work("a", 0.001), work("b", 0.002))
    assert (order, rests) == (["a", "rest", "b", "rest"], [0.004, 0.008])


async def test_health_is_whether_observations_come():
    clock = Clock()
    async with serving(clock=clock) as (taker, port):
        assert (await ask(port, "/healthz"))[::2] == (200, b"ok\n")
        clock.now_s += 31
        assert (await ask(port, "/healthz"))[::2] == (503, b"no observation for 31 s\n")
        taker.take(next(observations(1)))
        assert (await ask(port, "/healthz"))[::2] == (200, b"ok\n")


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("9464", "'9464'"),
        (":9464", "':9464'"),
        ("::1:9464", "'::1:9464'"),
        ("127.0.0.1:65536", "'127.0.0.1:65536'"),
        ("http://127.0.0.1:80", "'http://127.0.0.1:80'"),
    ],
)
async def test_a_wrong_address_is_named(address, found):
    with pytest.raises(InputError) as raised:
        async with serve(address, ()):
            pass
    assert str(raised.value) == f"--metrics: found {found}, expected HOST:PORT, such as 127.0.0.1:9464"


async def test_a_wrong_number_of_bounds_is_named():
    with pytest.raises(InputError) as raised:
        async with serve("127.0.0.1:0", (), fineness=3):
            pass
    assert str(raised.value) == "--metrics-bounds: found 3, expected 1, 2, 4 or 8"


async def test_an_address_that_cannot_be_had_is_named():
    async with serving() as (_, port):
        for address, words in (
            (f"127.0.0.1:{port}", "address already in use"),
            ("192.0.2.1:9464", "cannot assign requested address"),
            ("no-such-host.invalid:9464", "name or service not known|no address|temporary failure"),
        ):
            with pytest.raises(InputError, match=f"^--metrics: found '{address}' \\(.*({words})") as raised:
                async with serve(address, ()):
                    pass
            assert str(raised.value).endswith("expected an address of this machine and a free port")


async def test_ipv6_stands_in_brackets():
    try:
        async with serve("[::1]:0", ()) as taker:
            assert re.fullmatch(r"\[::1\]:\d+", taker.address)
    except InputError as error:
        assert "assign" in str(error) or "family" in str(error)  # noqa: PT017
        pytest.skip("no IPv6 on loopback")
