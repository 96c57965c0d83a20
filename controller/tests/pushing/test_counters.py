"""What a number counted for one rule, class or queue is never shown as another's: real switches, pushes and packets."""

import asyncio
import json
import re

import pytest
from finsy.proto import p4r
from targets import BMV2, running

from phb import Artifact
from phb.device.session import CounterValue, Session
from phb.errors import SwitchError
from phb_switch import PortConfig, Switch

POLICY = """
phb: 1
node: dut
ports:
  - {number: 1, name: lan}
  - {number: 2, name: line, rate: {value: 10, unit: Mbit/s, basis: ethernet}}
cross-connects: [{between: [lan, line]}]
classes: [{name: CLASS}]
actions:
  - name: ACTION
    class: CLASS
    meter:
      kind: single-rate
      committed-rate: {value: 64, unit: kbit/s, basis: ip}
      committed-burst-bytes: 300
      red: {drop: true}
rules:
  - {name: RULE, match: {protocol: udp, destination-ports: 5004}, actions: [ACTION]}
queueing:
  - port: line
    schedule: {kind: classes, queues: [{class: CLASS, bandwidth: {percent: 50}}]}
"""


def policy(rule="phones", action="talk", traffic_class="voice"):
    return POLICY.replace("RULE", rule).replace("ACTION", action).replace("CLASS", traffic_class)


@pytest.fixture
def switch():
    return Switch("dut", {port: PortConfig() for port in (1, 2)})


def send(switch, packets=50):
    from phb.explain import parse_packet
    from phb.origin import Origin

    frame = parse_packet("udp 10.0.1.1:700 > 10.0.2.1:5004 length 200", Origin("test")).frame
    for number in range(packets):
        switch.process(1, frame, number)


@pytest.fixture
def push(address, write_file, phb):
    def call(text, *options):
        code, out, err = phb("push", "--address", address, *options, write_file("policy.yaml", text))
        assert code == 0, err
        return out

    return call


@pytest.fixture
def seen(address, phb):
    """What `show` says: packets and drops by rule, class, action and class of a queue."""

    def call():
        def shown(what, *options):
            code, out, err = phb("show", what, "--json", "--address", address, *options)
            assert code == 0, err
            return json.loads(out)

        policies = {row["rule"]: (row["packets"], sum(row["drops"].values())) for row in shown("policy")}
        classes = {row["class"]: row["packets"] for row in shown("class")}
        meters = {row["action"]: sum(cell["packets"] for cell in row["colours"].values()) for row in shown("meter")}
        queues = {
            queue["class"]: sum(each["transmitted"]["packets"] for each in queue["conversations"])
            for port in shown("queue", "--all")
            for queue in port["queues"]
        }
        return policies, classes, meters, queues

    return call


# What bmv2 can do.
STRICT = "bandwidth: {percent: 50}", "level: 0"
FULL = {None: (0, 0), "phones": (50, 49)}


def test_another_name_of_the_same_match_starts_at_zero(switch, push, seen):
    push(policy())
    send(switch)
    before = seen()
    assert before == (FULL, {"class-default": 0, "voice": 1}, {"talk": 50}, {"voice": 1, "class-default": 0})
    push(policy("web", "browse", "bulk"))
    assert seen() == (
        {None: (0, 0), "web": (0, 0)},
        {"class-default": 0, "bulk": 0},
        {"browse": 0},
        {"bulk": 0, "class-default": 0},
    )


def test_a_push_that_goes_back_gives_back_what_it_set_to_zero(
    switch, address, push, seen, phb, write_file, monkeypatch
):
    push(policy())
    send(switch)
    before = seen()
    write, written = Session.write, []

    async def refuse_the_first(session, updates, **options):
        written.append(updates)
        if len(written) == 1:
            send(switch, 2)  # what comes meanwhile is counted, too
            raise SwitchError(session.address, "no room")
        await write(session, updates, **options)

    monkeypatch.setattr(Session, "write", refuse_the_first)
    code, _, err = phb("push", "--address", address, write_file("policy.yaml", policy("web", "browse", "bulk")))
    assert (code, "no room; the switch is as it was" in err) == (1, True)
    assert len(written) == 1
    assert seen() == ({None: (0, 0), "phones": (52, 51)}, before[1], {"talk": 52}, before[3])


@pytest.mark.parametrize("options", [(), ("--no-state",)], ids=["state", "no state"])
def test_the_same_names_keep_their_counts(switch, push, seen, options):
    """An action that changed, a rule before it: the same rule, class and queue."""
    push(policy(), *options)
    send(switch)
    before = seen()
    changed = policy().replace("class: voice\n    meter", "class: voice\n    set-dscp: EF\n    meter")
    push(changed.replace("rules:\n", "rules:\n  - {name: first, match: {protocol: tcp}}\n"), *options)
    policies, *rest = seen()
    assert policies == {**FULL, "first": (0, 0)}
    assert rest == list(before[1:])


def test_only_the_rule_that_is_renamed_starts_at_zero(switch, push, seen):
    push(policy())
    send(switch)
    push(policy("web"))
    policies, classes, meters, queues = seen()
    assert policies == {None: (0, 0), "web": (0, 0)}
    assert (classes["voice"], meters, queues["voice"]) == (1, {"talk": 50}, 1)


@pytest.mark.parametrize("order", ["web phones", "phones", "first web phones"])
def test_a_rule_keeps_its_count_beside_others_of_the_same_match(switch, push, seen, order):
    """Exchanged, alone or pushed down: of several entries that match the same, each rule's is its own."""
    head, rule = policy().split("  - {name: phones")

    def of(names):
        return head + "".join(f"  - {{name: {name}{rule.partition('queueing:')[0]}" for name in names.split())

    push(of("phones web"))
    send(switch)
    push(of(order))
    assert seen()[0] == {None: (0, 0), **dict.fromkeys(order.split(), (0, 0)), "phones": (50, 49)}


def test_numbers_that_come_back_start_at_zero(switch, push, seen):
    """Back and forth, by three pushes and a rollback: the first rule's count is gone with its number."""
    push(policy())
    send(switch)
    push(policy("web", "browse", "bulk"))
    push(policy())
    assert seen()[0] == {None: (0, 0), "phones": (0, 0)}
    assert seen()[3] == {"voice": 0, "class-default": 0}


def test_what_another_controller_pushed_has_its_own_names(switch, push, seen, monkeypatch, tmp_path):
    """The switch itself keeps the names: nobody needs the other's files or state."""
    push(policy())
    send(switch)
    monkeypatch.setenv("PHB_STATE", str(tmp_path / "mine.sqlite"))
    assert seen()[0] == FULL
    push(policy("web"))
    assert seen()[0] == {None: (0, 0), "web": (0, 0)}


def test_files_that_are_not_on_the_switch_name_nothing_there(switch, push, address, write_file, phb):
    push(policy())
    send(switch)
    other = write_file("other.yaml", policy("web"))
    code, out, _ = phb("show", "policy", "--json", "--address", address, other)
    assert code == 0
    assert {row["rule"] for row in json.loads(out)} == {None, "phones"}


def test_a_queue_of_a_class_that_no_rule_gives_has_its_name(push, seen, phb, address):
    text = policy().replace("classes: [", "classes: [{name: spare}, ").replace("queues: [", "queues: [{class: spare}, ")
    push(text)
    _, classes, _, queues = seen()
    assert {"spare"} <= classes.keys() & queues.keys()
    assert "Class spare: 0 queued" in phb("show", "queue", "--address", address)[1]


def test_entries_of_a_controller_without_labels(push, seen, switch, address):
    """As of an older phb: files name them; nobody knows whose the counts are, so that a push starts them at zero."""
    push(policy())
    send(switch)
    asyncio.run(_without_labels(address))
    assert seen()[0] == FULL
    push(policy())
    assert seen()[0] == {None: (0, 0), "phones": (0, 0)}
    assert "0 inserted, 0 modified, 0 deleted" in push(policy())


async def _without_labels(address):
    async with Session(address, 1, Artifact.load()) as session:
        await session.become_primary()
        updates = []
        for message in await session.messages():
            if message.metadata:
                message.ClearField("metadata")
                updates.append(p4r.Update(type=p4r.Update.MODIFY))
                updates[-1].entity.table_entry.CopyFrom(message)
        await session.write_messages(updates)


@pytest.mark.parametrize("target", [pytest.param("bmv2", marks=BMV2), "phb-switch"])
def test_counts_of_a_renamed_rule_on_either_target(target, write_file, phb, artifact):
    """Counts are written, as if packets had been seen: both servers let a controller."""

    async def write(address):
        async with Session(address, 1, artifact) as session:
            await session.become_primary()
            for name in ("policy_traffic", "stream_traffic"):
                await session.write_counter(name, {4 * number: CounterValue(50, 5000) for number in (1, 2, 3)})

    with running(target) as address:
        where = ["--address", address, "--target", target]
        shown = {}
        for rule, count in (("phones", True), ("web", False)):
            code, _, err = phb("push", *where, write_file("policy.yaml", policy(rule).replace(*STRICT)))
            assert code == 0, err
            if count:
                asyncio.run(write(address))
            code, out, err = phb("show", "policy", "--json", "--address", address)
            assert code == 0, err
            shown |= {row["rule"]: row["packets"] for row in json.loads(out)}
    assert shown == {None: 0, "phones": 50, "web": 0}


def test_counts_that_missed_a_packet_make_no_queue(switch, push, phb, address, artifact):
    """A packet that comes while counters are set to zero is missed in one of them: it doesn't wait for ever."""

    async def miss():
        async with Session(address, 1, artifact) as session:
            await session.become_primary()
            counted = await session.counter("conversation_enqueued", None)
            more = {slot: CounterValue(each.packets + 3, each.bytes + 300) for slot, each in counted.items()}
            await session.write_counter("conversation_enqueued", more)
            return more

    push(policy())
    send(switch)
    assert asyncio.run(miss())
    code, out, err = phb("show", "queue", "--json", "--all", "--address", address)
    assert code == 0, err
    assert [port["depth"] for port in json.loads(out)] == [0]


CLEARED = {
    "all": ((), ({None: (0, 0), "phones": (0, 0)}, {"class-default": 0, "voice": 0}, {"talk": 0}, {"voice": 0})),
    "policy": (("--policy", "phones"), ({None: (0, 0), "phones": (0, 0)}, {"voice": 1}, {"talk": 50}, {"voice": 1})),
    "class": (("--class", "voice"), (FULL, {"class-default": 0, "voice": 0}, {"talk": 50}, {"voice": 0})),
    "port": (("--port", "line"), (FULL, {"voice": 1}, {"talk": 50}, {"voice": 0})),
}


@pytest.mark.parametrize("what", CLEARED)
def test_clear_counters(switch, push, seen, phb, address, what):
    options, expected = CLEARED[what]
    push(policy())
    send(switch)
    before = seen()
    assert phb("clear", "counters", "--address", address, "--dry-run", *options)[0] == 0
    assert seen() == before
    code, out, err = phb("clear", "counters", "--address", address, "--json", *options)
    assert code == 0, err
    assert json.loads(out)["cleared"]
    for shown, wanted in zip(seen(), expected, strict=True):
        assert wanted.items() <= shown.items()
    left = json.loads(out)["not_cleared"]
    assert left == (["interface counters of gNMI: OpenConfig only reads them"] if what in ("all", "port") else [])


def test_clear_counters_leaves_nothing_of_classes_and_queues_that_are_gone(switch, push, phb, address):
    push(policy())
    send(switch)
    push(policy(traffic_class="bulk").split("queueing")[0])
    assert re.search(r"class \d+, below", phb("show", "counters", "--address", address)[1])
    assert phb("clear", "counters", "--address", address)[0] == 0
    assert not any(json.loads(phb("show", "counters", "--json", "--address", address)[1]).values())


def test_clear_counters_of_what_is_not_there(push, phb, address):
    push(policy())
    code, _, err = phb("clear", "counters", "--address", address, "--class", "bulk")
    assert code == 2
    assert "--class: found 'bulk', expected one of 'class-default', 'voice'" in err


@pytest.mark.parametrize("target", [pytest.param("bmv2", marks=BMV2), "phb-switch"])
def test_clear_counters_on_either_target(target, write_file, phb, artifact):
    async def write(address):
        async with Session(address, 1, artifact) as session:
            await session.become_primary()
            for name in ("policy_traffic", "class_delay", "port_transmit"):
                await session.write_counter(name, {0: CounterValue(50, 5000)})

    with running(target) as address:
        where = ["--address", address]
        text = policy().replace(*STRICT)
        assert phb("push", *where, "--target", target, write_file("policy.yaml", text))[0] == 0
        asyncio.run(write(address))
        assert json.loads(phb("show", "policy", "--json", *where)[1])[0]["packets"] == 50
        code, out, err = phb("clear", "counters", *where)
        assert code == 0, err
        assert "cleared: policy_traffic 1, class_delay 1" in out
        assert json.loads(phb("show", "policy", "--json", *where)[1])[0]["packets"] == 0
