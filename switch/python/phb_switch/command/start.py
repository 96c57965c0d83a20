"""Starts a switch by its options, and runs it until it is told to stop."""

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from phb_switch._native import LoadError, Port, PortConfig, RealTime, Switch
from phb_switch.command import bindings, memory, tls
from phb_switch.command import options as options_module
from phb_switch.command.errors import FailedError, InputError
from phb_switch.command.failures import Failures
from phb_switch.command.log import LOG, open_log
from phb_switch.command.options import Options
from phb_switch.command.packets import log_packets
from phb_switch.command.ports import TAP
from phb_switch.command.stopping import Stopping
from phb_switch.gnmi.service import SUBSCRIPTIONS, GnmiService
from phb_switch.server import P4RuntimeServer

_CHECK_SECONDS = 0.5


def start(options: Options) -> None:
    """Runs a switch.

    Raises:
        InputError: it can't be started.
        PortError: a port can't be had.
        FailedError: it has failed while running, or files that it was to write are not whole.

    """
    memory.give_back()
    failures = Failures()
    with ExitStack() as stack:
        # Before there are other threads, which inherit what is blocked.
        stopping = stack.enter_context(Stopping())
        open_log(options.logging, failures, stack)
        for notice in options.notices:
            LOG.info("%s", notice)
        ports = dict(options.ports)
        if options.cpu_port is not None:
            ports[options.cpu_port] = PortConfig(
                queues=options.priority_queues, strict_priority=options.strict_priority
            )
        switch = Switch("switch", ports, seed=options.seed, cpu_port=options.cpu_port, drop_port=options.drop_port)
        if options.program is not None:
            _load(switch, options.program)
            LOG.info("loaded %s; a controller's p4info has to come with SetForwardingPipelineConfig", options.program)
        credentials = authorization = None
        if options.tls is not None:
            credentials = tls.credentials(options.tls)
            if options.tls.bindings is not None:
                authorization = bindings.read(options.tls.bindings)
        runner = RealTime(
            switch,
            _opened(options, stack),
            busy_poll_us=options.busy_poll_us,
            report=lambda line: LOG.info("%s", line),
        )
        gnmi = GnmiService(
            switch,
            device_id=options.device_id,
            names=options.interfaces,
            attachments=lambda: runner.statistics()["ports"],
            authorization=authorization,
        )
        server = P4RuntimeServer(
            switch,
            device_id=options.device_id,
            address=options.address,
            credentials=credentials,
            authorization=authorization,
            services=[gnmi.add_to],
            threads=SUBSCRIPTIONS,
        )
        try:
            listening = server.start()
        except OSError as error:
            raise InputError(str(error)) from None
        stack.callback(server.stop)
        log_packets(switch, options.logging, stack)
        runner.start()
        stack.callback(runner.stop)
        if options.tls is None and not options_module.is_local(options.address):
            LOG.warning("listening at %s without TLS: whoever reaches it can program the switch", options.address)
        _announce(options, _address(options.address, listening))
        log = LOG if options.logging.is_apart else None
        while not stopping.wait(_CHECK_SECONDS):
            failures.of_ports(runner, log)
            state = runner.statistics()
            if not state["running"]:
                raise FailedError(f"stopped: {state['error']}")
        runner.stop()
        failures.of_ports(runner, log)
        _report(switch, runner)
    # The log is written to its end by now.
    failures.check()


def _opened(options: Options, stack: ExitStack) -> dict[int, Port]:
    ports: dict[int, Port] = {}
    for number, name in options.interfaces.items():
        if options.files_wait_seconds is not None:
            port = Port.files(name, f"{name}_in.pcap", f"{name}_out.pcap", options.files_wait_seconds)
        elif name.startswith(TAP):
            port = Port.tap(name.removeprefix(TAP))
        else:
            port = Port.interface(name)
        stack.callback(port.close)
        ports[number] = port if options.pcap is None else port.captured(options.pcap)
    return ports


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


def _address(given: str, listening: int) -> str:
    """Where it listens, now that a port 0 has become one of the system's choice."""
    return given if given.startswith("unix:") else f"{given.rpartition(':')[0]}:{listening}"


def _announce(options: Options, address: str) -> None:
    started: dict[str, Any] = {
        "grpc_server_addr": address,
        "device_id": options.device_id,
        "interfaces": options.interfaces,
    }
    if options.ready_file is not None:
        _write_at_once(options.ready_file, json.dumps(started) + "\n")
    attached = " ".join(f"{port}@{name}" for port, name in options.interfaces.items()) or "none"
    words = f"phb-switch: device {options.device_id}, P4Runtime at {address}, interfaces: {attached}"
    # In one piece, lest a line of the log get between the words and the end of the line.
    sys.stdout.write((json.dumps(started) if options.as_json else words) + "\n")
    sys.stdout.flush()


def _write_at_once(path: Path, text: str) -> None:
    """Writes a file that others wait for: it is whole as soon as it is there."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise InputError(f"--ready-file {path}: {error.strerror}") from None


def _report(switch: Switch, runner: RealTime) -> None:
    counters = switch.statistics()
    print(
        f"phb-switch: stopped; received {counters['received']}, injected {counters['injected']}, "
        f"transmitted {counters['transmitted']}, to CPU {counters['to_cpu']}, "
        f"dropped {sum(counters['dropped'].values())}, queued {counters['queued']}",
        file=sys.stderr,
    )
    for port, at_port in runner.statistics()["ports"].items():
        losses = {
            name: at_port[name] for name in ("missed", "receive_errors", "send_errors", "refused", "not_captured")
        }
        if any(losses.values()):
            words = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in losses.items() if count)
            print(f"phb-switch: port {port} ({at_port['name']}): {words}", file=sys.stderr)
