"""The server's description of itself: its services, their messages, and its health.

The messages of reflection are made here, field by field, for no package with them is among the dependencies.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import grpc
import pytest
from finsy.proto import gnmi, p4r
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FieldDescriptorProto

from .support import Client

VERSIONS = ["v1", "v1alpha"]
HEALTH = "/grpc.health.v1.Health"
SERVING = b"\x08\x01"
"""A grpc.health.v1.HealthCheckResponse."""

Field = FieldDescriptorProto
SHAPES = {
    "Request": [
        "3 optional string file_by_filename",
        "4 optional string file_containing_symbol",
        "7 optional string list_services",
    ],
    "Files": ["1 repeated bytes file_descriptor_proto"],
    "Service": ["1 optional string name"],
    "Services": ["1 repeated Service service"],
    "Error": ["1 optional int32 error_code", "2 optional string error_message"],
    "Response": [
        "4 optional Files file_descriptor_response",
        "6 optional Services list_services_response",
        "7 optional Error error_response",
    ],
}


def made() -> Any:
    """The classes of reflection's messages, by name."""
    file = descriptor_pb2.FileDescriptorProto(name="reflection", package="reflection", syntax="proto3")
    for name, fields in SHAPES.items():
        message = file.message_type.add(name=name)
        for number, label, kind, field in map(str.split, fields):
            described = message.field.add(number=int(number), name=field)
            described.label = Field.Label.Value(f"LABEL_{label.upper()}")
            if kind in SHAPES:
                described.type, described.type_name = Field.TYPE_MESSAGE, f".reflection.{kind}"
            else:
                described.type = Field.Type.Value(f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"reflection.{name}")) for name in SHAPES}


CLASSES = made()


def asked(client: Client, version: str, *wanted: dict[str, str]) -> list[Any]:
    method = f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
    requests = iter([CLASSES["Request"](**each).SerializeToString() for each in wanted])
    answers = client.channel.stream_stream(method)(requests, timeout=60)
    return [CLASSES["Response"].FromString(answer) for answer in answers]


def services(client: Client, version: str) -> set[str]:
    (answer,) = asked(client, version, {"list_services": "*"})
    return {service.name for service in answer.list_services_response.service}


def files(client: Client, symbols: Iterable[str], version: str = "v1") -> dict[str, descriptor_pb2.FileDescriptorProto]:
    """The files that symbols are in, with all that those import, by name; those that others need come first."""
    found: dict[str, descriptor_pb2.FileDescriptorProto] = {}

    def take(wanted: dict[str, str]) -> None:
        (answer,) = asked(client, version, wanted)
        assert not answer.HasField("error_response"), answer
        for serialized in answer.file_descriptor_response.file_descriptor_proto:
            file = descriptor_pb2.FileDescriptorProto.FromString(serialized)
            if file.name not in found:
                for dependency in file.dependency:
                    if dependency not in found:
                        take({"file_by_filename": dependency})
                found[file.name] = file

    for symbol in symbols:
        take({"file_containing_symbol": symbol})
    return found


def messages(client: Client, service: str, method: str, version: str = "v1") -> tuple[Any, Any]:
    """The classes of a method's request and response."""
    pool = descriptor_pool.DescriptorPool()
    for file in files(client, [service], version).values():
        pool.Add(file)
    found = pool.FindServiceByName(service).methods_by_name[method]
    return message_factory.GetMessageClass(found.input_type), message_factory.GetMessageClass(found.output_type)


@pytest.mark.parametrize("version", VERSIONS)
def test_services(client: Client, version: str) -> None:
    assert {"p4.v1.P4Runtime", "gnmi.gNMI", "grpc.health.v1.Health"} <= services(client, version)


def of_field(field: FieldDescriptorProto, message: DescriptorProto) -> tuple[Any, ...]:
    oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else None
    return field.name, field.label, field.type, field.type_name, oneof, field.proto3_optional


def of_message(name: str, message: DescriptorProto) -> Iterator[tuple[str, Any]]:
    fields = {field.number: of_field(field, message) for field in message.field}
    assert len(fields) == len(message.field)
    yield name, (fields, message.options.map_entry)
    for nested in message.nested_type:
        yield from of_message(f"{name}.{nested.name}", nested)
    for each in message.enum_type:
        yield of_enum(f"{name}.{each.name}", each)


def of_enum(name: str, enum: EnumDescriptorProto) -> tuple[str, Any]:
    return name, [(value.name, value.number) for value in enum.value]


def of_file(file: descriptor_pb2.FileDescriptorProto) -> dict[str, Any]:
    """Messages, enumerations and services by their full names, as far as they are on the wire."""
    found: dict[str, Any] = {}
    for message in file.message_type:
        found |= of_message(f"{file.package}.{message.name}", message)
    found |= dict(of_enum(f"{file.package}.{enum.name}", enum) for enum in file.enum_type)
    for service in file.service:
        found[f"{file.package}.{service.name}"] = [
            (method.name, method.input_type, method.output_type, method.client_streaming, method.server_streaming)
            for method in service.method
        ]
    return found


def of_finsy(*files: FileDescriptor) -> dict[str, Any]:
    """The same of files that finsy has, and of those that they import."""
    found: dict[str, Any] = {}
    for file in files:
        found |= of_finsy(*file.dependencies)
        proto = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(proto)
        found |= of_file(proto)
    return found


def test_messages_are_those_that_clients_have(client: Client) -> None:
    served: dict[str, Any] = {}
    for file in files(client, ["p4.v1.P4Runtime", "gnmi.gNMI"]).values():
        served |= of_file(file)
    expected = of_finsy(p4r.DESCRIPTOR, gnmi.DESCRIPTOR)
    missing = {name for name in expected.keys() - served.keys() if not name.startswith("google.protobuf.")}
    assert missing == set()
    assert served.keys() - expected.keys() == set()
    for name, each in served.items():
        assert each == expected[name], name


@pytest.mark.parametrize("version", VERSIONS)
def test_a_client_that_has_no_messages_of_its_own(client: Client, version: str) -> None:
    pool = descriptor_pool.DescriptorPool()
    for file in files(client, sorted(services(client, version)), version).values():
        pool.Add(file)
    method = pool.FindServiceByName("p4.v1.P4Runtime").methods_by_name["Capabilities"]
    call = client.channel.unary_unary("/p4.v1.P4Runtime/Capabilities")
    answer = message_factory.GetMessageClass(method.output_type).FromString(call(b"", timeout=60))
    assert answer.p4runtime_api_version == "1.4.1"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "wanted", [{"file_containing_symbol": "p4.v1.Levitation"}, {"file_by_filename": "levitation.proto"}]
)
def test_what_is_not_there(client: Client, wanted: dict[str, str]) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        asked(client, "v1", wanted)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("service", ["phb.telemetry.v1.Telemetry", "phb.trace.v1.Tracing"])
@pytest.mark.parametrize(
    ("method", "request_bytes", "code"),
    [("Watch", b"\x0a\xff", grpc.StatusCode.INVALID_ARGUMENT), ("Look", b"", grpc.StatusCode.UNIMPLEMENTED)],
)
def test_what_is_no_request(
    client: Client, service: str, method: str, request_bytes: bytes, code: grpc.StatusCode
) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        next(client.channel.unary_stream(f"/{service}/{method}")(request_bytes, timeout=60))
    assert caught.value.code() == code


def test_it_serves(client: Client) -> None:
    check = client.channel.unary_unary(f"{HEALTH}/Check")
    assert check(b"", timeout=60) == SERVING
    with pytest.raises(grpc.RpcError) as caught:
        check(b"\x0a\x04none", timeout=60)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    watch = client.channel.unary_stream(f"{HEALTH}/Watch")(b"", timeout=60)
    assert next(watch) == SERVING
    watch.cancel()
