"""docs/operate/runbooks.md: its commands are commands, and in a small network what it says happens.

Two watches share three real switches by a real PostgreSQL. A controller is killed, the database is stopped and restored
from a backup, a switch is replaced and a certificate renewed; each time the runbook's commands are run.
"""

import os
import re
import shlex
import signal
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import trustme
import typer

from controller.tests.postgresql import PROGRAMS
from phb.cli.commands import app

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "operate" / "runbooks.md").read_text()
POLICY = """
phb: 1
classes: [{name: gold}]
actions: [{name: gold, class: gold}]
rules: [{name: first, match: {protocol: udp}, actions: [gold]}]
"""
PATIENCE_S = 120  # what a busy machine may take


def section(heading):
    """The text below a heading, up to the next one."""
    (found,) = re.findall(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", DOCUMENT, flags=re.MULTILINE | re.DOTALL)
    return found


def commands(text):
    return re.findall(r"^\$ (phb .*)$", text, flags=re.MULTILINE)


SAID = sorted({*commands(DOCUMENT), *re.findall(r"`(phb [a-z][^`]*)`", DOCUMENT)})


@pytest.mark.parametrize("line", SAID)
def test_every_command_is_one(line):
    command, words = typer.main.get_command(app), shlex.split(line)[1:]
    while words and hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    known = {option for each in command.params for option in each.opts}
    assert {word for word in words if word.startswith("--")} <= known


class Watch:
    """A watch in a process of its own, and what it tells."""

    def __init__(self, *options):
        self.told = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "phb", "watch", "--share", *options], stdout=subprocess.PIPE, text=True
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.told += line

    def until(self, pattern, since=0):
        """Wait until it tells something that begins after so many letters; give how much it has told then."""
        end = time.monotonic() + PATIENCE_S
        while not (found := re.compile(pattern, re.MULTILINE).search(self.told, since)):
            assert time.monotonic() < end, (pattern, self.told)
            assert self.process.poll() is None, self.told
            time.sleep(0.02)
        return found.end()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def network(run_switch, tmp_path, monkeypatch):
    """Three switches in an inventory, in the present folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    switches = {name: run_switch() for name in ("edge", "core", "west")}
    lines = [
        f"  - {{name: {name}, address: '{each.address}', policies: [policy.yaml]}}" for name, each in switches.items()
    ]
    Path("policy.yaml").write_text(POLICY)
    Path("network.yaml").write_text("\n".join(["phb-inventory: 1", "switches:", *lines, ""]))
    monkeypatch.setenv("PHB_INVENTORY", "network.yaml")
    return switches


def run_all(phb, heading):
    """Run a section's commands; give what each printed."""
    printed = {}
    for line in commands(section(heading)):
        code, out, err = phb(*shlex.split(line)[1:])
        assert code == 0, (line, out, err)
        printed[line.removeprefix("phb ").partition(" ")[0]] = out
    return printed


def test_what_the_runbooks_say_happens(network, postgresql, phb, monkeypatch, tmp_path):
    name = postgresql.fresh()
    monkeypatch.setenv("PHB_STATE", postgresql.url(name))
    kept = "|".join(network)
    one, other = Watch(), Watch()
    try:
        for each in (one, other):
            each.until("members: 2 controllers share the switches")
        end = time.monotonic() + PATIENCE_S
        while len(set(re.findall(rf"({kept}): (?:applied|in-sync)", one.told + other.told))) < 3:
            assert time.monotonic() < end, one.told + other.told
            time.sleep(0.02)

        one.process.kill()
        other.until("members: one controller keeps the switches: ")
        for switch in network:
            other.until(f"{switch}: (applied|in-sync)")
        printed = run_all(phb, "A controller is lost")
        assert printed["locks"].count(f" {other.process.pid} ") == 3

        backup = tmp_path / "backup"
        where = ["-h", str(postgresql.folder), "-p", str(postgresql.port), "-U", "postgres"]
        subprocess.run([PROGRAMS / "pg_dump", *where, "-Fc", "-f", backup, name], check=True)
        since = len(other.told)
        postgresql.stop()
        other.until("database: .* doesn't answer .* nobody takes any", since)
        assert phb("history", "--all")[0] == 1
        Path("policy.yaml").write_text(POLICY.replace("first", "second"))
        for switch in network:
            other.until(f"{switch}: applied", since)
        # Past the state: `plan` and `push --no-state`.
        for line in commands(section("It restarts, or is away for hours"))[:2]:
            assert phb(*shlex.split(line)[1:])[0] == 0, line
        postgresql.start()
        other.until("database: it answers again", since)
        assert phb(*shlex.split(commands(section("It restarts, or is away for hours"))[2])[1:])[0] == 0

        postgresql.sql(f"CREATE DATABASE {name}_restored")
        subprocess.run([PROGRAMS / "pg_restore", *where, "-d", f"{name}_restored", backup], check=True)
        postgresql.sql(f"DROP DATABASE {name} WITH (FORCE)", f"ALTER DATABASE {name}_restored RENAME TO {name}")
        # Another one takes its place, and the history has the policy that the switches have.
        other.process.send_signal(signal.SIGTERM)
        assert other.process.wait(PATIENCE_S) == 0
        other.close()
        other = Watch()
        for switch in network:
            other.until(f"{switch}: in-sync")
        # What a watch does is recorded beside it.
        end = time.monotonic() + PATIENCE_S
        while phb("history")[1].count(" unchanged ") < len(network):
            assert time.monotonic() < end, other.told
            time.sleep(0.05)
        printed = run_all(phb, "It was restored from a backup")
        newest = [line for line in printed["history"].splitlines() if " watch " in line][:3]
        assert [line for line in newest if " unchanged " in line] == newest
        assert printed["locks"].count(f" {other.process.pid} ") == 3

        since = len(other.told)
        network["edge"].kill()
        other.until("edge: unreachable", since)
        network["edge"].start()
        other.until("edge: applied: program loaded, 2 inserted", since)
        printed = run_all(phb, "A switch is replaced")
        assert "policy.yaml" in printed["history"]
    finally:
        one.close()
        other.close()


def test_a_certificate_is_renewed_without_a_restart(run_switch, tmp_path, monkeypatch, phb):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")

    def issue():
        own = authority.issue_cert("127.0.0.1")
        own.private_key_pem.write_to_path(tmp_path / "key.pem")
        own.cert_chain_pems[0].write_to_path(tmp_path / "new.pem")
        (tmp_path / "new.pem").rename(tmp_path / "cert.pem")
        return own.cert_chain_pems[0].bytes().decode()

    def shown():
        host, _, port = switch.address.rpartition(":")
        return ssl.get_server_certificate((host, int(port))).strip()

    issue()
    files = [f"--grpc-server-{name}={tmp_path / file}" for name, file in (("cert", "cert.pem"), ("key", "key.pem"))]
    switch = run_switch("--grpc-server-ssl", *files)
    monkeypatch.chdir(tmp_path)
    Path("policy.yaml").write_text(POLICY)
    Path("network.yaml").write_text(
        f"phb-inventory: 1\nswitches: [{{name: edge, address: '{switch.address}', policies: [policy.yaml], "
        "tls: {ca: ca.pem}}]\n"
    )
    assert phb("push", "--inventory", "network.yaml", "--no-state")[0] == 0
    renewed = issue().strip()
    end = time.monotonic() + PATIENCE_S
    while shown() != renewed:
        assert time.monotonic() < end
        time.sleep(0.1)
    run_all(phb, "A certificate is renewed")
