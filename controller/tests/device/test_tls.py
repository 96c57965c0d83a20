"""Mutual TLS: who is let in, and errors that say which file is wrong."""

import pytest
import trustme

import phb_switch
from phb import InputError, SwitchError
from phb.device.session import Session
from phb.device.tls import Tls
from phb_switch import P4RuntimeServer, PortConfig, Switch


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """PEM files by name: two authorities, and certificates of theirs."""
    folder = tmp_path_factory.mktemp("tls")
    for authority_name in ("ca", "other-ca"):
        authority = trustme.CA()
        authority.cert_pem.write_to_path(folder / f"{authority_name}.pem")
        for name in ("switch.example", "controller"):
            issued = authority.issue_cert(name)
            issued.private_key_pem.write_to_path(folder / f"{authority_name}-{name}.key")
            issued.cert_chain_pems[0].write_to_path(folder / f"{authority_name}-{name}.pem")
    (folder / "text.pem").write_text("no certificate")
    return folder


@pytest.fixture
def address(files):
    certificate, key = files / "ca-switch.example.pem", files / "ca-switch.example.key"
    of_switch = phb_switch.Tls(certificate, key, client_authority=files / "ca.pem")
    server = P4RuntimeServer(Switch("dut", {1: PortConfig()}), device_id=1, tls=of_switch)
    yield f"127.0.0.1:{server.start()}"
    server.stop()


def tls(files, *, ca="ca.pem", certificate="ca-controller", server_name="switch.example"):
    return Tls(files / ca, files / f"{certificate}.pem", files / f"{certificate}.key", server_name)


async def test_a_controller_of_the_same_authority_is_primary(address, files, artifact):
    async with Session(address, 1, artifact, tls=tls(files)) as session:
        await session.become_primary()
        await session.set_artifact()
        assert await session.rows() == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"ca": "other-ca.pem"}, r"certificate is not signed by an authority of .*other-ca\.pem, or has expired"),
        ({"server_name": "another.example"}, "doesn't have the name 'another.example'"),
        ({"certificate": "other-ca-controller"}, r"can't be reached|not accept our certificate"),
    ],
)
async def test_who_is_not_trusted(address, files, artifact, wrong, words):
    async with Session(address, 1, artifact, tls=tls(files, **wrong)) as session:
        with pytest.raises(SwitchError, match=words):
            await session.become_primary()


async def test_a_switch_without_tls(files, artifact):
    server = P4RuntimeServer(Switch("dut", {1: PortConfig()}), device_id=1)
    try:
        async with Session(f"127.0.0.1:{server.start()}", 1, artifact, tls=tls(files)) as session:
            with pytest.raises(SwitchError, match="the switch speaks no TLS there"):
                await session.become_primary()
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("certificates", "words"),
    [
        (("absent.pem", None, None), r"absent\.pem: found no such file or directory, expected a PEM file of cert"),
        (("text.pem", None, None), r"text\.pem: found no such thing .*, expected a PEM file of certificate auth"),
        (("ca.pem", "text.pem", "ca-controller.key"), r"text\.pem: found .*, expected a PEM certificate"),
        (("ca.pem", "ca-controller.pem", "text.pem"), r"text\.pem: found .*, expected a PEM private key"),
        (("ca.pem", "ca-controller.pem", "absent.key"), r"absent\.key: found no such file or directory, exp.* key"),
        (("ca.pem", "ca-controller.pem", "other-ca-controller.key"), r"found the key of another certificate, expected"),
        (("ca.pem", "ca-controller.pem", None), r"ca-controller\.pem: found no key for it, expected certificate and"),
        (("ca.pem", None, "ca-controller.key"), r"ca-controller\.key: found no certificate for it, expected cert"),
    ],
)
def test_wrong_files(files, certificates, words):
    paths = [files / name if name is not None else None for name in certificates]
    with pytest.raises(InputError, match=words):
        Tls(*paths).credentials()
