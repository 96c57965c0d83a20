"""An STF file on bmv2, for the confirmation of what our own programs are expected to do.

Entries go over P4Runtime, packets through capture files, so no interface is needed. bmv2 reads the captures once, after
a wait: every statement other than a packet has to stand before the first packet.
"""

import queue
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import grpc
from finsy.proto import p4i, p4r, p4r_grpc
from google.protobuf import text_format
from scapy.utils import RawPcapReader

from phb_switch.stf import values
from phb_switch.stf.names import find, find_key
from phb_switch.stf.statements import Add, Call, Command, Expect, NoPacket, Packet, SetDefault, Statement, Wait

WAIT_S = 3
DEVICE = 1
BURST = 50
_PRIORITY_KINDS = {p4i.MatchField.TERNARY, p4i.MatchField.RANGE, p4i.MatchField.OPTIONAL}
_KINDS = {"EXACT": "exact", "LPM": "lpm", "TERNARY": "ternary", "RANGE": "range", "OPTIONAL": "optional"}


# What no bmv2 survives, and what those don't that were built for speed: there, bmv2's own sources leave out the check.
FAILS = {
    "hash_random": "bmv2 has no hash algorithm `random` and ends with a segmentation fault",
}
FAILS_UNCHECKED = dict.fromkeys(
    ["counters", "registers"],
    "this bmv2 was built with NDEBUG and checks no index: beyond the end of an array it ends with a segmentation fault",
)
# Of the messages that stand beside that check, in each of its places.
_CHECK = b"at out-of-bounds index"


def failing(command: str = "simple_switch_grpc") -> dict[str, str]:
    """Which of our programs this bmv2 doesn't survive, and why."""
    executable = shutil.which(command)
    assert executable is not None
    linked = subprocess.run(["ldd", executable], capture_output=True, text=True, check=False).stdout
    files = [executable, *re.findall(r"=> (/\S+)", linked)]
    return FAILS if any(_CHECK in Path(file).read_bytes() for file in files) else FAILS | FAILS_UNCHECKED


class UnsupportedError(Exception):
    """A statement that P4Runtime on bmv2 has no words for; `str()` names it."""


class Entries:
    """STF statements as P4Runtime updates."""

    def __init__(self, info: p4i.P4Info) -> None:
        self._info = info
        self._actions = {action.preamble.id: action for action in info.actions}
        self._nodes: list[tuple[int, list[int]]] = []
        self._groups: dict[int, list[tuple[int, int]]] = {}

    def updates(self, statement: Statement) -> list[p4r.Update]:
        match statement:
            case Add():
                entity = p4r.Entity(table_entry=self._entry(statement))
                return [p4r.Update(type=p4r.Update.INSERT, entity=entity)]
            case SetDefault():
                table = self._table(statement.table)
                entry = p4r.TableEntry(table_id=table.preamble.id, is_default_action=True)
                entry.action.action.CopyFrom(self._action(table, statement.call))
                return [p4r.Update(type=p4r.Update.MODIFY, entity=p4r.Entity(table_entry=entry))]
            case Command():
                return self._command(statement)
        raise UnsupportedError(type(statement).__name__)

    def _table(self, name: str) -> p4i.Table:
        return find("table", name, self._info.tables, lambda table: table.preamble.name)

    def _action(self, table: p4i.Table, call: Call) -> p4r.Action:
        known = [self._actions[reference.id] for reference in table.action_refs]
        action = find("action", call.action, known, lambda action: action.preamble.name)
        made = p4r.Action(action_id=action.preamble.id)
        parameters = {parameter.name: parameter for parameter in action.params}
        for name, text in call.arguments:
            value = values.to_bytes(values.number(text, parameters[name].bitwidth))
            made.params.add(param_id=parameters[name].id, value=value)
        return made

    def _entry(self, statement: Add) -> p4r.TableEntry:
        table = self._table(statement.table)
        entry = p4r.TableEntry(table_id=table.preamble.id)
        fields = {field.name: field for field in table.match_fields}
        kinds = [
            (field.name, p4i.MatchField.MatchType.Name(field.match_type), field.bitwidth)
            for field in table.match_fields
        ]
        given = {find_key(statement.table, key.name, kinds)[0]: key.value for key in statement.keys}
        for name, kind, bits in kinds:
            match = values.match_key(_KINDS[kind], bits, given.get(name))
            if match is None:
                continue
            made = entry.match.add(field_id=fields[name].id)
            if kind == "EXACT":
                made.exact.value = match.value
            elif kind == "LPM":
                made.lpm.value, made.lpm.prefix_len = match.value, match.second
            elif kind == "TERNARY":
                made.ternary.value, made.ternary.mask = match.value, match.second
            elif kind == "RANGE":
                made.range.low, made.range.high = match.value, match.second
            else:
                made.optional.value = match.value
        if any(field.match_type in _PRIORITY_KINDS for field in table.match_fields):
            entry.priority = (statement.priority or 0) + 1
        entry.action.action.CopyFrom(self._action(table, statement.call))
        return entry

    def _command(self, statement: Command) -> list[p4r.Update]:
        words = [values.number(word) for word in statement.words] if statement.name.startswith("m") else []
        update = p4r.Update(type=p4r.Update.INSERT)
        engine = update.entity.packet_replication_engine_entry
        match statement.name:
            case "mirroring_add":
                engine.clone_session_entry.session_id = words[0]
                engine.clone_session_entry.replicas.add(egress_port=words[1], instance=0)
            case "mirroring_add_mc":
                engine.clone_session_entry.session_id = words[0]
                for instance, port in self._groups[words[1]]:
                    engine.clone_session_entry.replicas.add(egress_port=port, instance=instance)
            case "mc_mgrp_create":
                self._groups[words[0]] = []
                return []
            case "mc_node_create":
                self._nodes.append((words[0], words[1:]))
                return []
            case "mc_node_associate":
                group, (instance, ports) = words[0], self._nodes[words[1]]
                update.type = p4r.Update.MODIFY if self._groups[group] else p4r.Update.INSERT
                self._groups[group] += [(instance, port) for port in ports]
                engine.multicast_group_entry.multicast_group_id = group
                for each, port in self._groups[group]:
                    engine.multicast_group_entry.replicas.add(egress_port=port, instance=each)
            case _:
                raise UnsupportedError(statement.name)
        return [update]


def bursts(statements: list[Statement]) -> list[list[Statement]]:
    """The statements, with so few of the packets each that bmv2's queues, of 64 places, hold the answers.

    For files with more packets than that, the program may not remember anything from one packet to the next.
    """
    packets = [each for each in statements if isinstance(each, Packet)]
    others = [each for each in statements if not isinstance(each, Packet)]
    parts = [packets[start : start + BURST] for start in range(0, len(packets), BURST)]
    return [sorted([*others, *part], key=lambda each: each.line) for part in parts]


def run(artifact: Path, p4info: Path, statements: list[Statement], folder: Path) -> dict[int, list[bytes]]:
    """The frames that bmv2 sends on each port that the file names.

    Raises:
        UnsupportedError: a statement can't be put to bmv2 this way.

    """
    info = text_format.Parse(p4info.read_text(), p4i.P4Info())
    entries = Entries(info)
    packets = [each for each in statements if isinstance(each, Packet)]
    control = [each for each in statements if not isinstance(each, Packet | Expect | NoPacket | Wait)]
    if control and packets and max(each.line for each in control) > min(each.line for each in packets):
        raise UnsupportedError("statements between packets")
    updates = [update for each in control for update in entries.updates(each)]
    ports = sorted({each.port for each in statements if isinstance(each, Packet | Expect)})
    for port in ports:
        _write_capture(
            folder / f"{port}_in.pcap",
            [(time_s, each.data) for time_s, each in enumerate(packets) if each.port == port],
        )
    address = f"127.0.0.1:{_free_port()}"
    interfaces = [part for port in ports for part in ("-i", f"{port}@{folder / str(port)}")]
    command = ["simple_switch_grpc", "--no-p4", "--device-id", str(DEVICE), "--use-files", str(WAIT_S), *interfaces]
    command += ["--thrift-port", str(_free_port()), "--log-file", str(folder / "log"), "--log-flush"]
    command += ["--", "--priority-queues", "8", "--grpc-server-addr", address]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    try:
        _program(address, info, artifact.read_bytes(), updates)
        time.sleep(WAIT_S + 2)
        assert process.poll() is None, f"simple_switch_grpc ended with {process.returncode}"
    finally:
        process.terminate()
        process.wait(10)
    return {port: _frames(folder / f"{port}_out.pcap") for port in ports}


def _write_capture(path: Path, packets: list[tuple[int, bytes]]) -> None:
    with path.open("wb") as capture:
        capture.write(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
        for place, data in packets:
            for number in (0, place, len(data), len(data)):
                capture.write(number.to_bytes(4, "little"))
            capture.write(data)


def _program(address: str, info: p4i.P4Info, artifact: bytes, updates: list[p4r.Update]) -> None:
    with grpc.insecure_channel(address) as channel:
        grpc.channel_ready_future(channel).result(timeout=10)
        stub = p4r_grpc.P4RuntimeStub(channel)
        stream, election_id = _become_primary(stub)
        config = p4r.SetForwardingPipelineConfigRequest(
            device_id=DEVICE, action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
        )
        config.election_id.low = election_id
        config.config.p4info.CopyFrom(info)
        config.config.p4_device_config = artifact
        stub.SetForwardingPipelineConfig(config)
        for update in updates:
            write = p4r.WriteRequest(device_id=DEVICE, updates=[update])
            write.election_id.low = election_id
            stub.Write(write)
        stream.cancel()


def _become_primary(stub: p4r_grpc.P4RuntimeStub) -> tuple[grpc.Call, int]:
    """Opens a stream; gives it with its election id.

    gRPC may open a stream anew by itself, and bmv2 then takes it for a second client with the same id.
    """
    for election_id in (1, 2, 3):
        arbitration = p4r.StreamMessageRequest()
        arbitration.arbitration.device_id = DEVICE
        arbitration.arbitration.election_id.low = election_id
        requests: queue.SimpleQueue[p4r.StreamMessageRequest] = queue.SimpleQueue()
        requests.put(arbitration)
        stream = stub.StreamChannel(iter(requests.get, None))
        try:
            next(stream)
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.INVALID_ARGUMENT or election_id == 3:
                raise
            continue
        return stream, election_id
    raise AssertionError("three ids, and none was tried")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _frames(capture: Path) -> list[bytes]:
    # bmv2 leaves the file without even a header until the first packet.
    if not capture.exists() or not capture.stat().st_size:
        return []
    with RawPcapReader(str(capture)) as reader:
        return [data for data, _ in reader]
