"""What `/metrics` tells: each family's name, type, labels and help.

Names and units are those of Prometheus' naming rules: seconds, bytes, ratios, and `_total` for what only grows.
`docs/operate/monitoring.md` has the same list, and says of which counter each is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any


class Kind(StrEnum):
    """Type of a family."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True)
class Family:
    """Series of one name; their labels' values and a value make a row."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...]

    @cached_property
    def template(self) -> str:
        """What `%` makes a line of, with a row."""
        return line(self.name, self.labels)

    def head(self, openmetrics: bool) -> str:
        """Give the lines before the first sample. OpenMetrics counts `_total` to the sample, not to the family."""
        name = self.name.removesuffix("_total") if openmetrics else self.name
        return f"# HELP {name} {self.help}\n# TYPE {name} {self.kind}\n"


def line(name: str, labels: tuple[str, ...], tail: str = "") -> str:
    """Give the template of a sample; `tail` are labels whose values are known, such as ``,le="+Inf"``."""
    return name + "{" + ",".join(f'{label}="%s"' for label in labels) + tail + "} %s\n"


@lru_cache(maxsize=1 << 16)
def escaped(value: str) -> str:
    """Write a label's value as it stands between quotes."""
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


@lru_cache(maxsize=1 << 10)
def worded(reason: str) -> str:
    """Write a reason of drops as `phb show` does."""
    return escaped(reason.lower().replace("_", " "))


Row = tuple[Any, ...]
"""Values of labels, escaped, and the sample's value: a whole number, or a finite float."""

_CLASS = ("switch", "class")
_POLICY = ("switch", "policy", "direction")
_STREAM = ("switch", "stream")
_PORT = ("switch", "port")
_OBJECTIVE = ("switch", "subject", "name", "direction", "measure", "percentile")
_SESSION = ("session", "class")
_C, _G = Kind.COUNTER, Kind.GAUGE


@dataclass(frozen=True)
class Drops:
    """Packets that were dropped, their bytes, and the packets by reason."""

    packets: Family
    bytes: Family
    reasons: Family


def _drops(kind: str, labels: tuple[str, ...], noun: str) -> Drops:
    return Drops(
        Family(f"phb_{kind}_dropped_packets_total", _C, f"Packets of the {noun} that were dropped.", labels),
        Family(f"phb_{kind}_dropped_bytes_total", _C, f"Bytes of the {noun} that were dropped.", labels),
        Family(
            f"phb_{kind}_dropped_packets_by_reason_total",
            _C,
            f"Dropped packets of the {noun} by reason; a reason that never occurred has no series.",
            (*labels, "reason"),
        ),
    )


@dataclass(frozen=True)
class Counted:
    """What came by colour, what of it was dropped, and how many have no series of their own."""

    packets: Family
    bytes: Family
    drops: Drops
    others: Family


def _counted(kind: str, plural: str, labels: tuple[str, ...], came: str, noun: str) -> Counted:
    return Counted(
        Family(f"phb_{kind}_packets_total", _C, f"Packets {came}, by colour.", (*labels, "colour")),
        Family(f"phb_{kind}_bytes_total", _C, f"Bytes {came}, by colour.", (*labels, "colour")),
        _drops(kind, labels, noun),
        Family(f"phb_{plural}_others", _G, f"{noun.title()}s whose figures are summed as (others).", ("switch",)),
    )


SWITCH_UP = Family("phb_switch_up", _G, "Whether the switch answers.", ("switch",))
SWITCH_SAMPLE = Family(
    "phb_switch_last_sample_timestamp_seconds", _G, "When the switch's counters were read last.", ("switch",)
)
SWITCH_GAP = Family("phb_switch_gap_seconds_total", _C, "Time without samples, told when it has ended.", ("switch",))
SWITCH_ANEW = Family(
    "phb_switch_counters_anew_total", _C, "How often counters began anew: a restart, another program.", ("switch",)
)
EVENTS = Family("phb_events_total", _C, "Events since the monitor began.", ("switch", "event"))

PUSHES = Family("phb_pushes_total", _C, "Pushes that began and ended since the monitor began.", ("switch", "outcome"))
PUSH_BEGAN = Family("phb_last_push_timestamp_seconds", _G, "When the last push began.", ("switch",))
PUSH_OUTCOME = Family(
    "phb_last_push_outcome", _G, "1 for how the last push ended, 0 for the others.", ("switch", "outcome")
)
PUSH_ENTRIES = Family("phb_last_push_entries", _G, "What the last push did to entries.", ("switch", "change"))

CLASS_PACKETS = Family("phb_class_sent_packets_total", _C, "Packets of the class that left.", _CLASS)
CLASS_BYTES = Family(
    "phb_class_sent_bytes_total", _C, "Bytes of the class that left: Ethernet frames without check sequence.", _CLASS
)
CLASS_DROPS = _drops("class", _CLASS, "class")
CLASS_MARKED = Family(
    "phb_class_marked_packets_total", _C, "Packets that early detection marked instead of dropping them.", _CLASS
)
CLASS_QUEUED = Family("phb_class_queued_packets", _G, "Packets of the class that wait at all ports.", _CLASS)
CLASS_DELAY = Family(
    "phb_class_delay_seconds", Kind.HISTOGRAM, "Delay in the switch, from the queue's entry to the wire.", _CLASS
)

POLICY = _counted("policy", "policies", _POLICY, "that came for the rule", "rule")
STREAM = _counted("stream", "streams", _STREAM, "of the action", "action")

PORT_PACKETS = Family("phb_port_sent_packets_total", _C, "Packets that left by the port.", _PORT)
PORT_BYTES = Family("phb_port_sent_bytes_total", _C, "Bytes that left by the port.", _PORT)
PORT_IN_PACKETS = Family("phb_port_received_packets_total", _C, "Packets that the port received.", _PORT)
PORT_IN_BYTES = Family("phb_port_received_bytes_total", _C, "Bytes that the port received.", _PORT)
PORT_IN_DISCARDS = Family(
    "phb_port_received_discarded_packets_total", _C, "Received packets that the interface discarded.", _PORT
)
PORT_OUT_DISCARDS = Family(
    "phb_port_sent_discarded_packets_total", _C, "Packets to be sent that the interface discarded.", _PORT
)
PORT_UP = Family("phb_port_up", _G, "Whether the port's link is there.", _PORT)
PORT_SPEED = Family("phb_port_speed_bytes_per_second", _G, "Rate of the port's line or shaper.", _PORT)
PORT_QUEUED = Family("phb_port_queued_packets", _G, "Packets that wait at the port.", _PORT)

OBJECTIVE_STATE = Family(
    "phb_objective_state", _G, "1 for the state that the objective is in, 0 for the others.", (*_OBJECTIVE, "state")
)
OBJECTIVE_SINCE = Family("phb_objective_state_timestamp_seconds", _G, "When the objective's state began.", _OBJECTIVE)
RATE_BOUND = Family("phb_objective_rate_bound_bytes_per_second", _G, "The rate that is asked for.", _OBJECTIVE)
RATE = Family("phb_objective_rate_bytes_per_second", _G, "The rate of the last interval.", _OBJECTIVE)
DELAY_BOUND = Family("phb_objective_delay_bound_seconds", _G, "The delay that is asked for.", _OBJECTIVE)
DELAY = Family("phb_objective_delay_seconds", _G, "The delay of the last interval.", _OBJECTIVE)
LOSS_BOUND = Family("phb_objective_loss_bound_ratio", _G, "The loss that is asked for, 0 to 1.", _OBJECTIVE)
LOSS = Family("phb_objective_loss_ratio", _G, "The loss of the last interval, 0 to 1.", _OBJECTIVE)

STAMP_UP = Family("phb_stamp_up", _G, "Whether replies of the session's reflector come.", _SESSION)
STAMP_SENT = Family("phb_stamp_sent_packets_total", _C, "Test packets of the session in periods that ended.", _SESSION)
STAMP_LOST = Family("phb_stamp_lost_packets_total", _C, "Test packets that didn't come back in time.", _SESSION)
STAMP_LOST_ONE_WAY = Family(
    "phb_stamp_lost_one_way_packets_total",
    _C,
    "Lost test packets by direction, as far as the reflector's numbers tell.",
    (*_SESSION, "direction"),
)
STAMP_DELAY = Family(
    "phb_stamp_one_way_delay_seconds",
    _G,
    "Mean delay of the last period in one direction, where the clocks are common.",
    (*_SESSION, "direction"),
)
STAMP_JITTER = Family(
    "phb_stamp_jitter_seconds", _G, "Mean delay variation of the last period.", (*_SESSION, "direction")
)
STAMP_ROUND_TRIP = Family(
    "phb_stamp_round_trip_seconds", Kind.HISTOGRAM, "Delay there and back, without the reflector's own.", _SESSION
)
