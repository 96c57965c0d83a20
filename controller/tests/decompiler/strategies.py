"""Policies that compile, of everything that becomes entries."""

from ipaddress import IPv4Address, IPv6Address

from hypothesis import strategies as st

from controller.tests.strategies import maybe, pcps, several, tos
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
    Dialect,
    Direction,
    DropProfile,
    EarlyDetection,
    FairQueue,
    Fifo,
    FlowQueueing,
    LengthBasis,
    Meter,
    MeterKind,
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
)
from phb.values import AddressRange, IcmpType, MacAddress, PortRange, TcpFlags, parse_network

CLASSES = ("gold", "silver", "bronze")
ACTIONS = ("one", "two", "three", "four")
BASES = [RateBasis.ETHERNET, RateBasis.IP, RateBasis.PPP]


def address_ranges(kind, first):
    pair = st.tuples(st.integers(0, 12), st.integers(0, 12))
    return pair.map(lambda ends: AddressRange(kind(first + min(ends)), kind(first + max(ends))))


v4, v6 = address_ranges(IPv4Address, 0x0A000000), address_ranges(IPv6Address, 0x20010DB8 << 96)
port_ranges = st.sampled_from([(0, 79), (80, 80), (79, 1023), (0, 65535)]).map(lambda pair: PortRange(*pair))


COPIES = [(), (Copied.PRECEDENCE_TO_PCP,), (Copied.PCP_TO_DSCP,), (Copied.PCP_TO_PRECEDENCE, Copied.PRECEDENCE_TO_PCP)]


@st.composite
def marked(draw, prefix=""):
    word = draw(st.sampled_from(["tos", "dscp", "precedence", None]))
    values = {"tos": tos.filter(lambda value: value.mask), "dscp": st.integers(0, 63), "precedence": st.integers(0, 7)}
    fields = {f"{prefix}pcp": draw(maybe(pcps.filter(lambda value: not prefix or value.mask)))}
    if prefix:
        fields |= {"set_qos_group": draw(maybe(st.integers(0, 99))), "copy_marks": draw(st.sampled_from(COPIES))}
    elif fields["pcp"] is None:
        fields["vlan"] = draw(maybe(st.sampled_from(["untagged", 0, 5])))
    if word is not None:
        fields[prefix + word] = draw(values[word])
    return fields


@st.composite
def conditions(draw, **where):
    addresses = draw(st.sampled_from([v4, v6]))
    protocol = draw(maybe(st.sampled_from([1, 6, 17, 58])))
    flags = maybe(st.sampled_from(["+ack", "+syn -ack", "any", "-rst"]).map(TcpFlags.parse))
    types = maybe(st.sampled_from([8, "3/4", 0]).map(IcmpType.parse))
    group = maybe(st.integers(0, 3)) if "egress_port" in where else st.none()
    return Conditions(
        **where,
        **draw(marked()),
        protocol=protocol,
        tcp_flags=draw(flags) if protocol in (None, 6) else None,
        icmp_type=draw(types) if protocol in (1, 58) else None,
        qos_group=draw(group),
        source=draw(maybe(addresses)),
        destination=draw(maybe(addresses)),
        source_ports=draw(maybe(port_ranges)),
        destination_ports=draw(maybe(port_ranges)),
    )


@st.composite
def rules(draw, exceptions):
    kind = draw(st.sampled_from(["any", "input", "output", "host"]))
    where = {"input": {"ingress_port": "line"}, "output": {"egress_port": "line"}}.get(kind, {})
    directions = [Direction.OUTGOING, Direction.INCOMING, Direction.BOTH]
    return Rule(
        name=f"rule-{draw(st.integers(0, 10**9))}",
        direction=draw(st.sampled_from(directions)) if kind == "host" else Direction.ANY,
        permission=draw(st.sampled_from([*[Permission.ALLOWED] * 3, Permission.BLOCKED])),
        match=draw(several(conditions(**where), 1)),
        unless=draw(several(conditions(**where))) if exceptions else (),
        actions=draw(st.sampled_from([(), *(((name,)) for name in (ACTIONS[:2] if kind == "output" else ACTIONS))])),
    )


@st.composite
def aggregates(draw):
    where = draw(st.sampled_from([{}, {"ingress_port": "line"}, {"egress_port": "line"}]))
    return BehaviourAggregate(
        name=f"aggregate-{draw(st.integers(0, 10**9))}",
        **where,
        **draw(marked()),
        actions=draw(st.sampled_from([(), (ACTIONS[0],), (ACTIONS[1],)])),
    )


def rates(*bases):
    return st.builds(
        Rate,
        value=st.integers(1, 999),
        unit=st.sampled_from([RateUnit.KBIT, RateUnit.MBIT]),
        basis=st.sampled_from(bases),
    )


@st.composite
def treatments(draw):
    return Treatment(drop=True) if draw(st.booleans()) else Treatment(**draw(marked("set_")))


@st.composite
def meters(draw):
    kind, rate = draw(st.sampled_from(MeterKind)), rates(draw(st.sampled_from(BASES)))
    bursts = st.integers(0, 2**31)
    fields = {} if kind is MeterKind.SINGLE_RATE else {"peak_rate": draw(rate)}
    burst = "peak_burst_bytes" if kind is MeterKind.TWO_RATE else "excess_burst_bytes"
    return Meter(
        kind=kind,
        committed_rate=draw(rate),
        committed_burst_bytes=draw(bursts),
        colour_aware=draw(st.booleans()),
        **fields,
        **{burst: draw(bursts)},
        **{colour: draw(treatments()) for colour in ("green", "yellow", "red")},
    )


@st.composite
def actions(draw, name):
    # Connections are counted where they come in: not for the rules of output policies.
    limited = name in ACTIONS[2:]
    maximum = draw(maybe(rates(*RateBasis)))
    return Action(
        name=name,
        traffic_class=draw(maybe(st.sampled_from(CLASSES))),
        meter=draw(maybe(meters())),
        max_connections=draw(maybe(st.integers(1, 65535))) if limited else None,
        max_rate=maximum,
        min_rate=None if maximum is None else draw(maybe(rates(*RateBasis))),
        **draw(marked("set_")),
    )


def of_flows(*dialects):
    return {
        "dialect": st.sampled_from(dialects),
        "congestive_discard_threshold": st.integers(1, 4096),
        "dynamic_conversations": st.integers(4, 9).map(lambda power: 2**power),
    }


@st.composite
def detections(draw):
    limits = {"minimum": st.integers(0, 2048), "maximum": st.integers(2048, 4096), "denominator": st.integers(1, 65536)}
    kinds = [{}, {"dscp": 46}, {"dscp": 10}, {"precedence": 3}, {"colour": Colour.YELLOW}, {"colour": Colour.RED}]
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4, unique_by=str))
    return EarlyDetection(
        average_weight=draw(st.integers(1, 16)),
        ecn=draw(st.booleans()),
        profiles=[
            draw(st.builds(DropProfile, **limits, **{key: st.just(value) for key, value in kind.items()}))
            for kind in chosen
        ],
    )


@st.composite
def class_based(draw):
    queues = []
    kind = draw(st.sampled_from(["percent", "remaining_percent", "weight", "rate"]))
    flows = draw(st.sampled_from([None, Dialect.IOS_12, Dialect.IOS_HQF]))
    for name in draw(st.permutations([*CLASSES, "class-default"])):
        if name == "class-default" and flows is Dialect.IOS_12:
            fair = draw(st.builds(FlowQueueing, **of_flows(flows)))
            queues.append(ClassQueue(traffic_class=name, fair_queue=fair))
            continue
        if name != "class-default" and draw(st.integers(0, 2)) == 0:
            queues.append(ClassQueue(traffic_class=name, level=draw(st.integers(0, 6))))
            continue
        value = Rate(value=draw(st.integers(1, 250)), unit=RateUnit.KBIT, basis=RateBasis.ETHERNET)
        said = value if kind == "rate" else draw(st.integers(1, 25))
        queue = ClassQueue(
            traffic_class=name,
            bandwidth=draw(maybe(st.just(Bandwidth(**{kind: said})))),
            fair_queue=draw(maybe(st.builds(FlowQueueing, **of_flows(flows)))) if flows is Dialect.IOS_HQF else None,
            queue_limit=draw(maybe(st.integers(1, 4096))),
            early_detection=draw(maybe(detections())),
        )
        queues.append(queue)
    return ClassBased(kind="classes", queues=queues)


@st.composite
def queueing(draw, port):
    schedule = draw(
        st.one_of(
            st.just(Fifo(kind="fifo")),
            st.builds(FairQueue, kind=st.just("fair-queue"), **of_flows(*Dialect)),
            class_based(),
        )
    )
    shaper = Shaper(rate=Rate(value=draw(st.integers(1000, 9999)), unit=RateUnit.KBIT, basis=RateBasis.ETHERNET))
    private = draw(st.lists(st.sampled_from(ACTIONS), unique=True, max_size=2))
    fifo = isinstance(schedule, Fifo)
    return Queueing(
        port=port,
        schedule=schedule,
        hold_queue=draw(maybe(st.integers(1, 4096))),
        length_basis=LengthBasis.ETHERNET if fifo else draw(st.sampled_from(LengthBasis)),
        shaper=draw(maybe(st.just(shaper))),
        buffers=draw(
            maybe(
                st.builds(
                    Buffers,
                    shared_bytes=st.integers(0, 2**31),
                    holes=st.integers(1, 256),
                    private=st.just(tuple(PrivateBuffer(action=name, bytes=64 * len(name)) for name in private)),
                    idle_timeout_ms=maybe(st.integers(1, 3_600_000)),
                )
            )
        ),
        early_detection=None if isinstance(schedule, ClassBased) else draw(maybe(detections())),
    )


networks = st.sampled_from(["10.0.0.0/29", "10.0.0.0/30", "10.0.0.4/31", "0.0.0.0/0", "2001:db8::/48", "2001:db8::/64"])
applicabilities = st.builds(
    Applicability,
    ports=st.sampled_from([(), ("line",), ("line", "uplink")]),
    peers=st.lists(st.one_of(v4, v6), max_size=3).map(tuple),
    direct_networks=st.lists(networks.map(parse_network), max_size=2, unique=True).map(tuple),
    trivial_bytes=st.integers(1, 4096),
    short_lived_ms=st.integers(1, 3_600_000),
)


@st.composite
def policies(draw, *, exceptions=False):
    rate = Rate(value=draw(st.integers(1000, 9999)), unit=RateUnit.KBIT, basis=RateBasis.ETHERNET)
    ports = [
        Port(number=1, name="stack", role=Role.HOST),
        Port(number=2, name="uplink", rate=rate),
        Port(number=3, name="line", rate=rate),
    ]
    macs = {"source_mac": MacAddress(2), "destination_mac": MacAddress(3)}
    routes = [
        Route(destination=parse_network("10.0.0.0/24"), port="line", **macs),
        Route(destination=parse_network("0.0.0.0/0"), port="uplink", **macs),
        Route(destination=parse_network("2001:db8::/48"), discard=True),
    ]
    subnet_priorities = st.lists(
        st.builds(
            SubnetPriority,
            port=st.sampled_from([None, "stack", "uplink", "line"]),
            mask=st.sampled_from([0, 0xE0, 0xFC]),
            mappings=several(
                st.builds(PriorityMapping, tos=st.integers(0, 255), user_priority=maybe(st.integers(0, 7)))
            ),
        ),
        unique_by=lambda each: each.port,
    )
    return PolicySet(
        ports=ports,
        cross_connects=[CrossConnect(between=("stack", "uplink"))],
        routes=draw(st.lists(st.sampled_from(routes), unique_by=lambda route: route.destination)),
        classes=[TrafficClass(name=name) for name in CLASSES],
        queueing=[draw(queueing(port)) for port in draw(st.sampled_from([[], ["line"], ["uplink", "line"]]))],
        actions=[draw(actions(name)) for name in ACTIONS],
        rules=draw(st.lists(rules(exceptions), max_size=4, unique_by=lambda rule: rule.name)),
        behaviour_aggregates=draw(several(aggregates())),
        subnet_priorities=draw(subnet_priorities),
        applicability=draw(maybe(applicabilities)),
    )
