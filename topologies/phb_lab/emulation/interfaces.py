"""Interfaces, addresses and the kernel's settings in a node's namespace; nothing outside of it is changed."""

from typing import TYPE_CHECKING

from phb_lab.description import Host, Port
from phb_lab.emulation.addressing import GATEWAY_ADDRESS, GATEWAY_MAC

if TYPE_CHECKING:
    from phb_lab.emulation.nodes import Member

# Without them, frames are as on a cable: a veth pair has no hardware to do their work.
_OFFLOADS = "rx off tx off sg off tso off gso off gro off"

# Segments carry no options, as in virtual time and in the sources' stacks (a timestamp would take 12 bytes of each);
# connections learn nothing from those before them; no neighbour discovery among the traffic.
_SETTINGS = {
    "net/ipv4/tcp_timestamps": "0",
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_ecn": "0",
    "net/ipv4/ip_local_port_range": "32768 60999",
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv6/conf/default/disable_ipv6": "1",
}

# RFC 2581: a connection begins with two segments at most. The stacks of the sources are older than Linux's ten
# (RFC 6928), and virtual time's hosts begin with 2,048 bytes.
_INITIAL_WINDOW = 2

# tc-tbf(8): the queue of a port whose switch has no line rate of its own. It holds what the described node would.
_TBF_BURST_BYTES = 1_600
_TBF_LIMIT_BYTES = 1_000_000


def settle(node: "Member") -> None:
    """Set the kernel's options of a namespace, before its interfaces are there."""
    for name, value in _SETTINGS.items():
        node.quiet(f"test ! -e /proc/sys/{name} || echo {value} > /proc/sys/{name}")


def set_up(node: "Member", port: int, mtu_bytes: int) -> None:
    """Set a port's interface up: MTU, no offloads."""
    name = f"eth{port}"
    node.quiet(f"ethtool -K {name} {_OFFLOADS} > /dev/null 2>&1; ip link set {name} mtu {mtu_bytes} up")


def leave_open(node: "Member", port: int) -> None:
    """Make the interface of a port without a wire, which a switch needs all the same."""
    node.quiet(f"ip link add eth{port} type veth peer name open{port}")


def address(node: "Member", host: Host) -> None:
    """Set a host's addresses and its default route, to one neighbour with a fixed MAC address.

    Our sockets have a congestion control each; the route's is for real tools that set none.
    """
    for each in host.addresses:
        node.quiet(f"ip address add {each}/32 dev eth0")
    node.quiet(f"ip neighbour add {GATEWAY_ADDRESS} lladdr {GATEWAY_MAC} dev eth0 nud permanent")
    node.quiet(
        f"ip route add default via {GATEWAY_ADDRESS} dev eth0 onlink "
        f"initcwnd {_INITIAL_WINDOW} congctl {host.congestion_control}"
    )


def limit_rate(node: "Member", port: Port) -> None:
    """Limit a port behind the switch, in a queue that its program doesn't see.

    tc's overhead can't be negative, so a negative one is left out.
    """
    if port.rate_bps is not None:
        overhead = f" overhead {port.overhead_bytes}" if port.overhead_bytes > 0 else ""
        node.quiet(
            f"tc qdisc add dev eth{port.number} root tbf rate {port.rate_bps}bit burst {_TBF_BURST_BYTES} "
            f"limit {_TBF_LIMIT_BYTES}{overhead}"
        )
