"""What service a policy, a class or a stream is to get: thresholds that a monitor compares with what the switch counts.

They change nothing in the switch. The words are those of the service-level monitor of OS/390 (seed 000, "SLA MIB":
MINRATE, MAXRATE and MAXDELAY at the policy or application) and of RFC 2758.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Self

from pydantic import Field, model_validator

from phb.model.base import AsNumber, Item, unexpected
from phb.model.rates import Rate
from phb.values import Within


class DelayObjective(Item):
    """The longest delay in the switch, from the queue's entry to the wire.

    Attributes:
        milliseconds: The bound.
        percentile: So many percent of the packets stay below it; without it the mean does.
    """

    milliseconds: Annotated[Decimal, Field(gt=0, le=4_294_967), AsNumber()]
    percentile: Annotated[Decimal, Field(gt=0, lt=100), AsNumber()] | None = None

    def __str__(self) -> str:
        if self.percentile is None:
            return f"mean delay at most {self.milliseconds:f} ms"
        return f"{self.percentile:f} % within {self.milliseconds:f} ms"


class Objectives(Item):
    """Bounds of the service; each that is there is judged on its own, once for every interval.

    An interval in which nothing of the traffic came says nothing: it neither breaks a bound nor keeps one.

    Attributes:
        minimum_rate: What leaves the switch isn't less.
        maximum_rate: What leaves the switch isn't more.
        maximum_delays: At most one of the mean, any number of percentiles.
        maximum_loss_percent: Of the packets that came, so many percent are dropped at most.
        interval_s: Seconds over which each is measured.
        not_achieved_after: Intervals in a row that break a bound until it counts as not achieved.
        okay_after: Intervals in a row that keep a bound by the margin until it is okay again.
        margin_percent: How far inside the bound an interval must be to count for *okay again* (hysteresis).
    """

    minimum_rate: Rate | None = None
    maximum_rate: Rate | None = None
    maximum_delays: tuple[DelayObjective, ...] = ()
    maximum_loss_percent: Annotated[Decimal, Field(ge=0, lt=100), AsNumber()] | None = None
    interval_s: Annotated[int, Within(1, 3600)] = 10
    not_achieved_after: Annotated[int, Within(1, 100)] = 1
    okay_after: Annotated[int, Within(1, 100)] = 1
    margin_percent: Annotated[int, Within(0, 50)] = 10

    @model_validator(mode="after")
    def _something(self) -> Self:
        rates = (self.minimum_rate, self.maximum_rate)
        if not self.bounds():
            raise unexpected("objectives without a bound", "a rate, a delay or a loss")
        least, most = rates
        if least is not None and most is not None and least.bits_per_second > most.bits_per_second:
            found = f"a minimum rate of {least} above the maximum of {most}"
            raise unexpected(found, "a minimum that is at most the maximum", "minimum-rate")
        percentiles = [delay.percentile for delay in self.maximum_delays]
        for place, percentile in enumerate(percentiles):
            if percentile in percentiles[:place]:
                which = "mean delay" if percentile is None else f"delay of {percentile:f} %"
                raise unexpected(f"two bounds of the {which}", "one", "maximum-delays")
        return self

    def bounds(self) -> tuple[str, ...]:
        """Each bound in words, in the order in which it is judged."""
        rates = (("at least", self.minimum_rate), ("at most", self.maximum_rate))
        loss = self.maximum_loss_percent
        return (
            *(f"{words} {rate}" for words, rate in rates if rate is not None),
            *map(str, self.maximum_delays),
            *(() if loss is None else (f"loss at most {loss:f} %",)),
        )

    def __str__(self) -> str:
        return f"{', '.join(self.bounds())}, over {self.interval_s} s"
