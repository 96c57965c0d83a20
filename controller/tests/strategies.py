"""Any policy that the model can hold, for property tests."""

from datetime import datetime
from ipaddress import IPv4Address, IPv6Address, ip_network

from hypothesis import strategies as st

from phb.model import (
    Action,
    Applicability,
    Bandwidth,
    BehaviourAggregate,
    Buffers,
    ClassBased,
    ClassQueue,
    Colour,
    Conditions,
    Copied,
    CrossConnect,
    Day,
    DelayObjective,
    Dialect,
    Direction,
    DropProfile,
    EarlyDetection,
    FairQueue,
    Fifo,
    FlowQueueing,
    Image,
    LengthBasis,
    Meter,
    MeterKind,
    Objectives,
    Permission,
    PolicySet,
    Port,
    PriorityMapping,
    PrivateBuffer,
    Queueing,
    Rate,
    RateBasis,
    RateUnit,
    Role,
    Route,
    Rule,
    Shaper,
    SubnetPriority,
    TrafficClass,
    Treatment,
    Validity,
)
from phb.values import (
    AddressRange,
    IcmpType,
    MacAddress,
    PortRange,
    PriorityCodePoint,
    TcpFlags,
    TimeRange,
    TypeOfService,
    parse_zone,
)


def maybe(strategy):
    return st.none() | strategy


def several(strategy, least=0):
    return st.lists(strategy, min_size=least, max_size=3).map(tuple)


def numbers(low, high):
    return st.integers(low, high)


# Names that YAML could take for something else are the interesting ones.
NASTY = [
    "yes",
    "null",
    "1",
    "0x10",
    "1.5",
    "~",
    "a: b",
    "- x",
    "# y",
    "2001:db8::1",
    "12:30",
    " x ",
    "0o7",
    "1e3",
    ".5",
]
NASTY += [
    "<<",
    "=",
    "---",
    "...",
    "'",
    '"',
    "\\",
    "{a}",
    "[",
    "&a",
    "*a",
    "!a",
    "%a",
    "@a",
    "`a",
    "|",
    ">",
    "?",
    "a #b",
    ",",
]
NASTY += [
    "a\nb",
    "\n",
    "\t",
    "\x07",
    "\x85",
    "\u2028",
    "\ufeff",
    "\x7f",
    "😀",
    "é",
    "a: ",
    "true",
    "No",
    "+1",
    "0b1",
    "1_0",
]
names = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=12),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=64),
)
octets = st.integers(0, 255)
v4, v6 = st.builds(IPv4Address, st.integers(0, 2**32 - 1)), st.builds(IPv6Address, st.integers(0, 2**128 - 1))
macs = st.builds(MacAddress, st.integers(0, 2**48 - 1))
tos = st.builds(lambda value, mask: TypeOfService(value & mask, mask), octets, octets)
pcps = st.builds(lambda value, mask: PriorityCodePoint(value & mask, mask), st.integers(0, 7), st.integers(0, 7))
groups, vlans = st.integers(0, 127), st.integers(0, 4095) | st.just("untagged")
icmp_types = st.builds(IcmpType, st.integers(0, 255), st.none() | st.integers(0, 255))
tcp_flags = st.builds(lambda value, mask: TcpFlags(value & mask, mask), octets, octets)
code_points, precedences = st.integers(0, 63), st.integers(0, 7)
port_ranges = st.tuples(st.integers(0, 65535), st.integers(0, 65535)).map(lambda pair: PortRange(*sorted(pair)))
clocks = st.times().map(lambda clock: clock.replace(microsecond=0))
times = st.one_of(
    st.just(TimeRange.parse("0:00-24:00")),
    st.tuples(clocks, clocks).filter(lambda pair: pair[0] != pair[1]).map(lambda pair: TimeRange(*pair)),
)
moments = st.datetimes(datetime(1000, 1, 1)).map(lambda moment: moment.replace(microsecond=0))
zones = st.sampled_from(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"]).map(parse_zone)
references = st.one_of(st.integers(0, 509), names)
values = st.one_of(st.integers(1, 10**9), st.integers(1, 10**6).map(lambda number: number / 8))
rates = st.builds(Rate, value=values, unit=st.sampled_from(RateUnit), basis=st.sampled_from(RateBasis))
bursts = st.integers(0, 2**31)
delay_objectives = st.builds(
    DelayObjective,
    milliseconds=st.one_of(st.integers(1, 4_294_967), st.integers(1, 10**6).map(lambda number: number / 8)),
    percentile=maybe(st.one_of(st.integers(1, 99), st.sampled_from([99.9, 99.99, 0.5]))),
)
objectives = st.builds(
    Objectives,
    minimum_rate=maybe(rates),
    maximum_delays=st.lists(delay_objectives, min_size=1, max_size=3, unique_by=lambda bound: bound.percentile).map(
        tuple
    ),
    maximum_loss_percent=maybe(st.integers(0, 99) | st.just(0.01)),
    interval_s=st.integers(1, 3600),
    not_achieved_after=st.integers(1, 100),
    okay_after=st.integers(1, 100),
    margin_percent=st.integers(0, 50),
) | st.builds(Objectives, maximum_rate=rates)


def address_ranges(addresses):
    return st.builds(lambda pair: AddressRange(min(pair), max(pair)), st.tuples(addresses, addresses))


def networks():
    def network(address, length):
        return ip_network(f"{address}/{length}", strict=False)

    return st.one_of(st.builds(network, v4, st.integers(0, 32)), st.builds(network, v6, st.integers(0, 128)))


def one_mark(kind, prefix="", **fields):
    """An item that carries marks: at most one way to say the ToS octet."""
    fields[f"{prefix}pcp"] = maybe(pcps)
    fields[f"{prefix}qos_group"] = maybe(groups)
    if prefix:
        fields["copy_marks"] = several(st.sampled_from(Copied))
    return st.one_of(
        st.builds(kind, **fields, **{f"{prefix}tos": maybe(tos)}),
        st.builds(kind, **fields, **{f"{prefix}dscp": code_points}),
        st.builds(kind, **fields, **{f"{prefix}precedence": precedences}),
    )


def conditions_of(addresses):
    return one_mark(
        Conditions,
        ingress_port=maybe(references),
        egress_port=maybe(references),
        protocol=maybe(octets),
        source=maybe(address_ranges(addresses)),
        destination=maybe(address_ranges(addresses)),
        source_ports=maybe(port_ranges),
        destination_ports=maybe(port_ranges),
    )


def with_tag_or_flags(asked):
    """The same, or what can't stand beside a priority or another protocol."""
    plain = asked.model_copy(update={"pcp": None, "protocol": None})
    return st.one_of(
        st.just(asked),
        st.builds(lambda vlan: plain.model_copy(update={"vlan": vlan}), vlans),
        st.builds(lambda flags: plain.model_copy(update={"tcp_flags": flags}), tcp_flags),
        st.builds(
            lambda icmp, protocol: plain.model_copy(update={"protocol": protocol, "icmp_type": icmp}),
            icmp_types,
            st.sampled_from([1, 58]),
        ),
    )


conditions = (conditions_of(v4) | conditions_of(v6)).flatmap(with_tag_or_flags)
validities = st.builds(
    Validity,
    days=st.sets(st.sampled_from(Day), min_size=1).map(tuple),
    time=maybe(times),
    months=several(st.integers(1, 12)),
    days_of_month=several(st.integers(1, 31)),
    between=maybe(st.tuples(moments, moments)),
    time_zone=maybe(zones),
)
rules = st.builds(
    Rule,
    name=names,
    direction=st.sampled_from(Direction),
    permission=st.sampled_from(Permission),
    match=several(conditions, 1),
    unless=several(conditions),
    valid=validities,
    actions=several(names),
    objectives=maybe(objectives),
)
aggregates = one_mark(
    BehaviourAggregate,
    name=names,
    ingress_port=maybe(references),
    egress_port=maybe(references),
    actions=several(names),
    objectives=maybe(objectives),
)

treatments = st.just(Treatment(drop=True)) | one_mark(Treatment, "set_")


@st.composite
def meters(draw):
    kind = draw(st.sampled_from(MeterKind))
    basis = draw(st.sampled_from(RateBasis))
    rate = st.builds(Rate, value=values, unit=st.sampled_from(RateUnit), basis=st.just(basis))
    fields = {
        MeterKind.SINGLE_RATE: {"excess_burst_bytes": maybe(bursts)},
        MeterKind.TWO_RATE: {"peak_rate": rate, "peak_burst_bytes": bursts},
        MeterKind.TWO_RATE_SEPARATE: {"peak_rate": rate, "excess_burst_bytes": maybe(bursts)},
    }[kind]
    return draw(
        st.builds(
            Meter,
            kind=st.just(kind),
            committed_rate=rate,
            committed_burst_bytes=bursts,
            colour_aware=st.booleans(),
            green=treatments,
            yellow=treatments,
            red=treatments,
            **fields,
        )
    )


actions = one_mark(
    Action,
    "set_",
    name=names,
    interface=maybe(v4 | v6),
    traffic_class=maybe(names),
    meter=maybe(meters()),
    max_connections=maybe(st.integers(1, 65535)),
    max_rate=maybe(rates),
    min_rate=maybe(rates),
    objectives=maybe(objectives),
)

flows = {
    "dialect": st.sampled_from(Dialect),
    "congestive_discard_threshold": st.integers(1, 4096),
    "dynamic_conversations": st.integers(4, 12).map(lambda power: 2**power),
    "reservable": st.integers(0, 1000),
}
thresholds = {
    "minimum": st.integers(0, 2048),
    "maximum": st.integers(2048, 4096),
    "denominator": st.integers(1, 65536),
}
profiles = st.one_of(
    st.builds(DropProfile, **thresholds),
    st.builds(DropProfile, **thresholds, dscp=code_points),
    st.builds(DropProfile, **thresholds, precedence=precedences),
    st.builds(DropProfile, **thresholds, colour=st.sampled_from(Colour)),
)
early_detection = st.builds(
    EarlyDetection, average_weight=st.integers(1, 16), ecn=st.booleans(), profiles=several(profiles, 1)
)
bandwidths = st.one_of(
    st.builds(Bandwidth, rate=rates),
    st.builds(Bandwidth, percent=st.integers(1, 100)),
    st.builds(Bandwidth, remaining_percent=st.integers(1, 100)),
    st.builds(Bandwidth, weight=st.integers(1, 1000)),
)
class_queues = st.one_of(
    st.builds(ClassQueue, traffic_class=names, level=st.integers(0, 6), queue_limit=maybe(st.integers(1, 4096))),
    st.builds(
        ClassQueue,
        traffic_class=names,
        bandwidth=maybe(bandwidths),
        fair_queue=maybe(st.builds(FlowQueueing, **flows)),
        queue_limit=maybe(st.integers(1, 4096)),
        early_detection=maybe(early_detection),
    ),
)
ports_queueing = {
    "port": references,
    "hold_queue": maybe(st.integers(1, 4096)),
    "length_basis": st.sampled_from(LengthBasis),
    "shaper": maybe(st.builds(Shaper, rate=rates, burst_bytes=maybe(st.integers(1, 2**31)))),
    "buffers": maybe(
        st.builds(
            Buffers,
            shared_bytes=bursts,
            holes=st.integers(1, 256),
            private=several(st.builds(PrivateBuffer, action=names, bytes=bursts)),
            idle_timeout_ms=maybe(st.integers(1, 3_600_000)),
        )
    ),
}
queueing = st.one_of(
    st.builds(
        Queueing,
        **ports_queueing,
        schedule=st.just(Fifo(kind="fifo")) | st.builds(FairQueue, kind=st.just("fair-queue"), **flows),
        early_detection=maybe(early_detection),
    ),
    st.builds(
        Queueing,
        **ports_queueing,
        schedule=st.builds(ClassBased, kind=st.just("classes"), queues=several(class_queues, 1)),
    ),
)

routes = st.one_of(
    st.builds(Route, destination=networks(), discard=st.just(True)),
    st.builds(Route, destination=networks(), port=references, source_mac=macs, destination_mac=macs),
)
ports = st.builds(
    Port,
    number=maybe(st.integers(0, 509)),
    name=names,
    address=maybe(v4 | v6),
    role=st.sampled_from(Role),
    rate=maybe(rates),
)
applicabilities = st.builds(
    Applicability,
    ports=several(references),
    peers=several(address_ranges(v4) | address_ranges(v6)),
    direct_networks=several(networks()),
    interval_minutes=st.integers(1, 1440),
    trivial_bytes=st.integers(1, 4096),
    short_lived_ms=st.integers(1, 3_600_000),
)
policies = st.builds(
    PolicySet,
    node=maybe(names),
    time_zone=maybe(zones),
    images=several(st.builds(Image, name=names, flush=st.booleans())),
    ports=several(ports),
    cross_connects=several(st.builds(CrossConnect, between=st.tuples(references, references))),
    routes=several(routes),
    classes=several(st.builds(TrafficClass, name=names, objectives=maybe(objectives))),
    queueing=several(queueing),
    actions=several(actions),
    rules=several(rules),
    behaviour_aggregates=several(aggregates),
    subnet_priorities=several(
        st.builds(
            SubnetPriority,
            address=maybe(v4 | v6),
            mask=octets,
            mappings=several(
                st.builds(
                    PriorityMapping,
                    priority=maybe(st.integers(1, 8)),
                    tos=octets,
                    user_priority=maybe(st.integers(0, 7)),
                )
            ),
        )
    ),
    applicability=maybe(applicabilities),
)
