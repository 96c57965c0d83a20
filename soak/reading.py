"""Counters of a switch, read over P4Runtime and gNMI beside its controllers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import grpc
from finsy import P4CounterEntry, P4RegisterEntry, P4Schema
from finsy.proto import gnmi, gnmi_grpc, p4r, p4r_grpc

import phb_p4
from phb_device.control import DEVICE_ID

ANSWERS_WITHIN_S = 30.0
_OPTIONS = (("grpc.max_receive_message_length", -1), ("grpc.use_local_subchannel_pool", 1))


@cache
def schema() -> P4Schema:
    """Load phb's p4info."""
    return P4Schema(phb_p4.p4info_path())


def channel(address: str) -> grpc.Channel:
    """Open a connection of its own."""
    return grpc.insecure_channel(address, _OPTIONS)


class Reader:
    """One connection that only reads; use it with ``with``. Calls raise ``grpc.RpcError``."""

    def __init__(self, address: str) -> None:
        self._channel = channel(address)
        self._p4runtime: Any = p4r_grpc.P4RuntimeStub(self._channel)
        self._gnmi: Any = gnmi_grpc.gNMIStub(self._channel)

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def counter(self, name: str, cells: Sequence[int] | None = None) -> dict[int, int]:
        """Read packets of an indirect counter by cell, those that are not zero; all cells without `cells`.

        A counter that the program doesn't have is empty.
        """
        try:
            every: list[int | None] = [None]
            wanted = [P4CounterEntry(name, index=cell).encode(schema()) for cell in cells or every]
        except ValueError:
            return {}
        request = p4r.ReadRequest(device_id=DEVICE_ID, entities=wanted)
        answers = self._p4runtime.Read(request, timeout=ANSWERS_WITHIN_S)
        entries = (entity.counter_entry for answer in answers for entity in answer.entities)
        return {entry.index.index: entry.data.packet_count for entry in entries if entry.data.packet_count}

    def register(self, name: str) -> dict[int, int]:
        """Read cells of a register array that are not zero."""
        request = p4r.ReadRequest(device_id=DEVICE_ID, entities=[P4RegisterEntry(name).encode(schema())])
        answers = self._p4runtime.Read(request, timeout=ANSWERS_WITHIN_S)
        entries = (entity.register_entry for answer in answers for entity in answer.entities)
        cells = ((entry.index.index, int.from_bytes(entry.data.bitstring, "big")) for entry in entries)
        return {index: value for index, value in cells if value}

    def interfaces(self) -> dict[str, dict[str, int]]:
        """Read the counters of each interface by gNMI's names."""
        names = ("interfaces", "interface", "state", "counters")
        path = gnmi.Path(elem=[gnmi.PathElem(name=each) for each in names])
        path.elem[1].key["name"] = "*"
        request = gnmi.GetRequest(path=[path], encoding=gnmi.Encoding.PROTO)
        found: dict[str, dict[str, int]] = {}
        for notification in self._gnmi.Get(request, timeout=ANSWERS_WITHIN_S).notification:
            for update in notification.update:
                elements = [*notification.prefix.elem, *update.path.elem]
                interface = next(each.key["name"] for each in elements if "name" in each.key)
                found.setdefault(interface, {})[elements[-1].name] = update.val.uint_val
        return found
