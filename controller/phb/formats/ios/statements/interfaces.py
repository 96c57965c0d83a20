"""``interface`` and its statements."""

from __future__ import annotations

from phb.formats.ios.configuration import Amount, Configuration, FlowFairness, Interface, Shape
from phb.formats.ios.language.interface_names import PHYSICAL, take_interface
from phb.formats.ios.language.lines import Words
from phb.formats.ios.language.modes import GLOBAL, INTERFACE, MQC
from phb.formats.ios.language.names import VLANS, take_interface_address
from phb.formats.ios.language.vocabulary import Mode
from phb.formats.ios.statements.early_detection import take_random_detect
from phb.formats.ios.statements.rates import KILOBITS, SHAPED, note_bursts, take_bursts, take_conversations
from phb.model import Dialect
from phb.values import UNTAGGED

# Encapsulations whose header has the four bytes that the model calls PPP, and those that keep the Ethernet header.
ENCAPSULATIONS = ("ppp", "hdlc", "arpa")

MOST_HELD = 4096


@GLOBAL.statement("interface")
def _interface(configuration: Configuration, _: object, words: Words) -> Mode:
    name, kind = take_interface(words)
    words.maybe("multipoint", "point-to-point")
    words.done()
    return Mode(INTERFACE, configuration.interfaces.setdefault(name, Interface(name, kind, words.origin)))


@INTERFACE.statement("ip address", negatable=True, aside=True)
def _ip_address(configuration: Configuration, interface: Interface, words: Words) -> None:
    if words.negated:
        interface.address = None
        return
    if words.maybe("dhcp", "negotiated", "pool"):
        configuration.note(
            words.origin, f"{interface.name} has an address that only the router learns; write it in YAML"
        )
        return
    if words.maybe_blotted():
        configuration.note(words.origin, f"the address of {interface.name} is blotted out; write it in YAML")
        return
    words.maybe("virtual")  # of EOS: several routers have it
    address, _ = take_interface_address(words)
    if words.maybe("secondary"):
        configuration.note(words.origin, "a secondary address has no effect: a port is known by its first one")
        return
    words.done()
    interface.address = (address, words.origin)


@INTERFACE.statement("bandwidth", negatable=True)
def _bandwidth(configuration: Configuration, interface: Interface, words: Words) -> None:
    if words.negated:
        interface.bandwidth = None
        return
    if words.maybe("inherit", "receive"):
        configuration.aside(words.origin, f"'{words.line.shown}' has no effect: no percentage is taken of it")
        return
    # `qos-reference` is the basis of percentages; routing goes by the other one.
    reference = words.maybe("qos-reference") is not None
    kilobits = words.number(*KILOBITS, "kbit/s")
    words.done()
    if reference or not interface.has_reference:
        interface.bandwidth = (kilobits, words.origin)
    interface.has_reference |= reference


@INTERFACE.statement("speed", aside=True)
def _speed(configuration: Configuration, interface: Interface, words: Words) -> None:
    speed = words.maybe_number(1, 100_000, "Mbit/s")
    interface.speed = speed
    message = "'speed' sets no line rate: the switch's port has its own"
    if speed is None:
        configuration.aside(words.origin, message)
    else:
        configuration.note(
            words.origin, f"{message}; percentages are taken of this one unless 'bandwidth' says another"
        )


@INTERFACE.statement("encapsulation", aside=True)
def _encapsulation(configuration: Configuration, interface: Interface, words: Words) -> None:
    word = words.next("an encapsulation").lower()
    if word == "dot1q" and "." in interface.name:
        _take_tag(interface, words)
        return
    if word not in ENCAPSULATIONS:
        interface.unlike.append(
            (words.origin, f"one with an encapsulation whose packet lengths phb can count: {', '.join(ENCAPSULATIONS)}")
        )
        return
    if interface.kind not in PHYSICAL:
        return
    words.done()
    if (PHYSICAL.get(interface.kind, (None, None))[0] == "ethernet") != (word == "arpa"):
        words.line.fail(f"encapsulation '{word}' on {interface.name}", "one that the interface has")


def _take_tag(interface: Interface, words: Words) -> None:
    """Read ``dot1Q N [native]``: the VLAN of the subinterface; the native one's frames have no tag."""
    number = words.number(*VLANS, "a VLAN")
    native = words.maybe("native")
    if words.peek() is not None:
        interface.unlike.append((words.origin, "a subinterface with one tag: phb doesn't look at a second one"))
        return
    interface.tag = UNTAGGED if native else number


@INTERFACE.statement("fair-queue", negatable=True)
def _fair_queue(configuration: Configuration, interface: Interface, words: Words) -> None:
    if words.negated:
        interface.fair_queue = False
        return
    # "fair-queue (WFQ)" in the Cisco IOS Quality of Service Solutions Command Reference. The bounds of the threshold
    # differ by release; the source's 150 is within 11.3's and the pipeline's.
    threshold = words.maybe_number(1, 4096, "a congestive discard threshold in packets")
    conversations = take_conversations(words, "a number of dynamic queues") if threshold is not None else None
    reservable = words.maybe_number(0, 1000, "a number of reservable queues") if conversations is not None else None
    words.done()
    interface.fair_queue = FlowFairness(words.origin, threshold, conversations, reservable or 0)


@INTERFACE.statement("hold-queue", negatable=True)
def _hold_queue(configuration: Configuration, interface: Interface, words: Words) -> None:
    # "hold-queue" in the Cisco IOS Interface Command Reference: 0 to 65535 packets.
    packets = words.maybe_number(0, 65535, "packets") if words.negated else words.number(0, 65535, "packets")
    direction = words.keyword("in", "out")
    words.done()
    if direction == "in":
        configuration.note(words.origin, "an input hold queue has no effect: packets queue at output ports only")
    elif words.negated:
        interface.hold_queue = None
    elif packets is not None and packets > MOST_HELD:
        words.line.fail(f"a hold queue of {packets} packets", f"at most {MOST_HELD}: a port of phb holds no more")
    elif not packets:
        configuration.note(words.origin, "a hold queue of 0 packets is one of 1: a port of phb holds at least one")
        interface.hold_queue = (1, words.origin)
    else:
        interface.hold_queue = (packets, words.origin)


@INTERFACE.statement("random-detect", negatable=True, since=(Dialect.IOS_12, "12.0"))
def _random_detect(configuration: Configuration, interface: Interface, words: Words) -> None:
    if words.negated:
        words.done()
        interface.random_detect = None
        return
    take_random_detect(configuration, interface, words)


@INTERFACE.statement("traffic-shape rate")
def _traffic_shape(configuration: Configuration, interface: Interface, words: Words) -> None:
    rate = Amount(words.rate(*SHAPED))
    committed, excess = take_bursts(words)
    if excess is not None:
        words.maybe_number(1, 4096, "buffers")
    words.done()
    interface.shape = Shape(words.origin, rate, committed, excess)
    note_bursts(configuration, interface.shape)


@INTERFACE.statement("max-reserved-bandwidth", since=MQC)
def _reserved(configuration: Configuration, interface: Interface, words: Words) -> None:
    interface.reserved_percent = words.number(1, 100, "a percentage")
    words.done()
    if configuration.dialect is Dialect.IOS_HQF:
        message = "'max-reserved-bandwidth' has no effect in ios-hqf: all of the bandwidth may be given to classes"
        configuration.note(words.origin, message)


@INTERFACE.statement("service-policy input", "service-policy output", since=MQC)
def _service_policy(configuration: Configuration, interface: Interface, words: Words) -> None:
    direction = words.phrase.removeprefix("service-policy ")
    name = words.name("a policy map's name")
    words.done()
    earlier = interface.policies.get(direction)
    if earlier is not None and earlier[0] != name:
        words.line.fail(
            f"policy map '{name}' for {direction}", f"one policy map; '{earlier[0]}' stands at {earlier[1]}"
        )
    interface.policies[direction] = (name, words.origin)


@INTERFACE.statement("ip access-group", "ipv6 traffic-filter")
def _access_group(configuration: Configuration, interface: Interface, words: Words) -> None:
    ipv6 = words.phrase == "ipv6 traffic-filter"
    name = words.name("an IPv6 access list's name" if ipv6 else "an access list's name or number")
    direction = words.keyword("in", "out")
    words.done()
    interface.access_groups[f"ipv6 {direction}" if ipv6 else direction] = (name, words.origin)


@INTERFACE.statement("ip policy route-map", negatable=True)
def _route_map(configuration: Configuration, interface: Interface, words: Words) -> None:
    interface.route_map = None if words.negated else (words.name("a route map's name"), words.origin)


@INTERFACE.statement("shutdown", negatable=True, aside=True)
def _shutdown(configuration: Configuration, interface: Interface, words: Words) -> None:
    words.done()
    interface.shut_down = not words.negated


@INTERFACE.statement("qos pre-classify", negatable=True, aside=True)
def _pre_classify(configuration: Configuration, interface: Interface, words: Words) -> None:
    """Note a tunnel's statement about the policy of the port that the tunnel's packets leave by."""
    if not words.negated:
        message = "'qos pre-classify' has no effect: phb encapsulates nothing: policies meet packets as they are"
        configuration.note(words.origin, message)


@GLOBAL.statement("auto qos", negatable=True, aside=True)
@INTERFACE.statement("auto qos", negatable=True, aside=True)
def _auto_qos(configuration: Configuration, _: object, words: Words) -> None:
    """Note a macro ("AutoQoS" in the Cisco IOS Quality of Service Solutions Configuration Guide)."""
    if not words.negated:
        message = f"'{words.line.shown}' has no effect: what it made counts, where the configuration has it"
        configuration.note(words.origin, message)
