"""Treatments of a rule's traffic: marks, meters, limits."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from phb.model.base import Flag, Item, Name, unexpected
from phb.model.objectives import Objectives
from phb.model.rates import Rate
from phb.values import (
    LAST_QOS_GROUP,
    Address,
    CodePoint,
    Pcp,
    PriorityCodePoint,
    Tos,
    TypeOfService,
    Within,
)


class Copied(StrEnum):
    """A mark that a packet has, put into another field of it; an untagged frame's priority counts as 0."""

    PRECEDENCE_TO_PCP = "precedence-to-pcp"
    PCP_TO_DSCP = "pcp-to-dscp"  # the class selector of the priority (RFC 2474 section 4.2.2)
    PCP_TO_PRECEDENCE = "pcp-to-precedence"


MARKS = ("set_tos", "set_dscp", "set_precedence", "set_pcp", "set_qos_group", "copy_marks")
"""The fields of `Marking`."""


class Marking(Item):
    """New values of the ToS octet (at most one way to say them) and of the 802.1p priority.

    `set_tos` has a mask of its own; a DSCP leaves ECN alone (RFC 3168), a precedence all other bits (RFC 791).

    Attributes:
        set_qos_group: What the output policy may ask for; it is on no wire.
        copy_marks: Done before anything is set, of what the packet had before.
    """

    set_tos: Tos | None = None
    set_dscp: CodePoint | None = None
    set_precedence: Annotated[int, Within(0, 7)] | None = None
    set_pcp: Pcp | None = None
    set_qos_group: Annotated[int, Within(0, LAST_QOS_GROUP)] | None = None
    copy_marks: tuple[Copied, ...] = ()

    @model_validator(mode="after")
    def _one_mark(self) -> Self:
        given = [name for name in ("set_tos", "set_dscp", "set_precedence") if getattr(self, name) is not None]
        if len(given) > 1:
            one, other = (name.replace("_", "-") for name in given[:2])
            raise unexpected(f"both '{one}' and '{other}'", "at most one of them", other)
        return self

    @property
    def marks(self) -> bool:
        """Whether packets get other marks."""
        return any(getattr(self, name) not in (None, ()) for name in MARKS)

    @property
    def mark(self) -> TypeOfService | None:
        """The bits of the ToS octet that are set."""
        if self.set_dscp is not None:
            return TypeOfService(self.set_dscp << 2, 0xFC)
        if self.set_precedence is not None:
            return TypeOfService(self.set_precedence << 5, 0xE0)
        return self.set_tos

    @property
    def priority(self) -> PriorityCodePoint | None:
        """The bits of the 802.1p priority that are set; frames without a tag stay as they are."""
        return self.set_pcp


class Treatment(Marking):
    """Treatment of packets of one colour: dropped, sent with other marks, or just sent."""

    drop: Flag = False

    @model_validator(mode="after")
    def _drop_alone(self) -> Self:
        if self.drop and self.marks:
            raise unexpected("a packet that is dropped and marked", "'drop: true' alone", "drop")
        return self


class MeterKind(StrEnum):
    """How tokens become a colour."""

    SINGLE_RATE = "single-rate"  # RFC 2697
    TWO_RATE = "two-rate"  # RFC 2698
    TWO_RATE_SEPARATE = "two-rate-separate"  # RFC 4115: the excess rate counts beside the committed one


class Meter(Item):
    """A token bucket meter; all traffic of the action shares it.

    Attributes:
        committed_rate: CIR; its basis says which bytes all tokens of the meter count.
        committed_burst_bytes: CBS.
        excess_burst_bytes: EBS, of single-rate and two-rate-separate.
        peak_rate: PIR of two-rate, EIR of two-rate-separate.
        peak_burst_bytes: PBS of two-rate.
        colour_aware: Packets come with a colour: that of an earlier meter, else by drop precedence of their AF code
            point (RFC 2597), else green.
    """

    kind: MeterKind
    committed_rate: Rate
    committed_burst_bytes: Annotated[int, Within(0, 2**31)]
    excess_burst_bytes: Annotated[int, Within(0, 2**31)] | None = None
    peak_rate: Rate | None = None
    peak_burst_bytes: Annotated[int, Within(0, 2**31)] | None = None
    colour_aware: Flag = False
    green: Treatment = Treatment()
    yellow: Treatment = Treatment()
    red: Treatment = Treatment()

    @model_validator(mode="after")
    def _complete(self) -> Self:
        wanted = {
            MeterKind.SINGLE_RATE: {"excess_burst_bytes"},
            MeterKind.TWO_RATE: {"peak_rate", "peak_burst_bytes"},
            MeterKind.TWO_RATE_SEPARATE: {"peak_rate", "excess_burst_bytes"},
        }[self.kind]
        for name in ("excess_burst_bytes", "peak_rate", "peak_burst_bytes"):
            given, key = getattr(self, name) is not None, name.replace("_", "-")
            if given and name not in wanted:
                raise unexpected(f"'{key}' in a {self.kind.value} meter", "a meter without it", key)
            if not given and name in wanted and name != "excess_burst_bytes":
                raise unexpected(f"a {self.kind.value} meter without '{key}'", f"'{key}'", "kind")
        if self.peak_rate is not None and self.peak_rate.basis is not self.committed_rate.basis:
            raise unexpected(
                f"rates on {self.committed_rate.basis} and {self.peak_rate.basis}", "one basis", "peak-rate"
            )
        return self


class Action(Marking):
    """Treatment of a rule's traffic: a Policy Agent service category, a class of an IOS policy map.

    Attributes:
        interface: The action counts only for traffic by the port that has this address.
        traffic_class: Name of the class whose queue the traffic takes.
        meter: Shared by all rules of this action.
        max_connections: TCP connections of a rule that may exist at one time; further ones are refused.
        max_rate: Of each TCP connection, kept by its window, or by drops where no window is that small
            (OS/390 Policy Agent).
        min_rate: The window is never made smaller than this rate needs.
        objectives: What service its traffic is to get.
    """

    name: Name
    interface: Address | None = None
    traffic_class: Annotated[Name | None, Field(alias="class")] = None
    meter: Meter | None = None
    max_connections: Annotated[int, Within(1, 65535)] | None = None
    max_rate: Rate | None = None
    min_rate: Rate | None = None
    objectives: Objectives | None = None
