"""A real PostgreSQL in a folder of its own: started, stopped, killed, frozen and started again on the same port.

`postgresql` is one server for all tests of a process, `database` a fresh database there for one test. A test that ends
with the server down harms no other: each gets it running.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

PROGRAMS = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "listen_addresses": "127.0.0.1",
    "autovacuum": "off",
    "max_wal_senders": "0",
    "wal_level": "minimal",
}
ACCESS = """\
local all all trust
host all with_password 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
"""
PASSWORD = "p@ss:w/rd ?#%é'\"\\"


class PostgreSQL:
    """A cluster and its server. The role `with_password` needs `PASSWORD` over TCP; all others need none."""

    def __init__(self) -> None:
        assert PROGRAMS is not None
        self.folder = Path(tempfile.mkdtemp(prefix="phb-postgresql-", dir="/tmp"))
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = count(1)
        # It refuses to run as root.
        self._as_user = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
            # Ends with the tests, however they end.
            self._as_user += ["--pdeathsig", "KILL"]
        self._run("initdb", "-D", self._data, "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "-N")
        (self._data / "pg_hba.conf").write_text(ACCESS)
        self.start()
        self.sql("CREATE ROLE with_password LOGIN PASSWORD $word$" + PASSWORD + "$word$", "CREATE ROLE plain LOGIN")

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _run(self, program, *arguments):
        command = [*self._as_user, PROGRAMS / program, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")

    def url(self, name="postgres", *, user="postgres", tcp=True):
        """Give the URL of a database; over TCP, or the Unix socket."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{name}" if tcp else self._url(name, user)

    def _url(self, name, user="postgres"):
        return f"postgresql://{user}@/{name}?host={self.folder}&port={self.port}"

    def start(self):
        """Start, and wait until it answers. Its end comes with that of the thread."""
        settings = SETTINGS | {"port": str(self.port), "unix_socket_directories": str(self.folder)}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*self._as_user, PROGRAMS / "postgres", "-D", self._data, *options], stdout=log, stderr=log, cwd="/"
            )
        self.wait()

    def wait(self):
        """Wait until it answers."""
        import psycopg

        until = time.monotonic() + 60
        while True:
            try:
                self.sql()
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < until
                time.sleep(0.02)
            else:
                return

    def stop(self, how="fast"):
        """Stop: `fast` ends what is under way, `immediate` is a crash, `kill` is kill -9 of the postmaster."""
        assert self._process is not None
        children = self._children()
        number = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT, "kill": signal.SIGKILL}[how]
        self._process.send_signal(number)
        self._process.wait(60)
        self._process = None
        until = time.monotonic() + 60
        # Its children notice its end by themselves; the next one doesn't start before that.
        while how == "kill" and any(map(_lives, children)) and time.monotonic() < until:
            time.sleep(0.01)

    def restart(self, how="fast"):
        """Stop, and start again on the same port."""
        self.stop(how)
        self.start()

    def freeze(self):
        """Let nothing of it run any more; connections stay, and no answer comes."""
        for process in self._children(), [self._process.pid]:
            for number in process:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGSTOP)

    def thaw(self):
        """Let it go on."""
        for number in [self._process.pid, *self._children()]:
            # Some of them end by themselves.
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGCONT)

    def _children(self):
        return [
            int(word)
            for word in Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        ]

    def running(self):
        """Start it where a test has left it stopped or frozen."""
        if self._process is None or self._process.poll() is not None:
            self.start()
        else:
            self.thaw()

    def sql(self, *statements, name="postgres"):
        """Run statements as the superuser; give the rows of the last one, if it gives some."""
        import psycopg

        with psycopg.connect(self._url(name), autocommit=True, connect_timeout=10) as connection:
            rows = None
            for statement in statements:
                cursor = connection.execute(statement)
                rows = cursor.fetchall() if cursor.description else None
            return rows

    def fresh(self):
        """Make a database; give its name."""
        name = f"test{next(self._databases)}"
        self.sql(f"CREATE DATABASE {name}")
        return name

    def close(self):
        """Stop it and remove its folder."""
        if self._process is not None:
            self.thaw()
            self.stop("immediate")
        shutil.rmtree(self.folder)


def _free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def _lives(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.fixture(scope="session")
def _cluster():
    if PROGRAMS is None:
        pytest.skip("PostgreSQL isn't installed (Debian: postgresql)")
    pytest.importorskip("psycopg", reason="psycopg isn't installed (pip install 'phb[postgresql]')")
    cluster = PostgreSQL()
    yield cluster
    cluster.close()


@pytest.fixture
def postgresql(_cluster):
    """A running server."""
    _cluster.running()
    yield _cluster
    _cluster.running()


@pytest.fixture
def database(postgresql):
    """The URL of a fresh database, over the Unix socket."""
    return postgresql.url(postgresql.fresh(), tcp=False)
