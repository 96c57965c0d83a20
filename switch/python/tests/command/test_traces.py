"""`phb-switch --trace`, and clients that watch beside it, while the program is replaced."""

import json
import struct
from pathlib import Path

from ..support import CPU_PORT, PROGRAMS, Client
from ..test_packet_io import out
from ..test_traces import arrived, watch
from .test_start import running, stopped

NO_FRAMES = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


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
