"""Capabilities of the P4Runtime server."""

from __future__ import annotations

from finsy import P4RegisterEntry
from finsy.proto import p4r

from phb.targets import Capability
from phb_conform.capabilities.probe import Probed, probe
from phb_device import Control, ControlError, Device, entry

_GOOD = entry("forward.cross_connect", {"ingress_port": 2}, "connect", port=1)


@probe(Capability.ATOMIC_WRITES)
def atomic_writes(device: Device) -> Probed:
    """An all-or-nothing batch with an update that fails leaves nothing behind."""
    with Control(device.address) as control:
        twice = [_GOOD.update(control.schema)] * 2
        try:
            control.write_updates(twice, atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR)
            said = "two updates of one key were both accepted"
        except ControlError as error:
            said = error.reason
        try:
            control.write([_GOOD])
        except ControlError:
            return Probed(False, f"a refused batch has left an entry behind ({said})")
    # A batch without a mistake is written.
    with Control(device.address) as control:
        try:
            other = entry("forward.cross_connect", {"ingress_port": 3}, "connect", port=4)
            control.write_updates([other.update(control.schema)], atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR)
        except ControlError as error:
            return Probed(False, f"refused: {error.reason}")
    return Probed(True, "a refused batch left nothing behind, one without a mistake was written")


@probe(Capability.REGISTER_READS)
def register_reads(device: Device) -> Probed:
    """A cell of a register array can be read."""
    with Control(device.address) as control:
        request = p4r.ReadRequest(
            device_id=1, entities=[P4RegisterEntry("conversation_owner", index=0).encode(control.schema)]
        )
        try:
            found = control.read(request)
        except ControlError as error:
            return Probed(False, f"refused: {error.reason}")
    return Probed(len(found) == 1, f"{len(found)} cell of conversation_owner was read")
