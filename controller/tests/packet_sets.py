"""Sets of packets for property tests, and what words about packets mean."""

from datetime import UTC, datetime
from itertools import product

from hypothesis import strategies as st

from phb.model import Conditions, PolicySet, Port
from phb.packets.epochs import Epochs
from phb.packets.space import (
    NO_HEADER,
    NO_MESSAGE,
    PORTS,
    UNTAGGED,
    Version,
    box_of,
    every,
    every_packet,
)
from phb.packets.words import Naming
from phb.values import PROTOCOLS

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
LATER = datetime(2026, 11, 28, 3, tzinfo=UTC)
EPOCHS = Epochs((NOW, LATER))
POLICY = PolicySet(ports=(Port(number=1, name="uplink"), Port(number=2, name="lan"), Port(number=7, name="7")))
NAMING = Naming.of([POLICY], EPOCHS)
THERE = every_packet(EPOCHS.all)
V4, V6 = Version.IPV4, Version.IPV6


def values(said):
    return said if isinstance(said, list) else [said]


def number_of(reference):
    port = POLICY.find_port(reference)
    return reference if port is None else port.number


def bits(numbers):
    return sum(1 << number for number in set(numbers))


def ends(said, last=None):
    first, _, final = str(said).partition("-")
    return int(first), int(final or first)


def message(said):
    """Types or codes, as an interval."""
    first, _, last = str(said).partition("-")
    low, high = ((*map(int, each.split("/")), None)[:2] for each in (first, last or first))
    return low[0] << 8 | (low[1] or 0), high[0] << 8 | (0xFF if high[1] is None else high[1])


def meant(conditions):
    """The boxes of conditions in the words' form; each key by itself is simple, so this reading is, too."""
    conditions = dict(conditions)
    frames = values(conditions.pop("frame", "ip"))
    when = [EPOCHS.words(1 << number)[0] for number in range(len(EPOCHS.moments))]
    epochs = bits(when.index(each) for each in values(conditions.pop("when", when)))
    boxes = []
    for choice in product(*([(key, value) for value in values(said)] for key, said in conditions.items())):
        asked = dict(choice)
        messages, flags = [(0, NO_MESSAGE)], every(NO_HEADER + 1)
        tags, vlan = every(UNTAGGED + 1), (0, 0xFFF)
        if "icmp-type" in asked:
            said = asked.pop("icmp-type")
            messages = [(NO_MESSAGE, NO_MESSAGE) if said == "none" else message(said)]
        if asked.get("tcp-flags") == "none":
            flags = 1 << NO_HEADER
            del asked["tcp-flags"]
        if "vlan" in asked:
            said = asked.pop("vlan")
            if said == "untagged":
                tags = 1 << UNTAGGED
            else:
                tags, vlan = every(UNTAGGED), ends(said)
        if "pcp" in asked:
            said = asked.pop("pcp")
            pattern = Conditions.model_validate({"pcp": 0 if said == "untagged" else said}).pcp
            tags &= (
                1 << UNTAGGED if said == "untagged" else bits(n for n in range(8) if n & pattern.mask == pattern.value)
            )
        read = Conditions.model_validate(asked)
        tos = bits(n for n in range(256) if read.tos_bits is None or n & read.tos_bits.mask == read.tos_bits.value)
        if read.tcp_flags is not None:
            flags &= bits(n for n in range(256) if n & read.tcp_flags.mask == read.tcp_flags.value)
        for frame, version, sent in product(frames, Version, messages):
            if (frame == "not-ip") != (version is Version.NONE):
                continue
            if version is not Version.NONE and read.version not in (None, {V4: 4, V6: 6}[version]):
                continue
            given = {
                name: (int(each.first), int(each.last))
                for name in ("source", "destination")
                if (each := getattr(read, name)) is not None
            }
            for name in ("source_port", "destination_port"):
                each = getattr(read, f"{name}s")
                given[name] = (0, 0xFFFF) if each is None else (each.first, each.last)
            protocol = every(256) if read.protocol is None else 1 << read.protocol
            boxes.append(
                box_of(
                    version,
                    epochs=epochs,
                    **given,
                    ingress=PORTS if read.ingress_port is None else 1 << number_of(read.ingress_port),
                    protocol=protocol,
                    tos=tos,
                    flags=flags,
                    message=sent,
                    tag=tags,
                    vlan=vlan,
                )
            )
    return boxes


def interval(*border):
    return st.tuples(st.sampled_from(border), st.sampled_from(border)).map(lambda pair: (min(pair), max(pair)))


ADDRESSES = {
    V4: interval(0, 0x0A000000, 0x0AFFFFFF, 0x0A000001, 2**32 - 1),
    V6: interval(0, 2**128 - 1, 0x20010DB8 << 96, 0x20010DB9 << 96),
    Version.NONE: st.just((0, 0)),
}
OCTETS = st.one_of(
    st.sampled_from([0xF << 0xB8, every(32) << 160, 1 << 0xB8, every(256) & ~(0xF << 0xB8), every(128)]),
    st.integers(1, every(256)),
)
SIDES = {
    "source_port": interval(0, 1, 80, 81, 65535),
    "destination_port": interval(0, 80, 1023, 65535),
    "vlan": interval(0, 1, 100, 4095),
    "message": interval(0, 0x300, 0x304, 0x3FF, 0x800, 0xFFFF, NO_MESSAGE),
    "ingress": st.sampled_from([2, 4, 6, 1 << 300, PORTS & ~2, PORTS & ~(1 << 7)]),
    "protocol": st.one_of(
        st.sampled_from([1 << each for each in (*PROTOCOLS.values(), 0, 200)]),
        st.sampled_from([1 << 6 | 1 << 17, every(256) & ~(1 << 6), every(256) & ~(1 << 17 | 1 << 1)]),
    ),
    "tos": OCTETS,
    "tag": st.integers(1, every(UNTAGGED + 1)),
    "flags": st.one_of(
        st.sampled_from([1 << NO_HEADER, every(NO_HEADER), bits(n for n in range(256) if n & 18 == 2)]),
        st.integers(1, every(NO_HEADER + 1)),
    ),
    "epoch": st.sampled_from([1, 2]),
}


@st.composite
def boxes(draw):
    version = draw(st.sampled_from([V4, V4, V6, Version.NONE]))
    names = draw(st.sets(st.sampled_from([*SIDES, "source", "destination"]), max_size=4))
    asked = {
        name: draw(ADDRESSES[version] if name in ("source", "destination") else SIDES[name]) for name in sorted(names)
    }
    return box_of(version, epochs=asked.pop("epoch", EPOCHS.all), **asked)
