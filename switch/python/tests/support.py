"""A raw P4Runtime client, and entries of the program `programs/router.p4`."""

import queue
import threading
from pathlib import Path

import grpc
from finsy.proto import p4i, p4r, p4r_grpc, rpc_status
from google.protobuf import text_format
from google.protobuf.message import Message

from phb_switch import PortConfig, Switch

PROGRAMS = Path(__file__).parent / "programs"
DEVICE = 7
CPU_PORT = 510
WAIT_SECONDS = 60.0


def artifact(name: str = "router") -> bytes:
    return (PROGRAMS / f"{name}.json").read_bytes()


def p4info(name: str = "router") -> p4i.P4Info:
    return text_format.Parse((PROGRAMS / f"{name}.p4info.txtpb").read_text(), p4i.P4Info())


class Names:
    """Ids of a p4info by the aliases of its objects."""

    def __init__(self, info: p4i.P4Info) -> None:
        self.table = {table.preamble.alias: table.preamble.id for table in info.tables}
        self.action = {action.preamble.alias: action.preamble.id for action in info.actions}
        self.counter = {counter.preamble.alias: counter.preamble.id for counter in info.counters}
        self.register = {register.preamble.alias: register.preamble.id for register in info.registers}
        self.meter = {meter.preamble.alias: meter.preamble.id for meter in info.meters}
        self.profile = {profile.preamble.alias: profile.preamble.id for profile in info.action_profiles}
        self.digest = {digest.preamble.alias: digest.preamble.id for digest in info.digests}


NAMES = Names(p4info())


class Stream:
    """One StreamChannel of a client."""

    def __init__(self, stub: p4r_grpc.P4RuntimeStub) -> None:
        self._requests: queue.SimpleQueue[p4r.StreamMessageRequest | None] = queue.SimpleQueue()
        self._responses: queue.SimpleQueue[p4r.StreamMessageResponse | grpc.RpcError | None] = queue.SimpleQueue()
        self._call = stub.StreamChannel(iter(self._requests.get, None))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            for response in self._call:
                self._responses.put(response)
            self._responses.put(None)
        except grpc.RpcError as error:
            self._responses.put(error)

    def send(self, request: p4r.StreamMessageRequest) -> None:
        self._requests.put(request)

    def receive(self, timeout: float = WAIT_SECONDS) -> p4r.StreamMessageResponse:
        response = self._responses.get(timeout=timeout)
        assert isinstance(response, p4r.StreamMessageResponse), response
        return response

    def answer(self) -> p4r.StreamMessageResponse | None:
        """The next message; None if the server has ended the stream instead."""
        response = self._responses.get(timeout=WAIT_SECONDS)
        return response if isinstance(response, p4r.StreamMessageResponse) else None

    def end(self) -> grpc.RpcError | None:
        """How the server ended the stream."""
        response = self._responses.get(timeout=WAIT_SECONDS)
        assert not isinstance(response, p4r.StreamMessageResponse), response
        return response

    def silent(self) -> bool:
        return self._responses.empty()

    def arbitrate(self, election_id: int | None, *, role: str = "", device_id: int = DEVICE) -> None:
        request = p4r.StreamMessageRequest()
        request.arbitration.device_id = device_id
        if role:
            request.arbitration.role.name = role
        if election_id is not None:
            request.arbitration.election_id.high = election_id >> 64
            request.arbitration.election_id.low = election_id & ((1 << 64) - 1)
        self.send(request)

    def close(self) -> None:
        self._requests.put(None)
        self._call.cancel()
        self._reader.join()


class Client:
    """Raw stubs, with the boilerplate of requests filled in."""

    def __init__(self, where: int | str, credentials: grpc.ChannelCredentials | None = None) -> None:
        """A client of a server at a port, or at an address of gRPC's; with credentials, by TLS."""
        # The default 8 KB of metadata would lose the errors of larger batches.
        options: list[tuple[str, int | str]] = [
            ("grpc.max_metadata_size", 1 << 20),
            ("grpc.use_local_subchannel_pool", 1),
        ]
        address = f"127.0.0.1:{where}" if isinstance(where, int) else where
        if address.startswith("unix:"):
            # Without it, gRPC's client names the path with percent signs, which the server's HTTP takes for no name.
            options.append(("grpc.default_authority", "localhost"))
        if credentials is None:
            self.channel = grpc.insecure_channel(address, options)
        else:
            self.channel = grpc.secure_channel(address, credentials, options)
        self.stub = p4r_grpc.P4RuntimeStub(self.channel)
        self._streams: list[Stream] = []

    def stream(self) -> Stream:
        self._streams.append(Stream(self.stub))
        return self._streams[-1]

    def primary(self, election_id: int = 1) -> Stream:
        stream = self.stream()
        stream.arbitrate(election_id)
        assert stream.receive().arbitration.status.code == 0
        return stream

    def configure(
        self,
        action: int = p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
        *,
        info: p4i.P4Info | None = None,
        config: bytes | None = None,
        cookie: int | None = None,
        empty: bool = False,
    ) -> None:
        request = p4r.SetForwardingPipelineConfigRequest(device_id=DEVICE, action=action)
        request.election_id.low = 1
        if not empty:
            request.config.p4info.CopyFrom(p4info() if info is None else info)
            request.config.p4_device_config = artifact() if config is None else config
            if cookie is not None:
                request.config.cookie.cookie = cookie
        self.stub.SetForwardingPipelineConfig(request)

    def write(
        self, *updates: p4r.Update, atomicity: int = p4r.WriteRequest.CONTINUE_ON_ERROR, election_id: int = 1
    ) -> None:
        request = p4r.WriteRequest(device_id=DEVICE, updates=updates, atomicity=atomicity)
        request.election_id.low = election_id
        self.stub.Write(request)

    def read(self, *entities: p4r.Entity) -> list[p4r.Entity]:
        request = p4r.ReadRequest(device_id=DEVICE, entities=entities)
        return [entity for response in self.stub.Read(request) for entity in response.entities]

    def close(self) -> None:
        for stream in self._streams:
            stream.close()
        self.channel.close()


def new_switch() -> Switch:
    return Switch("test", {port: PortConfig(queues=8) for port in range(4)}, cpu_port=CPU_PORT)


def entity(message: Message) -> p4r.Entity:
    """An entity that holds a message, whatever kind it is of."""
    for field in p4r.Entity.DESCRIPTOR.fields:
        if field.message_type is message.DESCRIPTOR:
            made = p4r.Entity()
            getattr(made, field.name).CopyFrom(message)
            return made
    raise ValueError(message.DESCRIPTOR.name)


def update(update_type: int, message: Message) -> p4r.Update:
    return p4r.Update(type=update_type, entity=entity(message))


def errors(error: grpc.RpcError) -> list[tuple[int, str]]:
    """The outcome of each update that travels with the error of a batch."""
    for key, value in error.trailing_metadata():
        if key == "grpc-status-details-bin":
            status = rpc_status.Status.FromString(value)
            assert status.code == error.code().value[0]
            assert status.message == error.details()
            return unpacked(status)
    return []


def unpacked(status: rpc_status.Status) -> list[tuple[int, str]]:
    errors = [p4r.Error() for _ in status.details]
    for detail, into in zip(status.details, errors, strict=True):
        assert detail.Unpack(into)
    return [(each.canonical_code, each.message) for each in errors]


def insert(entry: p4r.TableEntry) -> p4r.Update:
    return p4r.Update(type=p4r.Update.INSERT, entity=p4r.Entity(table_entry=entry))


def modify(entry: p4r.TableEntry) -> p4r.Update:
    return p4r.Update(type=p4r.Update.MODIFY, entity=p4r.Entity(table_entry=entry))


def delete(entry: p4r.TableEntry) -> p4r.Update:
    return p4r.Update(type=p4r.Update.DELETE, entity=p4r.Entity(table_entry=entry))


def with_action(entry: p4r.TableEntry, name: str, *values: int) -> p4r.TableEntry:
    entry.action.action.action_id = NAMES.action[name]
    for number, value in enumerate(values, start=1):
        encoded = value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")
        entry.action.action.params.add(param_id=number, value=encoded)
    return entry


def connect(port: int, to: int) -> p4r.TableEntry:
    """An entry of `cross_connect` (one exact key)."""
    entry = p4r.TableEntry(table_id=NAMES.table["cross_connect"])
    entry.match.add(field_id=1).exact.value = bytes([port])
    return with_action(entry, "forward", to)


def route(prefix: bytes, length: int, port: int = 1) -> p4r.TableEntry:
    """An entry of `ipv4_route` (one LPM key, with a direct counter)."""
    entry = p4r.TableEntry(table_id=NAMES.table["ipv4_route"])
    if length:
        match = entry.match.add(field_id=1)
        match.lpm.value, match.lpm.prefix_len = prefix, length
    return with_action(entry, "route", port, 0x0A, 0x0B)


def classify(priority: int, traffic_class: int, *, tos: tuple[int, int] | None = None) -> p4r.TableEntry:
    """An entry of `classify` (range, ternary and optional keys)."""
    entry = p4r.TableEntry(table_id=NAMES.table["classify"], priority=priority)
    if tos is not None:
        match = entry.match.add(field_id=2)
        match.ternary.value, match.ternary.mask = bytes([tos[0]]), bytes([tos[1]])
    return with_action(entry, "set_class", traffic_class)


def ipv4(destination: str = "10.0.0.1", *, tos: int = 0, length: int = 46) -> bytes:
    """An Ethernet frame with an IPv4 header (checksum left zero)."""
    address = bytes(int(part) for part in destination.split("."))
    header = bytes([0x45, tos]) + length.to_bytes(2, "big") + bytes(4) + bytes([64, 17, 0, 0]) + b"\x0a\x01\x01\x01"
    return bytes(12) + b"\x08\x00" + (header + address).ljust(length, b"\0")
