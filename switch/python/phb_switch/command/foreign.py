"""Options of bmv2 that can't mean here what they mean there, each with the reason."""

from collections.abc import Mapping, Sequence
from typing import Final

WITHOUT_MEANING: Final[Mapping[str, str]] = {
    "--thrift-port": "there is no Thrift server; P4Runtime does its work",
    "--nanolog": "there are no nanomsg event logs; --log-console and --log-file log packets",
    "--notifications-addr": "there are no nanomsg notifications; use digests and idle time-outs of P4Runtime",
    "--debugger": "there is no debugger",
    "--debugger-addr": "there is no debugger",
    "--disable-swap": "a controller may always replace the program",
    "--max-mc-groups": "multicast tables grow as needed",
    "--max-l1-entries": "multicast tables grow as needed",
    "--max-l2-entries": "multicast tables grow as needed",
}
"""Accepted, with one notice: the switch works without them."""

REFUSED: Final[Mapping[str, str]] = {
    "--restore-state": "state files of bmv2 can't be read; write the entries through P4Runtime",
    "--load-modules": "externs in shared objects can't be loaded; all of v1model's are built in",
    "--packet-in": "ports are interfaces, TAP devices or pcap files, not nanomsg sockets",
    "--dp-grpc-server-addr": "ports are interfaces, TAP devices or pcap files, not a gRPC channel",
}
"""Refused: what the caller wants would not happen."""


def notice(given: Sequence[str]) -> str:
    """One line about the options that were given and mean nothing here; empty if there are none."""
    by_reason: dict[str, list[str]] = {}
    for option in given:
        by_reason.setdefault(WITHOUT_MEANING[option], []).append(option)
    return "; ".join(f"{', '.join(options)} ignored ({reason})" for reason, options in by_reason.items())
