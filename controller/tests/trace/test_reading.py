"""Files of traces: both forms, and what is wrong with others."""

import io
import json
import sys

import pytest
from made_up_traces import DROPPED, TRACE, message

from phb.errors import InputError
from phb.trace.messages import TraceMessage
from phb.trace.reading import read_traces

TRACES = [TRACE, DROPPED]
LINES = "".join(json.dumps(trace) + "\n" for trace in TRACES).encode()


def delimited(*contents):
    return b"".join(_varint(len(content)) + content for content in contents)


def _varint(number):
    octets = bytearray()
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*octets, number])


MESSAGES = delimited(*(message(trace, TraceMessage()).SerializeToString() for trace in TRACES))


def read(path):
    return [(str(origin), trace) for origin, trace in read_traces(str(path))]


@pytest.mark.parametrize("content", [LINES, MESSAGES, LINES.rstrip()], ids=["JSON", "protobuf", "no line end"])
def test_both_forms(tmp_path, content):
    path = tmp_path / "t"
    path.write_bytes(content)
    assert read(path) == [(f"{path}:1", TRACE), (f"{path}:2", DROPPED)]


def test_blank_lines_and_nothing(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(b"\n" + LINES.replace(b"\n", b"\r\n\n"))
    assert [origin for origin, _ in read(path)] == [f"{path}:2", f"{path}:4"]
    path.write_bytes(b"")
    assert read(path) == []


def test_a_message_as_long_as_a_brace(tmp_path):
    content = TraceMessage(number=1, switch="x" * 119).SerializeToString()
    assert len(content) == ord("{")
    path = tmp_path / "t"
    path.write_bytes(delimited(content))
    assert read(path) == [(f"{path}:1", {"number": 1, "switch": "x" * 119})]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(LINES))))
    assert [trace for _, trace in read("-")] == TRACES


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'{"number": 1}\n{', "t:2: found at column 2 broken JSON"),
        (b'{"number": 1}\n7\n', "t:2: found 7, expected an object of a Trace"),
        (b'{"switch": "\xff"}', "t:1: found a line that isn't UTF-8"),
        (b'{"number": ' + b"[" * 100_000, "t:1: found JSON too deep"),
        (b"{" + b" " * (16 << 20), "t:1: found a line of more than 16 MiB"),
        (b"hello, world", "t:1: found 11 bytes of a message of 104, expected a whole one"),
        (MESSAGES[:-1], "t:2: found "),
        (b"\x03\xff\xff\xff", "t:1: found bytes that are no trace"),
        (b"\xff" * 12, "t:1: found a length of more than 63 bits"),
        (b"\xff\xff\xff\xff\x7f", "t:1: found a message of 34359738367 bytes"),
        (b"\xff", "t:1: found half a length"),
    ],
    ids=["broken", "number", "octets", "deep", "long", "text", "cut", "garbage", "bits", "huge", "half"],
)
def test_what_is_no_file_of_traces(tmp_path, monkeypatch, content, found):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(InputError) as error:
        read("t")
    assert str(error.value).startswith(found)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no such file or directory, expected a readable file of traces"):
        read(tmp_path / "none")
    with pytest.raises(InputError, match="a folder, expected a readable file of traces"):
        read(tmp_path)
