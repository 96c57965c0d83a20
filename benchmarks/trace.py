"""`trace.*.pps`: packets per second of a switch whose packets are traced, on one core, beside the same switch without.

`off` is nobody looking, `recorded` everything recorded and waiting for its reader, `lines` the reader's lines of JSON
made by the same core, too. Frames come from a replay in a virtual network, so that no kernel and no interface counts.

The load is that of 4ward's benchmark, a P4 simulator that records every packet: SAI P4's middleblock with 10,000
routes of /32 to 100 next hops and 500 ternary entries in two ACLs, none of which matches; frames of 34 bytes to one
route after another (github.com/smolkaj/4ward/blob/main/docs/PERFORMANCE.md). It needs SAI P4's sources
(PHB_PEERS/sonic-pins) and p4c-bm2-ss; without them phb's own program is measured alone, with a policy of a thousand
rules.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from finsy.proto import p4i, p4r
from google.protobuf import text_format

import phb_p4
from benchmarks.figures import Figure, write
from benchmarks.veth import policy, udp_frames
from phb_switch import Network, P4RuntimeServer, PortConfig, Switch, p4c
from phb_switch._native import Configuration, Write

MIDDLEBLOCK = Path("sonic-pins/sai_p4/instantiations/google/middleblock.p4")
DEVICE = 1
ROUTES, NEXT_HOPS, ACL_ENTRIES = 10_000, 100, 250
PACKETS, ROUND = 20_000, 1_000
ROUNDS = 3
# Between frames: the line is idle when the next one comes.
GAP_NS = 10_000


class _Program:
    """A p4info by its names. Numbers and texts become values as SAI P4 for bmv2 has them."""

    def __init__(self, info: p4i.P4Info) -> None:
        self.info = info
        self._tables = {table.preamble.alias: table for table in info.tables}
        self._actions = {action.preamble.id: action for action in info.actions}

    def entry(
        self,
        table: str,
        matches: Mapping[str, int | str | tuple[int, int]],
        action: str,
        parameters: Mapping[str, int | str] | None = None,
        priority: int = 0,
    ) -> p4r.TableEntry:
        """An entry; a pair is value and mask, or value and length of a prefix."""
        of = self._tables[table]
        entry = p4r.TableEntry(table_id=of.preamble.id, priority=priority)
        for field in of.match_fields:
            given = matches.get(field.name)
            if given is None:
                continue
            match = entry.match.add(field_id=field.id)
            if field.match_type == p4i.MatchField.LPM and isinstance(given, tuple):
                match.lpm.value, match.lpm.prefix_len = _value(given[0]), given[1]
            elif isinstance(given, tuple):
                match.ternary.value, match.ternary.mask = _value(given[0]), _value(given[1])
            elif field.match_type == p4i.MatchField.OPTIONAL:
                match.optional.value = _value(given)
            else:
                match.exact.value = _value(given)
        named = (self._actions[ref.id] for ref in of.action_refs)
        called = next(each for each in named if each.preamble.alias == action)
        entry.action.action.action_id = called.preamble.id
        for parameter in called.params:
            value = _value((parameters or {})[parameter.name])
            entry.action.action.params.add(param_id=parameter.id, value=value)
        return entry


def _value(given: int | str) -> bytes:
    number = int.from_bytes(given.encode()) if isinstance(given, str) else given
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8))


def _destination(route: int) -> int:
    return 0x0A00_0000 | route


def sai_entries(info: p4i.P4Info) -> Iterator[p4r.TableEntry]:
    """Everything that a frame of the load needs, and the ACL entries that it passes."""
    program = _Program(info)
    yield program.entry("disable_vlan_checks_table", {}, "disable_vlan_checks", priority=1)
    yield program.entry("disable_ingress_vlan_checks_table", {}, "disable_ingress_vlan_checks")
    yield program.entry("disable_egress_vlan_checks_table", {}, "disable_egress_vlan_checks")
    yield program.entry("l3_admit_table", {}, "admit_to_l3", priority=1)
    yield program.entry("vrf_table", {"vrf_id": "vrf"}, "no_action")
    yield program.entry("acl_pre_ingress_table", {}, "set_vrf", {"vrf_id": "vrf"}, priority=1)
    interface: dict[str, int | str] = {"port": 1, "src_mac": 0x0200_0000_0001}
    yield program.entry(
        "router_interface_table", {"router_interface_id": "rif"}, "unicast_set_port_and_src_mac", interface
    )
    neighbour: dict[str, int | str] = {"router_interface_id": "rif", "neighbor_id": 1}
    yield program.entry("neighbor_table", {**neighbour}, "set_dst_mac", {"dst_mac": 0x0200_0000_0002})
    for number in range(NEXT_HOPS):
        yield program.entry("nexthop_table", {"nexthop_id": f"nhop-{number}"}, "set_ip_nexthop", neighbour)
    for route in range(ROUTES):
        yield program.entry(
            "ipv4_table",
            {"vrf_id": "vrf", "ipv4_dst": (_destination(route), 32)},
            "set_nexthop_id",
            {"nexthop_id": f"nhop-{route % NEXT_HOPS}"},
        )
    for number in range(ACL_ENTRIES):
        # Addresses that no frame has.
        elsewhere = (0xC000_0000 | number << 8, 0xFFFF_FF00)
        yield program.entry("acl_ingress_table", {"dst_ip": elsewhere, "is_ipv4": 1}, "acl_drop", priority=number + 2)
        yield program.entry(
            "acl_pre_ingress_table",
            {"dst_ip": elsewhere, "is_ipv4": 1},
            "set_vrf",
            {"vrf_id": "vrf"},
            priority=number + 2,
        )


def _frame(route: int) -> bytes:
    """Ethernet and IPv4, 34 bytes."""
    header = struct.pack(">BBHHHBBHII", 0x45, 0, 20, 0, 0, 64, 6, 0, 0x0B00_0001, _destination(route))
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    header = header[:10] + struct.pack(">H", checksum) + header[12:]
    return bytes.fromhex("020000000001 0200000000aa 0800") + header


def sai(peers: Path) -> Iterator[tuple[str, Switch]]:
    """SAI P4 with its entries, where its sources and the compiler are."""
    if not (peers / MIDDLEBLOCK).exists() or p4c.compiler_version() is None:
        print("trace.sai: needs PHB_PEERS/sonic-pins and p4c-bm2-ss", file=sys.stderr)
        return
    with TemporaryDirectory() as folder:
        artifact, text = Path(folder) / "middleblock.json", Path(folder) / "p4info.txtpb"
        p4c.compile_program(peers / MIDDLEBLOCK, artifact, text, ["-DPLATFORM_BMV2"])
        info = text_format.Parse(text.read_text(), p4i.P4Info())
        switch = _switch()
        switch.load(artifact.read_text())
    entries = Configuration(switch, info.SerializeToString())
    updates = [p4r.Update(type=p4r.Update.INSERT, entity=p4r.Entity(table_entry=entry)) for entry in sai_entries(info)]
    refused = entries.write(Write(p4r.WriteRequest(updates=updates).SerializeToString()))
    if refused is not None:
        raise RuntimeError(f"SAI P4's entries: {refused}")
    yield "sai", switch


def own() -> Iterator[tuple[str, Switch]]:
    """Give our program with the policy of a thousand rules of the other benchmarks."""
    switch = _switch()
    switch.load(phb_p4.artifact_path().read_text())
    server = P4RuntimeServer(switch, device_id=DEVICE)
    port = server.start()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "policy.yaml"
        path.write_text(policy(), encoding="utf-8")
        command = [sys.executable, "-m", "phb", "push", "--address", f"127.0.0.1:{port}", "--device-id", str(DEVICE)]
        subprocess.run([*command, str(path)], check=True, stdout=subprocess.DEVNULL)
    server.stop()
    yield "qos", switch


def _switch() -> Switch:
    return Switch("traced", {port: PortConfig() for port in (1, 2)}, executor="native")


class _Load:
    """Frames that a switch gets from a replay, in rounds."""

    def __init__(self, switch: Switch, frames: Sequence[bytes]) -> None:
        self._network = Network(1)
        self._network.add_switch(switch)
        rounds = 1 + 3 * ROUNDS * PACKETS // ROUND
        timed = [(number * GAP_NS + GAP_NS // 2, frames[number % len(frames)]) for number in range(rounds * ROUND)]
        self._network.add_replay("source", timed)
        self._network.connect("source", 0, switch.name, 1)
        self._until = 0

    def run(self, packets: int) -> float:
        """Let so many packets pass; return the seconds."""
        start = time.perf_counter()
        self._until += packets * GAP_NS
        self._network.run(self._until)
        return time.perf_counter() - start


def _figures(name: str, switch: Switch, frames: Sequence[bytes]) -> list[Figure]:
    load = _Load(switch, frames)
    load.run(ROUND)
    seconds: dict[str, list[float]] = {"off": [], "recorded": [], "lines": []}
    size = steps = 0
    for _ in range(ROUNDS):
        seconds["off"].append(load.run(PACKETS))
        for kind in ("recorded", "lines"):
            taken = 0.0
            traces = switch.trace()
            for _ in range(PACKETS // ROUND):
                taken += load.run(ROUND)
                start = time.perf_counter()
                lines = traces.take_lines()
                taken += time.perf_counter() - start if kind == "lines" else 0
                if len(lines) != ROUND or traces.left_out:
                    raise RuntimeError(f"trace.{name}: {len(lines)} traces of {ROUND}, {traces.left_out} left out")
            traces.stop()
            seconds[kind].append(taken)
        size = len(lines[-1])
        steps = lines[-1].count('"part":')
    sent = switch.statistics()["transmitted"]
    if not sent:
        raise RuntimeError(f"trace.{name}: no packet left the switch")
    return [
        *(Figure(f"trace.{name}.{kind}.pps", PACKETS / min(took), "packets/s") for kind, took in seconds.items()),
        Figure(f"trace.{name}.bytes", size, "bytes of JSON a packet"),
        Figure(f"trace.{name}.steps", steps, "steps a packet"),
    ]


def measure() -> list[Figure]:
    """Measure SAI P4's load, where it can be had, and phb's own."""
    peers = Path(os.environ.get("PHB_PEERS", "/nowhere"))
    figures: list[Figure] = []
    for name, switch in sai(peers):
        figures += _figures(name, switch, [_frame(route) for route in range(ROUTES)])
    for name, switch in own():
        figures += _figures(name, switch, udp_frames())
    return figures


def main(json: Annotated[Path | None, typer.Option(help="Write the figures to this file.")] = None) -> None:
    """Measure and print."""
    figures = measure()
    for figure in figures:
        print(f"{figure.name}: {figure.value:,.0f} {figure.unit}")
    if json:
        write(json, figures)


if __name__ == "__main__":
    typer.run(main)
