"""Shares of all packets, and the words of the largest of very many boxes."""

from datetime import datetime
from fractions import Fraction

import pytest

from phb.packets.boxes import intersection
from phb.packets.epochs import Epochs
from phb.packets.largest import about, largest_in_words, share
from phb.packets.many import Boxes
from phb.packets.space import Version, box_of, every, every_packet
from phb.packets.words import Naming
from phb.values import PROTOCOLS

TCP, UDP = (1 << PROTOCOLS[name] for name in ("tcp", "udp"))
NAMING = Naming.of([], Epochs.at(datetime(2026, 1, 1)))
HALF_OF_IPV4 = box_of(Version.IPV4, epochs=1, source=(0, (1 << 31) - 1))
SHARES = {
    "all": (every_packet(1), 1),
    "all of two epochs": (every_packet(3), 1),
    "nothing": ((), 0),
    "IPv4 is as much as IPv6": ((box_of(Version.IPV4, epochs=1),), Fraction(8, 18)),
    "a kind": ((box_of(Version.IPV6, epochs=1, protocol=UDP),), Fraction(2, 18)),
    "what there is not": ((box_of(Version.IPV4, epochs=1, protocol=UDP, flags=1),), 0),
    "a half": ((HALF_OF_IPV4,), Fraction(4, 18)),
    "parts add up": (
        tuple(box for kind in every_packet(1) if (box := intersection(kind, HALF_OF_IPV4))),
        Fraction(4, 18),
    ),
    "one port of 510": ((box_of(Version.NONE, epochs=1, ingress=2),), Fraction(2, 18 * 510)),
}


@pytest.mark.parametrize("name", SHARES)
def test_share(name):
    boxes, expected = SHARES[name]
    assert share(boxes) == expected


def test_shares_of_groups_are_about_those_of_each():
    groups = [Boxes.of(boxes) for boxes, _ in SHARES.values() if boxes]
    assert about([[group] for group in groups]) == pytest.approx([float(share(group)) for group in groups])
    assert about([[groups[0], groups[0]]]) == pytest.approx([2 * float(share(groups[0]))])
    assert about([]) == []


@pytest.mark.parametrize("version", Version)
def test_volumes_of_many_are_exact(version):
    whole = box_of(version, epochs=1)
    halves = [box_of(version, epochs=1, destination_port=ports) for ports in ((0, 9), (10, 0xFFFF))]
    assert Boxes.of(halves).volume() == whole.volume
    assert Boxes.of(halves).volume(halves[0]) == halves[0].volume
    assert Boxes.of([]).volume() == 0


def test_very_many_boxes():
    boxes = [box_of(Version.IPV4, epochs=1, source=(2 * n, 2 * n), destination_port=(0, n)) for n in range(2_100)]
    words, more = largest_in_words(boxes, NAMING)
    assert len(words) == 20
    assert more == len(boxes) - 20
    assert words[0].text == "IPv4 from 0.0.16.102 to any ports 0-2099"


def test_tagged_and_untagged_are_said_in_one():
    boxes = [
        box_of(Version.IPV4, epochs=1, source=(2 * n, 2 * n), destination_port=(0, n), tag=tag)
        for n in range(160)
        for tag in (1 << 8, every(8))
    ]
    words, more = largest_in_words(boxes[::-1], NAMING)
    assert (len(words), more) == (20, 140)


def test_few_boxes_are_said_as_what_they_are_together():
    boxes = [box_of(Version.IPV4, epochs=1, source=(n, n)) for n in range(256)]
    words, more = largest_in_words(boxes, NAMING)
    assert ([each.text for each in words], more) == (["IPv4 from 0.0.0.0/24"], 0)
    everywhere = [box_of(version, epochs=1, ingress=2) for version in Version]
    words, _ = largest_in_words(everywhere, NAMING, [box_of(version, epochs=1, ingress=2) for version in Version])
    assert [each.text for each in words] == ["every packet"]
