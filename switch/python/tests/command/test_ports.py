"""Options that name a port."""

import pytest

from phb_switch import PortConfig
from phb_switch.command.errors import InputError
from phb_switch.command.ports import attached, configured


@pytest.mark.parametrize(
    ("given", "rate", "overhead"),
    [
        ("256000", 256_000, 0),
        ("256k", 256_000, 0),
        ("256kbit/s", 256_000, 0),
        ("256kbit", 256_000, 0),
        ("9600bps", 9600, 0),
        ("1.5M:-7", 1_500_000, -7),
        ("1.544Mbit/s:+4", 1_544_000, 4),
        ("10Gbit/s:20", 10_000_000_000, 20),
        ("1", 1, 0),
    ],
)
def test_rate(given: str, rate: int, overhead: int) -> None:
    configs = configured([2], rates=[f"2={given}"])
    assert configs == {2: PortConfig(rate_bps=rate, overhead_bytes=overhead)}


@pytest.mark.parametrize(
    "given", ["", "0", "-1", "fast", "1e3", "1.5", "0.0001k", "256K", "256 k", "1k:", "1k:x", "1" + "0" * 30, "٣"]
)
def test_not_a_rate(given: str) -> None:
    with pytest.raises(InputError, match=r"--port-rate .*: expected"):
        configured([2], rates=[f"2={given}"])


def test_each_option_goes_to_its_port() -> None:
    configs = configured([1, 2, 3], rates=["1=1k"], transmit_rings=["2=6"], buffers=["2=40", "3=1"], queues=8)
    assert configs == {
        1: PortConfig(rate_bps=1000, queues=8),
        2: PortConfig(transmit_ring=6, buffer_packets=40, queues=8),
        3: PortConfig(buffer_packets=1, queues=8),
    }


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("rates", "1k", "--port-rate '1k': expected PORT="),
        ("rates", "3=1k", "port 3 has no interface"),
        ("rates", "512=1k", "expected a port from 0 to 511, got '512'"),
        ("rates", "x=1k", "expected a port from 0 to 511, got 'x'"),
        ("transmit_rings", "2=-1", "expected a number of frames from 0, got '-1'"),
        ("transmit_rings", "2=99999999999", "expected a number of frames"),
        ("buffers", "2=0", "expected a number of packets from 1, got '0'"),
        ("queue_depths", "2=0", "--queue-depth '2=0': expected a number of packets from 1"),
        ("queue_rates", "2=x", "--queue-rate '2=x': expected a number of packets per second from 1"),
    ],
)
def test_refused(option: str, value: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        configured([2], **{option: [value]})  # type: ignore[arg-type]


def test_once_per_port() -> None:
    with pytest.raises(InputError, match="given twice for port 2"):
        configured([2], rates=["2=1k", "2=2k"])


def test_attached() -> None:
    assert attached(["0@veth0", "511@eth@1"]) == {0: "veth0", 511: "eth@1"}


@pytest.mark.parametrize("name", ["\udcff", "a\nb", "\x1b[2J"])
def test_names_that_can_not_be_printed(name: str) -> None:
    with pytest.raises(InputError, match=r"^--interface .*: expected a name that can be printed$"):
        attached([f"0@{name}"])


def test_queues() -> None:
    configs = configured([1, 2], queue_depths=["1=10"], queue_rates=["1=1000"])
    assert configs == {1: PortConfig(queue_depth=10, queue_rate_pps=1000), 2: PortConfig()}


def test_priority_instead_of_rank() -> None:
    assert configured([1], queues=8, strict_priority=True) == {1: PortConfig(queues=8, strict_priority=True)}
    assert PortConfig(strict_priority=True) != PortConfig()
