"""Model -> YAML -> model gives the same model, for any model."""

from ipaddress import IPv4Address, IPv6Address, ip_network

from hypothesis import given
from hypothesis import strategies as st

from phb.formats import yaml_format
from phb.model import (
    Action,
    Conditions,
    CrossConnect,
    Day,
    Dialect,
    Direction,
    FairQueue,
    Fifo,
    Image,
    LengthBasis,
    Permission,
    PolicySet,
    Port,
    PriorityMapping,
    Queueing,
    Rate,
    RateBasis,
    RateUnit,
    Role,
    Route,
    Rule,
    SubnetPriority,
    Validity,
)
from phb.values import AddressRange, MacAddress, PortRange, TimeRange, TypeOfService

# Names that YAML could take for something else are the interesting ones.
names = st.one_of(
    st.sampled_from(["yes", "null", "1", "0x10", "1.5", "~", "a: b", "- x", "# y", "2001:db8::1", "12:30", " x "]),
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=12),
)
octets = st.integers(0, 255)
ports = st.builds(lambda pair: PortRange(min(pair), max(pair)), st.tuples(st.integers(0, 65535), st.integers(0, 65535)))
tos = st.builds(lambda value, mask: TypeOfService(value & mask, mask), octets, octets)
v4, v6 = st.builds(IPv4Address, st.integers(0, 2**32 - 1)), st.builds(IPv6Address, st.integers(0, 2**128 - 1))
macs = st.builds(MacAddress, st.integers(0, 2**48 - 1))
clocks = st.times().map(lambda clock: clock.replace(microsecond=0))
times = st.one_of(
    st.just(TimeRange.parse("0:00-24:00")),
    st.tuples(clocks, clocks).filter(lambda pair: pair[0] != pair[1]).map(lambda pair: TimeRange(*pair)),
)
rates = st.builds(
    Rate,
    value=st.one_of(st.integers(1, 10**9), st.integers(1, 10**6).map(lambda number: number / 8)),
    unit=st.sampled_from(RateUnit),
    basis=st.sampled_from(RateBasis),
)
references = st.one_of(st.integers(0, 509), names)


def maybe(strategy):
    return st.none() | strategy


def address_ranges(addresses):
    return st.builds(lambda pair: AddressRange(min(pair), max(pair)), st.tuples(addresses, addresses))


def networks():
    def network(address, length):
        return ip_network(f"{address}/{length}", strict=False)

    return st.one_of(st.builds(network, v4, st.integers(0, 32)), st.builds(network, v6, st.integers(0, 128)))


def conditions_of(addresses):
    base = {
        "ingress_port": maybe(references),
        "protocol": maybe(octets),
        "source": maybe(address_ranges(addresses)),
        "destination": maybe(address_ranges(addresses)),
        "source_ports": maybe(ports),
        "destination_ports": maybe(ports),
    }
    return st.one_of(
        st.builds(Conditions, **base, tos=maybe(tos)), st.builds(Conditions, **base, dscp=st.integers(0, 63))
    )


def several(strategy):
    return st.lists(strategy, max_size=3).map(tuple)


routes = st.one_of(
    st.builds(Route, destination=networks(), discard=st.just(True)),
    st.builds(Route, destination=networks(), port=references, source_mac=macs, destination_mac=macs),
)
schedules = st.one_of(
    st.just(Fifo(kind="fifo")),
    st.builds(
        FairQueue,
        kind=st.just("fair-queue"),
        dialect=st.sampled_from(Dialect),
        congestive_discard_threshold=st.integers(1, 4096),
        dynamic_conversations=st.integers(4, 12).map(lambda power: 2**power),
        reservable=st.integers(0, 1000),
    ),
)
actions = {
    "name": names,
    "interface": maybe(v4 | v6),
    "traffic_class": maybe(names),
    "max_rate": maybe(rates),
    "min_rate": maybe(rates),
}
policies = st.builds(
    PolicySet,
    node=maybe(names),
    images=several(st.builds(Image, name=names, flush=st.booleans())),
    ports=several(
        st.builds(Port, number=st.integers(0, 509), name=names, address=maybe(v4 | v6), role=st.sampled_from(Role))
    ),
    cross_connects=several(st.builds(CrossConnect, between=st.tuples(references, references))),
    routes=several(routes),
    queueing=several(
        st.builds(
            Queueing,
            port=references,
            schedule=schedules,
            hold_queue=maybe(st.integers(1, 4096)),
            length_basis=st.sampled_from(LengthBasis),
        )
    ),
    actions=several(
        st.one_of(
            st.builds(Action, **actions, set_tos=maybe(tos)),
            st.builds(Action, **actions, set_dscp=st.integers(0, 63)),
        )
    ),
    rules=several(
        st.builds(
            Rule,
            name=names,
            direction=st.sampled_from(Direction),
            permission=st.sampled_from(Permission),
            match=st.one_of(conditions_of(v4), conditions_of(v6)).map(lambda conditions: (conditions,)),
            valid=st.builds(
                Validity,
                days=st.sets(st.sampled_from(Day), min_size=1).map(tuple),
                time=maybe(times),
            ),
            actions=several(names),
        )
    ),
    subnet_priorities=several(
        st.builds(
            SubnetPriority,
            address=maybe(v4 | v6),
            mask=octets,
            mappings=several(st.builds(PriorityMapping, priority=st.integers(1, 8), tos=octets)),
        )
    ),
)


@given(policies)
def test_model_to_yaml_to_model(policy):
    assert yaml_format.read(yaml_format.write(policy), "f") == policy
