"""Every command that talks to a switch, with a real one that asks for certificates."""

import pytest
import trustme

from phb import cli


@pytest.fixture(scope="module")
def pem(tmp_path_factory):
    """Certificates by name: `ca`, `other` authorities; `server`, `client`, `stranger` with keys."""
    folder = tmp_path_factory.mktemp("pem")
    ours, theirs = trustme.CA(), trustme.CA()
    ours.cert_pem.write_to_path(folder / "ca.pem")
    theirs.cert_pem.write_to_path(folder / "other.pem")
    issued = {
        "server": ours.issue_cert("switch.example.net"),
        "client": ours.issue_cert("controller.example.net"),
        "stranger": theirs.issue_cert("controller.example.net"),
    }
    for name, certificate in issued.items():
        certificate.private_key_pem.write_to_path(folder / f"{name}.key")
        (folder / f"{name}.pem").write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
    return folder


@pytest.fixture(scope="module")
def address(pem, run_switch):
    """A switch that wants client certificates."""
    return run_switch(
        *("--grpc-server-ssl", "--grpc-server-cert", pem / "server.pem", "--grpc-server-key", pem / "server.key"),
        *("--grpc-server-cacert", pem / "ca.pem", "--grpc-server-with-client-auth"),
    ).address


def options(pem, ca="ca.pem", client="client", name="switch.example.net"):
    given = ["--tls-ca", pem / ca, "--tls-server-name", name]
    if client:
        given += ["--tls-cert", pem / f"{client}.pem", "--tls-key", pem / f"{client}.key"]
    return [str(value) for value in given]


def run(capsys, *arguments):
    code = cli.run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_every_command_that_talks_to_a_switch(capsys, pem, address, examples):
    where = ["--address", address, *options(pem)]
    assert run(capsys, "plan", *where, examples / "c3640.yaml")[0] == 0
    code, out, err = run(capsys, "push", *where, examples / "c3640.yaml")
    assert (code, err) == (0, "")
    assert "c3640: 6 inserted" in out
    for what in ("entries", "policy", "counters"):
        code, out, err = run(capsys, "show", what, *where, "--json")
        assert (code, err) == (0, "")


def test_options_from_the_environment(capsys, pem, address, monkeypatch):
    given = options(pem)
    for name, value in zip(given[::2], given[1::2], strict=True):
        monkeypatch.setenv("PHB_" + name[2:].upper().replace("-", "_"), value)
    assert run(capsys, "show", "counters", "--address", address)[0] == 0


REFUSED = {
    "plain text": [],
    "no certificate": {"client": None},
    "a certificate of another authority": {"client": "stranger"},
    "a switch of another authority": {"ca": "other.pem"},
    "a switch of another name": {"name": "elsewhere.example.net"},
}


@pytest.mark.parametrize("case", REFUSED)
def test_who_does_not_get_in(capsys, pem, address, case):
    given = options(pem, **REFUSED[case]) if REFUSED[case] else []
    code, out, err = run(capsys, "show", "entries", "--address", address, *given)
    assert (code, out) == (1, "")
    assert err.startswith(f"phb: {address}: the switch can't be reached (")
    assert err.count("\n") == 1


@pytest.mark.parametrize("option", ["--tls-cert", "--tls-key", "--tls-server-name"])
def test_tls_is_turned_on_by_the_authority(capsys, option):
    code, _, err = run(capsys, "show", "entries", option, "x")
    assert code == 2
    assert err == f"phb: {option}: found no --tls-ca, expected the authority of the switch's certificate\n"
