"""`phb-switch --trace`, and clients that watch beside it, while the program is replaced."""

import json
import struct
import time
from pathlib import Path

from phb_switch import LIMITS

from ..gnmi.support import Client as GnmiClient
from ..support import CPU_PORT, PROGRAMS, Client, ipv4
from ..test_packet_io import out
from ..test_traces import arrived, watch
from .test_start import WAIT_SECONDS, running, stopped

NO_FRAMES = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


FRAMES = 100_000


def memory(process: int) -> int:
    """What a process has in memory, in bytes."""
    (line,) = (line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) << 10


def test_a_file_and_clients_with_filters_of_their_own(tmp_path: Path) -> None:
    for port in (1, 2):
        (tmp_path / f"{port}_in.pcap").write_bytes(NO_FRAMES)
    files = ["--use-files", "0", "-i", "1@1", "-i", "2@2", "--trace", "traces.jsonl"]
    program = str(PROGRAMS / "router.json")
    with running(tmp_path, *files, program, "--cpu-port", str(CPU_PORT)) as (process, port):
        client = Client(port)
        stream = client.primary()
        client.configure()
        everything, to_one = watch(client), iter(watch(client, "egress-port 1"))
        first = iter(everything)
        numbers = []
        for egress_port in (1, 2, 1):
            stream.send(out(egress_port, bytes(60)))
            trace = next(first)
            number, ingress_port, length = arrived(trace)
            numbers.append(number)
            assert (ingress_port, length) == (CPU_PORT, 62)
            assert trace.steps[-1].departed.port == egress_port
            # Each packet meets a program of its own.
            client.configure()
        assert numbers == [1, 2, 3]
        assert [arrived(next(to_one))[0] for _ in range(2)] == [1, 3]
        client.close()
        code, _, errors = stopped(process)
    assert code == 0, errors
    written = [json.loads(line) for line in (tmp_path / "traces.jsonl").read_text().splitlines()]
    assert [trace["number"] for trace in written] == [1, 2, 3]
    ends = [trace["steps"][-1]["departed"]["port"] for trace in written]
    assert ends == [1, 2, 1]


def test_clients_that_do_not_read_take_little_memory(tmp_path: Path) -> None:
    frame = struct.pack("<IIII", 1, 0, 90, 90) + ipv4(length=76)
    (tmp_path / "1_in.pcap").write_bytes(NO_FRAMES + FRAMES * frame)
    program = str(PROGRAMS / "router.json")
    with running(tmp_path, "--use-files", "2", "-i", "1@1", program) as (process, port):
        client = Client(port)
        before = memory(process.pid)
        watches = [watch(client) for _ in range(LIMITS["watches_of_one"])]
        end = time.monotonic() + WAIT_SECONDS
        monitor = GnmiClient(port)
        while sum(monitor.values("/.../in-pkts").values()) < FRAMES:
            assert time.monotonic() < end
            time.sleep(0.1)
        monitor.channel.close()
        # All of them would be more than 100 MiB; the watches have 8 each at most, and what they share counts once.
        assert memory(process.pid) - before < 48 << 20
        for each in watches:
            assert next(iter(each)).number == 1
            each.call.cancel()
        client.close()
        assert stopped(process)[0] == 0
