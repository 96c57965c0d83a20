"""Client certificates bound to roles and devices, over TLS."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from finsy.proto import p4r, p4r_grpc, rpc_code

from phb_switch import Binding, P4RuntimeServer, Switch, Tls

from .support import DEVICE, Stream

DENIED = grpc.StatusCode.PERMISSION_DENIED

BINDINGS = [
    Binding("operator"),
    Binding("router", roles={"routing", ""}, device_ids={DEVICE}),
    Binding("elsewhere", device_ids={DEVICE + 1}),
    Binding("monitor", read_only=True),
    Binding("alternative.example", roles={"routing"}),
]


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def certificate(folder: Path, name: str, alternative: str = "") -> None:
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key")
    openssl(folder, "req", *key, "-out", f"{name}.csr", "-subj", f"/CN={name}")
    (folder / "extensions").write_text(f"subjectAltName=DNS:{alternative or name}")
    issuer = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "extensions")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.crt", *issuer)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and certificates for the server and for clients."""
    folder = tmp_path_factory.mktemp("certificates")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "ca.key")
    openssl(folder, "req", "-x509", *key, "-out", "ca.crt", "-subj", "/CN=authority")
    certificate(folder, "localhost")
    for binding in BINDINGS[:-1]:
        certificate(folder, binding.name)
    certificate(folder, "stranger")
    certificate(folder, "unnamed", alternative="alternative.example")
    return folder


@pytest.fixture
def address(switch: Switch, folder: Path) -> Iterator[str]:
    tls = Tls(folder / "localhost.crt", folder / "localhost.key", client_authority=folder / "ca.crt")
    server = P4RuntimeServer(switch, device_id=DEVICE, tls=tls, bindings=BINDINGS)
    yield f"localhost:{server.start()}"
    server.stop()


class Peer:
    """A client with a certificate."""

    def __init__(self, address: str, folder: Path, name: str) -> None:
        credentials = grpc.ssl_channel_credentials(
            (folder / "ca.crt").read_bytes(),
            (folder / f"{name}.key").read_bytes(),
            (folder / f"{name}.crt").read_bytes(),
        )
        self.channel = grpc.secure_channel(address, credentials)
        self.stub = p4r_grpc.P4RuntimeStub(self.channel)

    def arbitrate(self, role: str, *, election_id: int | None = 1) -> grpc.StatusCode | int:
        """How a stream ends that arbitrates, or the status it is told."""
        stream = Stream(self.stub)
        stream.arbitrate(election_id, role=role)
        try:
            return stream.receive().arbitration.status.code
        except AssertionError as error:
            (ended,) = error.args
            assert isinstance(ended, grpc.RpcError)
            return ended.code()
        finally:
            stream.close()


@pytest.mark.parametrize(
    ("name", "role", "election_id", "expected"),
    [
        ("operator", "", 1, rpc_code.OK),
        ("operator", "anything", 1, rpc_code.OK),
        ("router", "routing", 1, rpc_code.OK),
        ("router", "", 1, rpc_code.OK),
        ("router", "acl", 1, DENIED),
        ("router", "acl", None, DENIED),
        ("elsewhere", "", 1, DENIED),
        ("monitor", "", 1, DENIED),
        ("monitor", "", None, rpc_code.NOT_FOUND),  # a backup without a primary
        ("stranger", "", 1, DENIED),
        ("unnamed", "routing", 1, rpc_code.OK),
        ("unnamed", "", 1, DENIED),
    ],
)
def test_arbitration(
    address: str, folder: Path, name: str, role: str, election_id: int | None, expected: object
) -> None:
    peer = Peer(address, folder, name)
    assert peer.arbitrate(role, election_id=election_id) == expected
    peer.channel.close()


@pytest.mark.parametrize(
    ("name", "role", "write", "read"),
    [
        # The primary's election id is no secret: what decides is the certificate.
        ("operator", "", grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.FAILED_PRECONDITION),
        ("router", "", grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.FAILED_PRECONDITION),
        ("router", "acl", DENIED, DENIED),
        ("elsewhere", "", DENIED, DENIED),
        ("monitor", "", DENIED, grpc.StatusCode.FAILED_PRECONDITION),
        ("stranger", "", DENIED, DENIED),
    ],
)
def test_unary_calls(
    address: str, folder: Path, name: str, role: str, write: grpc.StatusCode, read: grpc.StatusCode
) -> None:
    operator = Peer(address, folder, "operator")
    primary = Stream(operator.stub)
    primary.arbitrate(5)
    assert primary.receive().arbitration.status.code == rpc_code.OK
    peer = Peer(address, folder, name)
    request = p4r.WriteRequest(device_id=DEVICE, role=role, election_id=p4r.Uint128(low=5))
    with pytest.raises(grpc.RpcError) as caught:
        peer.stub.Write(request)
    assert caught.value.code() == write
    with pytest.raises(grpc.RpcError) as caught:
        list(peer.stub.Read(p4r.ReadRequest(device_id=DEVICE, role=role)))
    assert caught.value.code() == read
    configure = p4r.SetForwardingPipelineConfigRequest(device_id=DEVICE, role=role, election_id=request.election_id)
    with pytest.raises(grpc.RpcError) as caught:
        peer.stub.SetForwardingPipelineConfig(configure)
    assert caught.value.code() == (grpc.StatusCode.INVALID_ARGUMENT if write is not DENIED else DENIED)
    primary.close()
    peer.channel.close()
    operator.channel.close()


def test_refusals_name_what_is_missing(address: str, folder: Path) -> None:
    peer = Peer(address, folder, "router")
    with pytest.raises(grpc.RpcError) as caught:
        peer.stub.Write(p4r.WriteRequest(device_id=DEVICE, role="acl"))
    assert caught.value.details() == "the certificate of 'router' is not bound to role 'acl'"
    peer.channel.close()
