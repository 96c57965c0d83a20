"""A P4Runtime switch that only remembers: what the controller meets where no real one is wanted; faults on demand."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest
from finsy.proto import p4i, p4r, p4r_grpc, rpc_code, rpc_status
from google.protobuf import any_pb2
from postgresql import _cluster as _cluster
from postgresql import database as database
from postgresql import postgresql as postgresql

from phb import Artifact, cli
from phb.compiler.rules import MULTI_FIELD
from phb.device.references import VERSION_TABLE
from phb.intent import Entry, Exact
from phb.origin import UNKNOWN
from phb_switch import P4RuntimeServer

ROOT = Path(__file__).resolve().parents[2]
PROCESS_ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
EXAMPLES = ROOT / "examples" / "s390"


@dataclass
class FakeSwitch(p4r_grpc.P4RuntimeServicer):
    """Remembers config and entries. Attributes are faults that a test may switch on.

    Attributes:
        atomic: Knows DATAPLANE_ATOMIC; bmv2's server doesn't.
        on_update: Called before each update that is about to be applied: where a test kills the controller.
        refuse: Gives the switch's words for an update that it refuses, else None.
        forget: Accepts such entries without keeping them.
        padded: Returns byte strings with leading zeros, as older servers do.
        keeps_cookie: Returns the pipeline's cookie.
        refuse_config: The switch's words when it refuses every program.
        primary: Whether arbitration succeeds.
        silent: Never answers to arbitration.
    """

    atomic: bool = True
    on_update: Callable[[p4r.Update], None] = lambda update: None
    refuse: Callable[[p4r.Update], str | None] = lambda update: None
    forget: Callable[[p4r.TableEntry], bool] = lambda entry: False
    padded: bool = False
    keeps_cookie: bool = True
    refuse_config: str | None = None
    primary: bool = True
    silent: bool = False
    config: p4r.ForwardingPipelineConfig | None = None
    table: dict[bytes, p4r.TableEntry] = field(default_factory=dict)
    defaults: dict[int, p4r.TableEntry] = field(default_factory=dict)
    counters: dict[int, dict[int, tuple[int, int]]] = field(default_factory=dict)
    writes: list[p4r.WriteRequest] = field(default_factory=list)
    address: str = ""

    def start(self) -> Callable[[], None]:
        server = grpc.server(futures.ThreadPoolExecutor(4))
        p4r_grpc.add_P4RuntimeServicer_to_server(self, server)
        self.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        return lambda: server.stop(None).wait()

    @property
    def of_policies(self) -> list[p4r.TableEntry]:
        """What it holds without its secret keys."""
        tables = self.config.p4info.tables if self.config is not None else ()
        secret = {table.preamble.id for table in tables if table.preamble.name.endswith("_key")}
        return [entry for entry in self.table.values() if entry.table_id not in secret]

    def hold_policy(self, artifact: Artifact, policy: int) -> None:
        """Hold an entry that gives some packets a policy number."""
        parameters = {"policy": policy, "stream": 0, "traffic_class": 0}
        entry = Entry(MULTI_FIELD[4], {"protocol": Exact(policy)}, "set_class", parameters, 1, UNKNOWN)
        message = artifact.message(artifact.encode(entry))
        self.table[message.SerializeToString(deterministic=True)] = message

    def StreamChannel(self, requests, context):  # noqa: N802
        for request in requests:
            response = p4r.StreamMessageResponse(arbitration=request.arbitration)
            if not self.primary:
                response.arbitration.status.code = rpc_code.ALREADY_EXISTS
                response.arbitration.status.message = "You are backup"
                response.arbitration.election_id.low = 99
            if not self.silent:
                yield response

    def GetForwardingPipelineConfig(self, request, context):  # noqa: N802
        if self.config is None:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "No forwarding pipeline config set for this device.")
        config = p4r.ForwardingPipelineConfig()
        config.CopyFrom(self.config)
        if not self.keeps_cookie:
            config.ClearField("cookie")
        return p4r.GetForwardingPipelineConfigResponse(config=config)

    def SetForwardingPipelineConfig(self, request, context):  # noqa: N802
        if self.refuse_config is not None:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, self.refuse_config)
        self.config = request.config
        self.table.clear()
        self.defaults = {table.preamble.id: _default(table) for table in request.config.p4info.tables}
        return p4r.SetForwardingPipelineConfigResponse()

    def Write(self, request, context):  # noqa: N802
        if request.updates:
            self.writes.append(request)
        if request.atomicity == p4r.WriteRequest.DATAPLANE_ATOMIC and not self.atomic:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "Only CONTINUE_ON_ERROR is supported for atomicity")
        before = dict(self.table), dict(self.defaults)
        errors = [self._update(update) for update in request.updates]
        if any(error.canonical_code for error in errors):
            if request.atomicity == p4r.WriteRequest.DATAPLANE_ATOMIC:
                self.table, self.defaults = before
            self._fail(context, errors)
        return p4r.WriteResponse()

    def Read(self, request, context):  # noqa: N802
        response = p4r.ReadResponse()
        for entity in request.entities:
            if entity.HasField("counter_entry"):
                counter = entity.counter_entry.counter_id
                cells = self.counters.setdefault(counter, {0: (0, 0)})
                if entity.counter_entry.HasField("index"):
                    cell = entity.counter_entry.index.index
                    cells = {cell: cells.get(cell, (0, 0))}
                for index, (packets, octets) in cells.items():
                    cell = response.entities.add().counter_entry
                    cell.counter_id = counter
                    cell.index.index = index
                    cell.data.packet_count, cell.data.byte_count = packets, octets
            elif entity.table_entry.is_default_action:
                response.entities.add().table_entry.CopyFrom(self.defaults[entity.table_entry.table_id])
            else:
                for entry in self.table.values():
                    response.entities.add().table_entry.CopyFrom(self._shown(entry))
        yield response

    def _update(self, update: p4r.Update) -> p4r.Error:
        entry = update.entity.table_entry
        self.on_update(update)
        if update.entity.HasField("counter_entry"):
            counted = update.entity.counter_entry
            self.counters[counted.counter_id].pop(counted.index.index)
            return p4r.Error()
        if entry.is_default_action:
            self.defaults[entry.table_id] = entry
            return p4r.Error()
        identity = p4r.TableEntry(table_id=entry.table_id, priority=entry.priority, match=entry.match)
        key = identity.SerializeToString(deterministic=True)
        words = self.refuse(update)
        if words is not None:
            return p4r.Error(canonical_code=rpc_code.RESOURCE_EXHAUSTED, message=words)
        if update.type == p4r.Update.INSERT and key in self.table:
            return p4r.Error(canonical_code=rpc_code.ALREADY_EXISTS, message="entry exists")
        if update.type != p4r.Update.INSERT and key not in self.table:
            return p4r.Error(canonical_code=rpc_code.NOT_FOUND, message="no such entry")
        if update.type == p4r.Update.DELETE:
            del self.table[key]
        elif not self.forget(entry):
            self.table[key] = entry
        return p4r.Error()

    def _fail(self, context, errors: list[p4r.Error]) -> None:
        status = rpc_status.Status(code=rpc_code.UNKNOWN, message="some updates failed")
        for error in errors:
            packed = any_pb2.Any()
            packed.Pack(error)
            status.details.append(packed)
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.UNKNOWN, status.message)

    def _shown(self, entry: p4r.TableEntry) -> p4r.TableEntry:
        shown = p4r.TableEntry()
        shown.CopyFrom(entry)
        shown.counter_data.packet_count = 7
        if self.padded:
            for parameter in shown.action.action.params:
                parameter.value = b"\0" + parameter.value
            for part in shown.match:
                if part.HasField("exact"):
                    part.exact.value = b"\0" + part.exact.value
        return shown


def _default(table: p4i.Table) -> p4r.TableEntry:
    """The default entry that a table starts with: its first action, with zeros."""
    entry = p4r.TableEntry(table_id=table.preamble.id, is_default_action=True)
    entry.action.action.action_id = table.action_refs[0].id
    if table.preamble.name == VERSION_TABLE:
        for number in (1, 2):
            entry.action.action.params.add(param_id=number, value=b"\0")
    return entry


@pytest.fixture
def start_switch() -> Iterator[Callable[..., FakeSwitch]]:
    """Start fake switches, and stop them after the test."""
    stops = []

    def start(**faults) -> FakeSwitch:
        switch = FakeSwitch(**faults)
        stops.append(switch.start())
        return switch

    yield start
    for stop in stops:
        stop()


@dataclass
class SwitchProcess:
    """A phb-switch without a program and without interfaces, on a loopback port that it keeps over restarts."""

    ready_file: Path
    options: tuple[str, ...] = ()
    address: str = "127.0.0.1:0"
    process: subprocess.Popen | None = None

    def start(self) -> "SwitchProcess":
        """Start it, and wait until it can be reached."""
        self.ready_file.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "phb_switch", "--no-p4", "--device-id", "1"),
                *("--grpc-server-addr", self.address, "--ready-file", str(self.ready_file), *self.options),
            ],
            env=PROCESS_ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not (self.ready_file.exists() and self.ready_file.read_text().strip().endswith("}")):
            assert self.process.poll() is None, "phb-switch ended at once"
            time.sleep(0.02)
        self.address = json.loads(self.ready_file.read_text())["grpc_server_addr"]
        return self

    def kill(self) -> None:
        """SIGKILL: what it held is gone."""
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def run_switch(tmp_path_factory) -> Iterator[Callable[..., SwitchProcess]]:
    """Start real switches in processes of their own, and kill them after the module's tests."""
    running = []

    def start(*options: object) -> SwitchProcess:
        ready_file = tmp_path_factory.mktemp("switch") / "ready.json"
        switch = SwitchProcess(ready_file, tuple(str(option) for option in options))
        running.append(switch)
        return switch.start()

    yield start
    for switch in running:
        switch.kill()


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    """No test reads or writes the state of whoever runs it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg-state"))


@pytest.fixture(scope="session")
def artifact() -> Artifact:
    return Artifact.load()


@pytest.fixture(scope="session")
def examples() -> Path:
    return EXAMPLES


@pytest.fixture
def write_file(tmp_path) -> Callable[[str, str], str]:
    """Write a file into the test's folder; give its path."""

    def write(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def phb(capsys):
    """Run a command line; give exit code, standard output, standard error."""

    def run(*arguments):
        code = cli.run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def address(switch) -> Iterator[str]:
    """Where a module's `switch` is served, by P4Runtime and gNMI."""
    with P4RuntimeServer(switch, device_id=1, names={1: "eth1", 2: "eth2"}) as server:
        yield server.address
