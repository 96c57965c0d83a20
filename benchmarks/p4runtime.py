"""`write.entries_per_s` and `rss.100k.mb`: table entries over P4Runtime, and the memory they take.

The switch runs as the command `phb-switch`, a process of its own, with phb's whole program, as native code and in the
interpreter in turn. The client is a plain gRPC
stub in this process: it makes its messages while the clock runs, and waits for each batch before it sends the next. The
memory is the most that the switch ever had.
"""

import json
import queue
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import grpc
import typer
from finsy.proto import p4i, p4r, p4r_grpc
from google.protobuf import text_format

from benchmarks.figures import Figure, write

ENTRIES = 100_000
IPV4_ENTRIES = 60_000
BATCH = 1_000
ROUNDS = 5
DEVICE = 1


def route_updates(info: p4i.P4Info) -> Iterator[p4r.Update]:
    """Yield insertions of routes, the larger part IPv4, the rest IPv6."""
    tables = {table.preamble.alias: table.preamble.id for table in info.tables}
    (action,) = (action for action in info.actions if action.preamble.alias == "route")
    parameters = [(parameter.id, (parameter.bitwidth + 7) // 8) for parameter in action.params]
    for number in range(ENTRIES):
        update = p4r.Update(type=p4r.Update.INSERT)
        entry = update.entity.table_entry
        match = entry.match.add(field_id=1)
        if number < IPV4_ENTRIES:
            entry.table_id = tables["ipv4_route"]
            match.lpm.value, match.lpm.prefix_len = (0x0A000000 + (number << 6)).to_bytes(4, "big"), 26
        else:
            entry.table_id = tables["ipv6_route"]
            match.lpm.value, match.lpm.prefix_len = (0x20010DB8 << 96 | number << 64).to_bytes(16, "big"), 64
        entry.action.action.action_id = action.preamble.id
        for identifier, length in parameters:
            value = number.to_bytes(8, "big")[-min(length, 8) :]
            entry.action.action.params.add(param_id=identifier, value=b"\x01" if length <= 2 else value)
        yield update


def _memory_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    match = re.search(r"VmHWM:\s*(\d+) kB", status)
    assert match is not None
    return int(match[1]) / 1024


def _round(executor: str) -> tuple[float, float]:
    """Return entries per second with an executor of programs, and the memory afterwards."""
    build = files("phb_p4") / "build"
    info = text_format.Parse((build / "phb.p4info.txtpb").read_text(encoding="utf-8"), p4i.P4Info())
    command = [sys.executable, "-m", "phb_switch", "--no-p4", "--json", "--executor", executor]
    command += ["--device-id", str(DEVICE), "--grpc-server-addr", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = json.loads(process.stdout.readline())["grpc_server_addr"]
            with grpc.insecure_channel(address) as channel:
                stub = p4r_grpc.P4RuntimeStub(channel)
                requests: queue.SimpleQueue[p4r.StreamMessageRequest] = queue.SimpleQueue()
                arbitration = p4r.StreamMessageRequest()
                arbitration.arbitration.device_id = DEVICE
                arbitration.arbitration.election_id.low = 1
                requests.put(arbitration)
                stream = stub.StreamChannel(iter(requests.get, None))
                next(stream)
                configure = p4r.SetForwardingPipelineConfigRequest(
                    device_id=DEVICE, action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
                )
                configure.election_id.low = 1
                configure.config.p4info.CopyFrom(info)
                configure.config.p4_device_config = (build / "phb.json").read_bytes()
                stub.SetForwardingPipelineConfig(configure)
                started = time.perf_counter()
                request = p4r.WriteRequest(device_id=DEVICE, election_id=configure.election_id)
                for update in route_updates(info):
                    request.updates.append(update)
                    if len(request.updates) == BATCH:
                        stub.Write(request)
                        del request.updates[:]
                taken = time.perf_counter() - started
                stream.cancel()
                return ENTRIES / taken, _memory_mb(process.pid)
        finally:
            process.terminate()
            process.wait()


def measure() -> list[Figure]:
    """Take the fastest of several rounds, as other load only slows one down, and the largest memory."""
    rounds = [(_round("native"), _round("interpreter")) for _ in range(ROUNDS)]
    figures = []
    for number, of in enumerate(("", ".interpreter")):
        figures.append(Figure(f"write{of}.entries_per_s", max(turn[number][0] for turn in rounds), "1/s"))
        figures.append(Figure(f"rss{of}.100k.mb", max(turn[number][1] for turn in rounds), "MB"))
    ratio = statistics.median(native / other for (native, _), (other, _) in rounds)
    extra = statistics.median(native - other for (_, native), (_, other) in rounds)
    return [*figures, Figure("write.native_over_interpreter", ratio, "x"), Figure("rss.extra.mb", extra, "MB")]


def main(json: Annotated[Path | None, typer.Option(help="Write the figures to this file.")] = None) -> None:
    """Measure how fast entries are written over P4Runtime, and the memory they take."""
    figures = measure()
    for figure in figures:
        print(f"{figure.name} {figure.value:,.1f} {figure.unit}")
    if json is not None:
        write(json, figures)


if __name__ == "__main__":
    typer.run(main)
