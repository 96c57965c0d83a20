"""snmpd away, restarted, killed, stuck or mad; snmptrapd away; the agent killed: named, and survived."""

import asyncio
import signal
from contextlib import asynccontextmanager, suppress

import pytest
from made_up import a_class, a_sample, observe

from phb.monitor.snmp import agentx, master, serve
from phb.monitor.snmp.agentx import Message, Syntax, VarBind

from .daemons import WITHIN_S, until
from .test_agent import NAMES, SINGLE, TWO, values
from .test_notifications import delayed, most


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(master, "RETRY_S", 0.02)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
async def test_snmpd_restarted(agent, daemons, how):
    """What happened meanwhile is told when it is back."""
    told = []
    before = len(daemons.told())
    async with agent(SINGLE, told) as taker:
        observations = observe(delayed([0, 200, 20]), most(100))
        taker.take(next(observations))
        daemons.stop("snmpd", how)
        await until(lambda: not taker.connected)
        for observation in observations:
            taker.take(observation)
        await until(lambda: told)
        daemons.start()
        await until(lambda: taker.connected)
        assert len(values(await daemons.ask("snmpwalk", NAMES))) == 2
        assert values(await daemons.ask("snmpwalk", ".1.3.6.1.2.1.1.5", community="edge"))
        await until(lambda: len(daemons.told()) == before + 2, "traps")
    assert told[0].startswith(f"SNMP: no session with snmpd at {daemons.socket}: ")
    assert told[-1] == "SNMP: snmpd is back"


async def test_no_snmpd(tmp_path):
    """Named once, and the monitor goes on; of what waits the newest are kept."""
    told = []
    async with serve(tmp_path / "none", SINGLE, told.append) as taker:
        await until(lambda: told)
        for observation in observe(delayed([0, *([200, 20] * 200)]), most(100)):
            taker.take(observation)
        await until(lambda: taker._master._left_out == 400 - master.MOST_WAITING)
    assert told == [f"SNMP: no session with snmpd at {tmp_path / 'none'}: No such file or directory"]


async def test_the_agent_killed(agent, daemons):
    async with agent(SINGLE) as taker:
        for observation in observe([a_sample(0, a_class())]):
            taker.take(observation)
        assert len(values(await daemons.ask("snmpwalk", NAMES))) == 1
    lines = await daemons.ask("snmpget", f"{NAMES}.3.0.1")
    assert "No Such Object" in lines[0]


async def test_snmptrapd_away(agent, daemons):
    async with agent(SINGLE) as taker:
        daemons.stop("snmptrapd")
        observations = observe(delayed([0, 200, 20]), most(100))
        for observation in list(observations):
            taker.take(observation)
        assert len(values(await daemons.ask("snmpwalk", NAMES))) == 2
        daemons.start_traps()
        before = len(daemons.told())
        # The first may be lost: what snmpd sent before came back as unreachable.
        for observation in list(observe(delayed([0, 20, 200, 20, 200]), most(100))):
            taker.take(observation)
        await until(lambda: len(daemons.told()) > before, "a trap")


async def test_a_switch_that_leaves_the_inventory(agent, daemons):
    async with agent(TWO) as taker:
        for name in ("edge", "core"):
            for observation in observe([a_sample(0, a_class(), switch=name)]):
                taker.take(observation)
        assert len(values(await daemons.ask("snmpwalk", NAMES))) == 2
        taker.follow(SINGLE)
        assert list(values(await daemons.ask("snmpwalk", NAMES))) == [f"{NAMES}.3.0.{number(taker)}"]
        lines = await daemons.ask("snmpget", ".1.3.6.1.2.1.1.5.0", community="core")
        assert "No Such" in lines[0]


def number(taker):
    return next(iter(taker._switches["edge"].entries.values())).number


@asynccontextmanager
async def a_master(socket, converse):
    """Something that listens as snmpd does."""
    tasks = []

    async def follow(reader, writer):
        tasks.append(asyncio.current_task())
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await converse(reader, writer)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async with await asyncio.start_unix_server(follow, socket):
        yield
    await asyncio.wait_for(asyncio.gather(*tasks), WITHIN_S)


HEADER = agentx.message(Message.RESPONSE, 7, 0, 0, bytes(8))


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (b"x" * 40, "AgentX version 120"),
        (agentx.message(Message.RESPONSE, 7, 0, 0, bytes(4)), "a message that ends too early"),
        (agentx.message(Message.RESPONSE, 7, 0, 0, b"\0\0\0\0\1\0\0\0"), "it refuses a session (AgentX error 256)"),
        (HEADER + HEADER[:12], "it closed the connection"),
        (HEADER + b"\1\5\x10\0" + bytes(12) + b"\0\xff\0\0", "a payload of 16711680 bytes"),
        (HEADER + agentx.message(Message.CLOSE, 7, 0, 0, bytes(4)), "it closed the session"),
        (b"", "no answer within 0.2 s"),
    ],
    ids=["no AgentX", "short", "refused", "cut", "long", "closed", "silent"],
)
async def test_a_mad_master(tmp_path, monkeypatch, answers, words):
    if not answers:
        monkeypatch.setattr(master, "ANSWER_S", 0.2)
    told = []

    async def serve_madly(reader, writer):
        await reader.readexactly(agentx.HEADER_BYTES)
        writer.write(answers)
        await (asyncio.sleep(0.02) if answers else reader.read())

    async with a_master(tmp_path / "socket", serve_madly), serve(tmp_path / "socket", SINGLE, told.append) as taker:
        await until(lambda: told)
        for observation in observe(delayed([0, 200])):
            taker.take(observation)
    assert told[0].endswith(words)


async def test_requests_that_are_none(tmp_path):
    """A master gets an answer to whatever it sends, and the session goes on."""
    answers = asyncio.Queue()

    async def ask(reader, writer):
        async def exchange(kind, payload, transaction=1):
            writer.write(agentx.message(kind, 7, transaction, 1, payload))
            while True:
                header = agentx.read_header(await reader.readexactly(agentx.HEADER_BYTES))
                payload = agentx.Payload(await reader.readexactly(header.length), header.order)
                if header.message is Message.RESPONSE:
                    return payload.numbers("I2H")[1:], payload.bindings()

        await reader.readexactly(agentx.HEADER_BYTES + 24)
        writer.write(HEADER)
        null = VarBind((1, 3), Syntax.NULL)
        bulk = b"\0\0\0\2" + agentx.write_oid((1, 3, 6, 1, 3, 88)) + agentx.write_oid(())
        for kind, payload in (
            (Message.GET, b"\xff\0\0\0"),
            (Message.PING, b""),
            (Message.COMMIT_SET, b""),
            (Message.UNDO_SET, b""),
            (Message.TEST_SET, agentx.write_bindings([null])),
            (Message.GET_BULK, bulk),
        ):
            answers.put_nowait(await exchange(kind, payload))
        for transaction in range(master.MOST_PENDING + 1):
            lock = VarBind((1, 3, 6, 1, 3, 88, 1, 1, 1, 0), Syntax.INTEGER, 0)
            (error, _), _ = await exchange(Message.TEST_SET, agentx.write_bindings([lock]), transaction)
        answers.put_nowait(error)

    async with a_master(tmp_path / "socket", ask), serve(tmp_path / "socket", SINGLE, lambda words: None):
        found = [await asyncio.wait_for(answers.get(), WITHIN_S) for _ in range(7)]
    assert [error for error, _ in found[:5]] == [(266, 0), (266, 0), (14, 1), (15, 1), (17, 1)]
    assert [binding.name[-2:] for binding in found[5][1]] == [(1, 0), (2, 0)]
    assert found[6] == agentx.Error.RESOURCE_UNAVAILABLE


async def test_managers_that_ask_without_end(agent, daemons, monkeypatch):
    """Answers that took their share of the monitor's time make the next question wait."""
    waits, sleep = [], asyncio.sleep

    async def wait(seconds):
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr(master, "AT_ONCE_S", 0.0)
    async with agent(SINGLE) as taker:
        for observation in observe([a_sample(0, a_class())]):
            taker.take(observation)
        with monkeypatch.context() as patched:
            patched.setattr(master.asyncio, "sleep", wait)
            await daemons.ask("snmpwalk", NAMES)
    # Of a row: the question for it, and the one that finds no more.
    assert len(waits) >= 2
    assert all(seconds > 0 for seconds in waits)
