"""How long after its reserved rate, and how long after the fluid server, packets leave.

A session that has rate r of a line of rate C is promised G_k = max(arrival_k, G_(k-1)) + L_k/r, as if it had a line of
r to itself: the slowest that the fluid server (GPS) ever is to it. Under self-clocked fair queueing packet k leaves by

    G_k + (sum over the other sessions n of the longest packet L_n) / C

whatever anybody sends, if the rates sum up to C at most (Goyal, Lam and Vin 1995; Goyal, Vin and Cheng 1997 give it
beside start-time fair queueing's). Why: let v be the tag on the line when the packet's row of tags without a gap began,
F its own tag. Then (F - v) r bits of its session are sent before it has left, and of each other session n no more than
(F - v) r_n + L_n: what has tags between v and F, and part of one packet that began below. Their sum over C is the time.
With arrivals limited to a burst of s bits beyond rate r, G_k is at most arrival + s/r, which gives Golestani's bound of
the delay itself: s/r + (sum of L_n)/C, where the fluid server's own is s/r.

Against the finish in the fluid server itself the same bound holds for a packet that the fluid server serves at no more
than the reserved rate, that is at G_k: where all sessions have a backlog. Where some are idle the fluid server is
faster and shares what is left exactly, and no bound of that form is a theorem (see the model's tests for arrivals that
break it). So that difference is measured, and bounded by what is proven of it: the bound above, and G_k minus the fluid
finish, which is what the session got beyond its reservation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from phb_conform.measures.passages import Passage, longest, sessions_of
from phb_model.fluid import FluidServer
from phb_model.packets import NANOSECONDS, Job, Session


@dataclass(frozen=True)
class SessionDelay:
    """The worst of one session; times in ns.

    Attributes:
        behind_reserved: The most that a packet left after its reserved rate's G_k.
        behind_fluid: The most that a packet left after the fluid server had finished it.
        behind_fluid_reserved: The same of packets that the fluid server serves at their reserved rate, if any.
        bound: Of `behind_reserved` and `behind_fluid_reserved`.
        delay: The longest from arrival to departure.
        fluid_delay: The longest in the fluid server.
        delay_bound: Of `delay`, for arrivals that exceed the rate by `burst_bits` at most.
    """

    session: Session
    packets: int
    behind_reserved: Fraction
    behind_fluid: Fraction
    behind_fluid_reserved: Fraction | None
    bound: Fraction
    delay: int
    fluid_delay: Fraction
    delay_bound: Fraction
    burst_bits: Fraction

    @property
    def within(self) -> bool:
        """Whether all that is proven holds."""
        at_rate = self.behind_fluid_reserved
        return (
            self.behind_reserved <= self.bound
            and (at_rate is None or at_rate <= self.bound)
            and self.delay <= self.delay_bound
        )


def reserved_finishes(packets: Sequence[tuple[int, int]], rate: Fraction) -> list[Fraction]:
    """Return G_k: when packets (arrival in ns, bits) would end on a line of their own, of `rate` bits per ns."""
    finishes: list[Fraction] = []
    for arrival, bits in packets:
        begin = max(Fraction(arrival), finishes[-1]) if finishes else Fraction(arrival)
        finishes.append(begin + bits / rate)
    return finishes


def session_delays(
    passages: Sequence[Passage], weights: Mapping[Session, Fraction | int], rate_bps: int
) -> list[SessionDelay]:
    """Return the worst of each session.

    `passages` are all packets of one port, in order of arrival; those of a session leave in that order. `weights` are
    the shares of all their sessions.
    """
    packets = [Job(passage.arrival_ns, passage.session, passage.bits) for passage in passages]
    fluid = FluidServer(packets, weights, rate_bps).finish_ns
    sessions = sessions_of(passages)
    total = sum(Fraction(weights[session]) for session in sessions)
    line = Fraction(rate_bps, NANOSECONDS)
    longest_of = {session: longest(passages, session) for session in sessions}
    delays = []
    for session in sessions:
        rate = line * weights[session] / total
        bound = (sum(longest_of.values()) - longest_of[session]) / line
        own = [(passage, end) for passage, end in zip(passages, fluid, strict=True) if passage.session == session]
        reserved = reserved_finishes([(passage.arrival_ns, passage.bits) for passage, _ in own], rate)
        burst = max(end - passage.arrival_ns for (passage, _), end in zip(own, reserved, strict=True)) * rate
        behind = [passage.departure_ns - end for passage, end in own]
        at_rate = [lag for lag, (_, end), promised in zip(behind, own, reserved, strict=True) if end == promised]
        delays.append(
            SessionDelay(
                session,
                len(own),
                max(passage.departure_ns - end for (passage, _), end in zip(own, reserved, strict=True)),
                max(behind),
                max(at_rate) if at_rate else None,
                bound,
                max(passage.departure_ns - passage.arrival_ns for passage, _ in own),
                max(end - passage.arrival_ns for passage, end in own),
                burst / rate + bound,
                burst,
            )
        )
    return delays
