"""Monitors that managers make with snmpset, and the scalars that they may write."""

from decimal import Decimal

import pytest
from made_up import a_class, a_policy, a_sample, observe

from phb.model import DelayObjective, Objectives, Rate, RateBasis, RateUnit
from phb.monitor.changes import subject
from phb.monitor.observation import SubjectKind
from phb.monitor.snmp import setting, slapm
from phb.monitor.snmp.switches import number_of, words_of

from .test_agent import SINGLE, TWO, values

RULE, VOICE = subject(SubjectKind.POLICY, "terminals"), subject(SubjectKind.CLASS, "voice")
NUMBER = number_of(words_of(RULE), ())
ROWS = ".".join(["", *map(str, slapm.MONITORS)])
BASE = ".".join(["", *map(str, slapm.BASE)])
OWNER = "3.110.111.99"  # noc
ROW = f"{OWNER}.0.{NUMBER}"
ACTIVE, NOT_IN_SERVICE, NOT_READY, CREATE_AND_GO, CREATE_AND_WAIT, DESTROY = "123456"


def column(number, row=ROW):
    return f"{ROWS}.{number}.{row}"


def gauge(number, value, row=ROW):
    return [column(number, row), "u", str(value)]


def control(octets, row=ROW):
    return [column(slapm.CONTROL, row), "x", octets]


def status(value, row=ROW):
    return [column(slapm.ROW_STATUS, row), "i", value]


MINIMUM = [*control("80"), *gauge(slapm.MINIMUM_LOW, 100), *gauge(slapm.MINIMUM_HIGH, 120)]


def samples(count=2):
    """A rule with 80 kbit/s."""
    return [a_sample(second, a_class(), a_policy(green=10 * second)) for second in range(count)]


@pytest.fixture
async def watched(agent):
    async with agent(SINGLE) as taker:
        for observation in observe(samples()):
            taker.take(observation)
        yield taker


async def test_a_row(watched, daemons):
    await daemons.ask("snmpset", *MINIMUM, *status(CREATE_AND_GO))
    row = values(await daemons.ask("snmpwalk", ROWS))
    told = {
        slapm.CONTROL: "80 ",
        5: "00 00 ",
        slapm.INTERVAL: "20",
        slapm.MINIMUM_LOW: "100",
        slapm.MINIMUM_HIGH: "120",
        slapm.MAXIMUM_HIGH: "0",
        slapm.ROW_STATUS: "1",
    }
    assert {number: row[column(number)] for number in told} == told
    assert await refused(daemons, *gauge(slapm.INTERVAL, 60)) == "inconsistentValue"
    await daemons.ask("snmpset", *status(NOT_IN_SERVICE))
    await daemons.ask("snmpset", *gauge(slapm.INTERVAL, 60))
    await daemons.ask("snmpset", *status(ACTIVE))
    assert values(await daemons.ask("snmpget", column(slapm.INTERVAL))) == {column(slapm.INTERVAL): "60"}
    await daemons.ask("snmpset", *status(DESTROY))
    await daemons.ask("snmpset", *status(DESTROY))  # what isn't there may be ended
    assert values(await daemons.ask("snmpget", column(slapm.INTERVAL)))[column(slapm.INTERVAL)].startswith("No Such")


async def test_step_by_step(watched, daemons):
    async def state():
        return values(await daemons.ask("snmpget", column(slapm.ROW_STATUS)))[column(slapm.ROW_STATUS)]

    await daemons.ask("snmpset", *status(CREATE_AND_WAIT))
    assert await state() == NOT_READY
    assert await refused(daemons, *status(ACTIVE)) == "inconsistentValue"
    await daemons.ask("snmpset", *control("80"))
    await daemons.ask("snmpset", *gauge(slapm.MINIMUM_LOW, 100))
    assert await state() == NOT_READY
    await daemons.ask("snmpset", *gauge(slapm.MINIMUM_HIGH, 100))
    assert await state() == NOT_IN_SERVICE
    await daemons.ask("snmpset", *status(ACTIVE))
    assert await state() == ACTIVE


async def refused(daemons, *arguments, **who):
    lines = await daemons.ask("snmpset", *arguments, **who, good=False)
    reason = next(line for line in lines if line.startswith("Reason: "))
    words = reason.removeprefix("Reason: ")
    return words.split(" ")[0] if "(" not in words else words.split("(")[0].strip()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (status(CREATE_AND_GO), "inconsistentValue"),  # thresholds without a default
        (gauge(slapm.INTERVAL, 60), "inconsistentName"),  # a value makes no row
        (status(ACTIVE), "inconsistentValue"),
        (status(NOT_READY), "wrongValue"),
        ([*MINIMUM[:6], *gauge(slapm.MINIMUM_HIGH, 99), *status(CREATE_AND_GO)], "inconsistentValue"),
        ([*MINIMUM, *gauge(slapm.INTERVAL, 14), *status(CREATE_AND_GO)], "wrongValue"),
        ([*MINIMUM, *gauge(slapm.INTERVAL, 86_401), *status(CREATE_AND_GO)], "wrongValue"),
        ([*control("84"), *status(CREATE_AND_WAIT)], "wrongValue"),  # connections aren't watched
        ([*control("8000"), *status(CREATE_AND_WAIT)], "wrongValue"),
        ([column(slapm.CONTROL), "i", "1"], "wrongType"),
        ([column(slapm.INTERVAL), "i", "60"], "wrongType"),
        ([column(slapm.ROW_STATUS), "i", "7"], "wrongValue"),
        ([column(5), "x", "0000"], "notWritable"),
        ([column(23), "i", "1"], "notWritable"),
        (status(CREATE_AND_WAIT, f"{OWNER}.0.{NUMBER + 1}"), "inconsistentName"),  # no such rule
        (status(CREATE_AND_WAIT, f"{OWNER}.4.192.0.2.1.{NUMBER}"), "noCreation"),  # no such switch
        (status(CREATE_AND_WAIT, f"17.{'.'.join(['97'] * 17)}.0.{NUMBER}"), "noCreation"),
        (status(CREATE_AND_WAIT, f"1.300.0.{NUMBER}"), "noCreation"),
        (status(CREATE_AND_WAIT, f"{OWNER}.0"), "noCreation"),
        (status(CREATE_AND_WAIT, f"3.112.104.98.0.{NUMBER}"), "notWritable"),  # phb's own
        ([f"{BASE}.2.0", "u", "5"], "notWritable"),
        ([f"{BASE}.6.0", "i", "3601"], "wrongValue"),
        ([f"{BASE}.6.1", "i", "5"], "notWritable"),
        ([f"{BASE}.7.0", "u", "1"], "wrongType"),
        ([".1.3.6.1.3.88.1.2.4.1.3.0.1", "s", "x"], "notWritable"),
        ([*MINIMUM, *status(CREATE_AND_GO), f"{BASE}.1.0", "i", "99"], "inconsistentValue"),
    ],
)
async def test_refused(watched, daemons, arguments, why):
    assert await refused(daemons, *arguments) == why
    assert [key for rows in watched._monitors.values() for key in rows] == []


async def test_scalars(watched, daemons):
    await daemons.ask("snmpset", f"{BASE}.6.0", "i", "60", f"{BASE}.7.0", "i", "1", f"{BASE}.8.0", "i", "5")
    assert (watched.base.purge_s, watched.base.trap_enable, watched.base.trap_filter) == (60, 1, 5)
    for turn in range(2):
        await daemons.ask("snmpset", f"{BASE}.1.0", "i", str(turn))
    assert await refused(daemons, f"{BASE}.1.0", "i", "0") == "inconsistentValue"
    assert watched.base.spin_lock == 2


async def test_a_set_that_another_agent_refuses_is_undone(watched, daemons):
    """snmpd's own sysServices can't be written: of the set nothing is done."""
    lines = await daemons.ask(
        "snmpset",
        *MINIMUM,
        *status(CREATE_AND_GO),
        f"{BASE}.6.0",
        "i",
        "60",
        ".1.3.6.1.2.1.1.7.0",
        "i",
        "1",
        good=False,
    )
    assert any("notWritable" in line for line in lines)
    assert watched._monitors["edge"] == {}
    assert watched.base.purge_s == 900


async def test_defaults_are_those_of_the_objectives(agent, daemons):
    rate = Rate(value=Decimal(100), unit=RateUnit.KBIT, basis=RateBasis.ETHERNET)
    delay = DelayObjective(milliseconds=Decimal(50))
    objectives = {RULE: Objectives(minimum_rate=rate, maximum_rate=rate, maximum_delays=(delay,), margin_percent=20)}
    async with agent(SINGLE) as taker:
        for observation in observe(samples(), objectives):
            taker.take(observation)
        await daemons.ask("snmpset", *status(CREATE_AND_GO))
        rows = values(await daemons.ask("snmpwalk", ROWS))
        assert [rows[column(number)] for number in range(10, 16)] == ["90", "110", "110", "90", "55", "45"]
        own = f"3.112.104.98.0.{NUMBER}"
        assert [rows[column(number, own)] for number in range(10, 16)] == ["100", "120", "100", "80", "50", "40"]
        assert rows[column(slapm.CONTROL, own)] == "F0 "


async def test_of_several_switches(agent, daemons):
    async with agent(TWO) as taker:
        for name in ("edge", "core"):
            taker.take(next(observe([a_sample(0, a_class(), a_policy(), switch=name)])))
        row = f"{OWNER}.4.192.0.2.1.{NUMBER}"
        await daemons.ask("snmpset", *status(CREATE_AND_WAIT, row))
        await daemons.ask("snmpset", *status(CREATE_AND_WAIT), community="core")
        assert {name: list(rows) for name, rows in taker._monitors.items()} == {
            "edge": [("noc", NUMBER)],
            "core": [("noc", NUMBER)],
        }


async def test_bounded(watched, daemons, monkeypatch):
    monkeypatch.setattr(setting, "MOST_MONITORS", 2)
    for owner in ("97", "98"):
        await daemons.ask("snmpset", *status(CREATE_AND_WAIT, f"1.{owner}.0.{NUMBER}"))
    assert await refused(daemons, *status(CREATE_AND_WAIT, f"1.99.0.{NUMBER}")) == "resourceUnavailable"
    await daemons.ask("snmpset", *status(DESTROY, f"1.97.0.{NUMBER}"))
    await daemons.ask("snmpset", *status(CREATE_AND_WAIT, f"1.99.0.{NUMBER}"))
