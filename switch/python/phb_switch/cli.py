"""The command `phb-switch`: its options, and how it ends.

Exit codes: 0 stopped by Ctrl-C, SIGTERM or SIGHUP; 1 the switch failed while running, or files that it wrote are not
whole; 2 bad input.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import typer

from phb_switch._native import PortError
from phb_switch.command import foreign, options, ports
from phb_switch.command.arguments import Spelling, spelled_out
from phb_switch.command.errors import FailedError, InputError
from phb_switch.command.options import Options

OK, FAILED, BAD_INPUT = 0, 1, 2

BMV2_JSON_VERSION: Final = "2.24"
"""The newest bmv2 JSON that is understood; older ones of the same major version are, too."""

_LINES = "Ports and lines (beyond bmv2)"
_TARGET = "Target (behind -- in scripts for bmv2; here anywhere)"
_LOG = "Log and captures"
_TLS = "TLS"
_WITHOUT_MEANING = "Accepted from scripts for bmv2, without a meaning here"
_REFUSED = "Refused, with the reason"

_EPILOG = "\n\n".join(
    (
        "Examples:",
        "phb-switch --no-p4 -i 0@veth0 -i 1@veth2",
        "phb-switch -i 0@veth0 -i 1@veth2 --device-id 1 program.json -- --cpu-port 510 --grpc-server-addr 0.0.0.0:9559",
        "phb-switch stf --help",
        "phb-switch --no-p4 -i 1@veth0 -i 2@ppp0 --port-rate 2=256kbit/s:-7 --transmit-ring 2=6",
        "Options may stand before or after --. Exit codes: 0 stopped; 1 failed, or files not whole; 2 bad input.",
    )
)

app = typer.Typer(
    name="phb-switch",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        # Here because it takes as long to import as all the options.
        from importlib.metadata import version

        print(f"phb-switch {version('phb')}")
        raise typer.Exit


def _print_json_version(wanted: bool) -> None:
    if wanted:
        print(BMV2_JSON_VERSION)
        raise typer.Exit


def _without_meaning(name: str) -> Any:
    return typer.Option(name, rich_help_panel=_WITHOUT_MEANING, help=foreign.WITHOUT_MEANING[name].capitalize() + ".")


def _refused(name: str) -> Any:
    return typer.Option(name, rich_help_panel=_REFUSED, help=foreign.REFUSED[name].capitalize() + ".")


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
    max_port_count: Annotated[int, typer.Option(min=0, help="The most interfaces that may be attached.")] = 512,
    show_version: Annotated[
        bool, typer.Option("--version", "-v", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
    show_json_version: Annotated[
        bool,
        typer.Option(
            "--json-version", is_eager=True, callback=_print_json_version, help="Print the newest bmv2 JSON understood."
        ),
    ] = False,
    cpu_port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=ports.HIGHEST_PORT,
            rich_help_panel=_TARGET,
            help="Port of packet-in and packet-out.  (default: none)",
        ),
    ] = None,
    drop_port: Annotated[
        int,
        typer.Option(min=0, max=ports.HIGHEST_PORT, rich_help_panel=_TARGET, help="Port that means drop."),
    ] = 511,
    grpc_server_addr: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", rich_help_panel=_TARGET, help="Where P4Runtime and gNMI listen."),
    ] = options.DEFAULT_ADDRESS,
    priority_queues: Annotated[
        int,
        typer.Option(
            min=1,
            max=255,
            rich_help_panel=_TARGET,
            help="Strict-priority queues per port, unless programs rank.",
        ),
    ] = 1,
    strict_priority: Annotated[
        bool,
        typer.Option(
            "--strict-priority",
            rich_help_panel=_LINES,
            help="Queue by priority also where the program ranks, as a switch without a PIFO.",
        ),
    ] = False,
    enable_swap: Annotated[
        bool,
        typer.Option("--enable-swap", rich_help_panel=_TARGET, help="Let programs be replaced; they always may be."),
    ] = False,
    log_console: Annotated[bool, typer.Option("--log-console", rich_help_panel=_LOG, help="Log to stdout.")] = False,
    log_file: Annotated[
        Path | None, typer.Option(metavar="FILE", rich_help_panel=_LOG, help="Log to a file.  (default: none)")
    ] = None,
    log_level: Annotated[
        str,
        typer.Option(
            "--log-level", "-L", rich_help_panel=_LOG, metavar="LEVEL", help=f"One of {', '.join(options.LOG_LEVELS)}."
        ),
    ] = "trace",
    log_flush: Annotated[
        bool, typer.Option("--log-flush", rich_help_panel=_LOG, help="Write each line of the log file at once.")
    ] = False,
    log_file_max_size: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="BYTES", rich_help_panel=_LOG, help="When the log file is rotated.  (default: 5242880)"
        ),
    ] = None,
    log_file_max_files: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", rich_help_panel=_LOG, help="Rotated log files that are kept.  (default: 3)"),
    ] = None,
    dump_packet_data: Annotated[
        int,
        typer.Option(
            min=0, metavar="BYTES", rich_help_panel=_LOG, help="How much of each packet is logged in hexadecimal."
        ),
    ] = 0,
    pcap: Annotated[
        str | None,
        typer.Option(
            metavar="[DIRECTORY]",
            rich_help_panel=_LOG,
            help="Keep what passes each port in NAME_in.pcap and NAME_out.pcap; without a value, here.",
        ),
    ] = None,
    use_files: Annotated[
        int | None,
        typer.Option(
            metavar="SECONDS",
            rich_help_panel=_LOG,
            help="Instead of interface NAME, read NAME_in.pcap and write NAME_out.pcap, after a wait.  (default: none)",
        ),
    ] = None,
    grpc_server_ssl: Annotated[bool, typer.Option("--grpc-server-ssl", rich_help_panel=_TLS, help="Use TLS.")] = False,
    grpc_server_cert: Annotated[
        Path | None,
        typer.Option(metavar="PEM", rich_help_panel=_TLS, help="The server's certificate chain.  (default: none)"),
    ] = None,
    grpc_server_key: Annotated[
        Path | None,
        typer.Option(metavar="PEM", rich_help_panel=_TLS, help="The server's private key.  (default: none)"),
    ] = None,
    grpc_server_cacert: Annotated[
        Path | None,
        typer.Option(
            metavar="PEM",
            rich_help_panel=_TLS,
            help="The authority that client certificates are checked against.  (default: none)",
        ),
    ] = None,
    grpc_server_with_client_auth: Annotated[
        bool,
        typer.Option(
            "--grpc-server-with-client-auth", rich_help_panel=_TLS, help="Refuse clients without a valid certificate."
        ),
    ] = False,
    client_bindings: Annotated[
        Path | None,
        typer.Option(
            metavar="TOML",
            rich_help_panel=_TLS,
            help="Which roles and devices each client certificate is for.  (default: any)",
        ),
    ] = None,
    port_rate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PORT=RATE[:OVERHEAD]",
            rich_help_panel=_LINES,
            help="Line rate in bit/s (256k, 1.5Mbit/s), and bytes to add to each Ethernet frame's length; repeatable.",
        ),
    ] = None,
    transmit_ring: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PORT=N",
            rich_help_panel=_LINES,
            help="Frames that may wait between scheduler and line; repeatable.",
        ),
    ] = None,
    buffer_packets: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PORT=N", rich_help_panel=_LINES, help="Packets that may wait in the scheduler; repeatable."
        ),
    ] = None,
    queue_depth: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PORT=N",
            rich_help_panel=_LINES,
            help="Packets that may wait in each strict-priority queue, 64 unless given; repeatable.",
        ),
    ] = None,
    queue_rate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PORT=PPS",
            rich_help_panel=_LINES,
            help="Packets per second that each strict-priority queue passes; repeatable.",
        ),
    ] = None,
    busy_poll: Annotated[
        int,
        typer.Option(
            min=0,
            max=1_000_000,
            metavar="MICROSECONDS",
            rich_help_panel=_LINES,
            help="How long to look for further frames before sleeping: less delay for more processor time.",
        ),
    ] = 0,
    seed: Annotated[
        int,
        typer.Option(min=0, max=2**64 - 1, rich_help_panel=_LINES, help="Seed of everything random in the program."),
    ] = 1,
    json: Annotated[
        bool, typer.Option("--json", rich_help_panel=_LOG, help="Print the start-up line as JSON.")
    ] = False,
    ready_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=_LOG,
            help="Write the start-up line, as JSON, to a file as soon as controllers can connect.  (default: none)",
        ),
    ] = None,
    thrift_port: Annotated[int | None, _without_meaning("--thrift-port")] = None,
    nanolog: Annotated[str | None, _without_meaning("--nanolog")] = None,
    notifications_addr: Annotated[str | None, _without_meaning("--notifications-addr")] = None,
    debugger: Annotated[bool, _without_meaning("--debugger")] = False,
    debugger_addr: Annotated[str | None, _without_meaning("--debugger-addr")] = None,
    disable_swap: Annotated[bool, _without_meaning("--disable-swap")] = False,
    max_mc_groups: Annotated[int | None, _without_meaning("--max-mc-groups")] = None,
    max_l1_entries: Annotated[int | None, _without_meaning("--max-l1-entries")] = None,
    max_l2_entries: Annotated[int | None, _without_meaning("--max-l2-entries")] = None,
    restore_state: Annotated[Path | None, _refused("--restore-state")] = None,
    load_modules: Annotated[str | None, _refused("--load-modules")] = None,
    packet_in: Annotated[str | None, _refused("--packet-in")] = None,
    dp_grpc_server_addr: Annotated[str | None, _refused("--dp-grpc-server-addr")] = None,
) -> Options:
    """Checks what was given."""
    foreign_options = {
        "--thrift-port": thrift_port,
        "--nanolog": nanolog,
        "--notifications-addr": notifications_addr,
        "--debugger": debugger or None,
        "--debugger-addr": debugger_addr,
        "--disable-swap": disable_swap or None,
        "--max-mc-groups": max_mc_groups,
        "--max-l1-entries": max_l1_entries,
        "--max-l2-entries": max_l2_entries,
        "--restore-state": restore_state,
        "--load-modules": load_modules,
        "--packet-in": packet_in,
        "--dp-grpc-server-addr": dp_grpc_server_addr,
    }
    of_bmv2 = options.check_foreign([name for name, value in foreign_options.items() if value is not None])
    interfaces = ports.attached(interface or [])
    options.check_ports(interfaces, cpu_port=cpu_port, drop_port=drop_port, max_port_count=max_port_count)
    configs = ports.configured(
        list(interfaces),
        queues=priority_queues,
        strict_priority=strict_priority,
        rates=port_rate or [],
        transmit_rings=transmit_ring or [],
        buffers=buffer_packets or [],
        queue_depths=queue_depth or [],
        queue_rates=queue_rate or [],
    )
    loaded, of_program = options.check_program(program, no_p4=no_p4)
    logging, of_log = options.check_logging(
        console=log_console,
        file=log_file,
        level=log_level,
        flush=log_flush,
        max_bytes=log_file_max_size,
        max_files=log_file_max_files,
        dump_bytes=dump_packet_data,
    )
    captures, of_captures = options.check_captures(pcap, use_files)
    tls, of_tls = options.check_tls(
        ssl=grpc_server_ssl,
        certificate=grpc_server_cert,
        key=grpc_server_key,
        authority=grpc_server_cacert,
        client_required=grpc_server_with_client_auth,
        bindings=client_bindings,
    )
    return Options(
        program=loaded,
        interfaces=interfaces,
        ports=configs,
        device_id=device_id,
        cpu_port=cpu_port,
        drop_port=drop_port,
        priority_queues=priority_queues,
        strict_priority=strict_priority,
        address=options.check_address(grpc_server_addr),
        tls=tls,
        logging=logging,
        pcap=captures,
        files_wait_seconds=None if use_files is None else max(0, use_files),
        busy_poll_us=busy_poll,
        seed=seed,
        as_json=json,
        ready_file=ready_file,
        notices=(*of_bmv2, *of_program, *of_log, *of_captures, *of_tls),
    )


def spellings() -> dict[str, Spelling]:
    """All options by all their names."""
    found = {"--help": Spelling(takes_value=False), "-h": Spelling(takes_value=False)}
    for parameter in typer.main.get_command(app).params:
        if parameter.param_type_name != "option":
            continue
        for name in parameter.opts:
            flag = bool(getattr(parameter, "is_flag", False))
            found[name] = Spelling(
                takes_value=not flag,
                repeatable=parameter.multiple,
                default_value="." if name == "--pcap" else None,
            )
    return found


def parse(arguments: Sequence[str]) -> Options | None:
    """Reads a command line.

    Args:
        arguments: without the program's name.

    Returns:
        What it says, or None where it asked for something that has been printed, like --help.

    Raises:
        InputError: something is wrong with it.

    """
    try:
        result = app(spelled_out(arguments, spellings()), standalone_mode=False)
    except typer.TyperException as error:
        raise InputError(error.format_message()) from None
    return result if isinstance(result, Options) else None


def run(arguments: Sequence[str]) -> int:
    """Runs the command.

    Args:
        arguments: without the program's name. `--`, behind which bmv2 has its target's options, separates nothing.

    Returns:
        The exit code.

    """
    if arguments[:1] == ["stf"]:
        from phb_switch.stf import command as stf

        return stf.run(arguments[1:])
    try:
        given = parse(arguments)
        if given is None:
            sys.stdout.flush()
            return OK
        # Imported late: --help and bad input need neither gRPC nor protocol buffers.
        from phb_switch.command.start import start

        start(given)
    except (InputError, PortError) as error:
        return _complain(str(error), BAD_INPUT)
    except FailedError as error:
        return _complain(str(error), FAILED)
    except OSError as error:  # what has no name is stdout, full or closed
        return _complain(f"{error.filename or 'standard output'}: {error.strerror or error}", FAILED)
    return OK


def _complain(message: str, code: int) -> int:
    print(f"phb-switch: {message}", file=sys.stderr)
    return code


def main() -> NoReturn:
    """Entry point of the command `phb-switch`."""
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        # What is left in the buffer would fail once more, with a traceback, when the interpreter closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
