"""Policies in Policy Agent words: read back they are the same, or what differs is a loss."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb.formats import convert, yaml_format
from phb.formats.policy_agent import read
from phb.formats.policy_agent.writer import write
from phb.model import (
    Action,
    Conditions,
    Day,
    DelayObjective,
    Direction,
    Image,
    Meter,
    MeterKind,
    Objectives,
    Permission,
    PolicySet,
    PriorityMapping,
    Rate,
    RateBasis,
    RateUnit,
    Rule,
    SubnetPriority,
    Treatment,
    Validity,
)
from phb.values import AddressRange, PortRange, TimeRange, TypeOfService, parse_address, parse_zone

words = st.text("abcXYZ019._-/:", min_size=1, max_size=32)
octets = st.integers(0, 255)
numbers = st.integers(1, 10**7)


def maybe(strategy):
    return st.none() | strategy


def rates(basis):
    return numbers.map(lambda value: Rate(value=value, unit=RateUnit.KBIT, basis=basis))


def ordered(kind, strategy):
    return st.tuples(strategy, strategy).map(lambda pair: kind(min(pair), max(pair)))


v4 = st.integers(0, 2**32 - 1).map(lambda number: parse_address(".".join(str(byte) for byte in number.to_bytes(4))))
v6 = st.ip_addresses(v=6)
ports = ordered(PortRange, st.integers(0, 65535))
marks = octets.map(TypeOfService)
excess = st.just(Treatment(drop=True)) | marks.map(lambda tos: Treatment(set_tos=tos))
buckets = numbers.map(lambda kilobits: kilobits * 125)


@st.composite
def meters(draw):
    treatment = draw(excess)
    base = {
        "committed_rate": draw(rates(RateBasis.IP)),
        "committed_burst_bytes": draw(buckets),
        "yellow": treatment,
        "red": treatment,
    }
    if draw(st.booleans()):
        return Meter(kind=MeterKind.SINGLE_RATE, **base)
    peak = base["committed_rate"].value + draw(numbers)
    return Meter(
        kind=MeterKind.TWO_RATE,
        peak_rate=Rate(value=peak, unit=RateUnit.KBIT, basis=RateBasis.IP),
        peak_burst_bytes=draw(buckets),
        **base,
    )


actions = st.builds(
    Action,
    name=words,
    interface=maybe(v4 | v6),
    set_tos=maybe(marks),
    max_rate=maybe(rates(RateBasis.TCP_PAYLOAD)),
    min_rate=maybe(rates(RateBasis.TCP_PAYLOAD)),
    max_connections=maybe(st.integers(1, 65535)),
    meter=maybe(meters()),
)


def with_delay(action, milliseconds, interval):
    """The action with a mean delay to be judged over the one interval of a file."""
    if milliseconds is None:
        return action
    bounds = (DelayObjective(milliseconds=milliseconds),)
    return action.model_copy(update={"objectives": Objectives(maximum_delays=bounds, interval_s=interval)})


def conditions(addresses):
    return st.builds(
        Conditions,
        protocol=maybe(octets),
        source=maybe(ordered(AddressRange, addresses)),
        destination=maybe(ordered(AddressRange, addresses)),
        source_ports=maybe(ports),
        destination_ports=maybe(ports),
    )


def some_of(high):
    """Not all of them, for these ask nothing."""
    return st.sets(st.integers(1, high), max_size=high - 1).map(lambda places: tuple(sorted(places)))


clock = st.times().map(lambda time: time.replace(second=0, microsecond=0))
moments = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)).map(lambda moment: moment.replace(microsecond=0))
validities = st.builds(
    Validity,
    days=st.sets(st.sampled_from(Day), min_size=1).map(tuple),
    time=maybe(st.tuples(clock, clock).filter(lambda pair: pair[0] != pair[1]).map(lambda pair: TimeRange(*pair))),
    months=some_of(12),
    days_of_month=some_of(31),
    between=maybe(st.tuples(moments, moments).map(lambda pair: tuple(sorted(pair)))),
    time_zone=maybe(st.just(parse_zone("UTC"))),
)


@st.composite
def policies(draw):
    made = draw(st.lists(actions, max_size=3, unique_by=lambda action: action.name))
    interval = draw(st.integers(1, 3600))
    made = [with_delay(action, draw(maybe(st.integers(1, 4_294_967))), interval) for action in made]
    names = st.lists(st.sampled_from([action.name for action in made]), unique=True) if made else st.just([])
    rules = st.builds(
        Rule,
        name=words,
        direction=st.sampled_from([Direction.BOTH, Direction.INCOMING, Direction.OUTGOING]),
        permission=st.sampled_from(Permission),
        match=st.one_of(conditions(v4), conditions(v6)).map(lambda each: (each,)),
        valid=validities,
        actions=names.map(tuple),
    )
    return PolicySet(
        images=tuple(
            draw(st.lists(st.builds(Image, name=st.text("ABC1", min_size=1), flush=st.booleans()), max_size=2))
        ),
        actions=tuple(made),
        rules=tuple(draw(st.lists(rules, max_size=3, unique_by=lambda rule: rule.name))),
        subnet_priorities=tuple(
            draw(
                st.lists(
                    st.builds(
                        SubnetPriority,
                        address=maybe(v4 | v6),
                        mask=octets,
                        mappings=st.lists(
                            st.builds(
                                PriorityMapping,
                                priority=st.integers(1, 8),
                                tos=octets,
                                user_priority=maybe(st.integers(0, 7)),
                            ),
                            max_size=3,
                        ).map(tuple),
                    ),
                    max_size=2,
                )
            )
        ),
    )


@given(policies())
def test_model_to_policy_agent_to_model(policy):
    written = write(policy)
    assert written.losses == ()
    assert read(written.text, "f") == policy


def test_a_range_of_protocols_is_written_as_one():
    policy = read("PolicyRule r\n{\nProtocolNumberRange 6-9\n}\n", "f")
    written = write(policy)
    assert "ProtocolNumberRange 6-9" in written.text
    assert read(written.text, "g") == policy


LOSSES = {
    "node: n": "the node's name is lost: a Policy Agent file describes policies, not nodes",
    "time-zone: Europe/Berlin": "the node's time zone is lost: a Policy Agent file describes policies, not nodes",
    "classes: [{name: voice}]": "a class is lost: a Policy Agent file describes policies, not nodes",
    "routes: [{destination: 10.0.0.0/8, discard: true}]": "a route is lost: a Policy Agent file describes policies, "
    "not nodes",
    "images: [{name: TCP IP}]": "the name of stack 'TCP IP' is lost: names are one word",
    "actions: [{name: a b}]": "the name of action 'a b' is lost: names are one word of at most 32 characters; it "
    "becomes a-b",
    "actions: [{name: a, set-dscp: EF}]": "the mask of 'set-dscp' of action 'a' is lost: OutgoingTOS sets all eight "
    "bits, not 11111100 of them",
    "actions: [{name: a, set-pcp: 3}]": "'set-pcp' of action 'a' is lost: actions don't mark 802.1p priorities",
    "actions: [{name: a, class: voice}]": "'class' of action 'a' is lost: actions name no queue",
    "actions: [{name: a, max-rate: {value: 1.5, unit: kbit/s, basis: tcp-payload}}]": "-0.5 kbit/s of 'max-rate' of "
    "action 'a' is lost: rates are whole kbit/s",
    "actions: [{name: a, min-rate: {value: 1, unit: Mbit/s, basis: ip}}]": "the basis 'ip' of 'min-rate' of action "
    "'a' is lost: it counts 'tcp-payload'",
    "rules: [{name: r, direction: both, unless: {protocol: tcp}}]": "that rule 'r' is one is lost: a rule has one set "
    "of conditions and no exceptions; it becomes several, counted and limited apart",
    "rules: [{name: r, direction: both, actions: [a]}]": "action 'a' of rule 'r' is lost: a PolicyRule refers to "
    "actions of its own file, and none of these files has it",
    "rules: [{name: r, direction: any}]": "direction 'any' of rule 'r' is lost: a host's rule is for its own traffic",
    "rules: [{name: r, match: {ingress-port: a}}]": "rule 'r' is lost: rules of a host can't ask for a port of the "
    "switch",
    "rules: [{name: r, match: {dscp: EF}}]": "rule 'r' is lost: rules of a host can't ask for marks that packets "
    "already have",
    "rules: [{name: r, direction: both, match: [{protocol: tcp}, {protocol: gre}]}]": "that rule 'r' is one is lost: a "
    "rule has one set of conditions and no exceptions; it becomes several, counted and limited apart",
    "rules: [{name: r, direction: both, valid: {time-zone: Asia/Tokyo}}]": "time zone 'Asia/Tokyo' of rule 'r' is "
    "lost: zones are Local or UTC",
}
LOSSES["rules: [{name: r, direction: both, valid: {time: '8:00:01-9:00'}}]"] = (
    "'time' of rule 'r' is lost: times of day are hours and minutes"
)
DELAY = "actions: [{{name: a, objectives: {{maximum-delays: [{}]{}}}}}]"
LOSSES |= {
    DELAY.format("{milliseconds: 1.5}", ""): "'mean delay at most 1.5 ms' of action 'a' is lost: delays are whole "
    "milliseconds",
    DELAY.format(
        "{milliseconds: 5, percentile: 99}", ""
    ): "'99 % within 5 ms' of action 'a' is lost: MaxDelay is a mean",
    DELAY.format("{milliseconds: 5}", ", okay-after: 3"): "'okay-after' of the objectives of action 'a' is lost: an "
    "action has a MaxDelay, and MaxRate and MinRate of each connection",
    "actions: [{name: a, objectives: {maximum-loss-percent: 1}}]": "'maximum-loss-percent' of the objectives of action "
    "'a' is lost: an action has a MaxDelay, and MaxRate and MinRate of each connection",
    "actions: [{name: a, objectives: {maximum-delays: [{milliseconds: 5}], interval-s: 20}}, {name: b, objectives: "
    "{maximum-delays: [{milliseconds: 5}]}}]": "the interval of 10 s of the objectives of action 'b' is lost: a file "
    "has one interval, 20 s here",
    "rules: [{name: r, direction: both, objectives: {maximum-loss-percent: 1}}]": "'objectives' of rule 'r' is lost: "
    "rules have no objectives, actions have a MaxDelay",
}
METER = "actions: [{{name: a, meter: {{committed-rate: {{value: 1, unit: kbit/s, basis: ip}}, {}}}}}]"
METERS = {
    "kind: single-rate, committed-burst-bytes: 125, excess-burst-bytes: 9": "a profile has no excess burst",
    "kind: single-rate, committed-burst-bytes: 125, colour-aware: true": "a profile knows no colours of packets",
    "kind: single-rate, committed-burst-bytes: 125, green: {set-dscp: EF}": "packets in profile are marked as the "
    "action says",
    "kind: single-rate, committed-burst-bytes: 125, red: {drop: true}": "what is out of profile is all dropped, or "
    "all sent with one ToS",
    "kind: single-rate, committed-burst-bytes: 3, red: {drop: true}, yellow: {drop: true}": "buckets are whole "
    "kilobits",
    "kind: two-rate-separate, committed-burst-bytes: 125, excess-burst-bytes: 9, peak-rate: {value: 1, unit: kbit/s, "
    "basis: ip}": "a profile's peak rate includes its rate",
}
LOSSES |= {METER.format(meter): f"the meter of action 'a' is lost: {why}" for meter, why in METERS.items()}
LOSSES[METER.format("kind: single-rate, committed-burst-bytes: 126, red: {drop: true}, yellow: {drop: true}")] = (
    "1 bytes of 'committed-burst-bytes' of action 'a' is lost: buckets are whole kilobits"
)


@pytest.mark.parametrize("text", LOSSES)
def test_loss(text):
    (loss,) = convert(yaml_format.read(f"phb: 1\n{text}\n", "f"), "policy-agent").losses
    assert str(loss) == f"f:2: {LOSSES[text]}"


def test_names_that_collide_stay_apart():
    policy = PolicySet(actions=tuple(Action(name=name) for name in ("a b", "a-b", "a  b")))
    again = read(write(policy).text, "f")
    assert [action.name for action in again.actions] == ["a-b-2", "a-b", "a-b-3"]


def test_a_blocked_rule_refers_to_an_action_that_blocks():
    policy = PolicySet(
        actions=(Action(name="blocked"),),
        rules=(Rule(name="r", direction=Direction.BOTH, permission=Permission.BLOCKED, actions=("blocked",)),),
    )
    assert "PolicyActionReference blocked-2\n" in write(policy).text
    assert read(write(policy).text, "f") == policy


def test_alternatives_take_no_other_rules_name():
    alternatives = (Conditions(protocol=6), Conditions(protocol=47))
    rules = (Rule(name="r", direction=Direction.BOTH, match=alternatives), Rule(name="r-2", direction=Direction.BOTH))
    again = read(write(PolicySet(rules=rules)).text, "f")
    assert [rule.name for rule in again.rules] == ["r", "r-3", "r-2"]
