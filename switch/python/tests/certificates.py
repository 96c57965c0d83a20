"""An authority, and the files that it issues."""

from pathlib import Path

import grpc
import trustme

from phb_switch import Tls


class Certificates:
    """PEM files in a folder: `ca.pem`, and for each name `NAME.pem` with `NAME.key`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = trustme.CA()
        self.authority.cert_pem.write_to_path(folder / "ca.pem")
        self.issue("localhost")

    def issue(self, name: str, authority: trustme.CA | None = None, file: str = "") -> None:
        """Writes a certificate with a common name, and its key."""
        issued = (authority or self.authority).issue_cert(name, common_name=name)
        issued.private_key_pem.write_to_path(self.folder / f"{file or name}.key")
        issued.cert_chain_pems[0].write_to_path(self.folder / f"{file or name}.pem")

    def files(self, clients: str | None = "required") -> dict[str, str]:
        """The files of a server; it has an authority for clients only if they are to show certificates."""
        found = {"certificate": str(self.folder / "localhost.pem"), "key": str(self.folder / "localhost.key")}
        if clients is not None:
            found |= {"client_authority": str(self.folder / "ca.pem"), "clients": clients}
        return found

    def tls(self, clients: str | None = "required") -> Tls:
        """The same as the class."""
        return Tls(**self.files(clients))

    def client(self, name: str | None = None) -> grpc.ChannelCredentials:
        """The credentials of a client: a new certificate with this name, or none."""
        authority = (self.folder / "ca.pem").read_bytes()
        if name is None:
            return grpc.ssl_channel_credentials(authority)
        if not (self.folder / f"{name}.pem").exists():
            self.issue(name)
        files = [(self.folder / f"{name}.{ending}").read_bytes() for ending in ("key", "pem")]
        return grpc.ssl_channel_credentials(authority, *files)
