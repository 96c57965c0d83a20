"""Clients that others wrote, unchanged, against our server.

They are looked for in the folder PHB_PEERS, cloned there under the names that their repositories have: finsy (for its
examples), p4runtime-shell and tutorials. PHB_PEERS_PYTHON is a Python that has what the last two import: the packages
p4runtime and ipython, and PI's module p4.tmp.p4config_pb2.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..support import PROGRAMS
from .serving import EXAMPLES

HERE = Path(__file__).parent
PEERS = Path(os.environ.get("PHB_PEERS", "/nowhere"))
PYTHON = os.environ.get("PHB_PEERS_PYTHON", sys.executable)
SECONDS = 180

NEW_NETWORK = ("unshare", "--map-root-user", "--net")


def _needs(folder: str, *modules: str) -> pytest.MarkDecorator:
    """Skips where a peer isn't cloned, or its modules can't be imported."""
    reason = None
    if not (PEERS / folder).is_dir():
        reason = f"PHB_PEERS has no folder {folder}"
    elif modules:
        imported = subprocess.run([PYTHON, "-c", f"import {', '.join(modules)}"], env=_environment(), check=False)
        if imported.returncode:
            reason = f"PHB_PEERS_PYTHON can't import {', '.join(modules)}"
    return pytest.mark.skipif(reason is not None, reason=str(reason))


def _environment() -> dict[str, str]:
    """Of PHB_PEERS_PYTHON: p4runtime's modules are older than protobuf in C, and nobody sits at the prompt."""
    return os.environ | {
        "PYTHONPATH": str(PEERS / "p4runtime-shell"),
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python",
        "IPY_TEST_SIMPLE_PROMPT": "1",
    }


def _serving(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `serving.py` in a network of its own, where the addresses that the clients' scripts have are free."""
    command = [sys.executable, str(HERE / "serving.py"), *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        [*NEW_NETWORK, *command], env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def _no_network() -> bool:
    if shutil.which("unshare") is None:
        return True
    return subprocess.run([*NEW_NETWORK, "true"], capture_output=True, check=False).returncode != 0


needs_network = pytest.mark.skipif(_no_network(), reason="no network namespaces can be made here")


@needs_network
@_needs("finsy")
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_finsy(name: str) -> None:
    """Afterwards the tables hold what finsy's own tests say."""
    done = _serving("finsy", str(PEERS / "finsy"), name)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_network
@_needs("tutorials", "grpc", "p4.v1.p4runtime_pb2", "p4.tmp.p4config_pb2")
@_needs("finsy")
def test_the_controller_of_the_tutorials(tmp_path: Path) -> None:
    """The exercise p4runtime with its solution; finsy brings the same program compiled."""
    done = _serving("tutorial", str(PEERS / "tutorials"), str(PEERS / "finsy"), PYTHON, str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


ROUTER = """
tables
tables["RouterIngress.ipv4_route"]
te = table_entry["RouterIngress.ipv4_route"](action="route")
te.match["destination"] = "10.0.0.0/16"
te.action.set(port="2", source_mac="02:00:00:00:00:01", destination_mac="02:00:00:00:00:02")
te.insert
te.insert
te.action["port"] = "3"
te.modify
for te in table_entry["RouterIngress.ipv4_route"].read(): print(te)
te.counter_data
c = table_entry["RouterIngress.classify"](action="set_class")
c.match.set(source="10.0.0.0..10.0.0.9", tos="0xb8&&&0xfc", protocol="17")
c.action["traffic_class"] = "5"
c.priority = 10
c.insert
c.read(lambda e: print(e))
global_options["canonical_bytestrings"] = False
x = table_entry["cross_connect"](action="forward")
x.match["ingress_port"] = "1"
x.action["port"] = "2"
x.insert
d = table_entry["RouterIngress.cross_connect"](action="forward", is_default=True)
d.action["port"] = "3"
d.modify
ce = counter_entry["RouterIngress.class_traffic"]
ce.index = 1
ce.data.packet_count = 12
ce.modify
counter_entry["RouterIngress.class_traffic"].read(lambda e: print(e))
dc = direct_counter_entry["RouterIngress.route_traffic"]
dc.table_entry.match["destination"] = "10.0.0.0/16"
dc.packet_count = 77
dc.modify
dc.read(lambda e: print(e))
me = meter_entry["RouterIngress.class_meter"]
me.index = 1
me.cir = 1000
me.cburst = 100
me.pir = 2000
me.pburst = 200
me.modify
me.read(lambda e: print(e))
mcge = multicast_group_entry(1)
mcge.add(1, 1).add(1, 2).add(2, 3)
mcge.insert
mcge.read(lambda e: print(e))
cse = clone_session_entry(1)
cse.add(1, 1).add(1, 2).add(2, 3)
cse.insert
cse.read(lambda e: print(e))
p = packet_out()
p.payload = b"AAAA"
p.metadata["egress_port"] = "1"
p.metadata["padding"] = "0"
p.send
Write("{write}")
APIVersion()
table_entry["RouterIngress.ipv4_route"].read(lambda te: te.delete())
table_entry["RouterIngress.ipv4_route"].read(lambda te: print("left", te))
exit
"""

SHOWN_OF_ROUTER = (
    "RouterIngress.cross_connect",
    "prefix_len: 16",
    "Match entry exists|exists already|ALREADY_EXISTS",
    'value: "\\\\x03"',
    "priority: 10",
    "packet_count: 12",
    "packet_count: 77",
    "cburst: 100",
    "multicast_group_id: 1",
    "session_id: 1",
    "1.",
)

PROFILES = """
m = action_profile_member["FeaturesIngress.paths"](member_id=1, action="forward")
m.action["port"] = "1"
m.insert
m2 = action_profile_member["FeaturesIngress.paths"](member_id=2, action="forward")
m2.action["port"] = "2"
m2.insert
g = action_profile_group["FeaturesIngress.paths"](group_id=1)
g.max_size = 4
g.add(1, 1).add(2, 2)
g.insert
g.read(lambda e: print(e))
t = table_entry["FeaturesIngress.by_selector"](group_id=1)
t.match["hdr.ethernet.destination"] = "02:00:00:00:00:01"
t.insert
t.read(lambda e: print(e))
t.delete
g.delete
m.delete
m2.delete
o = table_entry["FeaturesIngress.by_selector"]
a = Action("forward")
a["port"] = "3"
o.oneshot.add(a)
o.match["hdr.ethernet.destination"] = "02:00:00:00:00:02"
o.insert
o.read(lambda e: print(e))
exit
"""

SHOWN_OF_PROFILES = ("weight: 2", "action_profile_group_id: 1", "action_profile_action_set")


@_needs("p4runtime-shell", "IPython", "grpc", "p4.v1.p4runtime_pb2")
@pytest.mark.parametrize(
    ("program", "commands", "shown", "refused"),
    [
        # What is inserted twice.
        ("router", ROUTER, SHOWN_OF_ROUTER, 1),
        ("features", PROFILES, SHOWN_OF_PROFILES, 0),
    ],
)
def test_p4runtime_shell(
    program: str, commands: str, shown: tuple[str, ...], refused: int, port: int, tmp_path: Path
) -> None:
    """The commands of its README and its pages on usage, typed into its prompt."""
    request = tmp_path / "write.txtpb"
    request.write_text(
        "updates { type: INSERT entity { packet_replication_engine_entry { multicast_group_entry {"
        " multicast_group_id: 7 replicas { egress_port: 1 instance: 1 } } } } }"
    )
    files = f"{PROGRAMS / program}.p4info.txtpb,{PROGRAMS / program}.json"
    address = ("--grpc-addr", f"127.0.0.1:{port}", "--device-id", "7", "--election-id", "0,1", "--config", files)
    done = subprocess.run(
        [PYTHON, "-m", "p4runtime_sh", *address],
        input=commands.replace("{write}", str(request)),
        env=_environment() | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    missing = [words for words in shown if not any(each in said for each in words.split("|"))]
    assert not missing, said
    assert said.count("Traceback") == refused, said
    assert "left" not in said.partition('print("left"')[2], said
