"""The P4Runtime service of one switch, on grpcio."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import grpc
from finsy.proto import p4r

from phb_switch import roles
from phb_switch._native import Read, RefusedError, Switch, Write
from phb_switch.arbitration import Arbitration, Client
from phb_switch.authorization import ANYBODY, Authorization, Permit
from phb_switch.configuration import Configurations
from phb_switch.digests import Digests
from phb_switch.errors import (
    FAILED_PRECONDITION,
    INTERNAL,
    INVALID_ARGUMENT,
    NOT_FOUND,
    PERMISSION_DENIED,
    RESOURCE_EXHAUSTED,
    UNIMPLEMENTED,
    StatusError,
    abort,
    abort_batch,
)
from phb_switch.roles import RoleConfig
from phb_switch.streams import Stream

API_VERSION: Final = "1.4.1"

_LOG = logging.getLogger(__name__)

STREAMS: Final = 256
"""Streams at one time; each holds a thread, and unary requests must always find one."""
_UNARY_THREADS = 64
"""Calls at one time that are not streams. A client that takes the answer of a read slowly holds one."""
_POLL_MS = 100
"""How long the packet-in thread waits before it looks whether it has been stopped."""

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", -1),  # a config may well exceed the default 4 MB
    ("grpc.max_send_message_length", -1),
    ("grpc.max_metadata_size", 16 << 20),  # one error per update travels as metadata; the default is 8 KB
    ("grpc.absolute_max_metadata_size", 16 << 20),
    ("grpc.so_reuseport", 0),  # a second server on the same port is a mistake to report
    # A primary whose machine has died must not stay primary until TCP gives up.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # Clients that make sure of the server in the same way are welcome.
    ("grpc.http2.max_ping_strikes", 0),
)

_SERVICE = "p4.v1.P4Runtime"


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
            STREAMS + _UNARY_THREADS + threads, thread_name_prefix=f"p4runtime-{switch.name}"
        )
        self._server = grpc.server(self._executor, options=_OPTIONS)
        self._server.add_generic_rpc_handlers((self._service.handlers(),))
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


class _Service:
    """The RPCs. One lock makes writes, configuration and arbitration happen one after the other.

    So a change of the primary waits for the write in progress, as the specification wants it. What entities mean is the
    native module's job: Write and Read pass on the bytes they get.
    """

    def __init__(self, switch: Switch, device_id: int, authorization: Authorization | None) -> None:
        self._switch = switch
        self._authorization = authorization
        self._device_id = device_id
        self._lock = threading.RLock()
        self._arbitration = Arbitration(device_id)
        self._configurations = Configurations(switch)
        self._streams: dict[Client, Stream] = {}
        self._stopping = threading.Event()
        self._digests: Digests | None = None
        """Those of the committed configuration; guarded by a lock of their own, for a clock."""
        self._digests_lock = threading.Lock()
        loops = [("notification", self._forward_notifications)]
        if switch.cpu_port is not None:
            loops.append(("packet-in", self._forward_packets_in))
        self._threads = [
            threading.Thread(target=loop, name=f"{name}-{switch.name}", daemon=True) for name, loop in loops
        ]

    def handlers(self) -> grpc.GenericRpcHandler:
        """The service's methods, by the names that the protocol gives them."""
        unary: dict[str, tuple[Callable[..., Any], type[Any], type[Any]]] = {
            "Capabilities": (self._capabilities, p4r.CapabilitiesRequest, p4r.CapabilitiesResponse),
            "SetForwardingPipelineConfig": (
                self._set_config,
                p4r.SetForwardingPipelineConfigRequest,
                p4r.SetForwardingPipelineConfigResponse,
            ),
            "GetForwardingPipelineConfig": (
                self._get_config,
                p4r.GetForwardingPipelineConfigRequest,
                p4r.GetForwardingPipelineConfigResponse,
            ),
        }
        handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            name: grpc.unary_unary_rpc_method_handler(method, request.FromString, response.SerializeToString)
            for name, (method, request, response) in unary.items()
        }
        # No serializers: these get and give bytes.
        handlers["Write"] = grpc.unary_unary_rpc_method_handler(self._write)
        handlers["Read"] = grpc.unary_stream_rpc_method_handler(self._read)
        handlers["StreamChannel"] = grpc.stream_stream_rpc_method_handler(
            self._stream_channel, p4r.StreamMessageRequest.FromString
        )
        return grpc.method_handlers_generic_handler(_SERVICE, handlers)

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()
        with self._lock:
            streams = list(self._streams.values())
        for stream in streams:
            stream.end()

    def _permit(self, context: grpc.ServicerContext) -> Permit:
        return ANYBODY if self._authorization is None else self._authorization.client(context)

    def _require_device(self, device_id: int) -> None:
        if device_id != self._device_id:
            raise StatusError(NOT_FOUND, f"there is no device {device_id} here, only {self._device_id}")

    def _require_primary(
        self, context: grpc.ServicerContext, device_id: int, role: str, election_id: int | None
    ) -> None:
        self._require_device(device_id)
        self._permit(context).require(device_id, role, write=True)
        self._arbitration.require_primary(role, election_id)

    def _ids(self, role: str) -> frozenset[int] | None:
        """The objects that are a role's; None is all."""
        config = self._arbitration.config(role)
        return None if config is None else config.ids

    def _capabilities(
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

    def _set_config(
        self, request: p4r.SetForwardingPipelineConfigRequest, context: grpc.ServicerContext
    ) -> p4r.SetForwardingPipelineConfigResponse:
        """Verifies, saves or commits a program."""
        election_id = uint128(request.election_id) if request.HasField("election_id") else None
        try:
            with self._lock:
                self._require_primary(context, request.device_id, request.role, election_id)
                roles.require_pipeline(request.role, self._arbitration.config(request.role))
                self._configurations.set(request)
        except (StatusError, RefusedError) as error:
            abort(context, error)
        return p4r.SetForwardingPipelineConfigResponse()

    def _get_config(
        self, request: p4r.GetForwardingPipelineConfigRequest, context: grpc.ServicerContext
    ) -> p4r.GetForwardingPipelineConfigResponse:
        """Gives back the program in use."""
        try:
            self._require_device(request.device_id)
            self._permit(context).require(request.device_id)
            with self._lock:
                return self._configurations.get(request.response_type)
        except StatusError as error:
            abort(context, error)

    def _write(self, serialized: bytes, context: grpc.ServicerContext) -> bytes:
        """Applies a batch of updates."""
        try:
            request = Write(serialized)
            with self._lock:
                self._require_primary(context, request.device_id, request.role, request.election_id)
                failure = self._configurations.active().write(request, self._ids(request.role))
        except (StatusError, RefusedError) as error:
            abort(context, error)
        if failure is not None:
            abort_batch(context, *failure)
        return b""  # an empty p4.v1.WriteResponse

    def _read(self, serialized: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        """Finds entities by key or wildcard."""
        try:
            request = Read(serialized)
            self._require_device(request.device_id)
            self._permit(context).require(request.device_id, request.role or None)
            with self._lock:
                reader = self._configurations.active().read(request, self._ids(request.role))
        except (StatusError, RefusedError) as error:
            abort(context, error)
        yield from reader
        failure = reader.failure()
        if failure is not None:
            abort_batch(context, *failure)

    def _stream_channel(
        self, requests: Iterator[p4r.StreamMessageRequest], context: grpc.ServicerContext
    ) -> Iterator[bytes]:
        """Arbitrates, and carries packets in both directions."""
        stream = Stream(self._permit(context))
        with self._lock:
            full = len(self._streams) >= STREAMS or self._stopping.is_set()
            if not full:
                self._streams[stream.client] = stream
        if full:
            abort(
                context,
                StatusError(RESOURCE_EXHAUSTED, f"the server has {STREAMS} streams, which is the limit"),
            )
        context.add_callback(stream.end)
        reader = threading.Thread(target=self._receive, args=(requests, stream), name="p4runtime-stream", daemon=True)
        reader.start()
        try:
            yield from stream.messages()
        except StatusError as error:
            abort(context, error)
        finally:
            with self._lock:
                self._arbitration.leave(stream.client)
                del self._streams[stream.client]

    def _receive(self, requests: Iterator[p4r.StreamMessageRequest], stream: Stream) -> None:
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

    def _handle(self, request: p4r.StreamMessageRequest, stream: Stream) -> None:
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
                except (StatusError, RefusedError) as error:
                    response = _stream_error(error.code, error.message)
                    response.error.packet_out.packet_out.CopyFrom(request.packet)
                    stream.send(response)
            case "digest_ack":
                try:
                    self._acknowledge(request.digest_ack, stream.client)
                except StatusError as error:
                    response = _stream_error(error.code, error.message)
                    response.error.digest_list_ack.digest_list_ack.CopyFrom(request.digest_ack)
                    stream.send(response)
            case kind:
                code = INVALID_ARGUMENT if kind is None else UNIMPLEMENTED
                response = _stream_error(
                    code, "the message is empty" if kind is None else f"messages of kind {kind!r} are not supported"
                )
                response.error.other.SetInParent()
                if kind == "other":
                    response.error.other.other.CopyFrom(request.other)
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
        self._switch.packet_out(configuration.packet_out(packet.SerializeToString()))

    def _forward_packets_in(self) -> None:
        while not self._stopping.is_set():
            frames = self._switch.packets_in(timeout_ms=_POLL_MS)
            if not frames:
                continue
            with self._lock:
                configuration = self._configurations.committed
                primaries = self._primaries()
            if configuration is None:
                continue
            for frame in frames:
                try:
                    response = configuration.packet_in(frame)
                except RefusedError as error:
                    _LOG.warning("switch %s: %s", self._switch.name, error.message)
                    continue
                for stream, config in primaries:
                    if config is None or config.takes(p4r.StreamMessageResponse.FromString(response).packet):
                        stream.send(response)

    def _primaries(self) -> list[tuple[Stream, RoleConfig | None]]:
        return [(self._streams[client], config) for client, config in self._arbitration.primaries()]

    def _forward_notifications(self) -> None:
        wait_ns = _POLL_MS * 1_000_000
        while not self._stopping.is_set():
            # Rounded up, so that what is due in less than a millisecond is not looked for over and over.
            # Idle entries are looked for once per round.
            messages = self._switch.digests_in(timeout_ms=-(-wait_ns // 1_000_000))
            with self._lock:
                configuration = self._configurations.committed
                primaries = self._primaries()
            with self._digests_lock:
                digests = self._digests
                if configuration is None:
                    continue
                if digests is None or digests.configuration is not configuration:
                    digests = self._digests = Digests(configuration)
                lists = [*digests.add(messages), *digests.due()]
                wait_ns = digests.wait_ns(_POLL_MS * 1_000_000)
            for each in lists:
                for stream, config in primaries:
                    if config is None or each.digest_id in config.ids:
                        stream.send(p4r.StreamMessageResponse(digest=each))
            self._notify_idle(configuration.take_idle(), primaries)

    def _notify_idle(self, idle: list[tuple[int, bytes]], primaries: list[tuple[Stream, RoleConfig | None]]) -> None:
        for stream, config in primaries:
            response = p4r.StreamMessageResponse()
            notification = response.idle_timeout_notification
            for table_id, entry in idle:
                if config is None or table_id in config.ids:
                    notification.table_entry.add().ParseFromString(entry)
            if notification.table_entry:
                notification.timestamp = time.time_ns()
                stream.send(response)

    def _acknowledge(self, message: p4r.DigestListAck, client: Client) -> None:
        with self._lock:
            if not self._arbitration.is_primary(client):
                raise StatusError(PERMISSION_DENIED, "only a primary may acknowledge digests")
            configuration = self._configurations.committed
        if configuration is None:
            raise StatusError(FAILED_PRECONDITION, "No forwarding pipeline config set for this device")
        with self._digests_lock:
            digests = self._digests
            if digests is None or digests.configuration is not configuration:
                digests = self._digests = Digests(configuration)
            digests.acknowledge(message)


def uint128(value: p4r.Uint128) -> int:
    """The number in its two halves."""
    return value.high << 64 | value.low


def _stream_error(code: int, message: str) -> p4r.StreamMessageResponse:
    response = p4r.StreamMessageResponse()
    response.error.canonical_code, response.error.message = code, message
    return response
