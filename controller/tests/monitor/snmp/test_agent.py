"""The agent behind a real snmpd, asked by net-snmp's own commands."""

from made_up import BEGAN_NS, a_class, a_policy, a_sample, a_session, busy, observations, observe

from phb.monitor.observation import Observation
from phb.monitor.snmp import SnmpTaker, slapm

from .modules import write_modules

SINGLE = {"edge": "192.0.2.1:9559"}
TWO = {"edge": "192.0.2.1:9559", "core": "[2001:db8::1]:9559"}
NAMES, STATISTICS = (".".join(["", *map(str, entry)]) for entry in (slapm.NAMES, slapm.STATISTICS))


def values(lines):
    """Names and values of what a walk prints."""
    # The last walk of a view ends with a line that says so.
    pairs = (line.split(" = ", 1) for line in lines if "No more variables left" not in line)
    return {name: value.split(": ", 1)[-1].strip('"') for name, value in pairs}


async def test_names_and_statistics(agent, daemons):
    async with agent(SINGLE) as taker:
        # Sessions of test packets are no switch's.
        for observation in (*observations(4), Observation("", BEGAN_NS, None, sessions=(a_session(),))):
            taker.take(observation)
        names = values(await daemons.ask("snmpwalk", NAMES))
        assert set(names.values()) == {
            *("rule (none)", "rule rule-1", "rule rule-2", "rule rule-3"),
            *("class class-1", "class class-2", "class class-3", "action action-1"),
        }
        number = {name: oid.rpartition(".")[2] for oid, name in names.items()}
        statistics = values(await daemons.ask("snmpwalk", STATISTICS))

        def of(name):
            # The system's address is empty: there is but one.
            return {
                column.name: statistics[oid]
                for column in slapm.STATISTICS_COLUMNS
                if (oid := f"{STATISTICS}.{column.number}.0.{number[name]}") in statistics
            }

        rule, klass = of("rule rule-2"), of("class class-2")
        assert rule["slapmPolicyRuleStatsInPackets"] == str(3 * 210)
        assert rule["slapmPolicyRuleStatsOutPackets"] == str(3 * 205)
        assert rule["slapmPolicyRuleStatsInOctets"] == str(3 * 210_000)
        assert rule["slapmPolicyRuleStatsOutDiscards"] == str(3 * 5_000)
        assert rule["slapmPolicyRuleStatsInProOctets"] == str(3 * 200_000)
        assert klass["slapmPolicyRuleStatsInPackets"] == str(3 * 204)
        assert klass["slapmPolicyRuleStatsOutOctets"] == str(3 * 200_000)
        assert "slapmPolicyRuleStatsInProOctets" not in klass  # a class has no meter
        assert rule["slapmPolicyRuleStatsLActivated"].split() == [
            "07",
            "EA",
            "0B",
            "1A",
            "0A",
            "00",
            "00",
            "00",
            "2B",
            "00",
            "00",
        ]
        queries = values(await daemons.ask("snmpget", ".1.3.6.1.3.88.1.1.2.0"))
        assert queries == {".1.3.6.1.3.88.1.1.2.0": str(3 * (10 + 110 + 210 + 310))}


async def test_table(agent, daemons, tmp_path):
    write_modules(tmp_path)
    async with agent(SINGLE) as taker:
        for observation in observations(3, policies=2):
            taker.take(observation)
        modules = ["-M", str(tmp_path), "-m", "SLAPM-MIB:CISCO-CLASS-BASED-QOS-MIB", "-Cf", ","]
        table = await daemons.ask("snmptable", *modules, "SLAPM-MIB::slapmPolicyRuleStatsTable")
        header, rows = table[2].split(","), [line.split(",") for line in table[3:]]
        assert header == [column.name for column in slapm.STATISTICS_COLUMNS]
        assert len(rows) == 2 + 3 + 1
        at = header.index("slapmPolicyRuleStatsInPackets")
        assert sorted(int(row[at]) for row in rows) == [20, 110, 208, 220, 408, 608]
        table = await daemons.ask(
            "snmptable", *modules, "CISCO-CLASS-BASED-QOS-MIB::cbQosCMStatsTable", community="edge"
        )
        header, rows = table[2].split(","), [line.split(",") for line in table[3:]]
        at = header.index("cbQosCMPostPolicyByte64")
        assert sorted(int(row[at]) for row in rows) == [10_000, 200_000, 210_000, 400_000, 600_000]


async def test_several_switches(agent, daemons):
    """In the default context by their addresses, each in its own context without."""
    async with agent(TWO) as taker:
        for observation in observations(2, switch="edge", policies=2, classes=1, streams=0):
            taker.take(observation)
        for observation in observations(2, switch="core", policies=1, classes=1, streams=0):
            taker.take(observation)
        names = values(await daemons.ask("snmpwalk", NAMES))
        by_address = {}
        for oid, name in names.items():
            address = oid.removeprefix(f"{NAMES}.3.").rpartition(".")[0]
            by_address.setdefault(address, set()).add(name)
        v6 = "16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1"
        assert by_address == {
            "4.192.0.2.1": {"rule (none)", "rule rule-1", "class class-1"},
            v6: {"rule (none)", "class class-1"},
        }
        for context, wanted in (("edge", 3), ("core", 2)):
            own = values(await daemons.ask("snmpwalk", NAMES, community=context))
            assert len(own) == wanted
            assert all(oid.startswith(f"{NAMES}.3.0.") for oid in own)
            system = values(await daemons.ask("snmpwalk", ".1.3.6.1.2.1.1", community=context))
            assert system[".1.3.6.1.2.1.1.5.0"] == context


async def test_nothing_observed(agent, daemons):
    async with agent({"edge": "192.0.2.1:9559"}):
        got = await daemons.ask("snmpget", f"{NAMES}.3.0.1", f"{NAMES}.9.0.1", f"{STATISTICS}.6.0.1")
        ends = [line.split(" = ")[1].split(" at this OID")[0].split(" on this agent")[0] for line in got]
        assert ends == [
            "No Such Instance currently exists",
            "No Such Object available",
            "No Such Instance currently exists",
        ]


async def test_a_switch_that_is_away_has_no_counters(agent, daemons):
    async with agent(SINGLE) as taker:
        samples = [busy(0), busy(1), None, busy(3)]
        seen = []
        for observation in observe(samples):
            taker.take(observation)
            seen.append(
                [
                    len(values(await daemons.ask("snmpbulkwalk", subtree)))
                    for subtree in (f"{NAMES}.3", f"{STATISTICS}.6")
                ]
            )
        # One line says that there is nothing.
        assert seen == [[8, 8], [8, 8], [8, 1], [8, 8]]


async def test_rules_that_go(agent, daemons):
    async with agent(SINGLE) as taker:
        taker.base.purge_s = 2
        samples = [a_sample(0, a_class(), a_policy(green=5)), a_sample(1, a_class(), a_policy(green=7))]
        samples += [a_sample(second, a_class(), generation=2) for second in (2, 3, 4)]
        status, packets = [], []
        for observation in observe(samples):
            taker.take(observation)
            status.append(sorted(values(await daemons.ask("snmpwalk", f"{STATISTICS}.1")).values()))
            packets.append(sorted(values(await daemons.ask("snmpwalk", f"{STATISTICS}.13")).values()))
        assert status == [["2", "2"]] * 2 + [["2", "3"]] * 2 + [["2"]]
        assert packets == [["0", "5"], ["0", "7"], ["0", "7"], ["0", "7"], ["0"]]


def test_addresses(tmp_path):
    many = {"a": "192.0.2.1:9559", "b": "192.0.2.2:9559", "c": "127.0.0.1:1", "d": "127.0.0.1:2", "e": "unix:/run/e"}
    told = []
    taker = SnmpTaker(tmp_path / "socket", many, told.append)
    taker.follow(many)
    taker.follow({"e": "unix:/run/e"})
    taker.follow({"e": "unix:/run/e", "f": "host:1"})
    words = "SNMP: without an address of their own, and so in their own contexts alone: "
    assert told == [f"{words}c, d, e", f"{words}e, f"]


def test_began():
    assert slapm.date_and_time(BEGAN_NS) == bytes.fromhex("07ea0b1a0a0000002b0000")
    assert slapm.date_and_time(0) == bytes(8)
