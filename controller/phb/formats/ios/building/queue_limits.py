"""``queue-limit`` in milliseconds, microseconds and bytes, as packets: so the pipeline counts the queue of a class.

A time is the bytes that the class sends in it: bytes = ms * kbit/s / 8 ("queue-limit" in the Cisco IOS XR Modular
Quality of Service Command Reference). Bytes are packets of 1500, in which IOS XE counts the 50 ms of a class without a
limit (queue depth in the QoS Congestion Management Configuration Guide, IOS XE Release 16). No document was found that
says how a router without byte counts converts. So packets of 1500 wait as long as IOS lets them, and shorter ones are
dropped sooner.
"""

from __future__ import annotations

from phb.errors import InputError
from phb.formats.ios.building.attachments import Attachment, whole_rate
from phb.formats.ios.building.ports import bits_per_second
from phb.formats.ios.configuration import Configuration, PolicyClass, QueueLimit

PACKET_BYTES = 1500
MOST_PACKETS = 4096

# Parts of a second.
TIMES = {"ms": 1000, "us": 1_000_000}


def limit_in_packets(configuration: Configuration, attachment: Attachment, each: PolicyClass) -> int | None:
    """Give the queue limit of a class, None if it has none.

    Raises:
        InputError: More packets than the queue of a class may have, or a time without a rate to convert it.
    """
    limit = each.queue_limit
    if limit is None or limit.unit == "packets":
        return None if limit is None else limit.value
    rate = _rate(attachment, each, limit) if limit.unit in TIMES else None
    size = limit.value if rate is None else rate * limit.value // TIMES[limit.unit] // 8
    packets = max(1, size // PACKET_BYTES)
    said = f"'queue-limit {limit.value} {limit.unit}'"
    of = "" if rate is None else f" at {rate} bit/s"
    if packets > MOST_PACKETS:
        raise InputError(
            limit.origin, f"{said}, which is {packets} packets of {PACKET_BYTES} bytes{of}", f"at most {MOST_PACKETS}"
        )
    configuration.note(
        limit.origin,
        f"{said} is {packets} packets at {attachment.interface.name}: {size} bytes{of}, in packets of {PACKET_BYTES}",
    )
    return packets


def _rate(attachment: Attachment, each: PolicyClass, limit: QueueLimit) -> int:
    """Give the rate of a class in bit/s; a class with a share of the remaining bandwidth may have all of it."""
    amount = each.share.amount if each.share is not None else None
    if each.priority is not None:
        amount = each.priority.rate
    if amount is not None and amount.bits_per_second is not None:
        return amount.bits_per_second
    whole = whole_rate(attachment, limit.origin)
    return whole if amount is None else bits_per_second(amount, whole)
