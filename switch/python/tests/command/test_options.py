"""What a command line comes to. The lines are those by which well-known tools start bmv2, with their own words."""

from pathlib import Path
from typing import Any

import pytest

from phb_switch import PortConfig
from phb_switch.cli import parse
from phb_switch.command.errors import InputError
from phb_switch.command.options import Logging, Options, Tls

LINES: list[tuple[str, str, dict[str, Any]]] = [
    (
        "bmv2's mininet/p4_mininet.py",
        "-i 1@s1-eth1 -i 2@s1-eth2 --pcap --thrift-port 9090 --nanolog ipc:///tmp/bm-0-log.ipc --device-id 0 "
        "build/basic.json --debugger --log-console",
        {
            "program": Path("build/basic.json"),
            "interfaces": {1: "s1-eth1", 2: "s1-eth2"},
            "ports": {1: PortConfig(), 2: PortConfig()},
            "pcap": Path(),
            "logging": Logging(console=True),
        },
    ),
    (
        "p4lang/tutorials utils/p4runtime_switch.py",
        "-i 1@s1-eth1 --pcap {tmp} --nanolog ipc:///tmp/bm-3-log.ipc --device-id 3 --no-p4 --log-console "
        "--thrift-port 9091 -- --grpc-server-addr 0.0.0.0:50052 --cpu-port 510 --priority-queues 8",
        {
            "interfaces": {1: "s1-eth1"},
            "ports": {1: PortConfig(queues=8)},
            "pcap": Path("{tmp}"),
            "device_id": 3,
            "logging": Logging(console=True),
            "address": "0.0.0.0:50052",
            "cpu_port": 510,
            "priority_queues": 8,
        },
    ),
    (
        "ONOS tools/dev/mininet/bmv2.py",
        "--device-id 1 -i 1@leaf1-eth1 --thrift-port 40123 --notifications-addr ipc:///tmp/bmv2-leaf1-n.ipc "
        "--nanolog ipc:///tmp/bmv2-leaf1-nanolog.ipc --debugger-addr ipc:///tmp/bmv2-leaf1-debug.ipc --log-console "
        "--pcap --dump-packet-data 80 -Linfo --no-p4 -- --cpu-port 255 --grpc-server-addr 0.0.0.0:50001",
        {
            "device_id": 1,
            "interfaces": {1: "leaf1-eth1"},
            "ports": {1: PortConfig()},
            "logging": Logging(console=True, level="info", dump_bytes=80),
            "pcap": Path(),
            "cpu_port": 255,
            "address": "0.0.0.0:50001",
        },
    ),
    (
        "p4-utils p4utils/mininetlib/node.py",
        "-i 1@s1-eth1 --pcap={tmp} --thrift-port 9090 --nanolog ipc:///tmp/bm-1-log.ipc --device-id 1 s1.json "
        "--log-console -- --grpc-server-addr 0.0.0.0:9559",
        {
            "program": Path("s1.json"),
            "device_id": 1,
            "interfaces": {1: "s1-eth1"},
            "ports": {1: PortConfig()},
            "pcap": Path("{tmp}"),
            "logging": Logging(console=True),
            "address": "0.0.0.0:9559",
        },
    ),
    (
        "a PTF script: no log but to a file, flushed, and no interface",
        "--log-file ss-log --log-flush --dump-packet-data 10000 -i 0@veth0 --no-p4",
        {
            "interfaces": {0: "veth0"},
            "ports": {0: PortConfig()},
            "logging": Logging(file=Path("ss-log"), flush=True, dump_bytes=10_000),
        },
    ),
    (
        "a script with the program behind --, which bmv2 does not read, either",
        "-i 0@veth0 --no-p4 -- --grpc-server-addr 127.0.0.1:50051 build/mlp.json",
        {"interfaces": {0: "veth0"}, "ports": {0: PortConfig()}, "address": "127.0.0.1:50051"},
    ),
    (
        "files instead of interfaces",
        "--use-files 2 -i 0@pcap0 a.json",
        {
            "program": Path("a.json"),
            "interfaces": {0: "pcap0"},
            "ports": {0: PortConfig()},
            "files_wait_seconds": 2,
        },
    ),
    ("a wait below zero is none", "--use-files -3 --no-p4", {"files_wait_seconds": 0}),
    ("nothing but the default", "--no-p4", {}),
    ("another drop port", "--no-p4 --drop-port 0 --cpu-port 511", {"drop_port": 0, "cpu_port": 511}),
    (
        "TLS",
        "--no-p4 -- --grpc-server-ssl --grpc-server-cert c --grpc-server-key k --grpc-server-cacert a "
        "--grpc-server-with-client-auth --client-bindings b",
        {
            "tls": Tls(
                certificate=Path("c"),
                key=Path("k"),
                client_authority=Path("a"),
                client_required=True,
                bindings=Path("b"),
            )
        },
    ),
    ("a Unix socket", "--no-p4 --grpc-server-addr unix:/tmp/s", {"address": "unix:/tmp/s"}),
    ("IPv6", "--no-p4 --grpc-server-addr [::1]:9559", {"address": "[::1]:9559"}),
]


@pytest.mark.parametrize(("line", "expected"), [each[1:] for each in LINES], ids=[each[0] for each in LINES])
def test_parsed(line: str, expected: dict[str, Any], tmp_path: Path) -> None:
    tmp = str(tmp_path)
    words = [word.replace("{tmp}", tmp) for word in line.split()]
    wanted = {
        key: Path(str(value).replace("{tmp}", tmp)) if key == "pcap" else value for key, value in expected.items()
    }
    found = parse(words)
    assert found is not None
    blank: dict[str, Any] = {"program": None, "interfaces": {}, "ports": {}}
    assert found == Options(**{**blank, **wanted, "notices": found.notices})


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--thrift-port 1 --nanolog x", ["--thrift-port ignored (there is no Thrift server", "--nanolog ignored ("]),
        ("--debugger --debugger-addr x", ["--debugger, --debugger-addr ignored (there is no debugger)"]),
        ("--disable-swap", ["--disable-swap ignored ("]),
        ("--max-mc-groups 1 --max-l1-entries 1 --max-l2-entries 1", ["--max-mc-groups, --max-l1-entries, --max-l2-"]),
        ("x.json", ["x.json ignored (--no-p4"]),
        ("--log-flush --log-file-max-size 9 --log-file-max-files 0", ["--log-flush", "-size", "-files"]),
        ("--grpc-server-cert c --grpc-server-with-client-auth", ["--grpc-server-cert", "--grpc-server-with"]),
        ("--dump-packet-data 9 -L error", ["--dump-packet-data ignored (--log-level error"]),
        ("--pcap --use-files 1", ["--pcap ignored (with --use-files"]),
        ("--enable-swap --device-id 3", []),
    ],
)
def test_notices(line: str, words: list[str]) -> None:
    found = parse(["--no-p4", *line.split()])
    assert found is not None
    text = "\n".join(found.notices)
    assert [word for word in words if word not in text] == []
    assert bool(text) == bool(words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--restore-state x", "--restore-state: state files of bmv2"),
        ("--load-modules x.so", "--load-modules: externs in shared objects"),
        ("--packet-in ipc:///x", "--packet-in: ports are"),
        ("--dp-grpc-server-addr x:1", "--dp-grpc-server-addr: ports are"),
        ("--log-console --log-file x", "--log-console and --log-file exclude each other"),
        ("-L verbose", "--log-level 'verbose': expected one of trace, debug"),
        ("--cpu-port 0", "--cpu-port"),
        ("--cpu-port 512", "--cpu-port"),
        ("--cpu-port 511", "--drop-port 511: expected a port that is not in use"),
        ("--max-port-count 1 -i 0@a -i 1@b", "--max-port-count 1: there are 2 interfaces"),
        ("--log-file f --log-file-max-size 0", "--log-file-max-size"),
        ("--grpc-server-ssl", "--grpc-server-ssl: --grpc-server-cert is missing"),
        ("--grpc-server-ssl --grpc-server-cert c", "--grpc-server-ssl: --grpc-server-key is missing"),
        (
            "--grpc-server-ssl --grpc-server-cert c --grpc-server-key k --grpc-server-with-client-auth",
            "--grpc-server-cacert, which certificates are checked against, is missing",
        ),
        (
            "--grpc-server-ssl --grpc-server-cert c --grpc-server-key k --client-bindings b",
            "--client-bindings: --grpc-server-with-client-auth is missing",
        ),
        ("--client-bindings b", "--client-bindings: without --grpc-server-ssl"),
        ("--pcap /nonexistent/directory", "--pcap /nonexistent/directory: no such directory"),
        ("--dump-packet-data -1", "--dump-packet-data"),
        ("--priority-queues 0", "--priority-queues"),
        ("a.json b.json", "unexpected extra argument"),
    ],
)
def test_refused(line: str, words: str) -> None:
    with pytest.raises(InputError, match="(?i)" + words.replace("(", r"\(")):
        parse(["--no-p4", *line.split()])
