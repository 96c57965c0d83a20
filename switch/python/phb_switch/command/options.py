"""The command line, read and checked: what a switch is to be started with."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from phb_switch._native import PortConfig
from phb_switch.command import foreign
from phb_switch.command.errors import InputError

DEFAULT_ADDRESS: Final = "127.0.0.1:9559"
"""Loopback, unlike bmv2: who can reach the address programs the switch."""

LOG_LEVELS: Final = ("trace", "debug", "info", "warn", "error", "off")

_HIGHEST_TCP_PORT = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class Logging:
    """Where the log goes, and what is in it."""

    console: bool = False
    file: Path | None = None
    level: str = "trace"
    flush: bool = False
    max_bytes: int = 5 << 20
    max_files: int = 3
    dump_bytes: int = 0
    """How much of each packet is logged in hexadecimal."""

    @property
    def is_apart(self) -> bool:
        """Whether there is a log besides what a user has to know, on stderr."""
        return self.console or self.file is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Files in PEM, and what clients have to show."""

    certificate: Path
    key: Path
    client_authority: Path | None = None
    client_required: bool = False
    bindings: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """All that the command line says, checked as far as it can be without opening anything."""

    program: Path | None
    interfaces: dict[int, str]
    ports: dict[int, PortConfig]
    device_id: int = 0
    cpu_port: int | None = None
    drop_port: int = 511
    priority_queues: int = 1
    strict_priority: bool = False
    address: str = DEFAULT_ADDRESS
    tls: Tls | None = None
    logging: Logging = Logging()
    pcap: Path | None = None
    files_wait_seconds: int | None = None
    busy_poll_us: int = 0
    seed: int = 1
    as_json: bool = False
    ready_file: Path | None = None
    notices: tuple[str, ...] = ()


def check_program(program: Path | None, *, no_p4: bool) -> tuple[Path | None, tuple[str, ...]]:
    """The program to load, if any, and what to tell about it."""
    if program is None and not no_p4:
        raise InputError("give a program (bmv2 JSON), or --no-p4 to start without one")
    if program is not None and no_p4:
        return None, (f"{program} ignored (--no-p4 starts without a program)",)
    return program, ()


def check_address(address: str) -> str:
    """Whether gRPC could listen there: HOST:PORT, [HOST]:PORT or unix:PATH."""
    if re.fullmatch(r"unix:.+", address):
        return address
    if not re.fullmatch(r"(\[[^]]+\]|[^:]+):[0-9]+", address):
        raise InputError(f"--grpc-server-addr {address!r}: expected HOST:PORT")
    if int(address.rpartition(":")[2]) > _HIGHEST_TCP_PORT:
        raise InputError(f"--grpc-server-addr {address!r}: expected a port from 0 to {_HIGHEST_TCP_PORT}")
    return address


def is_local(address: str) -> bool:
    """Whether only this machine can reach the address."""
    host = address.rpartition(":")[0].strip("[]")
    return address.startswith("unix:") or host in ("localhost", "::1") or host.startswith("127.")


def check_ports(interfaces: dict[int, str], *, cpu_port: int | None, drop_port: int, max_port_count: int) -> None:
    """Whether every port has one job."""
    if cpu_port is not None and cpu_port in interfaces:
        raise InputError(f"--cpu-port {cpu_port}: the port is {interfaces[cpu_port]} already")
    if drop_port in interfaces or drop_port == cpu_port:
        raise InputError(f"--drop-port {drop_port}: expected a port that is not in use")
    if len(interfaces) > max_port_count:
        raise InputError(f"--max-port-count {max_port_count}: there are {len(interfaces)} interfaces")


def check_logging(
    *,
    console: bool,
    file: Path | None,
    level: str,
    flush: bool,
    max_bytes: int | None,
    max_files: int | None,
    dump_bytes: int,
) -> tuple[Logging, tuple[str, ...]]:
    """How to log, and what to tell about it."""
    if console and file is not None:
        raise InputError("--log-console and --log-file exclude each other")
    if level not in LOG_LEVELS:
        raise InputError(f"--log-level {level!r}: expected one of {', '.join(LOG_LEVELS)}")
    notices = []
    only_with_file = (
        ("--log-flush", flush),
        ("--log-file-max-size", max_bytes is not None),
        ("--log-file-max-files", max_files is not None),
    )
    if file is None:
        notices = [f"{option} ignored (there is no --log-file)" for option, given in only_with_file if given]
    if dump_bytes and LOG_LEVELS.index(level) > LOG_LEVELS.index("info"):
        notices.append(f"--dump-packet-data ignored (--log-level {level} leaves packets out)")
        dump_bytes = 0
    defaults = Logging()
    return (
        Logging(
            console=console,
            file=file,
            level=level,
            flush=flush,
            max_bytes=defaults.max_bytes if max_bytes is None else max_bytes,
            max_files=defaults.max_files if max_files is None else max_files,
            dump_bytes=dump_bytes,
        ),
        tuple(notices),
    )


def check_captures(directory: str | None, files_wait_seconds: int | None) -> tuple[Path | None, tuple[str, ...]]:
    """Where captures go, if anywhere, and what to tell about it."""
    if directory is None:
        return None, ()
    if files_wait_seconds is not None:
        return None, ("--pcap ignored (with --use-files, NAME_in.pcap and NAME_out.pcap are the captures)",)
    if not Path(directory).is_dir():
        raise InputError(f"--pcap {directory}: no such directory")
    return Path(directory), ()


def check_tls(
    *,
    ssl: bool,
    certificate: Path | None,
    key: Path | None,
    authority: Path | None,
    client_required: bool,
    bindings: Path | None,
) -> tuple[Tls | None, tuple[str, ...]]:
    """The files of TLS, if it is on, and what to tell about those that mean nothing without it."""
    if not ssl:
        given = {
            "--grpc-server-cert": certificate,
            "--grpc-server-key": key,
            "--grpc-server-cacert": authority,
            "--grpc-server-with-client-auth": client_required,
        }
        if bindings is not None:
            raise InputError("--client-bindings: without --grpc-server-ssl clients have no certificates")
        return None, tuple(
            f"{option} ignored (there is no --grpc-server-ssl)" for option, value in given.items() if value
        )
    if certificate is None or key is None:
        missing = "--grpc-server-cert" if certificate is None else "--grpc-server-key"
        raise InputError(f"--grpc-server-ssl: {missing} is missing")
    if bindings is not None and not client_required:
        raise InputError(
            "--client-bindings: --grpc-server-with-client-auth is missing, without which no client shows one"
        )
    if client_required and authority is None:
        raise InputError(
            "--grpc-server-with-client-auth: --grpc-server-cacert, which certificates are checked against, is missing"
        )
    tls = Tls(
        certificate=certificate, key=key, client_authority=authority, client_required=client_required, bindings=bindings
    )
    return tls, ()


def check_foreign(given: Sequence[str]) -> tuple[str, ...]:
    """Refuses what can't be done, and says what means nothing."""
    for option in given:
        if option in foreign.REFUSED:
            raise InputError(f"{option}: {foreign.REFUSED[option]}")
    line = foreign.notice(given)
    return (line,) if line else ()
