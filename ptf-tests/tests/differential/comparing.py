"""One case through the model and the switch: outcome of each packet, and all counters at the end."""

from collections import Counter
from dataclasses import fields
from itertools import accumulate

import yaml

from phb.pipeline_names import DropReason
from phb_model.pipeline import Node, Reason, UndeterminedError
from phb_switch import Network, PortConfig

from .packets import CPU_PORT
from .programmed import EXCEPTIONS, NOON, PORTS, read


class _Whole(yaml.SafeDumper):
    """Writes everything out where it stands."""

    def ignore_aliases(self, data):
        return True


class DisagreementError(AssertionError):
    """Model and switch differ; the text has all that is needed to see it again."""

    def __init__(self, what, case, sent, outcome=None):
        packets = "\n".join(f"{number}. {each}" for number, each in enumerate(sent))
        text = yaml.dump(case.policy, Dumper=_Whole, sort_keys=False)
        reported = f"to the controller: {', '.join(case.reported) or 'nothing'}"
        super().__init__(f"{what}\nmodel: {outcome}\n--- packets\n{packets}\n--- policy\n{text}--- {reported}")


def through_idle_ports(device, case, tally):
    """Each packet leaves before the next one comes. The device has nothing of another case, before and afterwards.

    Raises:
        DisagreementError: Model and switch differ.
    """
    policy = read(case.policy)
    device.program(policy, case.reported)
    node = Node(policy, NOON, reported=[Reason[name] for name in case.reported])
    for number, sent in enumerate(case.sent):
        device.now_ns += sent.gap_ns
        outcome = through_model(node, device.now_ns, sent)
        before = device.drops()
        left = device.switch.process(sent.port, sent.frame, device.now_ns)
        to_controller = [frame.hex() for frame in device.switch.packets_in()]
        found = [(port, frame.hex()) for _, port, frame in left], to_controller, _dropped(device, before)
        _compare(case, number, outcome, found)
        tell(tally, sent, outcome)
    compare_counters(node, device.counted(), case)
    device.clear()


def through_full_ports(device, case, tally):
    """Each port sends one packet and no more, until all have come: then what waited leaves.

    Raises:
        DisagreementError: Model and switch differ.
    """
    policy = read(case.policy)
    device.program(policy)
    node = Node(policy, NOON, stalled=PORTS)
    # So slow that the first frame is on the line for hours.
    network, start, times = arriving(device, case, PortConfig(1, SLOW_BYTES))
    network.run(start)
    expected, shared = Counter(), device.shared()
    for number, (time, sent) in enumerate(zip(times, case.sent, strict=True)):
        try:
            outcome = through_model(node, time, sent)
        except UndeterminedError:
            tally["ends at a random draw"] += 1
            break
        before = device.drops()
        network.run(time)
        if device.shared() > shared:
            tally["ends at a shared conversation"] += 1
            break
        dropped = _dropped(device, before)
        _compare(case, number, outcome, ([] if dropped else expectation(outcome, sent)[0], [], dropped))
        tell(tally, sent, outcome)
        tally["waits"] += outcome.waits
        if outcome.port is not None:
            expected[outcome.port, outcome.frame.hex()] += 1
    else:
        # What waits has been counted as queued, not as sent: so counters are compared before it leaves.
        compare_counters(node, device.counted(), case)
        for port in PORTS:
            device.switch.set_port(port, PortConfig())
        device.now_ns = times[-1] + DRAINED_NS
        network.run(device.now_ns)
        found = Counter((port, frame.hex()) for port in PORTS for _, frame in network.received(f"port {port}"))
        if found != expected:
            raise DisagreementError(f"frames\nswitch {found - expected}\nmodel  {expected - found}", case, case.sent)
        device.clear()
        return
    device.renew()


SECOND = 1_000_000_000
SPACING_NS = 1000
SLOW_BYTES = 10_000
"""Added to each frame: 80,000 seconds at 1 bit/s, so that short frames are slow too."""
DRAINED_NS = 400_000 * SECOND


def arriving(device, case, line):
    """A network in which a case's packets come at their times to ports with such lines; its start, and the times."""
    start, *times = accumulate((max(sent.gap_ns, SPACING_NS) for sent in case.sent), initial=device.now_ns + SECOND)
    network = Network(1)
    network.add_switch(device.switch)
    for port in PORTS:
        device.switch.set_port(port, line)
        frames = [(time, sent.frame) for time, sent in zip(times, case.sent, strict=True) if sent.port == port]
        network.add_replay(f"port {port}", frames)
        network.connect(f"port {port}", 0, "dut", port)
    return network, start, times


def through_model(node, now_ns, sent):
    """The model's outcome for one frame."""
    if sent.port == CPU_PORT:
        return node.packet_out(now_ns // 1000, sent.out, sent.frame[2:])
    return node.arrive(now_ns // 1000, sent.port, sent.frame)


def expectation(outcome, sent):
    """The frame that should leave, the one that the controller should get, and the reason counted."""
    if outcome.to_controller:
        header = sent.port << 7 | EXCEPTIONS[outcome.reason.name]
        return [], [(header.to_bytes(2) + outcome.frame).hex()], []
    if outcome.reason is not None:
        return [], [], [outcome.reason.name]
    return [(outcome.port, outcome.frame.hex())], [], []


def _dropped(device, before):
    return [DropReason(reason).name for reason, count in enumerate(device.drops()) if count > before[reason]]


def _compare(case, number, outcome, found):
    expected = expectation(outcome, case.sent[number])
    if found != expected:
        what = f"packet {number}: (leaves, to the controller, dropped)\nswitch {found}\nmodel  {expected}"
        raise DisagreementError(what, case, case.sent[: number + 1], outcome)


def compare_counters(node, counted, case):
    """All counters of the case, by the policy's names.

    Raises:
        DisagreementError: Some differ.
    """
    for field in fields(node.counters):
        expected = {
            tuple(str(part) if isinstance(part, Reason) else part for part in key): cell
            for key, cell in getattr(node.counters, field.name).items()
        }
        if counted.get(field.name, {}) != expected:
            what = f"counter {field.name}\nswitch {counted.get(field.name, {})}\nmodel  {expected}"
            raise DisagreementError(what, case, case.sent)


def tell(tally, sent, outcome):
    """Counts what the packet was, and what came of it."""
    tally["packets"] += 1
    tally[f"kind {sent.kind.rpartition(', ')[2]}"] += 1
    tally["packet-out"] += sent.port == CPU_PORT
    tally["to the controller" if outcome.to_controller else f"outcome {outcome.reason or 'sent'}"] += 1
    tally.update(outcome.steps)
