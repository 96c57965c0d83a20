"""Faults of clients: a controller, a collector or a stranger misuses the switch's one TCP port."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import grpc
from finsy.proto import gnmi, gnmi_grpc, p4r, p4r_grpc

from phb_device.control import DEVICE_ID, Control, ControlError
from phb_device.entries import entry
from soak.field import FAULT_S, Field
from soak.flood import Flood
from soak.frames import expired_frames, flood_frames
from soak.policies import PORTS
from soak.reading import ANSWERS_WITHIN_S, channel
from soak.target import switch_end

_STREAMS = 300
_CONNECTIONS = 20
_HALF_OPEN = 200
_REQUESTS = 15
_PACKET_OUTS = 2000
_TTL_EXPIRED = 1  # ForwardingException of p4src/headers.p4
ELECTION_ID = 1000
"""Of all that write here: no lower than any that `streams` asks with. `phb push` takes the highest that there was."""


def _arbitration(election_id: int) -> p4r.StreamMessageRequest:
    request = p4r.StreamMessageRequest()
    request.arbitration.device_id = DEVICE_ID
    request.arbitration.election_id.low = election_id
    return request


def _silence(first: p4r.StreamMessageRequest, until: float) -> Iterator[p4r.StreamMessageRequest]:
    """Yield one message, and then nothing, without an end of the stream."""
    yield first
    while time.monotonic() < until:
        time.sleep(0.05)


def streams(field: Field) -> None:
    """Open streams by hundreds and drop them, most of them without closing."""
    with field.flood(), ExitStack() as stack:
        stubs: list[Any] = []
        for _ in range(_CONNECTIONS):
            connection = channel(field.target.switch.address)
            stack.callback(connection.close)
            stubs.append(p4r_grpc.P4RuntimeStub(connection))
        calls = []
        until = time.monotonic() + FAULT_S
        for number in range(_STREAMS):
            request = _arbitration(field.random.choice([0, number + 1]))
            calls.append(stubs[number % _CONNECTIONS].StreamChannel(_silence(request, until)))
            field.counts["streams"] += 1
            if field.random.random() < 0.5:
                calls.pop(field.random.randrange(len(calls))).cancel()
        time.sleep(1.0)
        for call in calls:
            call.cancel()


def half_open(field: Field) -> None:
    """Open TCP connections that send nothing, half of a greeting, or garbage."""
    host, _, port = field.target.switch.address.rpartition(":")
    greeting = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    with field.flood(), ExitStack() as stack:
        for _ in range(_HALF_OPEN):
            words = field.random.choice(
                [
                    b"",
                    greeting[:9],
                    greeting,
                    greeting + b"\xff" * 9,
                    field.random.randbytes(4096),
                    b"GET / HTTP/1.1\r\n\r\n",
                ]
            )
            try:
                connection = stack.enter_context(socket.create_connection((host, int(port)), ANSWERS_WITHIN_S))
                connection.sendall(words)
            except OSError:  # it may hang up on garbage
                field.counts["connections refused"] += 1
            field.counts["connections"] += 1
        time.sleep(1.0)


def wrong_requests(field: Field) -> None:
    """Send requests that are refused: wrong switch, no primary, impossible entries, megabytes of zeros, no program."""
    with field.flood(), channel(field.target.switch.address) as connection:
        stub: Any = p4r_grpc.P4RuntimeStub(connection)
        junk = p4r.Update(type=p4r.Update.INSERT)
        junk.entity.table_entry.table_id = 1
        large = p4r.Update(type=p4r.Update.INSERT)
        large.entity.packet_replication_engine_entry.multicast_group_entry.metadata = bytes(4 << 20)
        configuration = p4r.ForwardingPipelineConfig(p4_device_config=field.random.randbytes(1 << 16))
        requests: list[tuple[Any, Any]] = [
            (stub.Write, p4r.WriteRequest(device_id=77, updates=[junk])),
            (stub.Write, p4r.WriteRequest(device_id=DEVICE_ID, updates=[junk] * 1000)),
            (stub.Write, p4r.WriteRequest(device_id=DEVICE_ID, updates=[large])),
            (
                stub.SetForwardingPipelineConfig,
                p4r.SetForwardingPipelineConfigRequest(
                    device_id=DEVICE_ID,
                    action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
                    config=configuration,
                ),
            ),
        ]
        # As many of each, in any order: the large ones leave the same in memory each time.
        for method, request in field.random.sample(requests * _REQUESTS, len(requests) * _REQUESTS):
            field.counts["wrong requests"] += 1
            try:
                method(request, timeout=ANSWERS_WITHIN_S)
            except grpc.RpcError as error:
                if error.code() in (grpc.StatusCode.UNKNOWN, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL):
                    field.problems.append(f"a wrong request is answered with {error.code().name}: {error.details()}")
            else:
                field.problems.append(f"a wrong request is taken: {str(request)[:80]}")


def deaf_controller(field: Field) -> None:
    """Be a primary that never reads its stream, while the switch has packets for it by the thousands."""
    try:
        with Control(field.target.switch.address, ELECTION_ID) as control:
            control.write([entry("forward.exception", {"code": _TTL_EXPIRED}, "to_controller")])
    except ControlError as error:
        field.problems.append(f"an entry can't be written: {error}")
        return
    field.stale = True
    with channel(field.target.switch.address) as connection:
        stub: Any = p4r_grpc.P4RuntimeStub(connection)
        call = stub.StreamChannel(_silence(_arbitration(ELECTION_ID), time.monotonic() + 2 * FAULT_S))
        frames = {port: expired_frames(port, 100) for port in PORTS}
        with Flood(field.generator, field.target.folder, frames, 5_000, FAULT_S) as flood:
            pass
        field.counts["packets for a deaf controller"] += flood.counted.sent
        call.cancel()


def slow_readers(field: Field) -> None:
    """Subscribe to all counters every 10 ms, and read whole arrays, without taking an answer."""
    with field.flood(), channel(field.target.switch.address) as connection:
        telemetry: Any = gnmi_grpc.gNMIStub(connection)
        control: Any = p4r_grpc.P4RuntimeStub(connection)
        subscription = gnmi.Subscription(mode=gnmi.SubscriptionMode.SAMPLE, sample_interval=10_000_000)
        request = gnmi.SubscribeRequest(subscribe=gnmi.SubscriptionList(subscription=[subscription]))
        everything = p4r.ReadRequest(device_id=DEVICE_ID)
        everything.entities.add().register_entry.SetInParent()
        everything.entities.add().counter_entry.SetInParent()
        calls = [telemetry.Subscribe(_held(request)) for _ in range(8)] + [control.Read(everything) for _ in range(4)]
        field.counts["readers that don't read"] += len(calls)
        time.sleep(FAULT_S / 2)
        for call in calls:
            call.cancel()


def _held(request: gnmi.SubscribeRequest) -> Iterator[gnmi.SubscribeRequest]:
    yield request
    time.sleep(FAULT_S)


def packet_outs(field: Field) -> None:
    """Send packets of a controller to every port as fast as it can, under a flood."""
    with field.flood(), Control(field.target.switch.address, ELECTION_ID) as control:
        for at, frame in enumerate(flood_frames(field.random, 1, _PACKET_OUTS)):
            control.packet_out(frame, PORTS[at % len(PORTS)])
        field.counts["packet-outs"] += _PACKET_OUTS
        time.sleep(1.0)


def port_settings(field: Field) -> None:
    """Change rates and buffers of ports over gNMI under a flood, behind the controller's back."""
    with field.flood(), channel(field.target.switch.address) as connection:
        stub: Any = gnmi_grpc.gNMIStub(connection)
        for _ in range(30):
            port = field.random.choice(PORTS)
            scheduler = f"qos/scheduler-policies/scheduler-policy[name=soak{port}]/schedulers/scheduler[sequence=0]"
            leaves = {
                "cir": field.random.choice([1_000_000, 5_000_000, 50_000_000]),
                "max-queue-depth-packets": field.random.choice([1, 16, 4096]),
            }
            request = gnmi.SetRequest()
            for leaf, value in leaves.items():
                path = f"{scheduler}/one-rate-two-color/config/{leaf}"
                request.update.add(path=_path(path), val=gnmi.TypedValue(uint_val=value))
            binding = f"qos/interfaces/interface[interface-id={switch_end(port)}]/output/scheduler-policy/config/name"
            request.update.add(path=_path(binding), val=gnmi.TypedValue(string_val=f"soak{port}"))
            try:
                stub.Set(request, timeout=ANSWERS_WITHIN_S)
            except grpc.RpcError as error:
                field.problems.append(f"gNMI Set: {error.code().name}: {error.details()}")
            field.counts["port settings"] += 1
            time.sleep(0.05)
    field.stale = True


def _path(text: str) -> gnmi.Path:
    path = gnmi.Path()
    for part in text.split("/"):
        name, _, key = part.rstrip("]").partition("[")
        element = path.elem.add(name=name)
        if key:
            element.key[key.partition("=")[0]] = key.partition("=")[2]
    return path
