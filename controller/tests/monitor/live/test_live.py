"""Live figures: what observations become, what a reader is told, and what a slow one misses."""

import asyncio
import json
from dataclasses import replace

from made_up import a_class, a_port, a_sample, cells, observations, observe

from phb.monitor.live import Live
from phb.monitor.live import subscription as subscriptions
from phb.monitor.live.past import BLOCK
from phb.monitor.live.thinning import merged
from phb.monitor.observation import Event, EventKind
from phb.monitor.sample import QueueCount

EDGE = {"name": "edge", "address": "192.0.2.1:9559", "groups": []}


def live_of(*names: str, **more) -> Live:
    return Live([{**EDGE, "name": name} for name in names or ("edge",)], clock_ns=lambda: 0, **more)


def mark(number: int, outcome: str = "started") -> dict:
    return {
        "kind": "mark",
        "t": 1.0,
        "switch": "edge",
        "number": number,
        "command": "push",
        "user": "root",
        "outcome": outcome,
        "inserted": 0,
        "modified": 0,
        "deleted": 0,
    }


def queue(sent: int, refused: int = 0) -> QueueCount:
    return QueueCount("wan", "interactive", cells(sent), cells(refused), 3)


def test_a_detail_has_rates_of_all_that_a_switch_counts():
    samples = [
        replace(
            a_sample(
                second,
                a_class(sent=10 * second, delays={80: 10 * second}, drops={"QUEUE_LIMIT": 2 * second}, queued=4),
                a_port(sent=20 * second),
            ),
            queues={("wan", "interactive"): queue(10 * second, second)},
        )
        for second in (1, 2, 4)
    ]
    live = live_of()
    for observation in observe(samples):
        live.take(observation)
    first, second, third = live.series("edge")
    assert (first["seconds"], second["seconds"], third["seconds"]) == (0, 1, 2)
    assert first["ports"]["wan"]["bps"] == 0
    for detail in (second, third):
        assert detail["ports"]["wan"] == {
            "up": True,
            "speed": 256_000,
            "bps": 160_000,
            "pps": 20,
            "queued": 0,
            "queues": {"interactive": {"bps": 80_000, "pps": 10, "refused": 1, "queued": 3}},
        }
        figures = detail["classes"]["interactive"]
        assert (figures["bps"], figures["dropped"], figures["queued"]) == (80_000, {"queue limit": 2}, 4)
        assert figures["mean"] == figures["delays"]["50"] == figures["delays"]["99.9"] > 0
    summary = live.tick["switches"]["edge"]
    assert (summary["condition"], summary["bps"], summary["dropped"]) == ("okay", 160_000, 2)
    assert summary["delay"] == figures["delays"]["99"]


def test_rates_are_none_after_counters_began_anew():
    samples = [a_sample(second, a_port(sent=sent), instance=sent) for second, sent in ((1, 2), (2, 1))]
    live = live_of()
    for observation in observe(samples):
        live.take(observation)
    assert live.series("edge")[-1]["ports"]["wan"]["bps"] == 0


def test_rules_that_had_traffic_are_told_of_the_newest_moment_alone():
    live = live_of()
    for observation in observations(3):
        live.take(observation)
    detail = live.detail("edge")
    assert {each["rule"]: each["pps"] for each in detail["policies"]} == {"rule-1": 110, "rule-2": 210, "rule-3": 310}
    assert all(each["policies"] == [] for each in live.series("edge"))


def test_a_switch_that_is_away_says_why():
    live = live_of()
    live.take(next(observations(1)))
    for observation in observe([a_sample(0), None]):
        live.take(observation)
    assert live.tick["switches"]["edge"]["condition"] == "away"
    assert live.series("edge")[-1]["away"] == "it doesn't answer"
    assert [each["event"] for each in live.events] == ["switch-away"]


def test_the_past_is_as_long_as_was_said_and_can_be_thinned():
    live = live_of(past_s=100)
    for observation in observations(400):
        live.take(observation)
    whole = live.series("edge")
    assert 100 <= len(whole) <= 100 + 2 * BLOCK
    assert [round((whole[-1]["t"] - each["t"]) / 1000) for each in whole] == [*range(len(whole) - 1, -1, -1)]
    few = live.series("edge", 50, 10)
    assert 5 <= len(few) <= 10
    assert (few[-1]["t"], few[-1]["seconds"]) == (whole[-1]["t"], 6)
    assert live.series("nobody") == []


def test_a_peak_is_seen_however_few_moments_are_asked_for():
    live = live_of()
    still = [a_class(sent=10 * second, delays={60: 10 * second}) for second in range(10)]
    still[5] = a_class(sent=60, delays={60: 50, 120: 10}, drops={"WRED": 8})
    still[6:] = [a_class(sent=10 * n, delays={60: 10 * n - 10, 120: 10}, drops={"WRED": 8}) for n in range(6, 10)]
    for observation in observe([a_sample(second, each) for second, each in enumerate(still)]):
        live.take(observation)
    whole = live.series("edge")
    (few,) = live.series("edge", most=1)
    assert few["seconds"] == 9
    figures = few["classes"]["interactive"]
    assert figures["delays"]["99"] == whole[5]["classes"]["interactive"]["delays"]["99"]
    assert figures["dropped"] == {"wred": 0.8889}
    assert figures["pps"] == 10


def test_an_objective_that_was_not_met_for_a_moment_is_seen():
    def detail(t, state, away=False):
        objective = {"of": "class 'a'", "measure": "loss", "percentile": None, "bound": 1, "state": state}
        return {"t": t, "seconds": 0 if away else 1, "ports": {}, "classes": {}, "objectives": [objective]}

    for states, worst in (("okay not-achieved okay", "not-achieved"), ("unknown okay", "unknown"), ("okay", "okay")):
        details = [detail(t, state) for t, state in enumerate(states.split())]
        assert merged(details)["objectives"][0]["state"] == worst
    assert merged([detail(1, "okay"), detail(2, "unknown", away=True)])["t"] == 2


async def test_a_reader_is_told_what_was_and_then_what_comes():
    live = live_of("edge", "core")
    made = list(observations(5))
    live.take(made[0])
    live.mark(mark(1))
    live.happened(Event(1, "", EventKind.TROUBLE, "the clock"))
    told = []
    with live.subscribe("edge") as subscription:

        async def read():
            async for each in subscription:
                assert json.loads(each.line) == json.loads(json.dumps(each.message))
                told.append(each.message["kind"])
                if told.count("detail") == 4:
                    return

        reading = asyncio.create_task(read())
        await asyncio.sleep(0)
        for observation in made[1:3]:
            await asyncio.to_thread(live.take, observation)
            while told.count("detail") < 1 + made.index(observation):
                await asyncio.sleep(0.01)
        live.mark(mark(1, "applied"))
        live.take(made[3])
        await asyncio.wait_for(reading, 60)
    assert told[:5] == ["hello", "tick", "event", "mark", "detail"]
    assert told.count("mark") == 2
    assert live.tick["switches"]["core"]["condition"] == "waiting"


def test_a_slow_reader_misses_ticks_and_details_but_no_event(monkeypatch):
    live = live_of()
    with live.subscribe("edge") as slow, live.subscribe() as fast:
        slow.take()
        for number, observation in enumerate(observations(50)):
            live.take(observation)
            live.mark(mark(number))
            assert [each.message["kind"] for each in fast.take() if each.message["kind"] == "mark"] == ["mark"]
        kinds = [each.message["kind"] for each in slow.take()]
        assert (kinds.count("mark"), kinds.count("detail"), kinds.count("tick")) == (50, 1, 1)
        monkeypatch.setattr(subscriptions, "MOST_EVENTS", 10)
        for number in range(100, 120):
            live.mark(mark(number))
        assert slow.take() is None
        assert fast.take() is None


def test_who_shows_virtual_time_misses_no_detail():
    live = live_of(waiting=3)
    with live.subscribe("edge") as reader:
        reader.take()
        for each in observations(5):
            live.take(each)
        times = [told.message["t"] for told in reader.take() if told.message["kind"] == "detail"]
        assert [later - times[0] for later in times] == [0, 1000, 2000]
        assert times[-1] == live.detail("edge")["t"]


def test_other_switches_are_followed_and_readers_begin_anew():
    live = live_of()
    for observation in observations(2):
        live.take(observation)
    with live.subscribe() as subscription:
        subscription.take()
        live.follow([{**EDGE, "name": "core"}])
        (hello,) = subscription.take()
        assert [each["name"] for each in hello.message["switches"]] == ["core"]
        assert live.detail("edge") is None
        live.take(next(observations(1)))
        assert subscription.take() == []
