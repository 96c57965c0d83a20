"""Expedited Forwarding (RFC 3246): a strict level, its error terms with other traffic at full load, loss and order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from phb.targets import Capability, load
from phb_conform.check import Finding, Level, check, judged, not_applicable
from phb_conform.measures.expedited import ErrorTerms, error_terms, strict_priority_error
from phb_conform.measures.reordering import reordered
from phb_conform.numbered import Flow, NumberedRun, Offered, offer
from phb_device import CONNECTED, Device, Line

_EF = 46
_CALLS = [Flow("ef", 1000 + number, _EF, ingress=port) for number, port in enumerate((2, 3, 2, 3))]
_OTHERS = [Flow("other", 1100, 0), Flow("other", 1101, 10)]

POLICY = f"""{CONNECTED.split("cross-connects")[0]}routes:
  - {{destination: 10.0.2.0/24, port: line, source-mac: '02:00:00:00:00:01', destination-mac: '02:00:00:00:00:02'}}
classes: [{{name: ef}}, {{name: af1}}]
actions: [{{name: to-ef, class: ef}}, {{name: to-af1, class: af1}}]
rules:
  - {{name: ef, match: {{dscp: EF}}, actions: [to-ef]}}
  - {{name: af1, match: {{dscp: AF11}}, actions: [to-af1]}}
queueing:
  - port: line
    schedule:
      kind: classes
      queues:
        - {{class: ef, level: 0}}
        - {{class: af1, bandwidth: {{percent: 40}}}}
"""
"""EF at a strict level above two classes that share the rest; from any port to `line`."""

RATE_PART = Fraction(3, 10)
"""Which part of the line EF is configured for, and sends on average."""


@dataclass(frozen=True)
class Setting:
    """A line, and the other traffic on it: packets of `longest` bytes."""

    line_bps: int
    longest: int
    transmit_ring: int = 0

    @property
    def rate_bps(self) -> int:
        """R: the rate at which EF is configured."""
        return int(self.line_bps * RATE_PART)

    @property
    def theory_ns(self) -> Fraction:
        """The error term of strict priority."""
        return strict_priority_error(8 * self.longest, self.line_bps, self.transmit_ring)


SETTINGS = [
    Setting(line_bps, longest)
    for line_bps in (2_000_000, 10_000_000, 100_000_000, 1_000_000_000)
    for longest in (576, 1514, 9014)
] + [Setting(10_000_000, 1514, 1), Setting(10_000_000, 1514, 6)]


def traffic(setting: Setting, packets: int = 200) -> list[Offered]:
    """Return EF packets of several flows and inputs at rate R with jitter and bursts; others keep the line full."""
    random = Random(3)
    offered = list(_expedited(setting, packets, random))
    end = offered[-1].time_ns
    # Twice the line: some always wait. No more than the port's 4,096 packets in all.
    gap = setting.longest * 8e9 / setting.line_bps / 2
    count = min(3500, int(end / gap) + 2)
    offered += [
        Offered(round(number * gap) + random.randrange(max(1, round(gap))), random.choice(_OTHERS), setting.longest)
        for number in range(count)
    ]
    return sorted(offered, key=lambda each: each.time_ns)


def _expedited(setting: Setting, packets: int, random: Random) -> Iterator[Offered]:
    time = 1.0
    for number in range(packets):
        length = random.choice([74, 214, 214, 254])
        time += length * 8e9 / setting.rate_bps
        # A burst now and then: four at once, from both inputs.
        late = 0 if number % 20 < 4 else random.random() * length * 8e9 / setting.rate_bps
        yield Offered(round(time + late), random.choice(_CALLS), length)


def measure(device: Device, setting: Setting) -> tuple[list[Offered], NumberedRun, ErrorTerms]:
    """Run EF and other traffic through a device that has `POLICY`; return EF's error terms; virtual time."""
    offered = traffic(setting)
    outcome = offer(device, offered, Line(setting.line_bps, transmit_ring=setting.transmit_ring))
    expedited = [passage for passage in outcome.passages if passage.session == "ef"]
    return offered, outcome, error_terms(expedited, setting.rate_bps)


# Real time: so slow that one packet of the others takes 60 ms, beside which this machine's own delays are small.
_SLOW = Setting(200_000, 1514)
_TOLERANCE = Fraction(1, 2)


def run_slowly(device: Device) -> tuple[list[Offered], NumberedRun]:
    """Do the same in real time: two seconds at 200 kbit/s, where the switch has a shaper."""
    # No shares: not every switch has them, and none are needed here.
    policy = POLICY.replace("bandwidth: {percent: 40}", "level: 1")
    if Capability.SHAPING in load(device.target):
        shaper = f"shaper: {{rate: {{value: {_SLOW.line_bps}, unit: bit/s, basis: ethernet}}}}"
        policy = policy.replace("  - port: line\n", f"  - port: line\n    {shaper}\n")
    device.push(policy)
    offered = traffic(_SLOW, packets=70)
    return offered, offer(device, offered)


@check(
    "RFC 3246",
    "2.2",
    Level.MUST,
    "each EF packet leaves by its ideal time at the configured rate and a stated error term",
    needs=(Capability.STRICT_LEVELS,),
)
def ef_error_terms(device: Device) -> Finding:
    """E_a and E_p beside strict priority's by theory: one longest packet of the others on the line."""
    if not device.virtual:
        return _error_terms_in_real_time(device)
    worst = Fraction(0)
    figures: dict[str, float] = {}
    holds = True
    device.push(POLICY)
    for setting in SETTINGS:
        _, _, terms = measure(device, setting)
        # Departures are whole nanoseconds, rounded up.
        holds &= max(terms.aggregate, terms.packet) <= setting.theory_ns + 1
        worst = max(worst, terms.packet / setting.theory_ns)
        name = f"{setting.line_bps}_bps_{setting.longest}_bytes_ring_{setting.transmit_ring}"
        figures[f"e_a_ns_{name}"] = float(terms.aggregate)
        figures[f"e_p_ns_{name}"] = float(terms.packet)
    typical = f"e_p_ns_{10_000_000}_bps_{1514}_bytes_ring_0"
    return judged(
        holds,
        f"10 Mbit/s, others of 1,514 bytes: E_a {figures[typical.replace('e_p', 'e_a')] / 1e6:.3f} ms, "
        f"E_p {figures[typical] / 1e6:.3f} ms; at most {float(worst):.3f} of theory in {len(SETTINGS)} settings",
        **figures,
    )


def _error_terms_in_real_time(device: Device) -> Finding:
    if Capability.SHAPING not in load(device.target):
        return not_applicable("nothing makes its port slow, so nothing waits: it has no shaper")
    _, outcome = run_slowly(device)
    terms = error_terms([each for each in outcome.passages if each.session == "ef"], _SLOW.rate_bps)
    aggregate, packet, theory = (float(term) / 1e6 for term in (terms.aggregate, terms.packet, _SLOW.theory_ns))
    return judged(
        terms.packets > 0 and terms.packet <= _SLOW.theory_ns * (1 + _TOLERANCE),
        f"{_SLOW.line_bps // 1000} kbit/s, others of {_SLOW.longest:,} bytes: E_a {aggregate:.1f} ms, "
        f"E_p {packet:.1f} ms; theory {theory:.1f} ms, half as much more is allowed for this machine's own delays",
        e_a_ns=float(terms.aggregate),
        e_p_ns=float(terms.packet),
        theory_ns=float(_SLOW.theory_ns),
    )


def _run(device: Device) -> tuple[list[Offered], NumberedRun]:
    if not device.virtual:
        return run_slowly(device)
    device.push(POLICY)
    offered, outcome, _ = measure(device, Setting(10_000_000, 1514))
    return offered, outcome


@check(
    "RFC 3246",
    "2.5",
    Level.DESCRIBED,
    "EF within its rate loses nothing while the other classes are overloaded",
    needs=(Capability.STRICT_LEVELS,),
)
def ef_loses_nothing(device: Device) -> Finding:
    """The others offer twice the line."""
    offered, outcome = _run(device)
    sent = sum(each.flow.session == "ef" for each in offered)
    left = sum(passage.session == "ef" for passage in outcome.passages)
    return judged(left == sent, f"{sent - left} of {sent} EF packets lost", sent=sent, lost=sent - left)


@check(
    "RFC 3246",
    "2.6",
    Level.SHOULD,
    "packets of one microflow in the EF aggregate leave in order",
    needs=(Capability.STRICT_LEVELS,),
)
def ef_keeps_the_order_of_a_microflow(device: Device) -> Finding:
    """Four flows from two inputs, with others at twice the line."""
    offered, outcome = _run(device)
    order = [number for number in outcome.order if offered[number].flow.session == "ef"]
    late = reordered((offered[number].flow, number) for number in order)
    return judged(
        not late and len(order) > 0,
        f"{len(late)} of {len(order)} EF packets after a later one of their flow",
        reordered=len(late),
        packets=len(order),
    )
