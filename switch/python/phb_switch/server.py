"""The P4Runtime service of one switch, on grpcio."""

import logging
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import grpc
from finsy.proto import p4r, p4r_grpc

from phb_switch import packet_io, read, write
from phb_switch._native import Switch
from phb_switch.arbitration import Arbitration, Client
from phb_switch.authorization import ANYBODY, Authorization, Permit
from phb_switch.config import Configurations
from phb_switch.errors import (
    FAILED_PRECONDITION,
    INTERNAL,
    INVALID_ARGUMENT,
    NOT_FOUND,
    OK,
    PERMISSION_DENIED,
    RESOURCE_EXHAUSTED,
    UNIMPLEMENTED,
    StatusError,
    abort,
    abort_batch,
    invalid,
)

API_VERSION: Final = "1.4.1"

_LOG = logging.getLogger(__name__)

_STREAMS = 64
"""Streams at one time; each holds a thread, and unary requests must always find one."""
_UNARY_THREADS = 8
_PACKETS_IN_PER_STREAM = 4096
"""Packet-ins that wait for a slow client; what comes on top is dropped, for packets must not fill the memory."""
_POLL_MS = 100
"""How long the packet-in thread waits before it looks whether it has been stopped."""

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", -1),  # a config may well exceed the default 4 MB
    ("grpc.max_send_message_length", -1),
    ("grpc.max_metadata_size", 16 << 20),  # one error per update travels as metadata; the default is 8 KB
    ("grpc.absolute_max_metadata_size", 16 << 20),
    ("grpc.so_reuseport", 0),  # a second server on the same port is a mistake to report
)


class P4RuntimeServer:
    """A P4Runtime server for one switch.

    Several may run in one process. The switch may be driven by a virtual network, by a real-time runner, or not at all.
    """

    def __init__(
        self,
        switch: Switch,
        *,
        device_id: int,
        address: str = "127.0.0.1:0",
        credentials: grpc.ServerCredentials | None = None,
        authorization: Authorization | None = None,
        services: Sequence[Callable[[grpc.Server], None]] = (),
        threads: int = 0,
    ) -> None:
        """Prepares a server.

        Args:
            switch: what it programs.
            device_id: the only device it answers for.
            address: host and port; port 0 takes a free one.
            credentials: of TLS; without them it listens in clear text.
            authorization: what clients may do by their certificates; without it anybody may do anything.
            services: what else answers at the same port; each adds itself to the server.
            threads: how many those may hold at one time.

        """
        self._address = address
        self._credentials = credentials
        self._service = _Service(switch, device_id, authorization)
        self._executor = ThreadPoolExecutor(
            _STREAMS + _UNARY_THREADS + threads, thread_name_prefix=f"p4runtime-{switch.name}"
        )
        self._server = grpc.server(self._executor, options=_OPTIONS)
        p4r_grpc.add_P4RuntimeServicer_to_server(self._service, self._server)
        for add_to in services:
            add_to(self._server)

    def start(self) -> int:
        """Starts serving.

        Returns:
            The port it listens at.

        Raises:
            OSError: the address can not be used.

        """
        try:
            if self._credentials is None:
                port = self._server.add_insecure_port(self._address)
            else:
                port = self._server.add_secure_port(self._address, self._credentials)
        except RuntimeError:
            port = 0
        if port == 0:
            raise OSError(f"can not listen at {self._address}: the address is in use, not local, or not allowed")
        self._service.start()
        self._server.start()
        return port

    def stop(self) -> None:
        """Ends all streams and stops serving. A stopped server can not be started again."""
        self._service.stop()
        self._server.stop(grace=None).wait()
        self._executor.shutdown(wait=True)

    def __enter__(self) -> "P4RuntimeServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Stream:
    """One StreamChannel: what waits to be sent, and how the stream ends."""

    def __init__(self, permit: Permit) -> None:
        self.permit = permit
        self._queue: queue.SimpleQueue[p4r.StreamMessageResponse | StatusError | None] = queue.SimpleQueue()
        self.client = Client(self._queue.put)
        self.packets_dropped = 0

    def send(self, response: p4r.StreamMessageResponse) -> None:
        self._queue.put(response)

    def end(self, error: StatusError | None = None) -> None:
        """Ends the stream, with a status other than OK if there is an `error`."""
        self._queue.put(error)

    def messages(self) -> Iterator[p4r.StreamMessageResponse]:
        """What is to be sent, until the end.

        Raises:
            StatusError: the stream ends with this status.

        """
        while (message := self._queue.get()) is not None:
            if isinstance(message, StatusError):
                raise message
            yield message

    def send_packet(self, response: p4r.StreamMessageResponse) -> None:
        """Sends a packet-in, unless too many wait already."""
        if self._queue.qsize() < _PACKETS_IN_PER_STREAM:
            self._queue.put(response)
        else:
            self.packets_dropped += 1


class _Service(p4r_grpc.P4RuntimeServicer):
    """The RPCs. One lock makes writes, reads, configuration and arbitration happen one after the other.

    So a change of the primary waits for the write in progress, as the specification wants it.
    """

    def __init__(self, switch: Switch, device_id: int, authorization: Authorization | None) -> None:
        self._switch = switch
        self._authorization = authorization
        self._device_id = device_id
        self._lock = threading.RLock()
        self._arbitration = Arbitration(device_id)
        self._configurations = Configurations(switch)
        self._streams: dict[Client, _Stream] = {}
        self._stopping = threading.Event()
        self._packet_ins = threading.Thread(
            target=self._forward_packets_in, name=f"packet-in-{switch.name}", daemon=True
        )

    def start(self) -> None:
        if self._switch.cpu_port is not None:
            self._packet_ins.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._packet_ins.is_alive():
            self._packet_ins.join()
        with self._lock:
            streams = list(self._streams.values())
        for stream in streams:
            stream.end()

    def _permit(self, context: grpc.ServicerContext) -> Permit:
        return ANYBODY if self._authorization is None else self._authorization.client(context)

    def _require_device(self, device_id: int) -> None:
        if device_id != self._device_id:
            raise StatusError(NOT_FOUND, f"there is no device {device_id} here, only {self._device_id}")

    # The service's methods have the names that the protocol gives them.

    def Capabilities(  # noqa: N802
        self, request: p4r.CapabilitiesRequest, context: grpc.ServicerContext
    ) -> p4r.CapabilitiesResponse:
        """Says which version of P4Runtime this is."""
        try:
            if request.device_id:
                self._require_device(request.device_id)
                self._permit(context).require(request.device_id)
        except StatusError as error:
            abort(context, error)
        return p4r.CapabilitiesResponse(p4runtime_api_version=API_VERSION)

    def SetForwardingPipelineConfig(  # noqa: N802
        self, request: p4r.SetForwardingPipelineConfigRequest, context: grpc.ServicerContext
    ) -> p4r.SetForwardingPipelineConfigResponse:
        """Verifies, saves or commits a program."""
        try:
            with self._lock:
                self._require_device(request.device_id)
                self._permit(context).require(request.device_id, request.role, write=True)
                self._arbitration.require_primary(
                    request.role, request.election_id if request.HasField("election_id") else None
                )
                self._configurations.set(request)
        except StatusError as error:
            abort(context, error)
        return p4r.SetForwardingPipelineConfigResponse()

    def GetForwardingPipelineConfig(  # noqa: N802
        self, request: p4r.GetForwardingPipelineConfigRequest, context: grpc.ServicerContext
    ) -> p4r.GetForwardingPipelineConfigResponse:
        """Gives back the program in use."""
        try:
            with self._lock:
                self._require_device(request.device_id)
                self._permit(context).require(request.device_id)
                return self._configurations.get(request.response_type)
        except StatusError as error:
            abort(context, error)

    def Write(self, request: p4r.WriteRequest, context: grpc.ServicerContext) -> p4r.WriteResponse:  # noqa: N802
        """Applies a batch of updates."""
        try:
            with self._lock:
                self._require_device(request.device_id)
                self._permit(context).require(request.device_id, request.role, write=True)
                self._arbitration.require_primary(
                    request.role, request.election_id if request.HasField("election_id") else None
                )
                configuration = self._configurations.active()
                if request.atomicity not in p4r.WriteRequest.Atomicity.values():
                    raise invalid(f"there is no atomicity {request.atomicity}")
                # A packet sees the switch between two batches only, so both modes are atomic for the data plane.
                atomic = request.atomicity != p4r.WriteRequest.CONTINUE_ON_ERROR
                outcomes = write.apply(configuration, request.updates, atomic=atomic)
        except StatusError as error:
            abort(context, error)
        if any(code != OK for code, _ in outcomes):
            abort_batch(context, outcomes, "write")
        return p4r.WriteResponse()

    def Read(self, request: p4r.ReadRequest, context: grpc.ServicerContext) -> Iterator[p4r.ReadResponse]:  # noqa: N802
        """Finds entities by key or wildcard."""
        try:
            with self._lock:
                self._require_device(request.device_id)
                self._permit(context).require(request.device_id, request.role or None)
                responses, outcomes = read.read(self._configurations.active(), request.entities)
        except StatusError as error:
            abort(context, error)
        yield from responses
        if any(code != OK for code, _ in outcomes):
            abort_batch(context, outcomes, "read")

    def StreamChannel(  # noqa: N802
        self, request_iterator: Iterator[p4r.StreamMessageRequest], context: grpc.ServicerContext
    ) -> Iterator[p4r.StreamMessageResponse]:
        """Arbitrates, and carries packets in both directions."""
        stream = _Stream(self._permit(context))
        with self._lock:
            full = len(self._streams) >= _STREAMS or self._stopping.is_set()
            if not full:
                self._streams[stream.client] = stream
        if full:
            abort(
                context,
                StatusError(RESOURCE_EXHAUSTED, f"the server has {_STREAMS} streams, which is the limit"),
            )
        context.add_callback(stream.end)
        reader = threading.Thread(
            target=self._receive, args=(request_iterator, stream), name="p4runtime-stream", daemon=True
        )
        reader.start()
        try:
            yield from stream.messages()
        except StatusError as error:
            abort(context, error)
        finally:
            with self._lock:
                self._arbitration.leave(stream.client)
                del self._streams[stream.client]

    def _receive(self, requests: Iterator[p4r.StreamMessageRequest], stream: _Stream) -> None:
        """Reads a stream until it ends; grpcio has no other way to read while writing."""
        try:
            for request in requests:
                self._handle(request, stream)
        except StatusError as error:
            stream.end(error)
        except grpc.RpcError:
            stream.end()  # the client has gone
        except Exception:
            _LOG.exception("stream of switch %s", self._switch.name)
            stream.end(StatusError(INTERNAL, "the server has a bug; its log says more"))
        else:
            stream.end()

    def _handle(self, request: p4r.StreamMessageRequest, stream: _Stream) -> None:
        match request.WhichOneof("update"):
            case "arbitration":
                wanted = request.arbitration
                if wanted.device_id == self._device_id:  # otherwise it is not found
                    stream.permit.require(wanted.device_id, wanted.role.name, write=wanted.HasField("election_id"))
                with self._lock:
                    self._arbitration.update(stream.client, wanted)
            case "packet":
                try:
                    self._packet_out(request.packet, stream.client)
                except StatusError as error:
                    response = p4r.StreamMessageResponse()
                    response.error.canonical_code, response.error.message = error.outcome
                    response.error.packet_out.packet_out.CopyFrom(request.packet)
                    stream.send(response)
            case "digest_ack":
                response = p4r.StreamMessageResponse()
                response.error.canonical_code = UNIMPLEMENTED
                response.error.message = "digests are not supported"
                response.error.digest_list_ack.digest_list_ack.CopyFrom(request.digest_ack)
                stream.send(response)
            case kind:
                response = p4r.StreamMessageResponse()
                response.error.canonical_code = INVALID_ARGUMENT if kind is None else UNIMPLEMENTED
                response.error.message = "the message is empty" if kind is None else f"{kind} is not supported"
                response.error.other.SetInParent()
                stream.send(response)

    def _packet_out(self, packet: p4r.PacketOut, client: Client) -> None:
        with self._lock:
            if not self._arbitration.is_primary(client):
                raise StatusError(PERMISSION_DENIED, "only a primary may send packets")
            configuration = self._configurations.committed
            if configuration is None:
                raise StatusError(FAILED_PRECONDITION, "No forwarding pipeline config set for this device")
            if self._switch.cpu_port is None:
                raise StatusError(FAILED_PRECONDITION, "the switch has no CPU port")
            header = configuration.schema.packet_out
        self._switch.packet_out(packet_io.packet_out(packet.payload, packet.metadata, header))

    def _forward_packets_in(self) -> None:
        while not self._stopping.is_set():
            for frame in self._switch.packets_in(timeout_ms=_POLL_MS):
                with self._lock:
                    configuration = self._configurations.committed
                    streams = [self._streams[client] for client in self._arbitration.primaries()]
                if configuration is None:
                    continue
                response = p4r.StreamMessageResponse()
                try:
                    response.packet.CopyFrom(packet_io.packet_in(frame, configuration.schema.packet_in))
                except ValueError as error:
                    _LOG.warning("switch %s: %s", self._switch.name, error)
                    continue
                for stream in streams:
                    stream.send_packet(response)
