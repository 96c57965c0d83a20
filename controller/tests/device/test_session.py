"""Sessions: mastership as a switch tells it, its end, and reads by index."""

import asyncio
import time
from concurrent import futures

import grpc
import pytest
from finsy.proto import p4r, p4r_grpc

from phb import SwitchError
from phb.device.session import CounterValue, Session
from phb_switch import P4RuntimeServer, PortConfig, Switch


@pytest.fixture
def server():
    switch = Switch("dut", {1: PortConfig()})
    server = P4RuntimeServer(switch, device_id=1)
    server.start()
    yield server
    server.stop()


async def test_a_lower_election_id_is_told_what_to_do(server, artifact):
    async with (
        Session(server.address, 1, artifact, election_id=7) as first,
        Session(server.address, 1, artifact, election_id=5) as second,
    ):
        await first.become_primary()
        with pytest.raises(SwitchError, match=r"primary with election id 7, ours is 5.*take over with election id 8"):
            await second.become_primary()


async def test_the_same_election_id_is_told_what_to_do(server, artifact):
    async with (
        Session(server.address, 1, artifact, election_id=7) as first,
        Session(server.address, 1, artifact, election_id=7) as second,
    ):
        await first.become_primary()
        with pytest.raises(SwitchError, match="take over with election id 8"):
            await second.become_primary()


async def test_a_session_has_ended_for_the_switch_too(artifact):
    """Else the switch would refuse the next one, whose election id is still somebody's."""
    ended = []

    class Slow(p4r_grpc.P4RuntimeServicer):
        def StreamChannel(self, requests, context):  # noqa: N802
            for request in requests:
                answer = p4r.StreamMessageResponse()
                answer.arbitration.CopyFrom(request.arbitration)
                yield answer
            time.sleep(0.2)
            ended.append(context.is_active())

    server = grpc.server(futures.ThreadPoolExecutor(2))
    p4r_grpc.add_P4RuntimeServicer_to_server(Slow(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        async with Session(f"127.0.0.1:{port}", 1, artifact) as session:
            await session.become_primary()
        assert ended == [True]
    finally:
        server.stop(0)


async def test_a_session_that_was_never_there_ends_silently(server, artifact, monkeypatch):
    """As where a push is interrupted while it waits for a switch that has gone."""

    async def done_writing(_):
        raise grpc.aio.InternalError("execute_batch")

    monkeypatch.setattr(grpc.aio.StreamStreamCall, "done_writing", done_writing)
    async with Session(server.address, 1, artifact) as session:
        await session.become_primary()


async def test_election_ids_have_128_bits(server, artifact):
    async with Session(server.address, 1, artifact, election_id=2**128 - 1) as session:
        await session.become_primary()
        assert session.mastership.primary_election_id == 2**128 - 1


async def test_roles_have_primaries_of_their_own(server, artifact):
    async with (
        Session(server.address, 1, artifact, election_id=1, role="one") as first,
        Session(server.address, 1, artifact, election_id=1, role="other") as second,
    ):
        await first.become_primary()
        await second.become_primary()


async def test_a_standby_hears_that_the_primary_has_gone_and_takes_over(server, artifact):
    async with Session(server.address, 1, artifact, election_id=5) as standby:
        async with Session(server.address, 1, artifact, election_id=7) as primary:
            await primary.become_primary()
            changes = standby.masterships()
            assert not (await standby.arbitrate()).primary
            assert (await anext(changes)).somebody
        async with asyncio.timeout(60):
            told = await anext(changes)
        assert (told.primary, told.somebody) == (False, False)
        with pytest.raises(SwitchError, match="no controller is primary, and our election id 5 is too low"):
            await standby.become_primary()
        assert (await standby.arbitrate(told.primary_election_id)).primary
        assert (await anext(changes)).primary


async def test_a_primary_hears_that_it_has_been_superseded(server, artifact):
    async with Session(server.address, 1, artifact, election_id=5) as first:
        await first.become_primary()
        changes = first.masterships()
        assert (await anext(changes)).primary
        async with Session(server.address, 1, artifact, election_id=6) as second:
            await second.become_primary()
            async with asyncio.timeout(60):
                told = await anext(changes)
            assert (told.primary, told.primary_election_id) == (False, 6)


async def test_the_end_of_the_switch_is_told(server, artifact):
    async with Session(server.address, 1, artifact) as session:
        await session.become_primary()
        changes = session.masterships()
        assert (await anext(changes)).primary
        await asyncio.to_thread(server.stop)
        with pytest.raises(SwitchError):
            async with asyncio.timeout(60):
                await anext(changes)
        assert session.mastership is None


async def test_a_session_arbitrates_again_after_the_switch_has_restarted(server, artifact):
    async with Session(server.address, 1, artifact) as session:
        await session.become_primary()
        await session.set_artifact()
        assert await session.runs_artifact()
        address = server.address
        await asyncio.to_thread(server.stop)
        again = P4RuntimeServer(Switch("dut", {1: PortConfig()}), device_id=1, address=address)
        again.start()
        try:
            async with asyncio.timeout(60):
                while session.mastership is None:
                    try:
                        await session.become_primary()
                    except SwitchError:
                        await asyncio.sleep(0.05)
            assert not await session.runs_artifact()
        finally:
            again.stop()


async def test_counters_by_index(server, artifact):
    async with Session(server.address, 1, artifact) as session:
        await session.become_primary()
        await session.set_artifact()
        for index, packets in ((3, 30), (5, 50), (4000, 40)):
            update = p4r.Update(type=p4r.Update.MODIFY)
            cell = update.entity.counter_entry
            cell.counter_id, cell.index.index = artifact.counter("policy_traffic").number, index
            cell.data.packet_count, cell.data.byte_count = packets, 2 * packets
            await session.write_messages([update])
        three, five, far = CounterValue(30, 60), CounterValue(50, 100), CounterValue(40, 80)
        assert await session.counter("policy_traffic") == {3: three, 5: five, 4000: far}
        assert await session.counter("policy_traffic", [4, 5]) == {5: five}
        assert await session.counter("policy_traffic", []) == {}
        assert await session.counter("policy_traffic", [5] * 5_000 + [4000]) == {5: five, 4000: far}
        await session.clear_counter("policy_traffic", [5, 6])
        assert await session.counter("policy_traffic") == {3: three, 4000: far}


async def test_registers_by_index(server, artifact):
    async with Session(server.address, 1, artifact) as session:
        await session.become_primary()
        await session.set_artifact()
        name = min(artifact.registers)
        assert await session.registers(name, [0, 2]) == {0: 0, 2: 0}
        assert await session.registers(name, []) == {}
