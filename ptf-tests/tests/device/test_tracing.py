"""Traces over gRPC, of a switch that is outside or as if it were."""

from phb_device import CONNECTED
from phb_device.in_process import InProcess
from phb_device.tracing import RemoteTraces
from phb_ptf.frames import udp
from phb_ptf.telling import packets_in_words


def test_what_happened_to_packets():
    with InProcess() as device:
        device.push(CONNECTED + "rules: [{name: web, match: {destination-ports: 80}, permission: blocked}]\n")
        with RemoteTraces(device.address) as traces:
            for port in (80, 81):
                device.send(2, udp(port))
            blocked, forwarded = (packets_in_words([trace]) for trace in traces.take())
        assert "PhbIngress.admit.permission: PhbIngress.admit.block  permission.p4:" in blocked
        assert "-> dropped: blocked\n" in blocked
        assert "in 2 -> out 1\n" in forwarded
        assert traces.take() == []


def test_a_switch_that_tells_nothing():
    with RemoteTraces("127.0.0.1:1") as traces:
        assert traces.take() == []


def test_of_many_the_last_are_told():
    traces = [{"number": number, "steps": []} for number in range(1, 12)]
    lines = packets_in_words(traces).split("\n")
    assert lines[0] == "3 traces before these"
    assert [line.partition(".")[0] for line in lines[1:]] == [str(number) for number in range(4, 12)]
