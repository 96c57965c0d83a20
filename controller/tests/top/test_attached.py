"""`phb top URL`: figures of a monitor elsewhere, through its page's server."""

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest
import trustme
from made_up import observations

from phb.errors import InputError, PhbError
from phb.monitor.listening import serve
from phb.monitor.live import Live
from phb.monitor.observation import Event, EventKind
from phb.top import attached as module
from phb.top.attached import Attached, read_token
from phb.top.known import Item, Known

EVIL = "e\n\x1b/?&%é"
TOKEN = "0123456789abcdef"


@pytest.fixture
def live():
    live = Live([{"name": name, "address": "192.0.2.1:9559", "groups": []} for name in ("core", EVIL)])
    for name in ("core", EVIL):
        for observation in observations(3, switch=name):
            live.take(observation)
    return live


@asynccontextmanager
async def attached(url, **options):
    """Follow a monitor; gives what is known, and a function that waits until something holds."""
    known = Known()
    made = Attached(url, known, **options)
    task = asyncio.create_task(made.run())

    async def until(holds):
        async with asyncio.timeout(30):
            while not holds():
                await asyncio.sleep(0.01)

    try:
        yield known, made, until
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_all_switches_and_the_details_of_one(live, monkeypatch):
    monkeypatch.setattr(module, "REST_S", 0.0)
    live.happened(Event(1, "core", EventKind.TROUBLE, "a clock that was set"))
    async with serve("127.0.0.1:0", live) as url, attached(url) as (known, made, until):
        await until(lambda: known.summaries)
        assert set(known.switches) == set(known.summaries) == {"core", EVIL}
        assert known.details == {}
        made.attend(EVIL)
        await until(lambda: EVIL in known.details)
        assert known.figures(Item(EVIL, None, "class-1")).bps == 800_000
        assert len(known.events) == 1  # though it was told twice
        made.attend("core")
        await until(lambda: "core" in known.details)
        assert set(known.details) == {"core"}


async def test_a_monitor_that_goes_and_comes_back(live, monkeypatch):
    monkeypatch.setattr(module, "RETRY_S", 0.01)
    async with serve("127.0.0.1:0", live) as url:
        port = int(url.rstrip("/").rpartition(":")[2])
        watching = attached(url)
        known, _, until = await watching.__aenter__()
        await until(lambda: known.summaries)
    try:
        await until(lambda: known.trouble)
        async with serve(f"127.0.0.1:{port}", live):
            await until(lambda: not known.trouble)
    finally:
        await watching.__aexit__(None, None, None)


async def test_tls_and_a_token(live, tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    own = authority.issue_cert("127.0.0.1")
    own.private_key_pem.write_to_path(tmp_path / "key.pem")
    own.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "token").chmod(0o600)
    files = {name: tmp_path / f"{name}.pem" for name in ("ca", "cert", "key")}
    serving = serve("127.0.0.1:0", live, certificate=files["cert"], key=files["key"], token_file=tmp_path / "token")
    async with serving as url:
        good = {"token": read_token(tmp_path / "token"), "tls_ca": files["ca"]}
        async with attached(url, **good) as (known, _, until):
            await until(lambda: known.summaries)

        def tried(**options):
            return asyncio.to_thread(Attached(url, Known(), **options).try_once)

        await tried(**good)
        for options, words in (
            (good | {"token": "wrong"}, "refused (401): "),
            (good | {"token": None}, "refused (401): no token"),
            (good | {"tls_ca": None}, "its certificate isn't good"),
        ):
            with pytest.raises(PhbError) as caught:
                await tried(**options)
            assert words in str(caught.value)


SAID = {
    "another page": (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello", "is no phb monitor"),
    "no HTTP": (b"SSH-2.0-x\r\n\r\n", "can't be reached"),
    "nothing": (b"", "can't be reached"),
    "no message": (b"data: {}\n\n", "no live message"),
    "no JSON": (b"data: {\n\n", "no live message"),
    "a number without an end": (
        b'data: {"kind": "tick", "t": ' + b"9" * 5000 + b', "switches": {}}\n\n',
        "no live message",
    ),
    "deep": (b"data: " + b"[" * 100_000 + b"\n\n", "no live message"),
    "another version": (b'data: {"kind": "hello", "version": 99}\n\n', "version 99"),
    "a wrong one": (b'data: {"kind": "tick", "t": 1, "switches": {"\\u001b": 3}}\n\n', "\\x1b: an object"),
}


@pytest.mark.parametrize("case", SAID)
async def test_a_server_that_says_something_else(case):
    said, words = SAID[case]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" if said.startswith(b"data") else b""

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + said)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with attached(url) as (known, _, until):
            await until(lambda: known.trouble)
            assert words in known.trouble
            assert known.trouble.isprintable()


@pytest.mark.parametrize("url", ["http://", "http://h:x/", "http://h:99999999/", "https://h/page", "http://h/?a"])
def test_addresses_that_are_none(url, phb):
    code, _, err = phb("top", url)
    assert (code, "phb monitor --listen" in err) == (2, True)


@pytest.mark.parametrize(
    "words", [["--token-file", "x", "p.yaml"], ["http://h/", "p.yaml"], ["http://h/", "--switch", "a"]]
)
def test_options_that_do_not_fit(words, phb):
    assert phb("top", *words)[0] == 2


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\n", b"a\x1bb\n"])
def test_tokens_that_are_none(content, tmp_path):
    if content is not None:
        (tmp_path / "token").write_bytes(content)
    with pytest.raises(InputError):
        read_token(tmp_path / "token")
    with pytest.raises(InputError):
        Attached("https://h/", Known(), None, tmp_path / "token")
