from dataclasses import replace
from itertools import pairwise

import pytest

from phb_lab.description import Port, Wire
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


def test_where_many_wires_meet_labels_keep_apart(runs):
    network = runs[0].network
    switch = replace(network.switches[0], ports=tuple(Port(number, 10_000) for number in range(1, 6)))
    wires = [Wire(("os390", 0), ("c3640", 1)), *(Wire(("c3640", number), (f"h{number}", 0)) for number in range(2, 6))]
    fan = replace(network, switches=(switch,), adapters=(), wires=tuple(wires))
    (drawing,) = topology.drawings([replace(runs[0], network=fan)])
    heights = sorted(line.label_y for line in drawing.lines[1:])
    assert all(after - before > 30 for before, after in pairwise(heights))
