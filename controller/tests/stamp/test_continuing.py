"""Sessions without end, on loopback: their periods, and what a reflector that goes or lies does to them."""

import asyncio
import socket
import threading
import time
from contextlib import asynccontextmanager, suppress

import pytest
from seen import Seen, free_udp_port, reflecting, running

from phb.stamp import continuing, timestamps
from phb.stamp.continuing import measure_on
from phb.stamp.figures import Loss
from phb.stamp.lines import opened
from phb.stamp.packets import Reply, Request
from phb.stamp.session import Plan

KEY = b"0123456789abcdef"


@pytest.fixture
def port():
    return free_udp_port()


@asynccontextmanager
async def measuring(port, *, wait_s=0.05, **more):
    told = Seen()
    plan = Plan("127.0.0.1", port, (46,), 5, 0.002, wait_s, 112 if "key" in more else 44, **more)
    async with running(measure_on(plan, told.take)):
        yield told


def answered(period):
    return period.figures is not None and period.figures.replies > 0


def silent(period):
    return not answered(period)


async def test_periods_follow_one_another(port):
    async with reflecting(port) as reflector, measuring(port, wait_s=5) as told:
        for _ in range(4):
            figures = (await told.until()).figures
            assert (figures.sent, figures.replies, figures.lost) == (5, 5, Loss(0, 0, 0))
            assert 0 < figures.round_trip.least <= figures.round_trip.most
        assert len(reflector.sessions) == 1


async def test_a_reflector_that_goes_and_another_that_comes(port):
    """The second counts from 0, which is no loss of the first's packets."""
    async with measuring(port, stateful=True) as told:
        async with reflecting(port):
            await told.until(answered)
        period = await told.until(silent)
        assert (period.figures.lost, period.trouble) == (Loss(None, None, 5), "Connection refused")
        async with reflecting(port):
            await told.until(answered)
            figures = (await told.until(lambda period: answered(period) and period.figures.replies == 5)).figures
            assert figures.lost == Loss(0, 0, 0)


@pytest.mark.parametrize(("theirs", "ours"), [(KEY, KEY[::-1]), (KEY, None), (None, KEY)])
async def test_another_key(port, theirs, ours):
    """The reflector answers nothing; one without a key answers what isn't authentic."""
    async with (
        reflecting(port, key=theirs),
        measuring(port, **({} if ours is None else {"key": ours})) as told,
    ):
        period = await told.until()
        assert silent(period)
        assert (period.refused > 0) == (theirs is None)


async def test_no_way_there_is_tried_again(monkeypatch, port):
    monkeypatch.setattr(continuing, "REOPEN_S", 0.01)
    async with measuring(port, source="192.0.2.77") as told:
        for _ in range(2):
            period = await told.until()
            assert (period.figures, period.trouble) == (None, "Cannot assign requested address")


async def test_a_session_begins_anew_after_silence(monkeypatch, port):
    monkeypatch.setattr(continuing, "REOPEN_S", 0.0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far:
        far.bind(("127.0.0.1", port))
        async with measuring(port, wait_s=0) as told:
            for _ in range(3):
                await told.until(silent)
        far.setblocking(False)
        senders = set()
        with suppress(BlockingIOError):
            while True:
                octets, sender = far.recvfrom(2000)
                senders.add((sender, Request.unpack(octets).session))
    assert len(senders) >= 3


async def test_what_comes_late_or_twice(port):
    """The far side answers the first period's packets only when the second one's come, and those twice."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far:
        far.bind(("127.0.0.1", port))
        far.setblocking(False)
        held = []

        def come():
            octets, sender = far.recvfrom(2000)
            asked = Request.unpack(octets)
            now = asked.stamp
            reply = Reply(asked.sequence, now, 1, asked.session, now, asked.sequence, asked.stamp, 1, 255).pack()
            held.append((reply, sender))
            if len(held) > 8:
                for each in held:
                    far.sendto(*each)
                if len(held) > 14:
                    far.sendto(*held[-1])

        asyncio.get_running_loop().add_reader(far, come)
        try:
            async with measuring(port, wait_s=0) as told:
                first = await told.until()
                assert (first.figures.sent, first.figures.replies) == (5, 0)
                period = await told.until(lambda period: answered(period) and period.figures.duplicates)
                assert period.figures.replies <= 5
                assert period.refused == 0
                assert sum(period.late for period in told.seen) >= 5
        finally:
            asyncio.get_running_loop().remove_reader(far)


async def test_who_was_held_up_finds_replies_in_the_socket(port):
    """The reflector is a thread's: the sender's loop stands still for longer than replies may take."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far:
        far.bind(("127.0.0.1", port))
        far.settimeout(0.05)
        over, idle = threading.Event(), threading.Event()

        def answer():
            while not over.is_set():
                try:
                    octets, sender = far.recvfrom(2000)
                except TimeoutError:
                    idle.set()
                    continue
                asked = Request.unpack(octets)
                stamps = (asked.sequence, asked.stamp, 1, 255)
                far.sendto(Reply(asked.sequence, asked.stamp, 1, asked.session, asked.stamp, *stamps).pack(), sender)

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            async with measuring(port, wait_s=0.5) as told:
                await told.until()
                for _ in range(2):
                    # Nothing else of the loop runs meanwhile, and the reflector answers all that it has got.
                    time.sleep(0.6)
                    idle.clear()
                    assert idle.wait(60)
                    await told.until()
            assert all(period.figures.replies == 5 for period in told.seen)
        finally:
            over.set()
            thread.join()


async def test_memory_is_bounded(monkeypatch, port):
    """What is settled is forgotten."""
    sessions = []

    def remembering(session, *where):
        sessions.append(session)
        return opened(session, *where)

    monkeypatch.setattr(continuing, "opened", remembering)
    async with reflecting(port), measuring(port, wait_s=5) as told:
        for _ in range(10):
            await told.until()
        (session,) = sessions
        held = (session._waiting, session._probes, session._kernel, session._handed_over)
        assert session.sent >= 50
        assert all(len(each) <= 10 for each in held)


async def test_a_clock_that_is_set_spoils_times_but_no_count(monkeypatch, port):
    """The period in which it happens has no delays, the ones after it have."""
    ahead = [1_700_000_000 * 10**9]
    monkeypatch.setattr(timestamps, "_ahead_ns", lambda: (ahead[0], 0))
    async with reflecting(port), measuring(port, wait_s=5) as told:
        assert (await told.until()).probes
        ahead[0] -= 3600 * 10**9
        spoilt = await told.until(lambda period: not period.probes)
        assert (spoilt.figures.replies, spoilt.figures.lost) == (5, Loss(0, 0, 0))
        assert (spoilt.figures.round_trip, spoilt.figures.there, spoilt.figures.jitter_back) == (None, None, None)
        assert (await told.until(lambda period: period.probes)).figures.round_trip is not None


@pytest.mark.parametrize(
    ("later", "stepped"), [((10**6, 0), False), ((-(10**6) - 1, 0), True), ((10**7, 10**7), False), ((10**9, 50), True)]
)
def test_steps(monkeypatch, later, stepped):
    """What takes long to read is no step."""
    seen = iter([(0, 0), later, later])
    monkeypatch.setattr(timestamps, "_ahead_ns", lambda: next(seen))
    steps = timestamps.Steps()
    assert (steps.stepped(), steps.stepped()) == (stepped, False)
