"""bmv2's ports over gRPC: frames without interfaces, and without rights."""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from phb_device.control import DEVICE_ID

_READY_WITHIN_S = 5.0
_AGAIN_AFTER_S = 0.02
_METHOD = "/p4.bm.DataplaneInterface/PacketStream"


def _packet_message() -> Any:
    """`PacketStreamRequest` of bmv2's services/p4/bm/dataplane_interface.proto; the response has the same fields."""
    file = descriptor_pb2.FileDescriptorProto(name="dataplane.proto", package="p4.bm", syntax="proto3")
    message = file.message_type.add(name="PacketStreamRequest")
    field = descriptor_pb2.FieldDescriptorProto
    kinds: dict[str, Any] = {"id": field.TYPE_UINT64, "device_id": field.TYPE_UINT64, "port": field.TYPE_UINT32}
    for number, (name, kind) in enumerate((kinds | {"packet": field.TYPE_BYTES}).items(), 1):
        message.field.add(name=name, number=number, type=kind, label=field.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p4.bm.PacketStreamRequest"))


_Packet = _packet_message()


class DataPlane:
    """A stream of frames in and out of bmv2's ``--dp-grpc-server-addr``; bmv2 refuses it until it runs a program."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._reads = threading.Event()
        self._left: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
        self._call: Any = None

    def open(self) -> None:
        """Begin to take and give frames, if it hasn't begun.

        bmv2 takes a program before it is ready for frames, and ends a stream that comes in between.
        """
        deadline = time.monotonic() + _READY_WITHIN_S
        while self._call is None or self._call.done():
            self.close()
            if not self._begin(deadline - time.monotonic()):
                if time.monotonic() > deadline:
                    return
                self._call.cancel()
                time.sleep(_AGAIN_AFTER_S)

    def _begin(self, patience_s: float) -> bool:
        """Begin a stream; return whether the switch is known to read it.

        It doesn't confirm a stream that it reads, but refuses a second one, and says why: so two are begun.
        """
        # A window that doesn't grow, so that a reader that pauses soon holds the switch back.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.http2.bdp_probe", 0)]
        self._channel = grpc.insecure_channel(self._address, options)
        self._reads.set()
        ended: queue.SimpleQueue[int] = queue.SimpleQueue()
        streams = [self._stream(number, ended) for number in range(2)]
        try:
            refused = ended.get(timeout=max(0.0, patience_s))
        except queue.Empty:
            refused = 1
        rejected, sent = streams[refused]
        sent.put(None)
        rejected.cancel()
        self._call, self._sent = streams[1 - refused]
        self._listener = threading.Thread(target=self._listen, args=(self._call,), daemon=True)
        self._listener.start()
        return bool(rejected.code() is grpc.StatusCode.RESOURCE_EXHAUSTED)

    def _stream(self, number: int, ended: queue.SimpleQueue[int]) -> tuple[Any, queue.SimpleQueue[Any]]:
        sent: queue.SimpleQueue[Any] = queue.SimpleQueue()
        call = self._channel.stream_stream(
            _METHOD, request_serializer=_Packet.SerializeToString, response_deserializer=_Packet.FromString
        )(iter(sent.get, None), wait_for_ready=True)
        if not call.add_callback(lambda: ended.put(number)):
            ended.put(number)
        return call, sent

    def close(self) -> None:
        """End the stream; it may be opened again."""
        if self._call is None:
            return
        self._reads.set()
        self._sent.put(None)
        self._call.cancel()
        self._listener.join(5)
        self._channel.close()
        self._call = None

    def _listen(self, call: Any) -> None:
        try:
            for response in call:
                self._left.put((response.port, response.packet))
                self._reads.wait()
        except grpc.RpcError:
            pass  # cancelled, or the switch has ended: readers see that no frames come

    def hold(self) -> None:
        """Take no more frames: once 64 KiB are on their way the switch's transmitting thread waits (RFC 9113, 5.2).

        Meanwhile it takes no frames from this side either: those that shall queue up have to come as packet-outs.
        """
        self._reads.clear()

    def release(self) -> None:
        """Take frames again."""
        self._reads.set()

    def send(self, port: int, frame: bytes) -> None:
        """Send a frame to the switch; bmv2 ignores one of no bytes."""
        self.open()
        self._sent.put(_Packet(device_id=DEVICE_ID, port=port, packet=frame))

    def poll(self, timeout_s: float) -> tuple[int, bytes] | None:
        """Return port and frame that left next, or None."""
        try:
            return self._left.get(timeout=timeout_s)
        except queue.Empty:
            return None
