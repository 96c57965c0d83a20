"""Switches that hang, never end, or say what makes no sense: each command ends, with one line that says what it had."""

import itertools
import signal
import subprocess
import sys
import threading
import time
from concurrent import futures

import grpc
import pytest
from finsy.proto import gnmi, gnmi_grpc, p4r, p4r_grpc, rpc_status
from google.protobuf import any_pb2

from phb import SwitchError
from phb.device import calls as calls_module
from phb.device import session as session_module
from phb.device.session import Session

READ, WRITE, GET, SET, STREAM, GNMI = (
    "Read",
    "Write",
    "GetForwardingPipelineConfig",
    "SetForwardingPipelineConfig",
    "StreamChannel",
    "gNMI",
)

ENOUGH_S = 1
"""What a call may take: enough for those that are answered, also where the machine is busy."""


class Gnmi(gnmi_grpc.gNMIServicer):
    """Answers with `answer`, a function, or as a switch that speaks no gNMI."""

    answer = None

    def Get(self, request, context):  # noqa: N802
        if self.answer is None:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "")
        return self.answer(request, context)


class Hostile(p4r_grpc.P4RuntimeServicer):
    """Runs the program that it is asked for and holds nothing, but for what a test puts in a method's place."""

    def __init__(self, artifact, **instead):
        self.over = threading.Event()
        self.gnmi = Gnmi()
        self.cookie = artifact.cookie
        for method, answer in instead.items():
            setattr(self.gnmi if method == GNMI else self, "answer" if method == GNMI else method, self._bound(answer))

    def _bound(self, answer):
        return lambda request, context: answer(self, request, context)

    def StreamChannel(self, requests, context):  # noqa: N802
        for request in requests:
            answer = p4r.StreamMessageResponse()
            answer.arbitration.CopyFrom(request.arbitration)
            yield answer

    def GetForwardingPipelineConfig(self, request, context):  # noqa: N802
        answer = p4r.GetForwardingPipelineConfigResponse()
        answer.config.cookie.cookie = self.cookie
        return answer

    def SetForwardingPipelineConfig(self, request, context):  # noqa: N802
        return p4r.SetForwardingPipelineConfigResponse()

    def Write(self, request, context):  # noqa: N802
        return p4r.WriteResponse()

    def Read(self, request, context):  # noqa: N802
        yield p4r.ReadResponse()


@pytest.fixture
def hostile(artifact):
    """Start one; give its address."""
    running = []

    def start(**instead):
        switch = Hostile(artifact, **instead)
        server = grpc.server(futures.ThreadPoolExecutor(8), options=[("grpc.max_send_message_length", -1)])
        p4r_grpc.add_P4RuntimeServicer_to_server(switch, server)
        gnmi_grpc.add_gNMIServicer_to_server(switch.gnmi, server)
        address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        running.append((switch, server))
        return address

    yield start
    for switch, server in running:
        switch.over.set()
        server.stop(None).wait()


def hangs(switch, request, context):
    switch.over.wait()
    return p4r.ReadResponse()


def hangs_reading(switch, request, context):
    switch.over.wait()
    yield p4r.ReadResponse()


def says_nothing_for_ever(switch, request, context):
    while not switch.over.wait(0.01):
        yield p4r.ReadResponse()


def entry(table, **match):
    message = p4r.Entity()
    message.table_entry.table_id = table
    for field, value in match.items():
        message.table_entry.match.add(field_id=int(field[1:])).exact.value = value
    return message


def entries_for_ever(switch, request, context):
    table = request.entities[0].table_entry.table_id or switch.table
    for number in itertools.count():
        if switch.over.is_set():
            return
        yield p4r.ReadResponse(entities=[entry(table, _1=number.to_bytes(4, "big"))] * 50)


def cells_for_ever(switch, request, context):
    while not switch.over.is_set():
        yield p4r.ReadResponse(entities=request.entities)


def arbitration_for_ever(switch, requests, context):
    request = next(requests)
    while not switch.over.is_set():
        answer = p4r.StreamMessageResponse()
        answer.arbitration.CopyFrom(request.arbitration)
        yield answer


def packets_for_ever(switch, requests, context):
    next(requests)
    while not switch.over.is_set():
        yield p4r.StreamMessageResponse(packet=p4r.PacketIn(payload=bytes(10_000)))


def large(switch, request, context):
    yield p4r.ReadResponse(entities=[entry(1, _1=bytes(2 << 20))])


def garbage_refusal(switch, request, context):
    context.set_trailing_metadata((("grpc-status-details-bin", b"\xff\xff\xff"),))
    context.abort(grpc.StatusCode.UNKNOWN, "no")


def talkative(switch, request, context):
    context.abort(grpc.StatusCode.INTERNAL, "no" * 100_000)


def odd_details(switch, request, context):
    """A code that gRPC doesn't have, more details than updates, and one that is no error at all."""
    status = rpc_status.Status(code=2, message="no")
    for said in (p4r.Error(canonical_code=999, message="odd"), p4r.Error(canonical_code=3), request, p4r.Error()):
        packed = any_pb2.Any()
        packed.Pack(said)
        status.details.extend([packed] * 3)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, "no")


def answering(*entities):
    def read(switch, request, context):
        yield p4r.ReadResponse(entities=entities)

    return read


def another_program(switch, request, context):
    answer = p4r.GetForwardingPipelineConfigResponse()
    answer.config.cookie.cookie = 1
    for number in (1, 1, 2**32 - 1):
        answer.config.p4info.tables.add(size=-(2**63)).preamble.id = number
    answer.config.p4_device_config = b"\xff{"
    return answer


def notifying(path, value):
    def get(switch, request, context):
        answer = gnmi.GetResponse()
        update = answer.notification.add().update.add(val=value)
        for name in path:
            update.path.elem.add(name=name)
        return answer

    return get


SILENT = {
    "Read": ({READ: hangs_reading}, "no answer to Read within 1 s"),
    "Read, with empty messages": ({READ: says_nothing_for_ever}, "no answer to Read within 1 s"),
    "Write": ({WRITE: hangs}, "no answer to Write within 1 s"),
    "what it runs": ({GET: hangs}, "no answer to GetForwardingPipelineConfig within 1 s"),
    "a program": ({SET: hangs, GET: another_program}, "no answer to SetForwardingPipelineConfig within 1 s"),
    "arbitration": ({STREAM: hangs_reading}, "no answer to arbitration within 1 s"),
    "arbitration, with packets": ({STREAM: packets_for_ever}, "no answer to arbitration within 1 s"),
    "gNMI": ({GNMI: hangs}, "no answer to gNMI within 1 s"),
}


@pytest.mark.parametrize("case", SILENT)
def test_a_push_to_a_switch_that_does_not_answer_ends(phb, hostile, examples, case):
    instead, words = SILENT[case]
    address = hostile(**instead)
    code, out, err = phb("push", "--address", address, "--timeout", ENOUGH_S, examples / "c3640.yaml")
    assert (code, out) == (1, "")
    assert err.startswith(f"phb: {address}: ")
    assert words in err


LOOKS = {
    "plan": ["plan", "POLICY"],
    "show entries": ["show", "entries"],
    "show policy": ["show", "policy", "POLICY"],
    "show class": ["show", "class"],
    "show queue": ["show", "queue"],
    "show meter": ["show", "meter"],
    "show port": ["show", "port"],
    "show switch": ["show", "switch"],
    "show counters": ["show", "counters"],
    "show applicability": ["show", "applicability", "--totals"],
}


@pytest.mark.parametrize("command", LOOKS)
def test_every_look_at_one_ends(phb, hostile, examples, command):
    address = hostile(Read=hangs_reading)
    words = [examples / "c3640.yaml" if word == "POLICY" else word for word in LOOKS[command]]
    code, out, err = phb(*words, "--address", address, "--timeout", ENOUGH_S)
    assert (code, out) == (1, "")
    assert err == f"phb: {address}: no answer to Read within {ENOUGH_S} s (--timeout)\n"


def test_an_inventory_says_how_long(phb, hostile, write_file, examples):
    address = hostile(Read=hangs_reading)
    network = write_file(
        "network.yaml",
        "phb-inventory: 1\ndefaults: {timeout: 1}\nswitches:\n"
        f"  - {{name: a, address: '{address}', policies: ['{examples / 'c3640.yaml'}']}}\n",
    )
    assert "no answer to Read within 1 s" in phb("plan", "--inventory", network)[2]
    assert "no answer to Read within 1.5 s" in phb("plan", "--inventory", network, "--timeout", "1.5")[2]


async def test_an_answer_ends_with_what_the_program_has_room_for(hostile, artifact, monkeypatch):
    monkeypatch.setattr(artifact, "capacity", 1_000)
    monkeypatch.setattr(Hostile, "table", artifact.table("PhbIngress.classify.multi_field_ipv4").number, raising=False)
    most = 1_000 + len(artifact.tables)
    async with Session(hostile(Read=entries_for_ever), 1, artifact) as session:
        with pytest.raises(SwitchError, match=f"answered Read with more than {most} entries or cells"):
            await session.rows()


async def test_an_answer_of_an_unknown_program_ends(hostile, artifact, monkeypatch):
    monkeypatch.setattr(session_module, "MOST_ENTRIES", 200)
    monkeypatch.setattr(Hostile, "table", 1, raising=False)
    async with Session(hostile(Read=entries_for_ever), 1, artifact) as session:
        with pytest.raises(SwitchError, match="answered Read with more than 200 entries or cells"):
            await session.messages()


async def test_cells_end_with_what_was_asked(hostile, artifact):
    async with Session(hostile(Read=cells_for_ever), 1, artifact) as session:
        with pytest.raises(SwitchError, match="answered Read with more than 2 entries or cells"):
            await session.counter("policy_traffic", [1, 2])
        with pytest.raises(SwitchError, match="answered Read with more than 2 entries or cells"):
            await session.registers(min(artifact.registers), [1, 2])


async def test_a_drip_ends(hostile, artifact, monkeypatch):
    """Each message comes in time, and there is always another."""

    def drip(switch, request, context):
        while not switch.over.wait(0.05):
            yield p4r.ReadResponse(entities=[entry(switch.table)])

    monkeypatch.setattr(Hostile, "table", artifact.table("PhbIngress.classify.multi_field_ipv4").number, raising=False)
    monkeypatch.setattr(calls_module, "PATIENCE", 2)
    async with Session(hostile(Read=drip), 1, artifact, timeout_s=0.3) as session:
        with pytest.raises(SwitchError, match=r"no answer to Read within 0\.6 s"):
            await session.rows()


async def test_a_message_has_a_size(hostile, artifact, monkeypatch):
    options = [each for each in session_module.open_channel.__globals__["_OPTIONS"] if "receive" not in each[0]]
    monkeypatch.setitem(
        session_module.open_channel.__globals__, "_OPTIONS", (*options, ("grpc.max_receive_message_length", 1 << 20))
    )
    async with Session(hostile(Read=large), 1, artifact) as session:
        with pytest.raises(SwitchError, match="an answer to Read of more than 256 MiB"):
            await session.rows()


def test_a_flood_of_messages_stops_no_push(phb, hostile, examples):
    address = hostile(StreamChannel=arbitration_for_ever)
    code, _, err = phb("push", "--address", address, examples / "c3640.yaml")
    # It holds nothing of what it is given: the push is undone, and says so.
    assert code == 1
    # Six of the policy, five with the switch's keys.
    assert "the switch accepted every entry, but 11 read back differently" in err


def held(artifact, *match, **parameters):
    """A route of `forward.ipv4_route`, its fields and parameters by number."""
    table = artifact.table("PhbIngress.forward.ipv4_route")
    message = p4r.Entity()
    message.table_entry.table_id = table.number
    for field, value in match:
        part = message.table_entry.match.add(field_id=field)
        part.lpm.value, part.lpm.prefix_len = value, 8
    message.table_entry.action.action.action_id = table.actions["route"].number
    for number, value in parameters.items():
        message.table_entry.action.action.params.add(param_id=int(number[1:]), value=value)
    return message


TEN = (1, b"\x0a\0\0\0")
WRONG = {
    "a table that nothing has": lambda artifact: entry(12345),
    "a field that nothing has": lambda artifact: held(artifact, (99, b"\1")),
    "a wide value": lambda artifact: held(artifact, (1, bytes([255]) * 4_000)),
    "a wide parameter": lambda artifact: held(artifact, TEN, _1=b"\1" * 4_000, _2=b"\1", _3=b"\1"),
    "too few parameters": lambda artifact: held(artifact, TEN, _1=b"\1"),
    "nothing": lambda artifact: p4r.Entity(),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("command", ["plan", "show entries", "show policy", "show switch"])
def test_entries_that_make_no_sense(phb, hostile, artifact, examples, case, command):
    address = hostile(Read=answering(WRONG[case](artifact)))
    words = [examples / "c3640.yaml" if word == "POLICY" else word for word in LOOKS[command]]
    code, out, err = phb(*words, "--address", address)
    assert (code, out) == (1, "")
    assert err.startswith(f"phb: {address}: the switch's answer makes no sense (")
    assert err.count("\n") == 1


async def test_cells_that_nobody_asked_for(hostile, artifact):
    cell = p4r.Entity()
    cell.counter_entry.index.index = 7
    cell.counter_entry.data.packet_count = 1
    wide = p4r.Entity()
    wide.register_entry.data.bitstring = bytes([255]) * 5_000
    async with Session(hostile(Read=answering(cell)), 1, artifact) as session:
        with pytest.raises(SwitchError, match="answered with cell 7 of 'policy_traffic', which wasn't asked for"):
            await session.counter("policy_traffic", [1, 2])
    async with Session(hostile(Read=answering(wide)), 1, artifact) as session:
        with pytest.raises(SwitchError, match="answered with cell 0"):
            await session.registers(min(artifact.registers), [0])


ODD = {
    "refusals that can't be read": ({READ: garbage_refusal}, "refused Read in words that make no sense (UNKNOWN)"),
    "another program without sense": ({GET: another_program, SET: garbage_refusal}, "in words that make no sense"),
    "refusals without end": ({READ: talkative}, "the switch refused: INTERNAL: nonono"),
    "refusals of another kind": ({WRITE: odd_details}, "no sense"),
    "gNMI without names": (
        {GNMI: notifying(["interfaces"], gnmi.TypedValue(string_val="x"))},
        "the switch's answer makes no sense (",
    ),
    "gNMI without a value": ({GNMI: notifying(["a", "b"], gnmi.TypedValue())}, "the switch's answer makes no sense ("),
}


@pytest.mark.parametrize("case", ODD)
def test_answers_that_make_no_sense(phb, hostile, examples, case):
    instead, words = ODD[case]
    address = hostile(**instead)
    code, out, err = phb("push", "--address", address, examples / "c3640.yaml")
    assert (code, out) == (1, "")
    assert err.startswith(f"phb: {address}: ")
    assert words in err
    assert len(err) < 5_000


def test_a_push_that_is_killed_while_it_waits_leaves_no_lock(phb, hostile, examples, tmp_path):
    state = tmp_path / "state.sqlite"
    address = hostile(Read=hangs_reading)
    command = [sys.executable, "-m", "phb", "push", "--address", address, "--state", state, examples / "c3640.yaml"]
    for how in (signal.SIGTERM, signal.SIGKILL):
        with subprocess.Popen([str(word) for word in command]) as process:
            while '"push"' not in phb("locks", "--state", state, "--json")[1]:
                assert process.poll() is None
                time.sleep(0.05)
            process.send_signal(how)
        assert process.returncode == -how
        code, _, err = phb(
            "push", "--address", address, "--state", state, "--timeout", ENOUGH_S, examples / "c3640.yaml"
        )
        assert (code, "no answer to Read" in err) == (1, True)
        assert phb("locks", "--state", state, "--json")[1] == "[]\n"


WATCHED = {
    "Read": ({READ: hangs_reading}, "no answer to Read within 0.5 s"),
    "Write": ({WRITE: hangs}, "no answer to Write within 0.5 s"),
    "arbitration": ({STREAM: hangs_reading}, "no answer to arbitration within 0.5 s"),
    "gNMI": ({GNMI: hangs}, "no answer to gNMI within 0.5 s"),
    "flood": ({STREAM: arbitration_for_ever}, "read back differently"),
    "nonsense": ({READ: answering(entry(12345))}, "the switch's answer makes no sense"),
}


@pytest.mark.parametrize("case", WATCHED)
def test_a_watch_tells_of_it_goes_on_and_ends_when_it_is_asked_to(phb, hostile, examples, tmp_path, case):
    instead, words = WATCHED[case]
    state = tmp_path / "state.sqlite"
    command = [sys.executable, "-m", "phb", "watch", "--address", hostile(**instead), "--state", state]
    command += ["--timeout", "0.5", examples / "c3640.yaml"]
    with subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while words not in (line := process.stdout.readline()):
            assert line, process.stderr.read()
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60)[1] == ""
        assert process.returncode == 0
    assert phb("locks", "--state", state, "--json")[1] == "[]\n"
