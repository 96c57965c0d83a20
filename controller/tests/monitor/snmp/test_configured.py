"""What a policy configures, as objects of the class-based QoS MIB: read from a policy file, and asked of snmpd."""

from dataclasses import replace

import pytest
from made_up import a_class, a_policy, a_sample, observe

from phb.formats import yaml_format
from phb.monitor.snmp import cbqos, configured, slapm

from .test_agent import SINGLE, STATISTICS, values
from .test_cbqos import walk

POLICY = """
phb: 1
ports: [{name: lan, number: 0}, {name: wan, number: 1}, {name: backup, number: 2}]
actions:
  - name: limited
    class: bulk
    max-connections: 20
    meter:
      kind: two-rate
      committed-rate: {value: 256, unit: kbit/s, basis: ethernet}
      committed-burst-bytes: 8000
      peak-rate: {value: 5000, unit: Mbit/s, basis: ethernet}
      peak-burst-bytes: 16000
      green: {set-dscp: AF11, set-pcp: 3}
      yellow: {set-precedence: 1}
      red: {drop: true}
  - {name: fast, class: voice}
rules:
  - {name: transfers, match: {protocol: tcp}, actions: [limited]}
  - {name: calls, match: {protocol: udp}, actions: [fast]}
queueing:
  - port: wan
    schedule:
      kind: classes
      queues:
        - {class: voice, level: 0, queue-limit: 30}
        - class: bulk
          bandwidth: {percent: 40}
          early-detection:
            average-weight: 7
            ecn: true
            profiles:
              - {dscp: AF11, minimum: 10, maximum: 20, denominator: 5}
              - {minimum: 5, maximum: 9}
        - {class: other, bandwidth: {weight: 3}}
  - port: backup
    schedule: {kind: classes, queues: [{class: other, bandwidth: {weight: 4}}]}
"""


@pytest.fixture(scope="module")
def policy():
    return yaml_format.read(POLICY, "policy.yaml")


async def test_tables(agent, daemons, policy):
    async with agent(SINGLE) as taker:
        transfers, calls = a_policy("transfers", 1, traffic_class="bulk"), a_policy("calls", 2, traffic_class="voice")
        rules = [replace(transfers, connections=13), replace(calls, connections=0)]
        classes = [a_class(name, number) for number, name in enumerate(("voice", "bulk", "other"), 1)]
        (observation,) = observe([a_sample(0, *rules, *classes)])
        taker.take(replace(observation, policy=policy))
        objects = await walk(daemons, 5, 2)
        names = {number: row[1] for (number,), row in (await walk(daemons, 7, 1)).items()}
        parents = {row[2]: names.get(row[4]) for row in objects.values()}

        async def table(group, depth=1):
            found = await walk(daemons, group, depth)
            return {(parents[index[0]], *index[1:]): row for index, row in found.items()}

        assert sorted(parents[row[2]] for row in objects.values() if row[3] == str(cbqos.POLICE)) == ["transfers"]
        assert await table(9) == {
            ("voice",): {3: "2", 4: "1", 9: "1", 10: "30", 12: "7"},
            ("bulk",): {2: "2", 3: "2", 4: "2", 13: "40"},
        }
        assert await table(10) == {("bulk",): {1: "7", 3: "2", 4: "1"}}
        assert await table(11, 2) == {("bulk", "10"): {4: "5", 6: "10", 7: "20", 10: "1", 11: "1"}}
        assert await table(12) == {
            ("transfers",): {
                **{1: "256000", 11: "256000", 12: "1", 24: "2"},
                **{25: "8000", 26: "16000", 27: "5000000000"},
            }
        }
        assert await table(21, 2) == {
            ("transfers", "1"): {2: "2", 3: "10", 4: "3", 5: "1", 6: "5", 7: "0"},
            ("transfers", "2"): {2: "9", 3: "3", 4: "15", 5: "0", 6: "15", 7: "0"},
        }
        limits = values(await daemons.ask("snmpwalk", f"{STATISTICS}.8"))
        assert sorted(limits.values()) == ["0", "20"]
        open_now = values(await daemons.ask("snmpwalk", f"{STATISTICS}.2"))
        assert list(open_now.values()) == ["13"]  # of the rule that has a limit
        # With another policy the tables are others.
        taker.take(replace(observation, policy=yaml_format.read("phb: 1\nrules: []\n", "f")))
        assert await table(9) == {}


@pytest.mark.parametrize(
    ("text", "mechanism", "profiles"),
    [
        ("[{minimum: 1, maximum: 2}]", 7, [0]),
        ("[{precedence: 5, minimum: 1, maximum: 2}, {minimum: 1, maximum: 2}]", 1, [5]),
        ("[{dscp: EF, minimum: 1, maximum: 2}]", 2, [46]),
        ("[{colour: red, minimum: 1, maximum: 2}]", None, []),
    ],
)
def test_early_detection(text, mechanism, profiles):
    queue = f"{{class: a, early-detection: {{profiles: {text}}}}}"
    schedule = f"{{kind: classes, queues: [{queue}]}}"
    policy = yaml_format.read(
        f"phb: 1\nports: [{{name: p, number: 1}}]\nqueueing: [{{port: p, schedule: {schedule}}}]\n", "f"
    )
    early = configured.Configured.of(policy).early_detection("a")
    assert configured.mechanism(early) == mechanism
    assert sorted(configured.profiles(early)) == profiles


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{rate: {value: 1.5, unit: Mbit/s, basis: ethernet}}", (1500, 1)),
        ("{percent: 30}", (30, 2)),
        ("{remaining-percent: 10}", (10, 3)),
        ("{weight: 7}", (7, 4)),
    ],
)
def test_bandwidth(text, told):
    queues = f"[{{class: a, bandwidth: {text}}}]"
    schedule = f"{{kind: classes, queues: {queues}}}"
    policy = yaml_format.read(
        f"phb: 1\nports: [{{name: p, number: 1}}]\nqueueing: [{{port: p, schedule: {schedule}}}]\n", "f"
    )
    assert configured.bandwidth(configured.Configured.of(policy).queues["a"].bandwidth) == told


def test_columns_have_one_name_and_number():
    for columns in (
        cbqos._POLICE,
        cbqos._QUEUEING,
        cbqos._POLICE_STATISTICS,
        cbqos.CLASS_MAP_STATISTICS,
        slapm.MONITOR_COLUMNS,
    ):
        assert len({column.number for column in columns}) == len({column.name for column in columns}) == len(columns)
