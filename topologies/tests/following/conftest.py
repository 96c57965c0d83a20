import pytest

from phb_lab.description import Adapter, Host, Network, Port, Switch, Wire
from phb_lab.following.journeys import Matcher, Sighting

FRAME = bytes.fromhex(
    "0200000000bb0200000000aa0800450000280001000040060000"
    "0a0000010a000002040000500000000700000000501820000000000000000000"
)


@pytest.fixture
def network():
    """a - (adapter x) - s === t - b, where s and t are switches."""

    def host(name, address):
        return Host(name, (address,), mtu_bytes=1500, window_bytes=16_384, delayed_ack_ns=None)

    switches = tuple(Switch(name, number, (Port(1), Port(2)), ()) for number, name in enumerate("st", 1))
    return Network(
        name="made up",
        switches=switches,
        hosts=(host("a", "10.0.0.1"), host("b", "10.0.0.2")),
        adapters=(Adapter("x", "cip", {}),),
        wires=(
            Wire(("a", 0), ("x", 0)),
            Wire(("x", 1), ("s", 1)),
            Wire(("s", 2), ("t", 1), delay_ns=2_000_000),
            Wire(("t", 2), ("b", 0)),
        ),
        flows=(),
    )


def seen(at_ms, node, port, way, content=0, head=FRAME):
    return Sighting(round(at_ms * 1e6), node, port, way, content, 54, head)


def trace_at_s(came_ms, *steps):
    arrived = {"time_ns": round(came_ms * 1e6), "arrived": {"port": 1, "length": 54, "frame": FRAME.hex()}}
    return {"number": 1, "steps": [arrived, *({"time_ns": round(at * 1e6)} | step for at, step in steps)]}


@pytest.fixture
def matched(network):
    """Puts journeys together."""
    return lambda sightings, traces=(): tuple(Matcher(network, sightings, {"s": list(traces)}).journeys())
