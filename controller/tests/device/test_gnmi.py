"""Shapers over gNMI, against the embedded switch's own server."""

from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime

import pytest

import phb
from phb import cli
from phb.device.gnmi import PortShapers, Shaping, changes, wanted
from phb.device.session import Session
from phb.errors import SwitchError
from phb.intent import PortShaper
from phb.origin import Origin
from phb.state import History, PushOutcome, State
from phb_switch import P4RuntimeServer, PortConfig, Shaper, Switch

STARTED = {1: PortConfig(), 2: PortConfig(rate_bps=1_000_000, buffer_packets=77), 3: PortConfig()}


@pytest.fixture
def switch():
    return Switch("dut", STARTED)


def shaper(port, rate, burst=0, overhead=0):
    return PortShaper(port, f"p{port}", rate, burst, overhead, Origin("f", 7))


@asynccontextmanager
async def shapers_of(address, artifact):
    async with Session(address, 1, artifact) as session, PortShapers(session) as ports:
        yield ports


async def shape(address, artifact, *shapers):
    """Shape as a push does; give what it says of it, and what was before."""
    async with shapers_of(address, artifact) as ports:
        before = await ports.read()
        after = wanted(before, shapers, address)
        await ports.apply(before, after)
        assert changes(await ports.read(), after) == []
        return [str(change) for change in changes(before, after)], before


def shapers(switch):
    """The shaper and the buffer of each port; its line is as it was."""
    ports = switch.ports()
    assert [config.rate_bps for config in ports.values()] == [None, 1_000_000, None]
    return {number: (config.shaper, config.buffer_packets) for number, config in ports.items()}


UNSHAPED = {1: (None, 4096), 2: (None, 77), 3: (None, 4096)}


async def test_a_port_is_shaped_and_goes_back_to_what_it_was(switch, address, artifact):
    said, _ = await shape(address, artifact, shaper(1, 256_000), shaper(2, 64_000, 8000, -14))
    assert said == [
        "shaper of port 1 (eth1): unshaped -> 256000 bit/s",
        "shaper of port 2 (eth2): unshaped -> 64000 bit/s, burst 8000 bytes, frame -14 bytes",
    ]
    assert shapers(switch) == {1: (Shaper(256_000), 4096), 2: (Shaper(64_000, 8000, -14), 77), 3: (None, 4096)}
    said, _ = await shape(address, artifact, shaper(1, 512_000))
    assert said == [
        "shaper of port 1 (eth1): 256000 bit/s -> 512000 bit/s",
        "shaper of port 2 (eth2): 64000 bit/s, burst 8000 bytes, frame -14 bytes -> unshaped",
    ]
    assert shapers(switch) == {1: (Shaper(512_000), 4096), 2: (None, 77), 3: (None, 4096)}
    said, _ = await shape(address, artifact, shaper(1, 512_000))
    assert said == []
    for burst, overhead in ((1000, 0), (1000, -10), (0, 0)):
        said, _ = await shape(address, artifact, shaper(1, 512_000, burst, overhead))
        assert len(said) == 1
        assert shapers(switch)[1] == (Shaper(512_000, burst, overhead), 4096)
    await shape(address, artifact)
    assert shapers(switch) == UNSHAPED


async def test_what_was_done_can_be_undone(switch, address, artifact):
    await shape(address, artifact, shaper(2, 128_000, 3000, -14))
    restored = shapers(switch)
    _, before = await shape(address, artifact, shaper(1, 256_000, 1000, -10), shaper(2, 64_000))
    async with shapers_of(address, artifact) as ports:
        await ports.apply(await ports.read(), before)
        assert await ports.read() == before
    assert shapers(switch) == restored


async def test_a_line_stays_as_fast_as_it_is(switch, address, artifact):
    await shape(address, artifact, shaper(2, 2_000_000))
    assert shapers(switch)[2] == (Shaper(2_000_000), 77)


async def test_a_port_without_an_interface_is_refused_and_nothing_done(switch, address, artifact):
    with pytest.raises(SwitchError, match=r"no interface has port number 9, which f:7 wants shaped$"):
        await shape(address, artifact, shaper(9, 1000))
    assert shapers(switch) == UNSHAPED


async def test_a_refusal_is_the_switchs_word(switch, address, artifact):
    with pytest.raises(SwitchError, match=r"gNMI: .*expected a rate from 1 to"):
        await shape(address, artifact, shaper(1, 1 << 63))
    assert shapers(switch) == UNSHAPED


@pytest.fixture
def without_gnmi(switch):
    server = P4RuntimeServer(switch, device_id=1, gnmi=False)
    yield f"127.0.0.1:{server.start()}"
    server.stop()


async def test_a_switch_without_interfaces_rates_and_bindings(artifact):
    switch = Switch("dut", {})
    server = P4RuntimeServer(switch, device_id=1)
    assert await shape(f"127.0.0.1:{server.start()}", artifact) == ([], Shaping({}, {}))
    server.stop()


async def test_a_switch_without_gnmi(without_gnmi, artifact):
    with pytest.raises(SwitchError, match=r"the switch doesn't speak gNMI, by which f:7 wants a port shaped$"):
        await shape(without_gnmi, artifact, shaper(1, 1000))
    assert await shape(without_gnmi, artifact) == ([], None)


# ---------------------------------------------------------------------------
# As part of a push
# ---------------------------------------------------------------------------


@pytest.fixture
def policy(tmp_path):
    """Write a policy for port 1: its hold queue in packets, and the rate of its shaper in bit/s, or none."""

    def write(hold, rate=None):
        path = tmp_path / "policy.yaml"
        shaped = "" if rate is None else f", shaper: {{rate: {{value: {rate}, unit: bit/s, basis: ethernet}}}}"
        path.write_text(
            "phb: 1\nports: [{number: 1, name: line}]\n"
            f"queueing: [{{port: line, schedule: {{kind: fifo}}, hold-queue: {hold}{shaped}}}]\n"
        )
        return [path]

    return write


async def test_a_push_shapes_a_plan_says_so_and_the_next_push_takes_it_back(switch, address, policy):
    shaped = await phb.push(address, policy(40, 256_000), dry_run=True)
    assert [str(change) for change in shaped.shapers] == ["shaper of port 1 (eth1): unshaped -> 256000 bit/s"]
    assert shapers(switch) == UNSHAPED
    report = await phb.push(address, policy(40, 256_000))
    assert (report.shapers, shapers(switch)[1]) == (shaped.shapers, (Shaper(256_000), 4096))
    assert not (await phb.push(address, policy(40, 256_000))).differs
    report = await phb.push(address, policy(40))
    assert report.differs
    assert report.changes == ()
    assert shapers(switch) == UNSHAPED


def test_a_push_that_changes_only_a_shaper_is_applied_in_the_history(address, policy, tmp_path, capsys):
    state = tmp_path / "state.sqlite"
    for rate in (256_000, 128_000):
        assert cli.run(["push", "--address", address, "--state", str(state), *map(str, policy(40, rate))]) == 0
    assert "shaper of port 1 (eth1): 256000 bit/s -> 128000 bit/s" in capsys.readouterr().out
    with State(state) as kept:
        last = History(kept).last_good(address, 1)
    assert (last.number, last.outcome) == (2, PushOutcome.APPLIED)


async def test_entries_are_undone_when_the_shaper_is_refused(switch, address, artifact, policy):
    await phb.push(address, policy(40, 256_000))
    before = await phb.read_entries(address)
    intent = phb.load_intent(policy(41), artifact, at=datetime(1999, 3, 1))
    # One bit/s more than the switch takes; no policy file can say it.
    intent = replace(intent, shapers=(shaper(1, 1 << 63),))
    with pytest.raises(SwitchError, match=r"gNMI: .*expected a rate from 1 to .*; the switch is as it was$"):
        await phb.push_intent(address, intent, artifact)
    assert await phb.read_entries(address) == before
    assert shapers(switch)[1] == (Shaper(256_000), 4096)


async def test_a_policy_without_shapers_needs_no_gnmi_and_one_with_changes_nothing(without_gnmi, policy):
    await phb.push(without_gnmi, policy(40))
    before = await phb.read_entries(without_gnmi)
    with pytest.raises(
        SwitchError, match=r"the switch doesn't speak gNMI, by which .*policy\.yaml:3 wants a port shaped$"
    ):
        await phb.push(without_gnmi, policy(41, 256_000))
    assert await phb.read_entries(without_gnmi) == before
