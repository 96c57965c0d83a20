"""A real slapd on a loopback port, with a configuration, a database and certificates of its own."""

import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "ldap"
SCHEMAS = (Path("/etc/ldap/schema/core.ldif"), EXAMPLES / "pcim.ldif", EXAMPLES / "phb.ldif")
SLAPD = shutil.which("slapd", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/lib/openldap")

ADMIN, READER, PASSWORD = "cn=admin,o=example", "cn=phb,o=example", "a pass word"
READER_ENTRY = f"""
dn: {READER}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: phb
userPassword: {PASSWORD}
"""

CONFIG = """\
dn: cn=config
objectClass: olcGlobal
cn: config
olcTLSCACertificateFile: {folder}/ca.pem
olcTLSCertificateFile: {folder}/server.pem
olcTLSCertificateKeyFile: {folder}/server.key
olcTLSVerifyClient: try

dn: cn=schema,cn=config
objectClass: olcSchemaConfig
cn: schema

{includes}

dn: cn=module,cn=config
objectClass: olcModuleList
cn: module
olcModulePath: /usr/lib/ldap
olcModuleLoad: back_mdb

dn: olcDatabase=mdb,cn=config
objectClass: olcDatabaseConfig
objectClass: olcMdbConfig
olcDatabase: mdb
olcDbDirectory: {folder}/data
olcDbMaxSize: 1073741824
olcSuffix: o=example
olcRootDN: {admin}
olcRootPW: {password}
olcSizeLimit: {size_limit}
olcAccess: to attrs=userPassword by anonymous auth
olcAccess: to * by users read
"""


def free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


@dataclass
class Slapd:
    """One server. `tree` is LDIF; its suffix is ``o=example``, its only reader `READER`; `schemas` are more of them."""

    folder: Path
    tree: str
    schemas: tuple[Path, ...] = ()
    size_limit: str = "size.soft=500 size.hard=500 size.prtotal=unlimited"
    port: int = field(default_factory=free_port)
    tls_port: int = field(default_factory=free_port)
    process: subprocess.Popen | None = None

    def set_up(self, authority) -> None:
        (self.folder / "data").mkdir()
        (self.folder / "config").mkdir()
        certificate = authority.issue_cert("localhost", "127.0.0.1")
        authority.cert_pem.write_to_path(str(self.folder / "ca.pem"))
        certificate.private_key_pem.write_to_path(str(self.folder / "server.key"))
        for pem in certificate.cert_chain_pems:
            pem.write_to_path(str(self.folder / "server.pem"), append=True)
        includes = "\n\n".join(f"include: file://{schema}" for schema in (*SCHEMAS, *self.schemas))
        config = CONFIG.format(
            folder=self.folder, includes=includes, admin=ADMIN, password=PASSWORD, size_limit=self.size_limit
        )
        self._add(0, config)
        self._add(1, self.tree + READER_ENTRY)

    def _add(self, database: int, text: str) -> None:
        file = self.folder / f"{database}.ldif"
        file.write_text(text)
        command = [SLAPD, "-T", "add", "-F", self.folder / "config", "-n", str(database), "-l", file, "-q"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        addresses = f"ldap://127.0.0.1:{self.port}/ ldaps://127.0.0.1:{self.tls_port}/"
        # With -d it stays our child instead of becoming a daemon.
        self.process = subprocess.Popen(
            [SLAPD, "-h", addresses, "-F", self.folder / "config", "-d", "0"],
            stderr=subprocess.DEVNULL,
        )
        for _ in range(1000):
            assert self.process.poll() is None, "slapd ended"
            try:
                socket.create_connection(("127.0.0.1", self.tls_port), 1).close()
                return
            except OSError:
                time.sleep(0.01)
        raise AssertionError("slapd doesn't listen")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def url(self, base: str, *, tls: bool = False, host: str = "127.0.0.1") -> str:
        return f"ldaps://{host}:{self.tls_port}/{base}" if tls else f"ldap://{host}:{self.port}/{base}"

    def modify(self, dn: str, attribute: str, value: str | None) -> None:
        """Replace an attribute's value as the administrator; None removes it."""
        import ldap

        connection = ldap.initialize(self.url("").rstrip("/"))
        connection.simple_bind_s(ADMIN, PASSWORD)
        connection.modify_s(dn, [(ldap.MOD_REPLACE, attribute, None if value is None else [value.encode()])])
        connection.unbind_s()
