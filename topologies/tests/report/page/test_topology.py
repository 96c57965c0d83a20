from dataclasses import replace

import pytest

from phb_lab.description import Wire
from phb_lab.report.page import topology


def test_nodes_stand_in_columns_by_their_distance_from_the_first_host(runs):
    (drawing,) = topology.drawings(runs)
    assert drawing.tests == ("fifo", "wfq")
    assert [(node.name, node.kind, node.x) for node in drawing.nodes] == [
        ("os390", "host", 12.5),
        ("cip", "cip", 37.5),
        ("c3640", "switch", 62.5),
        ("branch", "host", 87.5),
    ]
    assert [(line.a.name, line.b.name, line.label) for line in drawing.lines] == [
        ("os390", "cip", ""),
        ("cip", "c3640", "256 kbit/s"),
        ("c3640", "branch", ""),
    ]


def test_another_topology_is_another_drawing_and_nodes_apart_are_drawn_too(runs):
    changed = replace(runs[1].network, wires=(*runs[1].network.wires, Wire(("x", 0), ("y", 0))))
    first, second = topology.drawings([runs[0], replace(runs[1], network=changed)])
    assert (first.tests, second.tests) == (("fifo",), ("wfq",))
    assert {node.name for node in second.nodes} == {"os390", "cip", "c3640", "branch", "x", "y"}
    assert second.height > first.height
    places = [(node.x, node.y) for node in second.nodes]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        (300, "300 bit/s"),
        (256_000, "256 kbit/s"),
        (2_048_000, "2.048 Mbit/s"),
        (10_000_000_000, "10 Gbit/s"),
    ],
)
def test_rates_read_as_people_write_them(bits, text):
    assert topology.rate(bits) == text
