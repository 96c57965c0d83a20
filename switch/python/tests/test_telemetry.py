"""Cells of counters and registers as a stream, to clients that have no messages of their own."""

import time
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from finsy.proto import p4d, p4r

from phb_switch import LIMITS, Network, P4RuntimeServer, RealTime, Switch

from .support import (
    DEVICE,
    NAMES,
    WAIT_SECONDS,
    Client,
    Names,
    artifact,
    classify,
    connect,
    delete,
    entity,
    insert,
    ipv4,
    p4info,
    update,
)
from .test_reflection import messages

SERVICE = "phb.telemetry.v1.Telemetry"
TRAFFIC, LENGTHS = NAMES.counter["class_traffic"], NAMES.register["last_length"]
INTERVAL = 10_000_000
ALWAYS = 3_600_000_000_000


class Watch:
    """A call of Watch."""

    def __init__(
        self, client: Client, *ranges: tuple[int, int, int], interval_ns: int = 0, device_id: int = DEVICE
    ) -> None:
        requested, self._response = messages(client, SERVICE, "Watch")
        request = requested(device_id=device_id, interval_ns=interval_ns)
        for array, first, count in ranges:
            request.ranges.add(array_id=array, first=first, count=count)
        self.call = client.channel.unary_stream(f"/{SERVICE}/Watch")(request.SerializeToString(), timeout=60.0)

    def next(self) -> Any:
        """The next message."""
        return self._response.FromString(next(self.call))

    def until(self, holds: Callable[[Any], bool]) -> Any:
        """The first message of which something holds."""
        while not holds(message := self.next()):
            pass
        return message


def once(client: Client, *ranges: tuple[int, int, int]) -> Any:
    """The only sample of a call."""
    watching = Watch(client, *ranges)
    sample = watching.next()
    with pytest.raises(StopIteration):
        watching.next()
    return sample


def counts(sample: Any) -> list[tuple[int, dict[int, tuple[int, int] | int]]]:
    """What is told of each range: packets and bytes, or a register's value, by cell."""
    found: list[tuple[int, dict[int, tuple[int, int] | int]]] = []
    for cells in sample.cells:
        both = list(zip(cells.packets, cells.bytes, strict=True))
        values: list[tuple[int, int] | int] = [*both, *cells.value]
        found.append((cells.range, dict(zip(cells.index, values, strict=True))))
    return found


def refused(watching: Watch) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        watching.until(lambda _: False)
    return caught.value.code(), caught.value.details()


@pytest.fixture
def classes(configured: Client) -> Client:
    """Packets with TOS 0x10 are of class 3; all leave by port 2."""
    configured.write(insert(connect(0, 2)), insert(classify(1, 3, tos=(0x10, 0xF0))))
    return configured


def test_cells_that_are_not_zero(classes: Client, switch: Switch) -> None:
    switch.process(0, ipv4(tos=0x10, length=100), 1000)
    switch.process(0, ipv4(length=60), 2000)
    sample = once(classes, (TRAFFIC, 0, 0), (LENGTHS, 2, 3), (TRAFFIC, 1, 2), (TRAFFIC, 3, 1))
    assert counts(sample) == [(0, {0: (1, 74), 3: (1, 114)}), (1, {3: 100}), (3, {3: (1, 114)})]
    assert (sample.time_ns, sample.more) == (2000, False)


def test_cells_that_have_changed(classes: Client, switch: Switch) -> None:
    for port in range(2):
        switch.process(port, ipv4(length=60), 1000)
    watching = Watch(classes, (TRAFFIC, 0, 0), (LENGTHS, 0, 0), interval_ns=INTERVAL)
    first = watching.next()
    assert counts(first) == [(0, {0: (2, 148)}), (1, {0: 60})]
    switch.process(0, ipv4(tos=0x10, length=100), 5000)
    changed = watching.until(lambda message: message.cells)
    assert counts(changed) == [(0, {3: (1, 114)}), (1, {3: 100})]
    assert (changed.time_ns, changed.instance, changed.writes) == (5000, first.instance, first.writes)
    # A register that is written anew has the same value: nothing has changed.
    switch.process(0, ipv4(tos=0x10, length=100), 6000)
    assert counts(watching.until(lambda message: message.cells)) == [(0, {3: (2, 228)})]


def test_a_reader_that_does_not_read(classes: Client, switch: Switch) -> None:
    watching = Watch(classes, (TRAFFIC, 0, 0), interval_ns=INTERVAL)
    watching.next()
    for number in range(100):
        switch.process(0, ipv4(tos=0x10 * (number % 2)), number)
        time.sleep(0.002)
    found: dict[int, Any] = {}
    while found != {0: (50, 3000), 3: (50, 3000)}:
        for _, cells in counts(watching.next()):
            found |= cells


def written(sample: Any) -> dict[str, int]:
    """How often what has entries was written, by name."""
    names = {number: name for name, number in (NAMES.table | NAMES.profile).items()}
    return {names[each.id]: each.writes for each in sample.written}


def test_writes_are_counted(classes: Client) -> None:
    before = once(classes)
    assert written(before) == dict.fromkeys(NAMES.table | NAMES.profile, 0) | {"cross_connect": 1, "classify": 1}
    watching = Watch(classes, interval_ns=INTERVAL)
    assert str(watching.next()) == str(before)
    entry = connect(1, 3)
    classes.write(insert(entry))
    again = watching.until(lambda message: message.written)
    assert (again.writes, written(again)) == (before.writes + 1, {"cross_connect": 2})
    # What is refused, or undone, or no entry, is not.
    with pytest.raises(grpc.RpcError):
        classes.write(insert(entry))
    with pytest.raises(grpc.RpcError):
        classes.write(insert(connect(3, 3)), insert(entry), atomicity=1)
    (counter,) = classes.read(entity_of_counter(3))
    classes.write(update(2, counter.counter_entry))
    assert once(classes).writes == before.writes + 1
    classes.write(delete(entry))
    after = once(classes)
    assert (after.writes, after.instance) == (before.writes + 2, before.instance)
    assert written(watching.until(lambda message: message.written)) == {"cross_connect": 3}
    classes.configure()
    anew = watching.until(lambda message: message.instance != after.instance)
    assert (anew.writes, written(anew)) == (after.writes, dict.fromkeys(written(after), 0))


def entity_of_counter(cell: int) -> p4r.Entity:
    entry = p4r.CounterEntry(counter_id=TRAFFIC)
    entry.index.index = cell
    return entity(entry)


def test_the_program_is_replaced(classes: Client, switch: Switch) -> None:
    switch.process(0, ipv4(tos=0x10), 1000)
    watching = Watch(classes, (TRAFFIC, 0, 0), interval_ns=INTERVAL)
    first = watching.next()
    assert counts(first) == [(0, {3: (1, 60)})]
    classes.configure()
    again = watching.until(lambda message: message.instance != first.instance)
    assert counts(again) == []
    switch.process(0, ipv4(), 2000)
    assert counts(watching.until(lambda message: message.cells)) == [(0, {0: (1, 60)})]
    # One that has no such counter.
    classes.configure(info=p4info("features"), config=artifact("features"))
    code, words = refused(watching)
    assert code == grpc.StatusCode.FAILED_PRECONDITION
    expected = f"another program runs: ranges[0]: the p4info has no counter or register with id {TRAFFIC}; it has "
    assert words.startswith(expected)
    assert all(f"{number} (" in words for number in Names(p4info("features")).counter.values())


def test_without_a_program(client: Client, switch: Switch) -> None:
    expected = (grpc.StatusCode.FAILED_PRECONDITION, "No forwarding pipeline config set for this device")
    assert refused(Watch(client)) == expected
    client.primary()
    client.configure()
    watching = Watch(client, interval_ns=INTERVAL)
    watching.next()
    switch.load(artifact().decode())
    code, words = refused(watching)
    assert code == grpc.StatusCode.FAILED_PRECONDITION
    assert words.endswith("the switch runs a program that no client has brought a p4info of")


@pytest.mark.parametrize(
    ("ranges", "request_of", "code", "words"),
    [
        ([(TRAFFIC, 0, 1), (77, 0, 0)], {}, "NOT_FOUND", "ranges[1]: the p4info has no counter or register with id "
         f"77; it has {TRAFFIC} (RouterIngress.class_traffic), {LENGTHS} (RouterIngress.last_length)"),
        ([(TRAFFIC, 7, 2)], {}, "OUT_OF_RANGE", "ranges[0]: cells 7 to 8 of RouterIngress.class_traffic, which has 8"),
        ([(TRAFFIC, 8, 0)], {}, "OUT_OF_RANGE",
         "ranges[0]: cells 8 to the end of RouterIngress.class_traffic, which has 8"),
        ([(LENGTHS, 2**32 - 1, 2**32 - 1)], {}, "OUT_OF_RANGE",
         "ranges[0]: cells 4294967295 to 8589934589 of RouterIngress.last_length, which has 16"),
        ([(TRAFFIC, 0, 0)] * (LIMITS["ranges"] + 1), {}, "RESOURCE_EXHAUSTED", "4097 ranges; a watch has 4096 at most"),
        ([], {"interval_ns": 9_999_999}, "INVALID_ARGUMENT", "interval_ns: 9999999, expected 0 or at least 10000000"),
        ([], {"device_id": 8}, "NOT_FOUND", "there is no device 8 here, only 7"),
    ],
)  # fmt: skip
def test_wrong_requests(
    configured: Client, ranges: list[tuple[int, int, int]], request_of: dict[str, int], code: str, words: str
) -> None:
    assert refused(Watch(configured, *ranges, **request_of)) == (grpc.StatusCode[code], words)


def test_more_than_a_message(client: Client) -> None:
    client.primary()
    names = Names(p4info("features"))
    client.configure(info=p4info("features"), config=artifact("features"))
    large = names.register["large"]
    # All cells of it.
    entry = p4r.RegisterEntry(register_id=large, data=p4d.P4Data(bitstring=b"\x07"))
    client.write(update(p4r.Update.MODIFY, entry))
    watching = Watch(client, (large, 0, 0), (large, 199_999, 1))
    messages = [watching.next()]
    while messages[-1].more:
        messages.append(watching.next())
    found = [cells for message in messages for cells in message.cells]
    assert [index for cells in found if cells.range == 0 for index in cells.index] == list(range(200_000))
    assert {value for cells in found for value in cells.value} == {7}
    assert list(found[-1].index) == [199_999]
    assert len(messages) > 1
    assert [bool(message.written) for message in messages] == [True] + [False] * (len(messages) - 1)
    assert len({(message.time_ns, message.instance, message.writes) for message in messages}) == 1
    assert max(message.ByteSize() for message in messages) < 1 << 20


def test_as_many_as_may_be(configured: Client) -> None:
    most = LIMITS["telemetries_of_one"]
    watches = [Watch(configured, interval_ns=ALWAYS) for _ in range(most)]
    for each in watches:
        each.next()
    code, words = refused(Watch(configured))
    assert (code, words) == (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        f"this client has {most} watches of telemetry, which is the limit",
    )
    for each in watches:
        each.call.cancel()
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            once(configured)
            return
        except grpc.RpcError:
            assert time.monotonic() < deadline


def test_a_server_that_stops(switch: Switch) -> None:
    server = P4RuntimeServer(switch, device_id=DEVICE)
    client = Client(server.start())
    client.primary()
    client.configure()
    watching = Watch(client, interval_ns=ALWAYS)
    watching.next()
    server.stop()
    with pytest.raises(grpc.RpcError):
        watching.next()
    client.close()


def test_time_goes_on_without_packets(configured: Client, switch: Switch) -> None:
    runner = RealTime(switch, {})
    runner.start()
    watching = Watch(configured, interval_ns=INTERVAL)
    times = [watching.next().time_ns for _ in range(4)]
    runner.stop()
    assert times == sorted(set(times))


def test_virtual_time(classes: Client, switch: Switch) -> None:
    network = Network(seed=1)
    network.add_switch(switch)
    network.add_replay("host", [(1_000_000 * number, ipv4()) for number in range(10)])
    network.connect("host", 0, "test", 0)
    found = []
    for until in (4_500_000, 20_000_000):
        network.run(until)
        sample = once(classes, (TRAFFIC, 0, 0))
        found.append((sample.time_ns, counts(sample)))
    assert found == [(4_500_000, [(0, {0: (5, 300)})]), (20_000_000, [(0, {0: (10, 600)})])]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("operator", None),
        ("monitor", None),
        ("elsewhere", "the certificate of 'elsewhere' is not bound to device 7"),
        ("stranger", "the certificate of 'stranger' is not bound to anything here"),
        (None, None),
    ],
)
def test_who_may(named: Callable[[str | None], Client], name: str | None, expected: str | None) -> None:
    # Device 7, and nothing else.
    call = named(name).channel.unary_stream(f"/{SERVICE}/Watch")(b"\x08\x07", timeout=WAIT_SECONDS)
    with pytest.raises(grpc.RpcError) as caught:
        next(call)
    found = (caught.value.code(), caught.value.details())
    # Those who may read are told that there is no p4info.
    none = (grpc.StatusCode.FAILED_PRECONDITION, "No forwarding pipeline config set for this device")
    assert found == (none if expected is None else (grpc.StatusCode.PERMISSION_DENIED, expected))
