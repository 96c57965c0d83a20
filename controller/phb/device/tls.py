"""The certificates of a session: mutual TLS, as gRPC wants it and with errors that say which file is wrong."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from finsy import GRPCCredentialsTLS

from phb.errors import InputError
from phb.files import read_bytes
from phb.origin import Origin


@dataclass(frozen=True)
class Tls:
    """The controller's own certificate, and the authorities that it trusts.

    Attributes:
        ca: PEM file of the authorities whose signature a switch must have; None is those that gRPC comes with.
        certificate: PEM file of our own certificate; None where the switch doesn't ask for one.
        key: PEM file of its key, without a password; always with `certificate`.
        server_name: The name that the switch's certificate must have, where that isn't the address's host.
    """

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    server_name: str | None = None

    def credentials(self) -> GRPCCredentialsTLS:
        """Read and check the files.

        Raises:
            InputError: One can't be read, isn't PEM, or the key isn't the certificate's.
        """
        if self.ca is not None:
            _check_authority(self.ca)
        if self.certificate is not None and self.key is not None:
            check_pair(self.certificate, self.key)
        elif self.certificate is not None or self.key is not None:
            given, absent = (self.certificate, "key") if self.key is None else (self.key, "certificate")
            raise InputError(
                Origin(str(given)), f"no {absent} for it", "certificate and key: TLS needs both or neither"
            )
        return GRPCCredentialsTLS(
            cacert=self.ca,
            cert=self.certificate,
            private_key=self.key,
            target_name_override=self.server_name or "",
        )

    def explain(self, message: str) -> str:
        """Say what gRPC's words of a failed handshake mean for these files; give other words back."""
        if "certificate has expired" in message:
            return "the switch's certificate has expired"
        if "CERTIFICATE_VERIFY_FAILED" in message:
            by = f"of {self.ca}" if self.ca is not None else "that gRPC knows (no CA file was given)"
            return f"the switch's certificate is not signed by an authority {by}, or has expired"
        if "Hostname Verification Check failed" in message or "is not in peer certificate" in message:
            name = f"the name '{self.server_name}'" if self.server_name else "the name of the address"
            return f"the switch's certificate doesn't have {name}; say which name it has as the server's name"
        if "WRONG_VERSION_NUMBER" in message:
            return "the switch speaks no TLS there"
        if "CERTIFICATE_REQUIRED" in message or "ALERT_BAD_CERTIFICATE" in message or "UNKNOWN_CA" in message:
            shown = self.certificate or "none"
            return f"the switch does not accept our certificate ({shown})"
        return message


def _check_authority(path: Path) -> None:
    read_bytes(path, "a PEM file of certificate authorities")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=str(path))
    except ssl.SSLError as error:
        raise InputError(Origin(str(path)), _reason(error), "a PEM file of certificate authorities") from None


def check_pair(certificate: Path, key: Path) -> None:
    """Check a certificate and its key.

    Raises:
        InputError: One can't be read, isn't PEM, or the key isn't the certificate's.
    """
    read_bytes(certificate, "a PEM certificate")
    read_bytes(key, "a PEM private key without a password")
    try:
        # Into an object of its own first: the errors of certificate and key would read alike.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=str(certificate))
    except ssl.SSLError as error:
        raise InputError(Origin(str(certificate)), _reason(error), "a PEM certificate") from None

    def no_password() -> str:
        raise InputError(Origin(str(key)), "a key with a password", "a PEM private key without a password")

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(certificate, key, password=no_password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise InputError(Origin(str(key)), "the key of another certificate", f"the key of {certificate}") from None
        raise InputError(Origin(str(key)), _reason(error), "a PEM private key without a password") from None


def _reason(error: ssl.SSLError) -> str:
    return f"no such thing ({error.reason or error})"
