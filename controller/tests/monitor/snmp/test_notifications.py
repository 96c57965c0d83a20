"""What snmptrapd gets when something is not achieved, and when it is okay again."""

from decimal import Decimal

import pytest
from made_up import a_class, a_policy, a_sample, observe

from phb.delays import bucket_of
from phb.model import DelayObjective, Objectives
from phb.monitor.changes import subject
from phb.monitor.observation import SubjectKind
from phb.monitor.snmp import slapm
from phb.monitor.snmp.switches import number_of, words_of

from .daemons import until
from .test_agent import SINGLE, TWO, values
from .test_setting import BASE, CREATE_AND_GO, MINIMUM, OWNER, ROWS, control, gauge, status

INTERACTIVE = subject(SubjectKind.CLASS, "interactive")
NUMBER = number_of(words_of(INTERACTIVE), ())
RULE = number_of(words_of(subject(SubjectKind.POLICY, "terminals")), ())
ROOT = ".".join(["", *map(str, slapm.ROOT)])


def delayed(milliseconds, **more):
    """A class whose packets wait so long, second by second; 10 packets a second."""
    delays, found = {}, []
    for second, delay in enumerate(milliseconds):
        if second:
            bucket = bucket_of(delay * 1000)
            delays[bucket] = delays.get(bucket, 0) + 10
        klass = a_class(sent=10 * second, delays=dict(delays))
        found.append(a_sample(second, klass, a_policy(green=10 * second), **more))
    return found


def most(milliseconds, interval_s=1):
    delay = DelayObjective(milliseconds=Decimal(milliseconds))
    return {INTERACTIVE: Objectives(maximum_delays=(delay,), interval_s=interval_s)}


def parts(trap):
    """Names and values of a line of snmptrapd's."""
    return [tuple(part.split(" = ", 1)) for part in trap.removeprefix("TRAP ").split("\t")]


async def got(daemons, before, count):
    await until(lambda: len(daemons.told()) >= before + count, "traps")
    return [parts(line) for line in daemons.told()[before:]]


async def test_an_objective(agent, daemons):
    before = len(daemons.told())
    async with agent(SINGLE) as taker:
        for observation in observe(delayed([0, 20, 20, 200, 200, 20, 20]), most(100)):
            taker.take(observation)
        broken, okay = await got(daemons, before, 2)
    index = f"3.112.104.98.0.{NUMBER}"
    assert [trap[1] for trap in (broken, okay)] == [
        (".1.3.6.1.6.3.1.1.4.1.0", f"OID: {ROOT}.0.{number}") for number in (7, 8)
    ]
    assert [name for name, _ in broken[2:]] == [
        *(f"{ROWS}.{number}.{index}" for number in (7, 4, 5, 5, 8, 9, 21)),
        ".1.3.6.1.2.1.1.5.0",
    ]
    strings = [value.split(": ", 1)[1].strip() for _, value in broken[2:]]
    # Interval's end, what is watched, what is broken now and was before, rates in and out, delay, the switch.
    assert strings[0].startswith("07 EA 0B 1A 0A 00 03")
    assert strings[1:4] == ["30", "20 00", "00 00"]
    assert strings[4:6] == ["80", "80"]
    assert int(strings[6]) == pytest.approx(200, rel=0.0625)
    assert bytes.fromhex(strings[7]) == b"edge"
    strings = [value.split(": ", 1)[1].strip() for _, value in okay[2:]]
    assert strings[2:4] == ["00 00", "20 00"]


async def test_a_managers_row(agent, daemons):
    """Broken for as many intervals in a row as slapmPolicyTrapFilter says."""
    before = len(daemons.told())
    row = f"{OWNER}.0.{RULE}"
    samples = [a_sample(0, a_class(), a_policy())]
    green = 0
    for second in range(1, 91):
        green += 5 if second <= 60 else 50  # 40 kbit/s, then 400
        samples.append(a_sample(second, a_class(), a_policy(green=green)))
    async with agent(SINGLE) as taker:
        observations = observe(samples)
        taker.take(next(observations))
        watch = [*control("90", row), *gauge(slapm.INTERVAL, 15, row), *status(CREATE_AND_GO, row)]
        thresholds = [*gauge(slapm.MINIMUM_LOW, 100, row), *gauge(slapm.MINIMUM_HIGH, 120, row)]
        await daemons.ask("snmpset", f"{BASE}.8.0", "i", "2", *watch[:6], *thresholds, *watch[6:])
        told = []
        for observation in observations:
            taker.take(observation)
            monitor = taker._monitors["edge"]["noc", RULE]
            told.append(sorted(monitor.broken))
        broken, okay = await got(daemons, before, 2)
        counted = values(await daemons.ask("snmpget", f"{ROWS}.16.{row}", f"{ROWS}.19.{row}", f"{ROWS}.8.{row}"))
    # In and out rates both, after the second interval of 15 s; over with the first whole one above the threshold.
    assert [second for second, bits in enumerate(told, 1) if bits][:1] == [30]
    assert [second for second, bits in enumerate(told, 1) if bits][-1:] == [74]
    assert {tuple(bits) for bits in told} == {(), (0, 3)}
    strings = [value.split(": ", 1)[1].strip() for _, value in broken[2:]]
    assert strings[2:6] == ["90 00", "00 00", "40", "40"]
    assert [value.split(": ", 1)[1].strip() for _, value in okay[2:]][2:6] == ["00 00", "90 00", "400", "400"]
    assert list(counted.values()) == ["1", "1", "400"]


async def test_a_row_that_asks_for_no_traps(agent, daemons):
    before = len(daemons.told())
    async with agent(SINGLE) as taker:
        observations = observe([a_sample(second, a_class(), a_policy(green=second)) for second in range(50)])
        taker.take(next(observations))
        taker.base.trap_filter = 1
        await daemons.ask("snmpset", *MINIMUM, *status(CREATE_AND_GO))
        for observation in observations:
            taker.take(observation)
        assert taker._monitors["edge"]["noc", RULE].broken
        # One that is told shows that the others weren't.
        taker._master.notify(slapm.rule_deleted(next(iter(taker._switches["edge"].entries.values())), b""))
        (only,) = await got(daemons, before, 1)
        assert only[1][1].endswith("0.9")


async def test_rows_that_go(agent, daemons):
    before = len(daemons.told())
    async with agent(SINGLE) as taker:
        samples = [a_sample(0, a_class(), a_policy(green=5)), a_sample(1, a_class(), generation=2)]
        observations = observe(samples)
        taker.take(next(observations))
        await daemons.ask("snmpset", f"{BASE}.6.0", "i", "0", f"{BASE}.7.0", "i", "1", *MINIMUM, *status(CREATE_AND_GO))
        taker.take(next(observations))
        monitor, rule = await got(daemons, before, 2)
        assert taker._monitors["edge"] == {}
    assert [trap[1][1].rpartition(".")[2] for trap in (monitor, rule)] == ["10", "9"]
    assert len(monitor) == 2 + 18 + 1
    assert (f".1.3.6.1.3.88.1.2.5.1.13.0.{RULE}", "Counter32: 5") in rule


async def test_by_address(agent, daemons):
    """Of several switches the trap says by the index which one it is, and by its name."""
    before = len(daemons.told())
    async with agent(TWO) as taker:
        for observation in observe(delayed([0, 200], switch="core"), most(100)):
            taker.take(observation)
        (broken,) = await got(daemons, before, 1)
    assert f".16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1.{NUMBER}" in broken[2][0]
    assert broken[-1] == (".1.3.6.1.2.1.1.5.0", "Hex-STRING: 63 6F 72 65 ")


async def test_a_switch_that_goes_tells_nothing(agent, daemons):
    before = len(daemons.told())
    async with agent(SINGLE) as taker:
        up = delayed([0, 200, 200])
        for observation in observe(
            [*up, None, None, delayed([0] * 4)[3], *delayed([0, 0, 0, 0, 0, 20])[5:]], most(100)
        ):
            taker.take(observation)
        broken, okay = await got(daemons, before, 2)
    assert [trap[1][1].rpartition(".")[2] for trap in (broken, okay)] == ["7", "8"]


async def test_a_managers_row_whose_switch_goes(agent, daemons):
    """What was told stays told: it is okay again after the switch is back."""
    before = len(daemons.told())
    row = f"{OWNER}.0.{RULE}"
    slow = [a_sample(second, a_class(), a_policy(green=5 * second)) for second in range(32)]
    fast = [a_sample(second, a_class(), a_policy(green=50 * second)) for second in range(35, 67)]
    async with agent(SINGLE) as taker:
        taker.base.trap_filter = 1
        observations = observe([*slow, None, None, None, *fast])
        taker.take(next(observations))
        thresholds = [*gauge(slapm.MINIMUM_LOW, 100, row), *gauge(slapm.MINIMUM_HIGH, 120, row)]
        watch = [*control("90", row), *gauge(slapm.INTERVAL, 15, row), *thresholds, *status(CREATE_AND_GO, row)]
        await daemons.ask("snmpset", *watch)
        seen = set()
        for observation in observations:
            taker.take(observation)
            seen.add((observation.sample is None, bool(taker._monitors["edge"]["noc", RULE].broken)))
        broken, okay = await got(daemons, before, 2)
    assert (True, True) not in seen
    assert (False, True) in seen
    assert [trap[1][1].rpartition(".")[2] for trap in (broken, okay)] == ["7", "8"]
