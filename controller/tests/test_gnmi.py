"""Shapers over gNMI, against the embedded switch's own server."""

import pytest

from phb.errors import SwitchError
from phb.gnmi import PortShapers, changes, wanted
from phb.intent import PortShaper
from phb.origin import Origin
from phb_switch import P4RuntimeServer, PortConfig, Switch
from phb_switch.gnmi import GnmiService

STARTED = {1: PortConfig(), 2: PortConfig(rate_bps=1_000_000, buffer_packets=77), 3: PortConfig()}


@pytest.fixture
def switch():
    return Switch("dut", STARTED)


@pytest.fixture
def address(switch):
    service = GnmiService(switch, device_id=1, names={1: "eth1", 2: "eth2"})
    server = P4RuntimeServer(switch, device_id=1, services=[service.add_to])
    yield f"127.0.0.1:{server.start()}"
    server.stop()


def shaper(port, rate):
    return PortShaper(port, f"p{port}", rate, Origin("f", 7))


async def shape(address, *shapers):
    """Shape as a push does; give what it says of it, and what was before."""
    async with PortShapers(address) as ports:
        before = await ports.read()
        after = wanted(before, shapers, address)
        await ports.apply(before, after)
        assert changes(await ports.read(), after) == []
        return [str(change) for change in changes(before, after)], before


def rates(switch):
    return {number: (config.rate_bps, config.buffer_packets) for number, config in switch.ports().items()}


UNSHAPED = {1: (None, 4096), 2: (1_000_000, 77), 3: (None, 4096)}


async def test_a_port_is_shaped_and_goes_back_to_what_it_was(switch, address):
    said, _ = await shape(address, shaper(1, 256_000), shaper(2, 64_000))
    assert said == [
        "shaper of port 1 (eth1): unshaped -> 256000 bit/s",
        "shaper of port 2 (eth2): 1000000 bit/s -> 64000 bit/s",
    ]
    assert rates(switch) == {1: (256_000, 4096), 2: (64_000, 77), 3: (None, 4096)}
    said, _ = await shape(address, shaper(1, 512_000))
    assert said == [
        "shaper of port 1 (eth1): 256000 bit/s -> 512000 bit/s",
        "shaper of port 2 (eth2): 64000 bit/s -> 1000000 bit/s",
    ]
    assert rates(switch) == {1: (512_000, 4096), 2: (1_000_000, 77), 3: (None, 4096)}
    said, _ = await shape(address, shaper(1, 512_000))
    assert said == []
    await shape(address)
    assert rates(switch) == UNSHAPED


async def test_what_was_done_can_be_undone(switch, address):
    _, before = await shape(address, shaper(1, 256_000), shaper(2, 64_000))
    async with PortShapers(address) as ports:
        await ports.apply(await ports.read(), before)
        assert await ports.read() == before
    assert rates(switch) == UNSHAPED


async def test_a_line_is_not_made_faster_than_it_is(switch, address):
    await shape(address, shaper(2, 2_000_000))
    assert rates(switch)[2] == (1_000_000, 77)


async def test_a_port_without_an_interface_is_refused_and_nothing_done(switch, address):
    with pytest.raises(SwitchError, match=r"no interface has port number 9, which f:7 wants shaped$"):
        await shape(address, shaper(9, 1000))
    assert rates(switch) == UNSHAPED


async def test_a_refusal_is_the_switchs_word(switch, address):
    with pytest.raises(SwitchError, match=r"gNMI: .*expected a rate from 1 to"):
        await shape(address, shaper(1, 1 << 63))
    assert rates(switch) == UNSHAPED


async def test_a_switch_without_gnmi(switch):
    server = P4RuntimeServer(switch, device_id=1)
    with pytest.raises(SwitchError, match="gNMI: "):
        await shape(f"127.0.0.1:{server.start()}", shaper(1, 1000))
    server.stop()
