"""The command `phb-switch`: a switch on real interfaces, started as one starts simple_switch_grpc.

Exit codes: 0 stopped by Ctrl-C or SIGTERM; 1 the switch failed while running; 2 bad input.
"""

import json as json_module
import re
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from phb_switch._native import LoadError, Port, PortConfig, PortError, RealTime, Switch
from phb_switch.server import P4RuntimeServer
from phb_switch.stf import command as stf

OK, FAILED, BAD_INPUT = 0, 1, 2

_SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
_HIGHEST_PORT = 510
_HIGHEST_TCP_PORT = 65_535
_CHECK_SECONDS = 0.5
_STOPPING = {signal.SIGINT, signal.SIGTERM}

_EPILOG = "\n\n".join(
    (
        "Examples:",
        "phb-switch --no-p4 -i 0@veth0 -i 1@veth2",
        "phb-switch -i 0@veth0 -i 1@veth2 --device-id 1 program.json -- --cpu-port 510 --grpc-server-addr 0.0.0.0:9559",
        "phb-switch --no-p4 -i 1@veth0 -i 2@ppp0 --port-rate 2=256k:-7 --transmit-ring 2=6",
        "phb-switch stf --help",
        "Options may stand before or after --. Exit codes: 0 stopped; 1 failed while running; 2 bad input.",
    )
)

app = typer.Typer(
    name="phb-switch",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class InputError(Exception):
    """What the user gave can't be used; `str()` is one line."""


@app.command(
    epilog=_EPILOG, help="Run a P4 switch (v1model, bmv2 JSON) on network interfaces, with a P4Runtime server."
)
def command(
    program: Annotated[
        Path | None,
        typer.Argument(
            metavar="[JSON]", help="The program, as p4c made it. Without it, a controller has to bring one."
        ),
    ] = None,
    interface: Annotated[
        list[str] | None,
        typer.Option("--interface", "-i", metavar="PORT@INTERFACE", help="Attach an interface to a port; repeatable."),
    ] = None,
    device_id: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="P4Runtime device id.")] = 0,
    no_p4: Annotated[bool, typer.Option("--no-p4", help="Start without a program.")] = False,
    cpu_port: Annotated[
        int | None, typer.Option(min=0, max=_HIGHEST_PORT, help="Port of packet-in and packet-out.  (default: none)")
    ] = None,
    drop_port: Annotated[int, typer.Option(min=0, max=511, help="Port that means drop.")] = 511,
    grpc_server_addr: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where P4Runtime listens.")
    ] = "127.0.0.1:9559",
    port_rate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PORT=BITPS[:OVERHEAD]",
            help="Line rate in bit/s (also 256k, 1G), and bytes to add to each Ethernet frame's length; repeatable.",
        ),
    ] = None,
    transmit_ring: Annotated[
        list[str] | None,
        typer.Option(metavar="PORT=N", help="Frames that may wait between scheduler and line; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Seed of everything random in the program.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print the start-up line as JSON.")] = False,
) -> int:
    """Runs the switch until it is told to stop."""
    interfaces = _interfaces(interface or [])
    ports = _ports(interfaces, port_rate or [], transmit_ring or [], cpu_port)
    if program is None and not no_p4:
        raise InputError("give a program (bmv2 JSON), or --no-p4 to start without one")
    if program is not None and no_p4:
        raise InputError(f"--no-p4 and {program} exclude each other")
    if not re.fullmatch(r"(\[[^]]+\]|[^:]+):\d+", grpc_server_addr):
        raise InputError(f"--grpc-server-addr {grpc_server_addr!r}: expected HOST:PORT")
    if int(grpc_server_addr.rpartition(":")[2]) > _HIGHEST_TCP_PORT:
        raise InputError(f"--grpc-server-addr {grpc_server_addr!r}: expected a port from 0 to {_HIGHEST_TCP_PORT}")
    if drop_port in ports:
        raise InputError(f"--drop-port {drop_port}: expected a port that is not in use")
    switch = Switch("switch", ports, seed=seed, cpu_port=cpu_port, drop_port=drop_port)
    if program is not None:
        _load(switch, program)
    # Blocked rather than handled, and before there are threads, which inherit it: a handler could run anywhere, also in
    # the middle of the clean-up.
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    with ExitStack() as stack:
        stack.callback(signal.pthread_sigmask, signal.SIG_UNBLOCK, _STOPPING)
        runner = RealTime(switch, {port: Port.interface(name) for port, name in interfaces.items()})
        server = P4RuntimeServer(switch, device_id=device_id, address=grpc_server_addr)
        try:
            listening = server.start()
        except OSError as error:
            raise InputError(str(error)) from None
        stack.callback(server.stop)
        runner.start()
        stack.callback(runner.stop)
        address = f"{grpc_server_addr.rpartition(':')[0]}:{listening}"
        _announce(device_id, address, interfaces, as_json=json)
        if not _wait(runner):
            return FAILED
        runner.stop()
        _report(switch, runner)
        return OK


def _interfaces(given: Sequence[str]) -> dict[int, str]:
    interfaces: dict[int, str] = {}
    for each in given:
        port, at, name = each.partition("@")
        if not at or not name or not port.isdecimal():
            raise InputError(f"--interface {each!r}: expected PORT@INTERFACE, for example 0@veth0")
        number = _port(port, f"--interface {each!r}")
        if number in interfaces:
            raise InputError(f"--interface {each!r}: port {number} is {interfaces[number]} already")
        if name in interfaces.values():
            raise InputError(f"--interface {each!r}: {name} is attached already")
        interfaces[number] = name
    return interfaces


def _port(text: str, option: str) -> int:
    if not text.isdecimal() or int(text) > _HIGHEST_PORT:
        raise InputError(f"{option}: expected a port from 0 to {_HIGHEST_PORT}, got {text!r}")
    return int(text)


def _ports(
    interfaces: dict[int, str], rates: Sequence[str], rings: Sequence[str], cpu_port: int | None
) -> dict[int, PortConfig]:
    if cpu_port is not None and cpu_port in interfaces:
        raise InputError(f"--cpu-port {cpu_port}: the port is {interfaces[cpu_port]} already")
    ports = {port: PortConfig() for port in interfaces}
    for option, values in (("--port-rate", rates), ("--transmit-ring", rings)):
        for each in values:
            port_text, equals, value = each.partition("=")
            if not equals:
                raise InputError(f"{option} {each!r}: expected PORT=..., for example {_EXAMPLES[option]}")
            port = _port(port_text, f"{option} {each!r}")
            if port not in ports:
                raise InputError(f"{option} {each!r}: port {port} has no interface")
            if option == "--port-rate":
                ports[port].rate_bps, ports[port].overhead_bytes = _rate(value, f"{option} {each!r}")
            elif not value.isdecimal():
                raise InputError(f"{option} {each!r}: expected a number of frames, got {value!r}")
            else:
                ports[port].transmit_ring = int(value)
    return ports


_EXAMPLES = {"--port-rate": "2=256k:-7", "--transmit-ring": "2=6"}


def _rate(text: str, option: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)([kMG]?)(?::([+-]?\d+))?", text)
    if match is None or int(match[1]) == 0:
        raise InputError(f"{option}: expected BITPS or BITPS:OVERHEAD, for example {_EXAMPLES['--port-rate']}")
    rate, overhead = int(match[1]) * _SUFFIXES[match[2]], int(match[3] or 0)
    if rate >= 1 << 63 or abs(overhead) >= 1 << 31:
        raise InputError(f"{option}: the number is too large")
    return rate, overhead


def _load(switch: Switch, program: Path) -> None:
    try:
        artifact = program.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{program}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{program}: not a bmv2 JSON: it is not UTF-8") from None
    try:
        switch.load(artifact)
    except LoadError as error:
        raise InputError(f"{program}: {error}") from None


def _announce(device_id: int, address: str, interfaces: dict[int, str], *, as_json: bool) -> None:
    if as_json:
        started = {"grpc_server_addr": address, "device_id": device_id, "interfaces": interfaces}
        print(json_module.dumps(started), flush=True)
    else:
        attached = " ".join(f"{port}@{name}" for port, name in interfaces.items()) or "none"
        print(f"phb-switch: device {device_id}, P4Runtime at {address}, interfaces: {attached}", flush=True)


def _wait(runner: RealTime) -> bool:
    """Waits for Ctrl-C or SIGTERM; false if the runner's thread has ended before."""
    while signal.sigtimedwait(_STOPPING, _CHECK_SECONDS) is None:
        state = runner.statistics()
        if not state["running"]:
            print(f"phb-switch: stopped: {state['error']}", file=sys.stderr)
            return False
    return True


def _report(switch: Switch, runner: RealTime) -> None:
    counters = switch.statistics()
    print(
        f"phb-switch: stopped; received {counters['received']}, injected {counters['injected']}, "
        f"transmitted {counters['transmitted']}, to CPU {counters['to_cpu']}, "
        f"dropped {sum(counters['dropped'].values())}, queued {counters['queued']}",
        file=sys.stderr,
    )
    for port, at_port in runner.statistics()["ports"].items():
        losses = {name: at_port[name] for name in ("missed", "receive_errors", "send_errors", "refused")}
        if any(losses.values()):
            words = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in losses.items() if count)
            print(f"phb-switch: port {port} ({at_port['name']}): {words}", file=sys.stderr)


def run(arguments: Sequence[str]) -> int:
    """Runs the command.

    Args:
        arguments: without the program's name. `--`, behind which bmv2 has its target's options, separates nothing.

    Returns:
        The exit code.

    """
    if arguments[:1] == ["stf"]:
        return stf.run(arguments[1:])
    try:
        result = app([each for each in arguments if each != "--"], standalone_mode=False)
    except (InputError, PortError) as error:
        print(f"phb-switch: {error}", file=sys.stderr)
        return BAD_INPUT
    except typer.TyperException as error:
        print(f"phb-switch: {error.format_message()}", file=sys.stderr)
        return BAD_INPUT
    return int(result or OK)


def main() -> NoReturn:
    """Entry point of the command `phb-switch`."""
    sys.exit(run(sys.argv[1:]))
