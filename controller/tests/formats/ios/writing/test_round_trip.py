"""Configuration -> model -> configuration -> model gives the same model, for any configuration of the subset."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phb.formats import ReadOptions, WriteOptions
from phb.formats.ios import read, write
from phb.model import Dialect

HQF, IOS_12, OLD = Dialect.IOS_HQF, Dialect.IOS_12, Dialect.IOS_11_3

octets = st.integers(0, 255)
addresses = st.one_of(
    st.just("any"),
    st.builds("host 10.0.{}.{}".format, octets, octets),
    st.builds("10.{}.0.0 0.0.255.255".format, octets),
    st.just("10.0.1.0 0.0.2.255"),
)
ports = st.sampled_from(["", "eq 80", "eq 80 443", "gt 1023", "lt 20", "neq 23", "range 100 200"])
marks = st.sampled_from(["", "dscp ef", "precedence 5", "tos 8", "precedence 3 tos 4"])


@st.composite
def entries(draw):
    protocol = draw(st.sampled_from(["ip", "tcp", "udp", "ospf", "123"]))
    has_ports = protocol in ("tcp", "udp")
    parts = [
        draw(st.sampled_from(["permit", "permit", "deny"])),
        protocol,
        draw(addresses),
        draw(ports) if has_ports else "",
        draw(addresses),
        draw(ports) if has_ports else "",
        draw(marks),
    ]
    return " " + " ".join(part for part in parts if part)


terms = st.one_of(
    st.sampled_from(["a", "b"]).map("access-group name {}".format),
    st.lists(st.integers(0, 63), min_size=1, max_size=3).map(lambda each: "dscp " + " ".join(map(str, each))),
    st.integers(0, 63).map("ip dscp {}".format),
    st.integers(0, 7).map("precedence {}".format),
    st.integers(0, 7).map("cos {}".format),
    st.sampled_from(["any", "protocol ip"]),
)


@st.composite
def class_maps(draw, name):
    kind = draw(st.sampled_from(["match-any", "match-all"]))
    lines = draw(st.lists(st.tuples(st.sampled_from(["match", "match", "match not"]), terms), min_size=1, max_size=3))
    return [f"class-map {kind} {name}", *(f" {match} {term}" for match, term in lines)]


rates = st.integers(8, 10**6).map(lambda number: number * 1000) | st.integers(8000, 10**6)
bursts = st.integers(1000, 10**6)
treatments = st.sampled_from(
    ["transmit", "drop", "set-dscp-transmit af12", "set-prec-transmit 2", "set-cos-transmit 3"]
)
policers = st.one_of(
    st.builds("police {} {}".format, rates, bursts),
    st.builds("police {} conform-action {} exceed-action {}".format, rates, treatments, treatments),
    st.builds(
        "police {} {} {} conform-action {} exceed-action {} violate-action {}".format,
        rates, bursts, bursts, treatments, treatments, treatments,
    ),
    st.builds("police cir {} bc {} pir 2000000000 be {} violate-action {}".format, rates, bursts, bursts, treatments),
)  # fmt: skip
sets = st.sampled_from(["set dscp af31", "set precedence 4", "set cos 2"])
percents = st.integers(1, 20)


@st.composite
def queues(draw, dialect, name):
    if name != "class-default" and draw(st.booleans()):
        level = draw(st.sampled_from(["", " level 1", " level 2"])) if dialect is HQF else ""
        rate = draw(st.sampled_from(["", " 64", " 64 2000"]))
        limit = ["queue-limit 20"] if draw(st.booleans()) else []
        return [f"priority{level}{rate}", *limit], bool(rate)
    lines = []
    if name != "class-default" or draw(st.booleans()):
        lines.append(f"bandwidth percent {draw(percents)}")
    fair = (dialect is HQF or (name == "class-default" and not lines)) and draw(st.booleans())
    if fair:
        lines.append(draw(st.sampled_from(["fair-queue", "fair-queue 32"])))
    if draw(st.booleans()):
        lines.append(f"queue-limit {draw(st.integers(1, 500))}")
    if draw(st.booleans()):
        kind, highest = draw(st.sampled_from([("dscp", 63), ("precedence", 7)]))
        lines.append(f"random-detect {kind} {draw(st.integers(0, highest))} {draw(st.integers(1, 9))} 90 7")
        lines += draw(st.sampled_from([[], ["random-detect ecn"], ["random-detect exponential-weighting-constant 4"]]))
    return lines, False


@st.composite
def policy_maps(draw, dialect, name, direction):
    lines = [f"policy-map {name}"]
    for each in draw(st.permutations(["x", "y", "class-default"])):
        said = draw(st.lists(sets, max_size=1))
        policed = False
        if direction == "output":
            queue, policed = draw(queues(dialect, each))
            said += queue
        if not policed and draw(st.booleans()):
            said.append(draw(policers))
        lines += [f" class {each}", *(f"  {statement}" for statement in said)]
    return lines


@st.composite
def configurations(draw):
    dialect = draw(st.sampled_from([HQF, IOS_12]))
    lines = ["hostname n"]
    for name in ("a", "b"):
        lines += [f"ip access-list extended {name}", *draw(st.lists(entries(), min_size=1, max_size=4))]
    for name in ("x", "y"):
        lines += draw(class_maps(name))
    lines += draw(policy_maps(dialect, "in", "input")) + draw(policy_maps(dialect, "out", "output"))
    shape = draw(st.sampled_from(["average 512000", "average 512000 8000 4000", "peak 256000 8000 8000"]))
    lines += ["policy-map shaper", " class class-default", f"  shape {shape}"]
    lines += ["  service-policy out"] if draw(st.booleans()) else []
    for name in ("FastEthernet0/0", "FastEthernet0/1", "Serial0/0"):
        interface = ["bandwidth 100000", "max-reserved-bandwidth 100"]
        interface += draw(st.sampled_from([[], ["ip address 10.0.0.1 255.255.255.0"]])) if name == "Serial0/0" else []
        interface += draw(st.sampled_from([[], ["ip access-group a in"], ["ip access-group b out"]]))
        interface += draw(st.sampled_from([[], ["service-policy input in"]]))
        own = ["fair-queue 100 64 2", "random-detect", "traffic-shape rate 64000", "hold-queue 9 out", "no fair-queue"]
        interface += draw(
            st.sampled_from(
                [[], ["service-policy output out"], ["service-policy output shaper"], *([each] for each in own)]
            )
        )
        lines += [f"interface {name}", *(f" {statement}" for statement in interface)]
    lines += ["ip route 10.0.0.0 255.0.0.0 Null0"]
    return dialect, "\n".join(lines) + "\n"


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(configurations())
def test_configuration_to_model_to_configuration(configuration):
    dialect, text = configuration
    policy = read(text, "f", ReadOptions(dialect))
    written = write(policy, WriteOptions(dialect))
    assert written.losses == ()
    again = read(written.text, "again")
    assert again == policy
