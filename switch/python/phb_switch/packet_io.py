"""Packet-in and packet-out: the controller header between its bits on the CPU port and P4Runtime's metadata."""

from collections.abc import Iterable, Sequence

from finsy.proto import p4r

from phb_switch.bytestrings import decode, encode
from phb_switch.errors import invalid
from phb_switch.schema import Field


def packet_in(frame: bytes, header: Sequence[Field]) -> p4r.PacketIn:
    """Splits a frame from the CPU port into metadata and payload.

    Args:
        frame: as the program's deparser wrote it, the header `packet_in` first.
        header: the fields of that header; empty if the program has none, then all is payload.

    Raises:
        ValueError: the frame is shorter than the header.

    """
    bits = sum(field.bits for field in header)
    length = bits // 8
    if len(frame) < length:
        raise ValueError(f"a packet-in of {len(frame)} bytes is shorter than its header of {length}")
    number = int.from_bytes(frame[:length], "big")
    message = p4r.PacketIn(payload=frame[length:])
    for field in header:
        bits -= field.bits
        message.metadata.add(metadata_id=field.id, value=encode(number >> bits & ((1 << field.bits) - 1)))
    return message


def packet_out(payload: bytes, metadata: Iterable[p4r.PacketMetadata], header: Sequence[Field]) -> bytes:
    """The frame that goes into the CPU port: the header `packet_out`, then the payload.

    Raises:
        StatusError: INVALID_ARGUMENT, if the metadata are not exactly the fields of the header.

    """
    given: dict[int, bytes] = {}
    known = {field.id for field in header}
    for each in metadata:
        if each.metadata_id not in known:
            raise invalid(f"packet_out has no metadata field with id {each.metadata_id}")
        if each.metadata_id in given:
            raise invalid(f"packet_out: metadata field {each.metadata_id} is given twice")
        given[each.metadata_id] = each.value
    number = bits = 0
    for field in header:
        if field.id not in given:
            raise invalid(f"packet_out: metadata field {field.name} (id {field.id}) is missing")
        number = number << field.bits | decode(given[field.id], field.bits, f"packet_out, {field.name}")
        bits += field.bits
    return number.to_bytes(bits // 8, "big") + payload
