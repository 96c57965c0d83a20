"""``phb stamp`` as a user calls it, on loopback."""

import json
import shutil
import socket
import subprocess

import pytest
from scapy.contrib.stamp import STAMPSessionReflectorTestUnauthenticated, STAMPSessionSenderTestUnauthenticated

from phb.cli import run

KEY = "0123456789abcdef"
QUICK = ("--count", "5", "--interval", "0.002")


@pytest.fixture(scope="module")
def reflector(reflect):
    return reflect()


def send(*arguments, capsys):
    code = run(["stamp", "send", *arguments, "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out), said.err


def test_a_class_each(reflector, capsys):
    code, told, errors = send(reflector.address, "--dscp", "EF", "--dscp", "10", *QUICK, capsys=capsys)
    assert (code, errors) == (0, "")
    for session, dscp in zip(told["sessions"], (46, 10), strict=True):
        assert (session["dscp"], session["sent"], session["replies"]) == (dscp, 5, 5)
        assert session["reply_dscps"] == {str(dscp): 5}
        assert session["lost"] == {"packets": 0, "there": 0, "back": 0, "untold": 0}
        assert session["kernel_times"]["returned"] == 5
        assert 0 < session["round_trip_ms"]["min"] <= session["round_trip_ms"]["max"]


def test_a_table(reflector, capsys):
    assert run(["stamp", "send", reflector.address, "--dscp", "EF", *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:7] == ["EF", "5", "0", "0", "0", "round", "trip"] for line in lines)


def test_the_other_family(reflect, capsys):
    reflector = reflect(bind="::1")
    _, told, _ = send(reflector.address, "--dscp", "AF41", "--size", "600", *QUICK, capsys=capsys)
    assert (told["sessions"][0]["reply_dscps"], told["size"]) == ({"34": 5}, 600)


def test_another_class_back(reflector, capsys):
    _, told, _ = send(reflector.address, "--dscp", "EF", "--reply-dscp", "CS1", *QUICK, capsys=capsys)
    (session,) = told["sessions"]
    assert (session["request_dscps"], session["reply_dscps"]) == ({"46": 5}, {"8": 5})


def test_authenticated(reflect, write_file, capsys):
    right, wrong = write_file("right.key", f"{KEY}\n"), write_file("wrong.key", f"x{KEY}")
    reflector = reflect("--key-file", right)
    code, told, _ = send(reflector.address, "--key-file", right, *QUICK, capsys=capsys)
    assert (code, told["size"], told["sessions"][0]["replies"]) == (0, 112, 5)
    for options in (("--key-file", wrong), ("--size", "112")):
        code, told, errors = send(reflector.address, *options, "--wait", "0", *QUICK, capsys=capsys)
        assert (code, told["sessions"][0]["replies"]) == (1, 0)
        assert errors == f"phb: {reflector.address}: DSCP CS0: no reply to 5 packets\n"
    assert reflector.stop() == {"event": "ended", "answered": 5, "refused": {"not-authentic": 10}}


def test_nobody_there(capsys):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    assert run(["stamp", "send", address, "--count", "2", "--interval", "0.001", "--wait", "0.05"]) == 1
    assert capsys.readouterr() == ("", f"phb: {address}: DSCP CS0: no reply to 2 packets (Connection refused)\n")


def test_scapy_asks(reflector):
    """A sender that somebody else wrote; what it sends first is no test packet."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(60)
        host, _, port = reflector.address.rpartition(":")
        sender.connect((host, int(port)))
        for sequence in range(3):
            sender.send(b"no test packet")
            sender.send(bytes(STAMPSessionSenderTestUnauthenticated(seq=sequence + 9, ssid=5)))
            reply = STAMPSessionReflectorTestUnauthenticated(sender.recv(2000))
            assert (reply.seq, reply.seq_sender, reply.ssid) == (sequence, sequence + 9, 5)


def test_replies_that_are_none_of_ours(capsys):
    """The far side answers with nonsense, with another's times and twice."""
    import threading

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far:
        far.bind(("127.0.0.1", 0))
        far.settimeout(60)

        def answer():
            octets, sender = far.recvfrom(2000)
            asked = STAMPSessionSenderTestUnauthenticated(octets)
            good = STAMPSessionReflectorTestUnauthenticated(seq=0, seq_sender=asked.seq, ssid=asked.ssid)
            right = bytes(good)[:28] + octets[4:14] + bytes(good)[38:]
            for reply in (b"", b"x" * 44, right[:24] + b"\0\0\0\7" + right[28:], bytes(good), right, right):
                far.sendto(reply, sender)

        thread = threading.Thread(target=answer)
        thread.start()
        address = f"127.0.0.1:{far.getsockname()[1]}"
        _, told, _ = send(address, "--count", "2", "--interval", "0.2", "--wait", "0", capsys=capsys)
        thread.join()
    (session,) = told["sessions"]
    assert (session["sent"], session["replies"], session["duplicates"], session["refused"]) == (2, 1, 1, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["send", "127.0.0.1:0"], "HOST: found '127.0.0.1:0', expected HOST, HOST:PORT or [IPv6]:PORT"),
        (["send", "a:b:c"], "HOST: found 'a:b:c', expected HOST"),
        (["send", "127.0.0.1", "--dscp", "64"], "--dscp: found '64', expected a DSCP from 0 to 63 or a name"),
        (["send", "127.0.0.1", "--dscp", "EFF"], "--dscp: found 'EFF', expected"),
        (["send", "127.0.0.1", "--reply-dscp", "-1"], "--reply-dscp: found '-1', expected"),
        (["send", "127.0.0.1", "--size", "46"], "--size: found 46, expected 44, or at least 48"),
        (["send", "127.0.0.1", "--size", "45", "--reply-dscp", "0"], "--size: found 45, expected 52, or at least 56"),
        (["send", "127.0.0.1", "--interval", "0.0001"], "--interval"),
        (["send", "127.0.0.1", "--count", "0"], "--count"),
        (["send", "127.0.0.1", "--key-file", "/nowhere"], "/nowhere: found no such file"),
        (["reflect", "--bind", "192.0.2.77:8620"], "--bind: found '192.0.2.77:8620' (Cannot assign requested address)"),
        (["reflect", "--bind", "127.0.0.1:8620", "--allow", "192.0.2.1/24"], "--allow: found '192.0.2.1/24' ("),
    ],
)
def test_wrong_words(capsys, arguments, message):
    assert run(["stamp", *arguments]) == 2
    out, errors = capsys.readouterr()
    assert out == ""
    assert message in errors


@pytest.mark.parametrize("text", ["", "short", "x" * 1025])
def test_keys_of_a_wrong_length(write_file, capsys, text):
    path = write_file("a.key", text)
    assert run(["stamp", "send", "127.0.0.1", "--key-file", path]) == 2
    assert capsys.readouterr().err == f"phb: {path}:1: found a key of {len(text)} octets, expected one of 16 to 1024\n"


def test_an_unknown_host_is_no_traceback(capsys):
    assert run(["stamp", "send", "nowhere.invalid", *QUICK]) == 1
    assert capsys.readouterr().err.startswith("phb: nowhere.invalid: ")


SUITE = shutil.which("stamp-suite")


@pytest.mark.skipif(SUITE is None, reason="no stamp-suite (cargo install stamp-suite)")
@pytest.mark.parametrize("authenticated", [False, True])
def test_a_sender_of_others(reflect, write_file, authenticated):
    path = write_file("a.key", KEY)
    reflector = reflect(*(("--key-file", path) if authenticated else ()))
    host, _, port = reflector.address.rpartition(":")
    mode = ["-A", "A", "--hmac-key", KEY.encode().hex()] if authenticated else ["--cos", "--dscp", "46"]
    command = [SUITE, "-r", host, "-p", port, "-c", "5", "-d", "10", *mode]
    said = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60).stdout
    assert "Packets received: 5\n" in said
