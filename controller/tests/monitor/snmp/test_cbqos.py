"""CISCO-CLASS-BASED-QOS-MIB as pollers ask it: first LibreNMS' way, then 64 bits, rates, police and early detection.

LibreNMS walks five tables, joins them by policy, object and configuration, and then polls six columns of class maps.
"""

from made_up import a_class, a_policy, a_port, a_sample, busy, observe

from phb.monitor.changes import subject
from phb.monitor.observation import SubjectKind
from phb.monitor.snmp import cbqos, interfaces
from phb.monitor.snmp.switches import KnownSwitch, number_of

from .test_agent import SINGLE, values

ROOT = ".".join(["", *map(str, cbqos.ROOT)])


async def walk(daemons, group, depth):
    """A table by index and column."""
    entry = f"{ROOT}.1.{group}.1.1"
    table = {}
    for name, value in values(await daemons.ask("snmpbulkwalk", entry, community="edge")).items():
        if value.startswith("No Such"):  # an empty table
            continue
        column, *index = name.removeprefix(f"{entry}.").split(".")
        assert len(index) == depth
        table.setdefault(tuple(index), {})[int(column)] = value
    return table


async def discovered(daemons):
    """Class and policy maps as LibreNMS lists them: object, parent, title, direction, interface, tooltip."""
    policies = await walk(daemons, 1, 1)
    policy_maps, class_maps = await walk(daemons, 6, 1), await walk(daemons, 7, 1)
    statements = await walk(daemons, 8, 1)
    objects = await walk(daemons, 5, 2)
    found = {}
    for (policy, number), row in objects.items():
        configured, kind, parent = row[2], int(row[3]), row[4]
        attached = policies[policy,]
        if kind == cbqos.POLICY_MAP:
            title, tooltip = " - ".join(filter(None, (policy_maps[configured,][1], policy_maps[configured,][2]))), None
        elif kind == cbqos.CLASS_MAP:
            title = class_maps[configured,][1]
            assert class_maps[configured,][3] in ("2", "3")
            tooltip = sorted(
                statements[each[2],][1]
                for (of, _), each in objects.items()
                if of == policy and each[4] == number and each[3] == str(cbqos.MATCH)
            )
        else:
            continue
        found[policy, number] = (parent, title, int(attached[3]), int(attached[4]), tooltip)
    return found


async def test_as_librenms_discovers_and_polls(agent, daemons):
    async with agent(SINGLE) as taker:
        for observation in observe([busy(second) for second in range(3)]):
            taker.take(observation)
        found = await discovered(daemons)
        by_title = {(each[1], each[2]): key for key, each in found.items()}
        assert set(by_title) == {
            ("rules - all ports together", cbqos.INPUT),
            ("classes - all ports together", cbqos.OUTPUT),
            *((title, cbqos.INPUT) for title in ("class-default", "rule-1", "rule-2", "rule-3")),
            *((title, cbqos.OUTPUT) for title in ("class-1", "class-2", "class-3")),
        }
        for (policy, number), (parent, title, direction, index, _) in found.items():
            assert index == interfaces.ALL_PORTS
            assert parent == ("0" if number == policy else policy)
            assert (policy == number) is title.endswith("together")
            assert by_title["rules - all ports together", 1][0] == policy or direction == cbqos.OUTPUT
        assert found[by_title["class-1", 2]][4] == ["rule (none)", "rule rule-3"]
        # The interface that the policies hang on is one that the switch has.
        names = values(await daemons.ask("snmpwalk", ".1.3.6.1.2.1.31.1.1.1.1", community="edge"))
        assert {name.rpartition(".")[2]: value for name, value in names.items()} == {
            "2": "lan",
            "3": "wan",
            str(interfaces.ALL_PORTS): "all ports",
        }
        # It polls bytes before, bytes after, dropped bytes, packets without a buffer, packets before, dropped packets.
        polled = {}
        for column in (6, 10, 17, 21, 3, 14):
            name = f"{ROOT}.1.15.1.1.{column}"
            lines = values(await daemons.ask("snmpbulkwalk", name, community="edge"))
            polled[column] = {
                tuple(oid.removeprefix(f"{name}.").split(".")): int(value) for oid, value in lines.items()
            }
        classes = {key for key, each in found.items() if not each[1].endswith("together")}
        assert all(set(each) == classes for each in polled.values())
        of_class = by_title["class-2", 2]
        assert [polled[column][of_class] for column in (6, 10, 17, 21, 3, 14)] == [408_000, 400_000, 8_000, 0, 408, 8]
        of_rule = by_title["rule-2", 1]
        assert [polled[column][of_rule] for column in (6, 10, 17, 21, 3, 14)] == [420_000, 410_000, 10_000, 0, 420, 10]


async def test_wide_counters_rates_police_and_early_detection(agent, daemons):
    past_32_bits = 5_000_000
    drops = {"WRED": 4, "CONGESTIVE_DISCARD": 1, "QUEUE_LIMIT": 2, "NO_BUFFER": 3, "POLICED": 10}
    rule = a_policy(green=past_32_bits, red=7)
    later = a_policy(green=past_32_bits + 10, red=9)
    klass = a_class(sent=past_32_bits, drops=drops, marked=6, queued=11)
    sent_later = a_class(sent=past_32_bits + 10, drops=drops, marked=6, queued=11)
    async with agent(SINGLE) as taker:
        for observation in observe([a_sample(0, klass, rule, a_port()), a_sample(1, sent_later, later, a_port())]):
            taker.take(observation)
        ((_, statistics),) = [
            each for each in (await walk(daemons, 15, 2)).items() if each[1][14] == str(sum(drops.values()))
        ]
        octets = (past_32_bits + 10 + sum(drops.values())) * 1000
        assert [int(statistics[column]) for column in (4, 5, 6)] == [octets >> 32, octets % 2**32, octets]
        assert [statistics[column] for column in (7, 11, 18, 28)] == ["80000", "80000", "0", "80000"]
        assert statistics[21] == "3"
        (police,) = (await walk(daemons, 17, 2)).values()
        assert [int(police[column]) for column in (3, 6, 7)] == [
            past_32_bits + 10,
            (past_32_bits + 10) * 1000,
            80_000,
        ]
        assert [police[column] for column in (10, 17, 20, 24)] == ["0", "9", "9000", "16000"]
        (queueing,) = (await walk(daemons, 18, 2)).values()
        assert [int(queueing[column]) for column in (8, 9, 12)] == [10, 11, past_32_bits + 10]
        ((index, early),) = (await walk(daemons, 20, 3)).items()
        assert index[2] == str(cbqos.ALL_CODE_POINTS)
        assert [int(early[column]) for column in (3, 9, 15, 21)] == [5, 5, past_32_bits + 10, 6]
        matched = list((await walk(daemons, 16, 2)).values())
        assert [each[3] for each in matched] == [str(past_32_bits + 19)]


async def test_interfaces(agent, daemons):
    async with agent(SINGLE) as taker:
        down = a_port("lan", 0, sent=3, up=False)
        for observation in observe([a_sample(0, down, a_port("wan", 1, sent=5))]):
            taker.take(observation)
        found = values(await daemons.ask("snmpwalk", ".1.3.6.1.2.1.2", community="edge"))
        rows = {
            index: [found[f".1.3.6.1.2.1.2.2.1.{column}.{index}"] for column in (2, 3, 8)]
            for index in (1, 2, interfaces.ALL_PORTS)
        }
        assert rows == {
            1: ["lan", "6", "2"],
            2: ["wan", "6", "1"],
            interfaces.ALL_PORTS: ["all ports", "1", "1"],
        }
        assert found[".1.3.6.1.2.1.2.1.0"] == "3"
        assert found[".1.3.6.1.2.1.2.2.1.5.2"] == "256000"
        wide = values(await daemons.ask("snmpwalk", ".1.3.6.1.2.1.31.1.1.1.10", community="edge"))
        assert list(wide.values()) == ["3000", "5000"]


def test_numbers_stay_after_a_restart_and_differ():
    def numbers(*names):
        switch = KnownSwitch("edge", b"", 0, 0, 0)
        classes = [a_class(name, number) for number, name in enumerate(names)]
        (observation,) = observe([a_sample(0, *classes)])
        switch.take(observation, 0)
        found = {subject.name: entry.number for subject, entry in switch.entries.items()}
        return found, {key: node.number for key, node in cbqos.Nodes.of(switch).items()}

    first, nodes = numbers("a", "b", "c")
    again, nodes_again = numbers("c", "new", "a")
    assert {name: again[name] for name in "ac"} == {name: first[name] for name in "ac"}
    assert nodes["output a"] == nodes_again["output a"]
    assert len(set(nodes.values())) == len(nodes)
    number = number_of("class x", ())
    assert number_of("class x", {number}) == number + 1
    assert subject(SubjectKind.CLASS, "x").name == "x"
