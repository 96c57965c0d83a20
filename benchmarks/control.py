"""Figures of P4Runtime itself: `python -m benchmarks.control --json out/control.json`, as root.

```text
  namespace "traffic"                     namespace "switch"
  generator        ------ veth pair ----- port 1   phb-switch or bmv2, by TCP on loopback:
                                                   a native client, or a Python client
```

Packets that the program sends to controllers are offered at a rate, and counted where a client gets them. The native
client is an example of the crate phb-server; it sends what this module has serialized. bmv2 takes the same programs and
requests, where it is installed. Delays are those of 20,000 frames a second that phb-switch forwards, alone and while
something else goes on, less those of a veth pair.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from finsy.proto import gnmi, p4i, p4r
from google.protobuf import text_format
from google.protobuf.internal.encoder import _VarintBytes  # type: ignore[attr-defined]
from google.protobuf.message import Message

from benchmarks import p4runtime, veth
from benchmarks.bmv2 import name_build
from benchmarks.figures import Figure, write

ROOT: Final = Path(__file__).parents[1]
PROGRAMS: Final = ROOT / "switch" / "python" / "tests" / "programs"
PHB: Final = ROOT / "p4src" / "build" / "phb"
CPU_PORT: Final = 510
SECONDS: Final = 3.0
BATCH: Final = 1_000
TERNARY: Final = 10_000
TERNARY_BATCH: Final = 100
SILENT: Final = (5_000, 1_000)
"""Connections, and streams."""
LATENCY_RATE: Final = 20_000
VERIFICATIONS: Final = 200
"""Of 0.7 MB each, more than fit into the time measured; reading them from the file must not be what is measured."""
ELECTION: Final = p4r.Uint128(low=1)


def delimited(messages: Iterable[Message]) -> bytes:
    """Encode messages, each with its length before it."""
    return b"".join(_VarintBytes(len(data)) + data for data in (each.SerializeToString() for each in messages))


def info_of(program: Path) -> p4i.P4Info:
    """Read the p4info beside a program."""
    return text_format.Parse(program.with_suffix(".p4info.txtpb").read_text(encoding="utf-8"), p4i.P4Info())


def arbitration() -> p4r.StreamMessageRequest:
    """Return the message that makes a stream primary."""
    request = p4r.StreamMessageRequest()
    request.arbitration.device_id = veth.DEVICE
    request.arbitration.election_id.CopyFrom(ELECTION)
    return request


def configuration(program: Path) -> p4r.SetForwardingPipelineConfigRequest:
    """Return the request that loads a program."""
    request = p4r.SetForwardingPipelineConfigRequest(
        device_id=veth.DEVICE,
        election_id=ELECTION,
        action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
    )
    request.config.p4info.CopyFrom(info_of(program))
    request.config.p4_device_config = program.with_suffix(".json").read_bytes()
    return request


def writes(updates: Iterable[p4r.Update], batch: int) -> Iterator[p4r.WriteRequest]:
    """Yield updates in batches."""
    request = p4r.WriteRequest(device_id=veth.DEVICE, election_id=ELECTION)
    for update in updates:
        request.updates.append(update)
        if len(request.updates) == batch:
            yield request
            request = p4r.WriteRequest(device_id=veth.DEVICE, election_id=ELECTION)
    if request.updates:
        yield request


def to_controller() -> p4r.Update:
    """Return the update that sends all packets of port 1 to controllers, in the program `router`."""
    info = info_of(PROGRAMS / "router")
    (table,) = (each for each in info.tables if each.preamble.alias == "cross_connect")
    (action,) = (each for each in info.actions if each.preamble.alias == "to_controller")
    update = p4r.Update(type=p4r.Update.INSERT)
    entry = update.entity.table_entry
    entry.table_id = table.preamble.id
    entry.match.add(field_id=1).exact.value = b"\x01"
    entry.action.action.action_id = action.preamble.id
    entry.action.action.params.add(param_id=1, value=b"\x05")
    return update


def packet_out() -> p4r.StreamMessageRequest:
    """Return a packet that leaves by port 1, in the program `router`."""
    request = p4r.StreamMessageRequest()
    request.packet.payload = bytes(114)
    info = info_of(PROGRAMS / "router")
    (header,) = (each for each in info.controller_packet_metadata if each.preamble.name == "packet_out")
    for field in header.metadata:
        request.packet.metadata.add(metadata_id=field.id, value=b"\x01" if "port" in field.name else b"\x00")
    return request


def enable_digests() -> p4r.Update:
    """Return the update that makes the program `features` report each unknown source at once."""
    (digest,) = info_of(PROGRAMS / "features").digests
    update = p4r.Update(type=p4r.Update.INSERT)
    update.entity.digest_entry.digest_id = digest.preamble.id
    update.entity.digest_entry.config.max_list_size = 1
    return update


def routes(count: int) -> Iterator[p4r.Update]:
    """Yield insertions of IPv4 routes into phb's program."""
    info = info_of(PHB)
    (table,) = (each for each in info.tables if each.preamble.alias == "ipv4_route")
    (action,) = (each for each in info.actions if each.preamble.alias == "route")
    for number in range(count):
        update = p4r.Update(type=p4r.Update.INSERT)
        entry = update.entity.table_entry
        entry.table_id = table.preamble.id
        match = entry.match.add(field_id=1)
        match.lpm.value, match.lpm.prefix_len = (0x0A000000 + (number << 6)).to_bytes(4, "big"), 26
        entry.action.action.action_id = action.preamble.id
        for parameter in action.params:
            entry.action.action.params.add(param_id=parameter.id, value=b"\x01")
        yield update


def ternary_entries(count: int) -> Iterator[p4r.Update]:
    """Yield insertions into the first table of phb's program that has a ternary key wide enough."""
    info = info_of(PHB)
    ternary = p4i.MatchField.TERNARY
    table, field = next(
        (table, field)
        for table in info.tables
        if table.size >= count
        for field in table.match_fields
        if field.match_type == ternary and field.bitwidth >= 16
    )
    actions = {action.preamble.id: action for action in info.actions}
    action = next(actions[each.id] for each in table.action_refs if each.scope != p4i.ActionRef.DEFAULT_ONLY)
    length = (field.bitwidth + 7) // 8
    for number in range(count):
        update = p4r.Update(type=p4r.Update.INSERT)
        entry = update.entity.table_entry
        entry.table_id, entry.priority = table.preamble.id, number + 1
        match = entry.match.add(field_id=field.id)
        match.ternary.value = (number + 1).to_bytes(length, "big").lstrip(b"\0")
        match.ternary.mask = ((1 << min(field.bitwidth, 16)) - 1).to_bytes(length, "big").lstrip(b"\0")
        entry.action.action.action_id = action.preamble.id
        for parameter in action.params:
            entry.action.action.params.add(param_id=parameter.id, value=b"\x01")
        yield update


def reading() -> p4r.ReadRequest:
    """Return a read of all entries of all tables."""
    request = p4r.ReadRequest(device_id=veth.DEVICE)
    request.entities.add().table_entry.SetInParent()
    return request


class Control(veth.Bench):
    """The interfaces, the clients, and switches with a primary."""

    def __init__(self, stack: ExitStack) -> None:
        super().__init__(stack)
        command = ["cargo", "build", "--release", "--quiet", "-p", "phb-server", "--example", "client"]
        subprocess.run(command, cwd=ROOT, check=True)
        self.client = ROOT / "target" / "release" / "examples" / "client"
        self.address = ""
        self.process: subprocess.Popen[bytes] | None = None
        macs = (b"\x02\0\0\0" + number.to_bytes(2, "big") for number in range(40_000))
        frames = [(bytes(6) + mac + b"\x08\x00").ljust(veth.FRAME_BYTES, b"x") for mac in macs]
        (self.folder / "sources").write_text("".join(f"{frame.hex()}\n" for frame in frames))

    def file(self, name: str, messages: Iterable[Message]) -> str:
        """Write messages to a file; return its path."""
        path = self.folder / name
        path.write_bytes(delimited(messages))
        return str(path)

    def _in_switch(self, *command: str) -> list[str]:
        return ["ip", "netns", "exec", self.switch, *command]

    def call(self, method: str, messages: Iterable[Message]) -> dict[str, Any]:
        """Make calls with the native client, one after the other."""
        command = self._in_switch(
            str(self.client), self.address, "call", f"p4.v1.P4Runtime/{method}", self.file("requests", messages)
        )
        result: dict[str, Any] = json.loads(
            subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=120).stdout
        )
        return result

    def client_process(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """Start the native client."""
        return subprocess.Popen(
            self._in_switch(str(self.client), self.address, *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    @contextmanager
    def serving(
        self, target: str, program: Path, updates: Iterable[p4r.Update] = (), *, primary: bool = True
    ) -> Iterator[None]:
        """Run a target with a program; without `primary`, the client that configured it has left."""
        self.address = f"127.0.0.1:{veth.free_port()}"
        if target == "phb":
            command = [str(Path(sys.executable).with_name("phb-switch"))]
        else:
            command = ["simple_switch_grpc", "--log-level", "off"]
        command += ["--no-p4", "-i", "1@s1", "-i", "2@s2", "--device-id", str(veth.DEVICE)]
        command += ["--", "--grpc-server-addr", self.address, "--cpu-port", str(CPU_PORT)]
        with self.running(command, self.processors) as self.process:
            self._wait_for_port()
            holder = self.client_process("listen", self.file("arbitration", [arbitration()]), "600")
            try:
                assert holder.stderr is not None
                assert holder.stderr.readline() == b"ready\n", (self.folder / "log").read_text()
                self.call("SetForwardingPipelineConfig", [configuration(program)])
                batches = list(writes(updates, BATCH))
                if batches:
                    self.call("Write", batches)
                if not primary:
                    holder.kill()
                    holder.wait()
                yield
            finally:
                holder.kill()
                holder.communicate()

    def _wait_for_port(self) -> None:
        end = time.monotonic() + veth.PATIENCE_S
        connect = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 1)"
        command = self._in_switch(sys.executable, "-c", connect, self.address.rpartition(":")[2])
        while subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode:
            if time.monotonic() > end:
                raise RuntimeError(f"no switch: {(self.folder / 'log').read_text()}")
            time.sleep(0.1)

    def memory_mb(self) -> float:
        """Return the switch's resident memory."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def left_by_port_1(self) -> int:
        """Return how many frames have left the switch by port 1."""
        path = "/sys/class/net/t1/statistics/rx_packets"
        return int(
            subprocess.run(
                ["ip", "netns", "exec", self.traffic, "cat", path], check=True, stdout=subprocess.PIPE
            ).stdout
        )


def packet_in(bench: Control, target: str, rate: float, *, python: bool) -> tuple[float, float]:
    """Return the part of the offered packets that a client gets, and its packets per second."""
    with bench.serving(target, PROGRAMS / "router", [to_controller()], primary=False):
        if python:
            command = bench._in_switch(sys.executable, "-m", "benchmarks.control", "--listen", bench.address)
            listener = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
            )
        else:
            arbitrating = bench.file("arbitration", [arbitration()])
            listener = bench.client_process("listen", arbitrating, str(SECONDS + 3))
        assert listener.stderr is not None
        listener.stderr.readline()
        counted = bench.generate(rate, SECONDS, frames="udp")
        result, _ = listener.communicate(timeout=veth.PATIENCE_S)
        got = json.loads(result)
        return got["packets"] / counted["sent"], got["packets"] / SECONDS


def packets_out(bench: Control, target: str, count: int = 200_000) -> float:
    """Return the packets per second that leave, of those that a native client sends."""
    with bench.serving(target, PROGRAMS / "router", primary=False):
        before = bench.left_by_port_1()
        started = time.monotonic()
        sender = bench.client_process("send", bench.file("packets", [arbitration(), packet_out()]), str(count))
        rates: list[tuple[float, int]] = []
        while sender.poll() is None or len(rates) < 2 or rates[-1][1] > rates[-2][1]:
            rates.append((time.monotonic() - started, bench.left_by_port_1() - before))
            time.sleep(0.25)
        sender.communicate()
        most = rates[-1][1]
        when = next(at for at, left in rates if left >= most * 0.98)
        return most / when


def digests(bench: Control, target: str) -> float:
    """Return the digests per second that a native client gets, while the switch makes as many as it can."""
    with bench.serving(target, PROGRAMS / "features", [enable_digests()], primary=False):
        listener = bench.client_process("listen", bench.file("arbitration", [arbitration()]), str(SECONDS + 3))
        assert listener.stderr is not None
        listener.stderr.readline()
        bench.generate(0, SECONDS, frames="sources")
        result, _ = listener.communicate(timeout=veth.PATIENCE_S)
        return float(json.loads(result)["digests"]) / SECONDS


def subscription() -> gnmi.SubscribeRequest:
    """Return a subscription to all counters, every 10 ms."""
    request = gnmi.SubscribeRequest()
    request.subscribe.subscription.add(mode=gnmi.SubscriptionMode.SAMPLE, sample_interval=10_000_000)
    return request


def delays(bench: Control) -> list[Figure]:
    """Measure the 99th percentile of packet delays in microseconds, alone and beside other work."""
    # All frames of port 1 leave by port 2.
    (forward,) = (each for each in info_of(PROGRAMS / "router").actions if each.preamble.alias == "forward")
    update = to_controller()
    update.entity.table_entry.action.action.action_id = forward.preamble.id
    update.entity.table_entry.action.action.params[0].value = b"\x02"

    def p99() -> float:
        direct = bench.generate(LATENCY_RATE, SECONDS, send="d1", receive="d2")
        counted = bench.generate(LATENCY_RATE, SECONDS)
        return float(counted["p99_ns"] - direct["p99_ns"]) / 1000

    figures = []
    with bench.serving("phb", PROGRAMS / "router", [update]):
        figures.append(Figure("control.phb.p99.alone.us", p99(), "us"))
        batches = delimited(writes((update_of(number) for number in range(10_000)), 1))
        for name, method, data in (
            ("write", "p4.v1.P4Runtime/Write", batches),
            ("read", "p4.v1.P4Runtime/Read", delimited([reading()] * 10_000)),
            ("subscription", "gnmi.gNMI/Subscribe", delimited([subscription()])),
            ("pipeline", "p4.v1.P4Runtime/SetForwardingPipelineConfig", delimited([verification()] * VERIFICATIONS)),
        ):
            path = bench.folder / "meanwhile"
            path.write_bytes(data)
            client = bench.client_process("call", method, str(path))
            figures.append(Figure(f"control.phb.p99.{name}.us", p99(), "us"))
            client.kill()
            client.communicate()
    return figures


def update_of(number: int) -> p4r.Update:
    """Return an insertion of a route into the program `router`, or its deletion for odd numbers."""
    info = info_of(PROGRAMS / "router")
    (table,) = (each for each in info.tables if each.preamble.alias == "ipv4_route")
    (action,) = (each for each in info.actions if each.preamble.alias == "drop")
    update = p4r.Update(type=p4r.Update.DELETE if number % 2 else p4r.Update.INSERT)
    entry = update.entity.table_entry
    entry.table_id = table.preamble.id
    match = entry.match.add(field_id=1)
    match.lpm.value, match.lpm.prefix_len = bytes((172, 16, number // 2 % 256, 0)), 24
    entry.action.action.action_id = action.preamble.id
    return update


def verification() -> p4r.SetForwardingPipelineConfigRequest:
    """Return the request that verifies phb's program beside the one that forwards."""
    request = configuration(PHB)
    request.action = p4r.SetForwardingPipelineConfigRequest.VERIFY
    return request


def write_and_read(bench: Control) -> list[Figure]:
    """Measure times of 100,000 entries, and the delay of a small write beside silent clients."""
    figures = []
    with bench.serving("phb", PHB):
        figures.append(Figure("control.phb.loaded.mb", bench.memory_mb(), "MB"))
        written = bench.call("Write", writes(p4runtime.route_updates(info_of(PHB)), BATCH))
        figures.append(Figure("control.phb.write.100k.s", written["seconds"], "s"))
        times = [bench.call("Read", [reading()])["seconds"] for _ in range(3)]
        figures.append(Figure("control.phb.read.100k.s", min(times), "s"))
    with bench.serving("phb", PHB):
        alone = bench.call("Write", writes(routes(200), 1))["longest_s"]
        crowd = bench.client_process("silent", *map(str, SILENT))
        assert crowd.stdout is not None
        assert crowd.stdout.readline()
        again = (p4r.Update(type=p4r.Update.MODIFY, entity=each.entity) for each in routes(200))
        crowded = bench.call("Write", writes(again, 1))["longest_s"]
        figures.append(Figure("control.phb.silent.write_ms", (crowded - alone) * 1000, "ms"))
        figures.append(Figure("control.phb.silent.mb", bench.memory_mb(), "MB"))
        crowd.communicate(b"\n")
    return figures


def measure(report: Callable[[str], None]) -> list[Figure]:
    """Measure everything; `report` gets a line per figure."""
    targets = ["phb", *(["bmv2"] if shutil.which("simple_switch_grpc") else [])]
    figures: list[Figure] = []

    def add(name: str, value: float, unit: str) -> None:
        figures.append(Figure(name, value, unit))
        report(f"{name}: {value:,.4g} {unit}")

    with ExitStack() as stack:
        bench = Control(stack)
        for target in targets:
            share, _ = packet_in(bench, target, 20_000, python=True)
            add(f"control.{target}.packet_in.20k.python", share, "of offered")
            share, rate = packet_in(bench, target, 200_000, python=False)
            add(f"control.{target}.packet_in.200k.native", share, "of offered")
            add(f"control.{target}.packet_in.200k.native.pps", rate, "packets/s")
            add(f"control.{target}.packet_out.pps", packets_out(bench, target), "packets/s")
            add(f"control.{target}.digests.pps", digests(bench, target), "1/s")
            with bench.serving(target, PHB):
                seconds = bench.call("Write", writes(ternary_entries(TERNARY), TERNARY_BATCH))["seconds"]
                add(f"control.{target}.ternary.10k.s", seconds, "s")
        for figure in (*write_and_read(bench), *delays(bench)):
            add(figure.name, figure.value, figure.unit)
    return figures


def listen(address: str) -> None:
    """Run a client in Python that counts the packets that it gets, and prints how many."""
    import queue
    import threading

    import grpc
    from finsy.proto import p4r_grpc

    requests: queue.SimpleQueue[p4r.StreamMessageRequest | None] = queue.SimpleQueue()
    requests.put(arbitration())
    count = 0
    with grpc.insecure_channel(address) as channel:
        stream = p4r_grpc.P4RuntimeStub(channel).StreamChannel(iter(requests.get, None))
        threading.Timer(SECONDS + 3, stream.cancel).start()
        try:
            for response in stream:
                if response.WhichOneof("update") == "arbitration":
                    print("ready", file=sys.stderr, flush=True)
                else:
                    count += 1
        except grpc.RpcError:
            pass
    print(json.dumps({"packets": count}))


def main() -> None:
    """Measure, and write the figures where wanted."""
    parser = argparse.ArgumentParser(description="Measure P4Runtime on veth interfaces (needs root).")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--listen", metavar="ADDRESS", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.listen:
        listen(arguments.listen)
        return
    reason = veth.unavailable()
    if reason:
        print(f"control: left out: {reason}", file=sys.stderr)
        return
    figures = name_build(measure(lambda line: print(f"control: {line}", file=sys.stderr, flush=True)))
    if arguments.json:
        write(arguments.json, figures)


if __name__ == "__main__":
    main()
