"""Messages of traces: the descriptor is what trace.proto gives, and dicts are checked by it."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2
from made_up_traces import DROPPED, TRACE, message

from phb.errors import InputError
from phb.origin import Origin
from phb.trace import messages
from phb.trace.messages import TraceMessage, WatchResponse, as_dict, checked

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "switch" / "crates" / "trace"
DESCRIPTOR = ROOT / "controller" / "phb" / "trace" / "trace.binpb"
COMMAND = f"protoc -I {FOLDER.relative_to(ROOT)} --descriptor_set_out={DESCRIPTOR.relative_to(ROOT)} trace.proto"
HERE = Origin("t.jsonl", 3)


def described():
    return descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTOR.read_bytes())


def test_every_field_is_that_of_the_proto():
    text = re.sub(r"//.*", "", (FOLDER / "trace.proto").read_text())
    said, message = [], None
    for line in text.splitlines():
        if opened := re.fullmatch(r"message (\w+) \{", line):
            message = opened[1]
        elif line == "}":
            message = None
        elif message and (found := re.fullmatch(r"\s+(?:(repeated|optional) )?([\w.]+) (\w+) = (\d+);", line)):
            said.append((message, found[1], found[2], found[3], int(found[4])))
    (file,) = described().file
    assert [_field(message.name, field) for message in file.message_type for field in message.field] == said


def _field(message, field):
    kind = field.type_name.rpartition(".")[2] or descriptor_pb2.FieldDescriptorProto.Type.Name(field.type)[5:].lower()
    label = "repeated" if field.label == field.LABEL_REPEATED else "optional" if field.proto3_optional else None
    return message, label, kind, field.name, field.number


@pytest.mark.skipif(shutil.which("protoc") is None, reason="no protoc (Debian's protobuf-compiler)")
def test_the_descriptor_is_what_protoc_makes(tmp_path):
    made = tmp_path / "trace.binpb"
    subprocess.run(["protoc", "-I", FOLDER, f"--descriptor_set_out={made}", "trace.proto"], check=True)
    assert descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes()) == described(), COMMAND


def test_a_dict_and_its_message_say_the_same():
    for trace in (TRACE, DROPPED):
        assert as_dict(message(trace, TraceMessage())) == trace
        assert checked(json.loads(json.dumps(trace)), HERE) == trace


def test_every_kind_of_step_is_in_the_made_up_trace():
    assert {kind for step in TRACE["steps"] + DROPPED["steps"] for kind in step} >= messages.KINDS


def test_zero_is_said_where_it_may_be_absent():
    step = {"part": "queue", "enqueued": {"port": 1, "rank": 0}}
    assert as_dict(message({"steps": [step]}, TraceMessage())) == {"steps": [step]}


def test_what_is_zero_or_empty_goes():
    trace = {"number": 0, "steps": [{"part": "", "header": {"valid": False, "fields": []}}, {"enqueued": {"rank": 0}}]}
    assert checked(trace, HERE) == {"steps": [{"header": {}}, {"enqueued": {"rank": 0}}]}


def test_an_answer_of_the_switch():
    assert WatchResponse(started={"artifact_sha256": "ab"}).WhichOneof("response") == "started"


@pytest.mark.parametrize(
    ("trace", "found"),
    [
        ([], "found [], expected an object of a Trace"),
        ({"nummer": 1}, "found a member 'nummer', expected one of number, of, "),
        ({"number": -1}, "found at number -1, expected a number from 0 to 18446744073709551615"),
        ({"number": True}, "found at number True, expected a number"),
        ({"number": 2**64}, "found at number 18446744073709551616, expected a number"),
        ({"number": 1.5}, "found at number 1.5, expected a number"),
        ({"switch": 1}, "found at switch 1, expected text"),
        ({"steps": {}}, "found at steps {}, expected a list"),
        (
            {"steps": [{"arrived": {"frame": "0x00"}}]},
            "found at steps[0].arrived.frame '0x00', expected hexadecimal text",
        ),
        ({"steps": [{"assign": {"value": "00"}}]}, "found at steps[0].assign.value '00', expected hexadecimal text"),
        ({"steps": [{"assign": {"value": "0x0"}}]}, "found at steps[0].assign.value '0x0', expected hexadecimal text"),
        (
            {"steps": [{"call": {}, "state": {}}]},
            "found at steps[0] both 'call' and 'state', expected a step that is one",
        ),
        ({"steps": [{"condition": {"holds": 1}}]}, "found at steps[0].condition.holds 1, expected true or false"),
        ({"switch": ["x" * 100]}, f"found at switch ['{'x' * 58}..., expected text"),
    ],
)
def test_what_is_no_trace(trace, found):
    with pytest.raises(InputError) as error:
        checked(trace, HERE)
    assert str(error.value).startswith(f"t.jsonl:3: {found}")
