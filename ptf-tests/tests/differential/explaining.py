"""One case through `phb explain` and the switch, each packet beside its trace: `explained` compares them."""

from explained import FRAME_BYTES, Explaining

from phb.explain.line import LineRate
from phb_switch import PortConfig

from .comparing import SECOND, DisagreementError, arriving
from .programmed import ARTIFACT, PORTS, read

RATE_BPS = 64_000
DRAINED_NS = 10_000 * SECOND


def through_idle_ports(device, case, tally):
    """Each packet leaves before the next one comes."""
    policy = read(case.policy)
    device.program(policy)
    beside = Explaining(device.intent, policy, ARTIFACT)
    taken = []
    with device.switch.trace(frame_bytes=FRAME_BYTES) as traces:
        for number, sent in enumerate(case.sent):
            device.now_ns += sent.gap_ns
            said = beside.process(device.now_ns, sent.port, sent.frame)
            device.switch.process(sent.port, sent.frame, device.now_ns)
            taken += traces.take()
            if said.undetermined:
                tally["ends at a random draw"] += 1
                break
            _check(beside, case, number, said, taken[number], tally)
    _clear(device, taken)


def through_slow_ports(device, case, tally):
    """Ports send at 64 kbit/s, so that packets wait."""
    policy = read(case.policy)
    device.program(policy)
    beside = Explaining(device.intent, policy, ARTIFACT, dict.fromkeys(PORTS, LineRate(RATE_BPS)))
    network, _, times = arriving(device, case, PortConfig(RATE_BPS))
    device.now_ns = times[-1] + DRAINED_NS
    with device.switch.trace(frame_bytes=FRAME_BYTES) as traces:
        network.run(device.now_ns)
        taken = sorted(traces.take(), key=lambda trace: trace["number"])
    told = []
    for time, sent in zip(times, case.sent, strict=True):
        told.append(beside.process(time, sent.port, sent.frame, later=True))
        if told[-1].undetermined:
            tally["ends at a random draw"] += 1
            told.pop()
            break
    beside.model.finish()
    for number, said in enumerate(told):
        # Those that wait behind a random draw may have to wait for it.
        if said.packet.taken_ns is not None and len(told) < len(case.sent) and said.packet.taken_ns > times[len(told)]:
            continue
        _check(beside, case, number, said, taken[number], tally)
    for port in PORTS:
        device.switch.set_port(port, PortConfig())
    _clear(device, taken)


def _clear(device, taken):
    """Leave nothing of the case in the switch: its traces tell which registers it has written."""
    for trace in taken:
        for step in trace["steps"]:
            if step.get("register", {}).get("written"):
                device.wrote(step["register"]["name"], step["register"].get("index", 0))
    device.clear()


def _check(beside, case, number, said, trace, tally):
    """Compare one packet.

    Raises:
        DisagreementError: Explain and the trace differ.
    """
    if differences := beside.differences(said, trace, tally):
        raise DisagreementError(f"packet {number}:\n{differences}", case, case.sent[: number + 1])
    tally["packets"] += 1
