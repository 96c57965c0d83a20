"""Messages of the switch's telemetry.

They are made at run time from a descriptor, which suits every version of protobuf's library.
`telemetry.binpb` is what protoc makes of `switch/crates/server/telemetry.proto`, which says what fields mean.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE: Final = "phb.telemetry.v1"

_described = descriptor_pb2.FileDescriptorSet.FromString(
    files("phb.monitor.reading").joinpath("telemetry.binpb").read_bytes()
)
_pool = descriptor_pool.DescriptorPool()
for _file in _described.file:
    _pool.Add(_file)


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))


WatchRequest: Final = _message("WatchRequest")
Range: Final = _message("Range")
Sample: Final = _message("Sample")
Cells: Final = _message("Cells")
Written: Final = _message("Written")
