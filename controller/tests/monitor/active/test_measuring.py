"""Sessions beside the switches: what is told of them, when, and what stays as sessions come and go."""

import asyncio

import pytest
from seen import PATIENCE_S, SeenObservations, free_udp_port, reflecting, running

from phb.errors import InputError
from phb.inventory import StampSession
from phb.monitor.active import measuring
from phb.monitor.active.measured import Totals
from phb.monitor.monitoring import Monitor, Options
from phb.monitor.observation import EventKind
from phb.stamp import Probe, figures_of
from phb.stamp.continuing import Period


def period(sent, *round_trips_us, first=0):
    """So many packets, of which the first came back after so many microseconds."""
    probes = [Probe(first + n, first + n, 0, 0, 0, each * 1000) for n, each in enumerate(round_trips_us)]
    return Period(figures_of(sent, probes, first=first), probes, 1.0)


def test_sums_of_all_periods():
    totals = Totals()
    for each in (period(4, 5, 5, 900, 6), period(4, 5, 6, first=4), Period(None), period(3), period(1, -7)):
        totals = totals.plus(each)
    assert (totals.sent, totals.lost, totals.lost_there, totals.lost_back) == (12, 5, 0, 0)
    assert totals.round_trips == {5: 3, 6: 2, 62: 1, 0: 1}


class Told(SeenObservations):
    """A monitor of sessions alone, and its observations."""

    def __init__(self, artifact, *sessions):
        super().__init__()
        self.monitor = Monitor([], artifact, Options(0.1), sessions=sessions)
        self.monitor.takers.append(self)

    async def measured(self, name):
        """Wait for a period of a session in which packets came back."""
        sought = None

        def found(observation):
            nonlocal sought
            sought = next((each for each in observation.sessions if each.session.name == name), None)
            return sought is not None and sought.figures is not None

        await self.until(found)
        return sought


@pytest.fixture(autouse=True)
def _few_packets(monkeypatch):
    monkeypatch.setattr(measuring, "LEAST_PACKETS", 5)
    monkeypatch.setattr(measuring, "TOGETHER_S", 0.01)


@pytest.fixture
def port():
    return free_udp_port()


def session(port, name="voice", **more):
    said = {"traffic_class": "gold", "dscp": 46, "rate": 100, **more}
    # Less than people may say.
    return StampSession(name=name, reflector=f"127.0.0.1:{port}", **said).model_copy(update={"wait": 0.05})


async def test_a_reflector_that_goes_and_comes(artifact, port):
    """Away and back are told once each; away there are no figures, and its packets count as lost."""
    told = Told(artifact, session(port))
    async with running(told.monitor.run()):
        event = await told.event(EventKind.REFLECTOR_AWAY)
        assert (event.switch, event.message) == (
            "",
            "session 'voice' (class gold): no reply to 10 packets (Connection refused)",
        )
        async with reflecting(port):
            assert (await told.event(EventKind.REFLECTOR_BACK)).message.endswith("replies come again")
            measured = await told.measured("voice")
            assert (measured.away, measured.figures.sent) == (False, 10)
        await told.event(EventKind.REFLECTOR_AWAY)
        (measured,) = told.seen[-1].sessions
        assert (measured.away, measured.figures) == (True, None)
        assert measured.totals.sent - measured.totals.lost == sum(measured.totals.round_trips.values()) > 0
    kinds = [event.kind for observation in told.seen for event in observation.events]
    assert kinds == [EventKind.REFLECTOR_AWAY, EventKind.REFLECTOR_BACK, EventKind.REFLECTOR_AWAY]


async def test_sessions_that_come_and_go(artifact, port):
    """One that stays as it is goes on; one that says something else begins anew."""
    async with reflecting(port):
        told = Told(artifact, session(port), session(port, "bulk", rate=99))
        async with running(told.monitor.run()):
            before = await told.measured("voice")
            told.monitor.follow_sessions([session(port), session(port, "other", dscp=0)])
            await told.measured("other")
            after = await told.measured("voice")
            assert [each.session.name for each in told.seen[-1].sessions] == ["voice", "other"]
            assert after.totals.sent > before.totals.sent
            told.monitor.follow_sessions([session(port, dscp=0)])
            anew = await told.measured("voice")
            assert (anew.session.dscp, anew.totals.sent) == (0, 10)
            # What only stands beside changes nothing of what is sent.
            told.monitor.follow_sessions([session(port, dscp=0, path=("edge",))])
            await told.until(lambda observation: [each.session.path for each in observation.sessions] == [("edge",)])
            assert (await told.measured("voice")).totals.sent > 10


async def test_a_key_that_is_wrong_changes_nothing(artifact, port, tmp_path):
    with pytest.raises(InputError, match="such file"):
        Told(artifact, session(port, key_file=str(tmp_path / "none.key")))
    async with reflecting(port):
        told = Told(artifact, session(port))
        async with running(told.monitor.run()):
            with pytest.raises(InputError, match="such file"):
                told.monitor.follow_sessions([session(port, key_file=str(tmp_path / "none.key"))])
            assert (await told.measured("voice")).figures.replies > 0


async def test_a_fault_ends_the_monitor(artifact, port, monkeypatch):
    """Nothing is to stop without a word."""

    async def broken(plan, take):
        raise ZeroDivisionError

    monkeypatch.setattr(measuring, "measure_on", broken)
    with pytest.raises(ZeroDivisionError):
        async with asyncio.timeout(PATIENCE_S):
            await Told(artifact, session(port)).monitor.run()


@pytest.mark.parametrize(
    ("interval_s", "rate", "packets"), [(1, 10, 10), (0.1, 10, 5), (10, 50, 500), (3600, 100, 6000), (1, 1, 5)]
)
async def test_how_long_a_period_is(interval_s, rate, packets, port):
    sessions = measuring.Measuring(interval_s, lambda observation: None, lambda task: None, lambda: 0)
    each = session(port, rate=rate)
    sessions.follow([(each, each.plan)])
    assert [running.plan.count for running in sessions._running.values()] == [packets]
    await sessions.stop()
