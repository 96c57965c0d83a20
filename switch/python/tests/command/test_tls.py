"""Certificates: files that are wrong, clients that may and that may not."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
import pytest
import trustme
from finsy import GNMIClient, GNMIPath, GRPCCredentialsTLS
from finsy.proto import gnmi, gnmi_grpc, p4r, p4r_grpc

from .test_start import ANYWHERE, DEVICE, ended, pcap, running


@dataclass(frozen=True)
class Files:
    """The switch's options of TLS."""

    certificate: Path
    key: Path
    client_authority: Path | None
    client_required: bool

    @property
    def options(self) -> list[str]:
        options = ["--grpc-server-ssl", "--grpc-server-cert", str(self.certificate), "--grpc-server-key", str(self.key)]
        if self.client_authority is not None:
            options += ["--grpc-server-cacert", str(self.client_authority)]
        return [*options, "--grpc-server-with-client-auth"] if self.client_required else options


class Certificates:
    """An authority, a server's certificate from it, and clients' from it and from another one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = trustme.CA()
        self.authority.cert_pem.write_to_path(str(folder / "ca.pem"))
        self.write("server", self.authority.issue_cert("localhost", "127.0.0.1"))
        self.files = Files(
            certificate=folder / "server.pem",
            key=folder / "server.key",
            client_authority=folder / "ca.pem",
            client_required=True,
        )

    def write(self, name: str, certificate: trustme.LeafCert) -> None:
        (self.folder / f"{name}.pem").write_bytes(b"".join(each.bytes() for each in certificate.cert_chain_pems))
        certificate.private_key_pem.write_to_path(str(self.folder / f"{name}.key"))

    def client(self, name: str, authority: trustme.CA | None = None) -> grpc.ChannelCredentials:
        self.write(name, (authority or self.authority).issue_cert(f"{name}@example.net", common_name=name))
        return grpc.ssl_channel_credentials(
            (self.folder / "ca.pem").read_bytes(),
            (self.folder / f"{name}.key").read_bytes(),
            (self.folder / f"{name}.pem").read_bytes(),
        )

    def anonymous(self) -> grpc.ChannelCredentials:
        return grpc.ssl_channel_credentials((self.folder / "ca.pem").read_bytes())


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path)


@contextmanager
def serving(files: Files, bound: str = "") -> Iterator[int]:
    folder = files.certificate.parent
    (folder / "eth1_in.pcap").write_bytes(pcap())
    options = ["--no-p4", "--use-files", "0", "-i", "1@eth1", "--grpc-server-addr", ANYWHERE, *files.options]
    if bound:
        (folder / "bindings.toml").write_text(bound)
        options += ["--client-bindings", "bindings.toml"]
    with running(folder, *options) as (_, port):
        yield port


def capabilities(port: int, credentials: grpc.ChannelCredentials) -> grpc.StatusCode:
    """How a client fares that asks for P4Runtime's capabilities."""
    with grpc.secure_channel(f"localhost:{port}", credentials) as channel:
        try:
            p4r_grpc.P4RuntimeStub(channel).Capabilities(p4r.CapabilitiesRequest(device_id=DEVICE), timeout=60)
        except grpc.RpcError as error:
            return error.code()
    return grpc.StatusCode.OK


def set_speed(port: int, credentials: grpc.ChannelCredentials) -> grpc.StatusCode:
    """How a client fares that sets something by gNMI."""
    request = gnmi.SetRequest()
    names = ("interfaces", "interface", "ethernet", "config", "port-speed")
    where = gnmi.Path(elem=[gnmi.PathElem(name=name) for name in names])
    where.elem[1].key["name"] = "eth1"
    request.update.add(path=where, val=gnmi.TypedValue(string_val="SPEED_1GB"))
    with grpc.secure_channel(f"localhost:{port}", credentials) as channel:
        try:
            gnmi_grpc.gNMIStub(channel).Set(request, timeout=60)
        except grpc.RpcError as error:
            return error.code()
    return grpc.StatusCode.OK


def test_without_client_certificates(certificates: Certificates) -> None:
    files = replace(certificates.files, client_authority=None, client_required=False)
    with serving(files) as port:
        assert capabilities(port, certificates.anonymous()) == grpc.StatusCode.OK
        # A client that does not trust the server's authority does not talk to it.
        assert capabilities(port, grpc.ssl_channel_credentials()) == grpc.StatusCode.UNAVAILABLE


def test_who_is_let_in(certificates: Certificates) -> None:
    with serving(certificates.files) as port:
        assert capabilities(port, certificates.client("known")) == grpc.StatusCode.OK
        assert set_speed(port, certificates.client("known")) == grpc.StatusCode.OK
        assert capabilities(port, certificates.anonymous()) == grpc.StatusCode.UNAVAILABLE
        assert capabilities(port, certificates.client("stranger", trustme.CA())) == grpc.StatusCode.UNAVAILABLE
        with grpc.insecure_channel(f"localhost:{port}") as channel:
            with pytest.raises(grpc.RpcError) as caught:
                p4r_grpc.P4RuntimeStub(channel).Capabilities(p4r.CapabilitiesRequest(), timeout=60)
            assert caught.value.code() == grpc.StatusCode.UNAVAILABLE


BOUND = """
[[client]]
name = "writer"
devices = [7]

[[client]]
name = "reader@example.net"
read_only = true

[[client]]
name = "packets"
roles = ["packets"]

[[client]]
name = "elsewhere"
devices = [8]
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("writer", grpc.StatusCode.OK),
        ("reader", grpc.StatusCode.PERMISSION_DENIED),
        ("packets", grpc.StatusCode.PERMISSION_DENIED),
        ("elsewhere", grpc.StatusCode.PERMISSION_DENIED),
        ("unbound", grpc.StatusCode.PERMISSION_DENIED),
    ],
)
def test_who_may_set(certificates: Certificates, name: str, expected: grpc.StatusCode) -> None:
    with serving(certificates.files, BOUND) as port:
        assert set_speed(port, certificates.client(name)) == expected


async def test_finsy_with_a_certificate(certificates: Certificates) -> None:
    certificates.client("reader")
    credentials = GRPCCredentialsTLS(
        cacert=certificates.folder / "ca.pem",
        cert=certificates.folder / "reader.pem",
        private_key=certificates.folder / "reader.key",
    )
    with serving(certificates.files, BOUND) as port:
        async with GNMIClient(f"localhost:{port}", credentials) as client:
            (found,) = await client.get(GNMIPath("interfaces/interface[name=eth1]/state/id"))
            assert found.value == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"certificate": "absent"}, "--grpc-server-cert .*absent: No such file"),
        ({"key": "absent"}, "--grpc-server-key .*absent: No such file"),
        ({"client_authority": "absent"}, "--grpc-server-cacert .*absent: No such file"),
        ({"certificate": "garbage"}, "--grpc-server-cert .*garbage.*expected certificate and key in PEM"),
        ({"key": "garbage"}, "expected certificate and key in PEM"),
        ({"client_authority": "garbage"}, "--grpc-server-cacert .*garbage: expected certificates in PEM"),
        ({"key": "other.key"}, "--grpc-server-key .*other.key: not the key of .*server.pem"),
        ({"key": "encrypted.key"}, "--grpc-server-key .*encrypted.key: expected a key without a password"),
    ],
)
def test_wrong_files(certificates: Certificates, change: dict[str, str], words: str) -> None:
    from cryptography.hazmat.primitives import serialization

    certificates.client("other")
    (certificates.folder / "garbage").write_bytes(b"garbage")
    key = serialization.load_pem_private_key((certificates.folder / "server.key").read_bytes(), None)
    (certificates.folder / "encrypted.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    files = replace(certificates.files, **{name: certificates.folder / file for name, file in change.items()})  # type: ignore[arg-type]
    result = ended("--no-p4", "--grpc-server-addr", ANYWHERE, *files.options)
    assert result.returncode == 2
    assert re.search(words, result.stderr), result.stderr
    assert len(result.stderr.splitlines()) == 1
