"""TLS from files: the server's certificate, and the authority that clients' certificates come from."""

import ssl
from pathlib import Path

import grpc

from phb_switch.command.errors import InputError
from phb_switch.command.options import Tls


def credentials(files: Tls) -> grpc.ServerCredentials:
    """What the server shows and asks for.

    Raises:
        InputError: a file can't be read, or is not what it should be.

    """
    chain = _read("--grpc-server-cert", files.certificate)
    key = _read("--grpc-server-key", files.key)
    authority = None
    if files.client_authority is not None:
        authority = _read("--grpc-server-cacert", files.client_authority)
    # gRPC takes any bytes and fails at the first handshake; OpenSSL says at once what is wrong.
    _check(files)
    return grpc.ssl_server_credentials(
        [(key, chain)], root_certificates=authority, require_client_auth=files.client_required
    )


def _read(option: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{option} {path}: {error.strerror}") from None


def _check(files: Tls) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(files.certificate, files.key, password=_refuse_password)
    except _EncryptedError:
        raise InputError(f"--grpc-server-key {files.key}: expected a key without a password") from None
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise InputError(f"--grpc-server-key {files.key}: not the key of {files.certificate}") from None
        raise InputError(
            f"--grpc-server-cert {files.certificate}, --grpc-server-key {files.key}: expected certificate and key "
            "in PEM"
        ) from None
    if files.client_authority is not None:
        try:
            context.load_verify_locations(files.client_authority)
        except ssl.SSLError:
            raise InputError(f"--grpc-server-cacert {files.client_authority}: expected certificates in PEM") from None


class _EncryptedError(Exception):
    """The key needs a password, and there is nobody to ask."""


def _refuse_password() -> str:
    raise _EncryptedError
