"""Meters for tables of cases: the same one for a policy and as entries.

Rates are 1 bit/s, so that no bucket gains a byte while a case runs: colours depend on bursts alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phb.model import MeterKind
from phb_device import Entry, entry
from phb_model import token_buckets

_RATE_BPS = 1
_NEVER_FULL_US = (1 << 48) - 1
_COUNTED = {
    "ethernet": {"datagram": 0, "overhead": 0},
    "ip": {"datagram": 1, "overhead": 0},
    "ppp": {"datagram": 1, "overhead": 4},
}
_COLOURS = ("green", "yellow", "red")


@dataclass(frozen=True)
class Treatment:
    """The treatment of packets of one colour: in a policy's YAML, and as an action of ``police.colour_action``."""

    said: str
    action: str
    parameters: tuple[tuple[str, int], ...] = ()


TRANSMIT = Treatment("{}", "transmit")
DROP = Treatment("{drop: true}", "drop")


def set_dscp(code_point: int) -> Treatment:
    """Set the DSCP; ECN stays."""
    return Treatment(f"{{set-dscp: {code_point}}}", "remark", (("value", code_point << 2), ("mask", 0xFC)))


def set_precedence(precedence: int) -> Treatment:
    """Set the precedence; all other bits stay."""
    return Treatment(f"{{set-precedence: {precedence}}}", "remark", (("value", precedence << 5), ("mask", 0xE0)))


def set_tos(value: int, mask: int) -> Treatment:
    """Set bits of the ToS octet."""
    said = f"{{set-tos: {{value: {value}, mask: {mask}}}}}"
    return Treatment(said, "remark", (("value", value), ("mask", mask)))


def set_pcp(value: int) -> Treatment:
    """Set the 802.1p priority."""
    return Treatment(f"{{set-pcp: {value}}}", "remark_pcp", (("value", value), ("mask", 7)))


def set_dscp_and_pcp(code_point: int, pcp: int) -> Treatment:
    """Set both."""
    parameters = (("value", code_point << 2), ("mask", 0xFC), ("pcp_value", pcp), ("pcp_mask", 7))
    return Treatment(f"{{set-dscp: {code_point}, set-pcp: {pcp}}}", "remark_tos_and_pcp", parameters)


@dataclass(frozen=True)
class Meter:
    """A meter of a stream, with bursts in bytes: `committed` and `other` (excess or peak).

    If `aware`, it uses the colour that packets come with. `basis` says which bytes count.
    """

    kind: MeterKind
    committed: int
    other: int
    aware: bool = False
    basis: str = "ethernet"
    green: Treatment = TRANSMIT
    yellow: Treatment = TRANSMIT
    red: Treatment = TRANSMIT

    def without_time(self) -> token_buckets.Meter:
        """Return the same for the arithmetic, with buckets that gain nothing."""
        return token_buckets.Meter(self.kind, 0, self.committed, 0, self.other, self.aware)

    def said(self) -> str:
        """Return the value of an action's key ``meter``."""
        rate = f"{{value: {_RATE_BPS}, unit: bit/s, basis: {self.basis}}}"
        second = "" if self.kind is MeterKind.SINGLE_RATE else f", peak-rate: {rate}"
        burst = "peak" if self.kind is MeterKind.TWO_RATE else "excess"
        colours = "".join(
            f", {colour}: {treatment.said}"
            for colour, treatment in zip(_COLOURS, self._treatments(), strict=True)
            if treatment is not TRANSMIT
        )
        return (
            f"{{kind: {self.kind}, committed-rate: {rate}, committed-burst-bytes: {self.committed}{second}, "
            f"{burst}-burst-bytes: {self.other}, colour-aware: {str(self.aware).lower()}{colours}}}"
        )

    def entries(self, stream: int, policies: Sequence[int], stage: str = "police") -> list[Entry]:
        """Return the same by hand, for rules of these numbers; `stage` is ``police`` or ``output_police``."""
        common = _COUNTED[self.basis] | {"colour_aware": int(self.aware)}
        key = {"stream": stream}
        if self.kind is MeterKind.SINGLE_RATE:
            metered = entry(
                f"{stage}.stream_meter", key, "single_rate", rate=_RATE_BPS, full_after=_NEVER_FULL_US,
                committed_burst=self.committed, excess_burst=self.other, **common,
            )  # fmt: skip
        else:
            word = "peak" if self.kind is MeterKind.TWO_RATE else "excess"
            other = {
                f"{word}_rate": _RATE_BPS,
                f"{word}_full_after": _NEVER_FULL_US,
                f"{word}_burst": self.other,
            }
            metered = entry(
                f"{stage}.stream_meter", key, self.kind.replace("-", "_"), committed_rate=_RATE_BPS,
                committed_full_after=_NEVER_FULL_US, committed_burst=self.committed, **other, **common,
            )  # fmt: skip
        return [
            metered,
            *(
                entry(
                    f"{stage}.colour_action",
                    {"policy": policy, "colour": colour},
                    treatment.action,
                    **dict(treatment.parameters),
                )
                for policy in policies
                for colour, treatment in enumerate(self._treatments())
                if treatment is not TRANSMIT
            ),
        ]

    def _treatments(self) -> tuple[Treatment, Treatment, Treatment]:
        return self.green, self.yellow, self.red
