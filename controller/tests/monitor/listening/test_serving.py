"""The page's server: who may look, what is answered, and that nobody who reads slowly holds up the others."""

import asyncio
import json
import ssl
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
import trustme
from asking import ask, connected, events, head_of, live_of, request, serving
from made_up import observations

from phb.errors import InputError, PhbError
from phb.monitor.listening import routes, serve
from phb.monitor.observation import Event, EventKind
from phb.web import guard, renewing, server

TOKEN = "0123456789abcdef"


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    return path


async def test_events_begin_with_what_was_and_go_on_with_what_comes():
    live = live_of("edge", "core")
    made = list(observations(4))
    live.take(made[0])
    async with serving(live) as port, events(port, "/events?switch=edge") as told:
        assert [(await told.next())[0] for _ in range(3)] == ["hello", "tick", "detail"]
        live.take(made[1])
        assert (await told.until("detail"))["seconds"] == 1
        assert (await told.until("tick"))["switches"]["edge"]["bps"] > 0
        live.happened(Event(1, "edge", EventKind.PORT_DOWN, "port wan is down"))
        assert (await told.until("event"))["message"] == "port wan is down"


@pytest.mark.parametrize(
    "name", ["a\nevent: hello\ndata: {}\n\n", "</script><script>alert(1)</script>", "\r\n\r\n\0\x1b", "\u2028\ud800"]
)
async def test_a_name_is_one_field_whatever_is_in_it(name):
    live = live_of(name)
    live.take(next(observations(1, switch=name)))
    live.happened(Event(1, name, EventKind.TROUBLE, name))
    async with serving(live) as port, events(port) as told:
        kinds = [await told.next() for _ in range(3)]
        assert [kind for kind, _ in kinds] == ["hello", "tick", "event"]
        assert kinds[2][1]["message"] == name


@pytest.mark.parametrize(
    ("path", "status", "found"),
    [
        ("/healthz", 200, b"ok\n"),
        ("/nothing", 404, b"there is nothing here\n"),
        ("/events?switch=nobody", 404, {"error": "no switch 'nobody' is watched"}),
        ("/api/switches/no%0Abody/series", 404, {"error": "no switch 'no\\nbody' is watched"}),
        ("/api/switches/edge/x", 404, {"error": "no 'x' of a switch: there are series, policy, queues and objectives"}),
        ("/api/switches/edge/series?seconds=x", 422, {"error": "seconds: found 'x', expected a number from 1 to 900"}),
        ("/api/switches/edge/series?most=nan", 422, {"error": "most: found 'nan', expected a number from 1 to 900"}),
        ("/api/switches/edge/series?most=0", 422, {"error": "most: found '0', expected a number from 1 to 900"}),
        ("/api/switches/edge/policy", 404, {"error": "nobody here can tell"}),
        ("/recording", 404, b"there is nothing here\n"),
    ],
)  # fmt: skip
async def test_paths(path, status, found):
    async with serving() as port:
        answered, headers, body = await ask(port, path)
        assert (answered, body if isinstance(found, bytes) else json.loads(body)) == (status, found)
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


async def test_a_head_of_events_is_one_of_them():
    async with serving() as port, connected(port) as (reader, writer):
        writer.write(request("/events", "HEAD"))
        status, headers = await head_of(reader)
        assert (status, headers["content-type"]) == (200, "text/event-stream")


async def test_a_series_is_what_the_monitor_has_seen():
    live = live_of()
    for observation in observations(20):
        live.take(observation)
    async with serving(live) as port:
        for most, count in ((900, 20), (5, 5)):
            _, _, body = await ask(port, f"/api/switches/edge/series?seconds=600&most={most}")
            assert json.loads(body) == live.series("edge", 600, most)
            assert len(json.loads(body)) == count


async def test_a_recording_is_given_as_it_is():
    async with serving(recording=lambda: [b"{}\n"] * 50_000) as port:
        _, headers, body = await ask(port, "/recording")
        assert (headers["content-type"], body) == ("application/x-ndjson", b"{}\n" * 50_000)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:1", 200),
        ("127.0.0.1", 200),
        ("[::1]:8010", 200),
        ("evil.example:8010", 421),
        ("127.0.0.1.evil.example", 421),
        ("192.0.2.1", 421),
        ("localhost:80@evil.example", 421),
    ],
)
async def test_who_calls_the_server_by_another_name_is_refused(host, status):
    async with serving() as port:
        assert (await ask(port, "/api/switches/edge/series", Host=host))[0] == status


async def test_nothing_is_changed_unless_the_monitor_was_told_so():
    async with serving() as port:
        status, _, body = await ask(port, "/api/switches/edge/rollback", "POST", "{}", X_Phb="page")
        assert (status, "changes nothing" in json.loads(body)["error"]) == (403, True)


class Changing:
    """Takes back, but for one switch."""

    async def rollback(self, switch, push):
        if switch == "core":
            raise PhbError("nothing before")
        return {"switch": switch, "push": push}


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("edge/rollback", {"X_Phb": "page"}, 200),
        ("edge/rollback", {"X_Phb": "page", "Origin": "http://localhost:8010", "Sec_Fetch_Site": "same-origin"}, 200),
        ("edge/rollback", {}, 403),
        ("edge/rollback", {"X_Phb": "page", "Origin": "http://evil.example"}, 403),
        ("edge/rollback", {"X_Phb": "page", "Origin": "null"}, 403),
        ("edge/rollback", {"X_Phb": "page", "Sec_Fetch_Site": "cross-site"}, 403),
        ("edge/other", {"X_Phb": "page"}, 404),
        ("nobody/rollback", {"X_Phb": "page"}, 404),
        ("core/rollback", {"X_Phb": "page"}, 409),
    ],
)
async def test_a_change_is_asked_for_by_the_page_alone(path, headers, status):
    async with serving(live_of("edge", "core", writable=True), asked=Changing()) as port:
        assert (await ask(port, f"/api/switches/{path}", "POST", "{}", **headers))[0] == status
        assert (await ask(port, f"/api/switches/{path}", "DELETE", **headers))[0] == 405


async def test_a_token_lets_in_and_its_cookie_after_it(token_file, monkeypatch):
    monkeypatch.setattr(guard, "WRONG_S", 0.01)
    series = "/api/switches/edge/series"
    async with serving(token_file=token_file) as port:
        assert (await ask(port, "/healthz"))[0] == 200
        status, headers, _ = await ask(port, series)
        assert (status, headers["www-authenticate"]) == (401, "Bearer")
        assert (await ask(port, series, Authorization=f"Bearer {TOKEN}"))[0] == 200
        assert (await ask(port, series, Authorization=f"bearer {TOKEN}x"))[0] == 401
        status, _, body = await ask(port, "/", Accept="text/html")
        assert (status, b"<form" in body) == (401, True)
        for path, found in (("/assets/page.css", 200), ("/assets/main.js", 401), ("/", 401)):
            assert (await ask(port, path))[0] == found
        status, _, body = await ask(port, "/login", "POST", "token=wrong")
        assert (status, b"wrong token" in body) == (401, True)
        status, headers, _ = await ask(port, "/login", "POST", f"token={TOKEN}")
        assert (status, headers["location"]) == (303, "/")
        cookie, *attributes = headers["set-cookie"].split("; ")
        assert attributes == ["Path=/", "HttpOnly", "SameSite=Strict"]
        assert (await ask(port, series, Cookie=f"other=1; {cookie}"))[0] == 200
        name, _, value = cookie.partition("=")
        later = str(int(value.partition(".")[0]) + 1)
        for wrong in (f"{name}={later}.{value.partition('.')[2]}", f"{name}=x", f"{name}=.", f"{name}=\u00b2.x", "\0"):
            assert (await ask(port, series, Cookie=wrong))[0] in (400, 401)
        # Another token ends what the one before let in.
        monkeypatch.setattr(renewing, "LOOK_S", 0.0)
        token_file.write_text("another-0123456789")
        assert (await ask(port, series, Cookie=cookie))[0] == 401


async def test_sessions_end_and_wrong_tokens_are_told_once_a_minute(token_file, monkeypatch):
    monkeypatch.setattr(guard, "WRONG_S", 0.0)
    now, told = [1000.0], []
    watching = guard.Guard("0.0.0.0", lambda: TOKEN.encode(), told.append, lambda: now[0], lambda: now[0])
    asked = server.Request("/", {"host": "phb:443"}, "GET", peer="192.0.2.7", encrypted=True)
    login = replace(asked, path="/login", method="POST", body=f"token={TOKEN}".encode())
    cookie = dict((await watching.refusal(login)).headers)["Set-Cookie"]
    assert cookie.startswith("__Host-phb-443=")
    assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict; Secure")
    inside = replace(asked, headers={"host": "phb:443", "cookie": cookie.partition(";")[0]})
    assert await watching.refusal(inside) is None
    now[0] += guard.SESSION_S
    assert (await watching.refusal(inside)).status == 401
    for number in range(1000):
        now[0] += 0.1
        wrong = replace(asked, headers={"authorization": f"Bearer {number}"})
        assert (await watching.refusal(wrong)).status == 401
    assert told[0] == "a wrong token was given once for the page, the last time from 192.0.2.7"
    assert len(told) == 2
    assert "601 times" in told[1]


async def test_many_wrong_tokens_keep_nobody_out_who_is_in(token_file, monkeypatch):
    over = asyncio.Event()
    # Wrong tokens wait until the test says that their time is over.
    monkeypatch.setattr(guard, "asyncio", SimpleNamespace(sleep=lambda _: over.wait()))
    async with serving(token_file=token_file) as port:
        _, headers, _ = await ask(port, "/login", "POST", f"token={TOKEN}")
        cookie = headers["set-cookie"].partition(";")[0]
        guessing = [asyncio.create_task(ask(port, "/", Authorization="Bearer x")) for _ in range(40)]
        async with asyncio.timeout(60):
            while sum(task.done() for task in guessing) < 40 - guard.MOST_WRONG:
                await asyncio.sleep(0.01)
        assert (await ask(port, "/api/switches/edge/series", Cookie=cookie))[0] == 200
        over.set()
        statuses = [each[0] for each in await asyncio.gather(*guessing)]
        assert sorted(statuses) == [401] * guard.MOST_WRONG + [429] * (40 - guard.MOST_WRONG)


async def test_many_wrong_tokens_keep_out_only_the_address_they_come_from(monkeypatch):
    monkeypatch.setattr(guard, "WRONG_S", 60.0)
    watching = guard.Guard("0.0.0.0", lambda: TOKEN.encode(), lambda message: None)
    right = server.Request("/", {"authorization": f"Bearer {TOKEN}"}, "GET", peer="192.0.2.7", encrypted=True)
    wrong = replace(right, headers={"authorization": "Bearer x"})
    guessing = [asyncio.create_task(watching.refusal(wrong)) for _ in range(guard.MOST_WRONG)]
    await asyncio.sleep(0)
    assert (await watching.refusal(right)).status == 429
    assert await watching.refusal(replace(right, peer="192.0.2.8")) is None
    for task in guessing:
        task.cancel()
    await asyncio.gather(*guessing, return_exceptions=True)
    assert await watching.refusal(right) is None


@pytest.mark.parametrize(
    ("words", "mode", "found"),
    [
        (None, 0o600, "no such file"),
        ("short\n", 0o600, "5 characters"),
        ("\u00e9" * 20, 0o600, "40 characters"),
        (TOKEN, 0o644, "a file that everybody may open"),
    ],
)
async def test_a_token_that_is_none_is_named(tmp_path, words, mode, found):
    path = tmp_path / "token"
    if words is not None:
        path.write_text(words)
        path.chmod(mode)
    with pytest.raises(InputError) as raised:
        async with serving(token_file=path):
            pass
    assert raised.value.origin.file == str(path)
    assert found in raised.value.found.lower()


@pytest.mark.parametrize(
    ("address", "options", "words"),
    [
        ("8010", {}, "--listen: found '8010', expected HOST:PORT, such as 127.0.0.1:8010"),
        (
            "0.0.0.0:8010",
            {},
            "--listen: found '0.0.0.0:8010', which others can reach, expected --listen-cert and --listen-key and "
            "--listen-token-file besides, or an address of loopback, such as 127.0.0.1:8010",
        ),
        (
            "[::]:8010",
            {"certificate": "x", "key": "x"},
            "--listen: found '[::]:8010', which others can reach, expected --listen-token-file besides, or an address "
            "of loopback, such as 127.0.0.1:8010",
        ),
        ("127.0.0.1:0", {"key": "x"}, "--listen-key: found no --listen-cert, expected both or neither: TLS needs them"),
    ],
)
async def test_options_that_do_not_go_together_are_named(address, options, words):
    with pytest.raises(InputError) as raised:
        async with serve(address, live_of(), **options):
            pass
    assert str(raised.value) == words


async def test_tls_is_renewed_while_it_serves(tmp_path, monkeypatch):
    monkeypatch.setattr(renewing, "LOOK_S", 0.0)
    paths, told = (tmp_path / "cert", tmp_path / "key"), []

    def made(name):
        authority = trustme.CA()
        given = authority.issue_cert(name)
        given.cert_chain_pems[0].write_to_path(paths[0])
        given.private_key_pem.write_to_path(paths[1])
        context = ssl.create_default_context()
        authority.configure_trust(context)
        return {"ssl": context, "server_hostname": name}

    first = made("localhost")
    async with serving(certificate=paths[0], key=paths[1], trouble=told.append) as port:
        assert (await ask(port, "/healthz", tls=first))[0] == 200
        paths[0].write_text("half of it")
        assert (await ask(port, "/healthz", tls=first))[0] == 200
        assert "the one before holds on" in told[0]
        second = made("localhost")
        assert (await ask(port, "/healthz", tls=second))[0] == 200
        with pytest.raises(ssl.SSLError):
            await ask(port, "/healthz", tls=first)
        # Who speaks plain HTTP, or nothing, is ended, and holds up nobody.
        async with connected(port) as (reader, writer), connected(port):
            writer.write(request("/healthz"))
            assert b"200" not in await reader.read()
            assert (await ask(port, "/healthz", tls=second))[0] == 200


async def test_readers_that_never_read_hold_up_nobody_and_give_way(monkeypatch):
    live = live_of(*(f"{'x' * 200}{number}" for number in range(300)))
    async with serving(live) as port, AsyncExitStack() as stack:
        connecting = partial(connected, port, limit=1)
        slow = [await stack.enter_async_context(connecting()) for _ in range(server.MOST_STREAMS)]
        for _, writer in slow:
            writer.write(request("/events"))
        monkeypatch.setattr(server, "STUCK_S", 0.0)
        async with asyncio.timeout(60):
            stuck = False
            while not stuck:
                # More than what kernels keep for a reader.
                for _ in range(20):
                    live.follow(live.switches.values())
                await asyncio.sleep(0.01)
                async with connected(port) as (reader, writer):
                    writer.write(request("/events"))
                    stuck = (await head_of(reader))[0] == 200
        assert (await ask(port, "/healthz"))[0] == 200


async def test_a_reader_that_sleeps_is_ended(monkeypatch):
    live = live_of(*(f"{'x' * 200}{number}" for number in range(300)))
    monkeypatch.setattr(server, "STREAM_S", 0.1)
    async with serving(live) as port, connected(port, limit=2000) as (reader, writer):
        writer.write(request("/events"))
        assert (await head_of(reader))[0] == 200
        async with asyncio.timeout(60):
            while live.read_by:
                live.follow(live.switches.values())
                await asyncio.sleep(0.01)


async def test_a_stream_more_than_can_be_had_is_told_so():
    async with serving() as port, AsyncExitStack() as stack:
        all_of_them = [await stack.enter_async_context(connected(port)) for _ in range(server.MOST_STREAMS)]
        for reader, writer in all_of_them:
            writer.write(request("/events"))
            assert (await head_of(reader))[0] == 200
        assert (await ask(port, "/events"))[0] == 503
        assert (await ask(port, "/healthz"))[0] == 200
        # Who goes makes room at once.
        all_of_them[0][1].transport.abort()
        async with asyncio.timeout(10):
            while True:
                async with connected(port) as (reader, writer):
                    writer.write(request("/events"))
                    if (await head_of(reader))[0] == 200:
                        break
                await asyncio.sleep(0.02)


async def test_a_quiet_stream_shows_that_it_is_there(monkeypatch):
    monkeypatch.setattr(routes, "HEARTBEAT_S", 0.02)
    async with serving() as port, events(port) as told, asyncio.timeout(10):
        assert (await told.until("tick"))["switches"].keys() == {"edge"}
        assert (await told.until("tick"))["switches"] == {}


@pytest.mark.parametrize(
    "sent",
    [
        partial(request, X="x" * 20_000),
        partial(request, "/" + "x" * 20_000),
        lambda: request()[:20],
        partial(request, "/login", "POST", "x" * 9000),
        lambda: b"\x16\x03\x01\x02\0" + bytes(600),
        partial(request, Cookie="a" * 4000, Authorization="Bearer " + "\xff" * 100),
    ],
)
async def test_what_is_odd_ends_itself_alone(sent, monkeypatch, token_file):
    monkeypatch.setattr(server, "REQUEST_S", 0.1)
    monkeypatch.setattr(guard, "WRONG_S", 0.0)
    async with serving(token_file=token_file) as port, connected(port) as (reader, writer):
        writer.write(sent())
        await reader.read(100)
        assert (await ask(port, "/healthz"))[0] == 200
