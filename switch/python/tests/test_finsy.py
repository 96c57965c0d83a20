"""The server as finsy, an independent P4Runtime client, sees it; three servers in one process."""

import finsy as fy
import pytest

from phb_switch import P4RuntimeServer, Switch

from .support import DEVICE, PROGRAMS, ipv4, new_switch


def finsy_switch(name: str, port: int) -> fy.Switch:
    options = fy.SwitchOptions(
        p4info=PROGRAMS / "router.p4info.txtpb", p4blob=PROGRAMS / "router.json", device_id=DEVICE
    )
    return fy.Switch(name, f"127.0.0.1:{port}", options)


def connect(port: int, to: int) -> fy.P4TableEntry:
    return fy.P4TableEntry("cross_connect", match=fy.Match(ingress_port=port), action=fy.Action("forward", port=to))


async def test_configure_write_read_delete(port: int, switch: Switch) -> None:
    async with finsy_switch("sw", port) as client:
        assert client.is_primary
        route = fy.P4TableEntry(
            "ipv4_route",
            match=fy.Match(destination="10.0.0.0/8"),
            action=fy.Action("route", port=2, source_mac="02:00:00:00:00:01", destination_mac="02:00:00:00:00:02"),
        )
        classify = fy.P4TableEntry(
            "classify",
            match=fy.Match(source="10.0.0.0...10.255.255.255", tos="0xfc/&0xfc", protocol=17),
            action=fy.Action("set_class", traffic_class=3),
            priority=5,
        )
        await client.write([+connect(0, 1), +route, +classify])
        assert {entry.table_id async for entry in client.read(fy.P4TableEntry())} >= {"cross_connect", "classify"}
        ((_, out, frame),) = switch.process(0, ipv4("10.0.0.1", tos=0xFC), 1000)
        assert out == 2
        assert frame[:12] == bytes.fromhex("020000000002 020000000001")
        counters = [entry async for entry in client.read(fy.P4CounterEntry("class_traffic"))]
        assert [entry.packet_count for entry in counters] == [0, 0, 0, 1, 0, 0, 0, 0]
        registers = [entry async for entry in client.read(fy.P4RegisterEntry("last_length"))]
        assert registers[3].data == 46
        await client.delete_all()
        left = [entry async for entry in client.read(fy.P4TableEntry())]
        assert [entry.table_id for entry in left] == ["fixed"]


async def test_errors_reach_finsy(port: int) -> None:
    async with finsy_switch("sw", port) as client:
        await client.write([+connect(0, 1)])
        with pytest.raises(fy.P4ClientError) as caught:
            await client.write([+connect(1, 1), +connect(0, 2)])
        assert list(caught.value.details) == [1]
        assert caught.value.details[1].canonical_code == fy.GRPCStatusCode.ALREADY_EXISTS


async def test_three_servers_in_one_process() -> None:
    switches = [new_switch() for _ in range(3)]
    servers = [P4RuntimeServer(switch, device_id=DEVICE) for switch in switches]
    ports = [server.start() for server in servers]
    assert len(set(ports)) == 3
    for number, port in enumerate(ports):
        async with finsy_switch(f"sw{number}", port) as client:
            await client.write([+connect(0, number)])
    assert [switch.process(0, ipv4(), 1)[0][1] for switch in switches] == [0, 1, 2]
    for server in servers:
        server.stop()
