"""TLS: clients with and without certificates, and files that change while the server runs."""

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from finsy.proto import gnmi, gnmi_grpc, p4r, rpc_code

from phb_switch import Binding, P4RuntimeServer, Tls

from .certificates import Certificates
from .support import DEVICE, WAIT_SECONDS, Client, connect, insert, new_switch

DENIED, UNAVAILABLE = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAVAILABLE
LOOK_SECONDS = 1.0
"""The server looks at its files once in this time."""


@contextmanager
def serving(tls: Tls, **more: Any) -> Iterator[Callable[[grpc.ChannelCredentials], Client]]:
    """A server; gives what makes clients of it."""
    clients: list[Client] = []
    with P4RuntimeServer(new_switch(), device_id=DEVICE, names={1: "eth1"}, tls=tls, **more) as server:
        port = server.address.rpartition(":")[2]

        def client(credentials: grpc.ChannelCredentials) -> Client:
            clients.append(Client(f"localhost:{port}", credentials))
            return clients[-1]

        yield client
        for each in clients:
            each.close()


def refused(call: Callable[[], object]) -> grpc.StatusCode:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code()


def set_speed(client: Client) -> None:
    path = gnmi.Path(elem=[gnmi.PathElem(name=name) for name in ("interfaces", "interface", "ethernet", "config")])
    path.elem.add(name="port-speed")
    path.elem[1].key["name"] = "eth1"
    request = gnmi.SetRequest(update=[gnmi.Update(path=path, val=gnmi.TypedValue(string_val="SPEED_1GB"))])
    gnmi_grpc.gNMIStub(client.channel).Set(request, timeout=WAIT_SECONDS)


def serves(client: Client) -> bool:
    return bool(client.stub.Capabilities(p4r.CapabilitiesRequest(device_id=DEVICE), timeout=WAIT_SECONDS))


@pytest.mark.parametrize("clients", [None, "none"])
def test_clients_are_not_asked(certificates: Certificates, clients: str | None) -> None:
    """Clients are shown the server's certificate, and have the rights of clients in clear text."""
    with serving(certificates.tls(clients)) as client:
        anybody = client(certificates.client())
        anybody.primary()
        anybody.configure()
        anybody.write(insert(connect(0, 1)))
        set_speed(anybody)
        assert refused(lambda: serves(client(grpc.ssl_channel_credentials()))) == UNAVAILABLE


def test_clients_have_to_show_one(certificates: Certificates) -> None:
    certificates.issue("elsewhere", trustme.CA())
    with serving(certificates.tls("required")) as client:
        assert serves(client(certificates.client("known")))
        assert refused(lambda: serves(client(certificates.client()))) == UNAVAILABLE
        assert refused(lambda: serves(client(certificates.client("elsewhere")))) == UNAVAILABLE


@pytest.mark.parametrize("bindings", [None, [Binding("known")]])
def test_clients_without_one_may_read(certificates: Certificates, bindings: list[Binding] | None) -> None:
    certificates.issue("elsewhere", trustme.CA())
    with serving(certificates.tls("optional"), bindings=bindings) as client:
        known = client(certificates.client("known"))
        known.primary()
        known.configure()
        known.write(insert(connect(0, 1)))
        anonymous = client(certificates.client())
        assert anonymous.read(p4r.Entity(table_entry=p4r.TableEntry())) != []
        assert anonymous.stub.GetForwardingPipelineConfig(
            p4r.GetForwardingPipelineConfigRequest(device_id=DEVICE)
        ).HasField("config")
        telemetry = gnmi_grpc.gNMIStub(anonymous.channel)
        assert telemetry.Get(gnmi.GetRequest(path=[gnmi.Path()], encoding=gnmi.PROTO)).notification
        # The primary's election id is no secret.
        assert refused(lambda: anonymous.write(insert(connect(1, 1)))) == DENIED
        assert refused(anonymous.configure) == DENIED
        assert refused(lambda: set_speed(anonymous)) == DENIED
        ambitious = anonymous.stream()
        ambitious.arbitrate(5)
        error = ambitious.end()
        assert error is not None
        assert (error.code(), error.details()) == (DENIED, "a client without certificate may only read here")
        backup = anonymous.stream()
        backup.arbitrate(None)
        assert backup.receive().arbitration.status.code == rpc_code.ALREADY_EXISTS
        backup.send(p4r.StreamMessageRequest(packet=p4r.PacketOut(payload=b"x")))
        assert backup.receive().error.canonical_code == rpc_code.PERMISSION_DENIED
        # One that can't be checked is none that may read.
        assert refused(lambda: serves(client(certificates.client("elsewhere")))) == UNAVAILABLE


def test_a_certificate_that_is_bound_to_nothing_is_told_nothing(certificates: Certificates) -> None:
    with serving(certificates.tls("optional"), bindings=[Binding("known")]) as client:
        stranger = client(certificates.client("stranger"))
        for method, message in (
            ("/p4.v1.P4Runtime/Read", p4r.ReadRequest(device_id=DEVICE)),
            ("/p4.v1.P4Runtime/StreamChannel", p4r.StreamMessageRequest()),
            ("/gnmi.gNMI/Get", gnmi.GetRequest()),
            ("/gnmi.gNMI/Subscribe", gnmi.SubscribeRequest()),
            ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", p4r.StreamMessageRequest()),
        ):
            call = stranger.channel.stream_stream(method)(iter([message.SerializeToString()]), timeout=WAIT_SECONDS)
            assert refused(lambda call=call: next(call)) == DENIED, method
        # Whether the server is there anybody may ask.
        assert stranger.channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=WAIT_SECONDS) == b"\x08\x01"


def serial(port: str, authority: Path) -> str:
    """The serial number of the certificate that a new connection is shown."""
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"])
    with (
        socket.create_connection(("localhost", int(port)), WAIT_SECONDS) as connection,
        context.wrap_socket(connection, server_hostname="localhost") as secure,
    ):
        found = secure.getpeercert()
        assert found is not None
        return str(found["serialNumber"])


def test_certificates_are_read_anew(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    with P4RuntimeServer(new_switch(), device_id=DEVICE, tls=certificates.tls(None)) as server:
        port = server.address.rpartition(":")[2]
        client = Client(f"localhost:{port}", certificates.client())
        assert serves(client)
        first = serial(port, tmp_path / "ca.pem")
        certificates.issue("localhost")
        until = time.monotonic() + WAIT_SECONDS
        while (second := serial(port, tmp_path / "ca.pem")) == first:
            assert time.monotonic() < until
            time.sleep(0.05)
        # What can't be used is as if it were not there: half of a change, nothing, something else.
        key = (tmp_path / "localhost.key").read_bytes()
        for broken in (b"", b"no key", key[: len(key) // 2]):
            (tmp_path / "localhost.key").write_bytes(broken)
            time.sleep(1.2 * LOOK_SECONDS)
            assert [serial(port, tmp_path / "ca.pem") for _ in range(2)] == [second, second]
        certificates.issue("localhost")
        while serial(port, tmp_path / "ca.pem") == second:
            assert time.monotonic() < until + 2 * WAIT_SECONDS
            time.sleep(0.05)
        # Connected clients have noticed nothing.
        assert serves(client)
        client.close()


def test_the_authority_of_clients_is_read_anew(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    with serving(certificates.tls("required")) as client:
        before = client(certificates.client("before"))
        assert serves(before)
        other = trustme.CA()
        certificates.issue("after", other)
        credentials = [certificates.client(name) for name in ("before", "after")]
        other.cert_pem.write_to_path(tmp_path / "ca.pem")
        until = time.monotonic() + WAIT_SECONDS
        found = None
        while found is None:
            assert time.monotonic() < until
            try:
                serves(client(credentials[0]))
            except grpc.RpcError as error:
                found = error.code()
        assert found == UNAVAILABLE
        assert serves(client(credentials[1]))
        assert serves(before)
