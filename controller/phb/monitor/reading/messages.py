"""Messages of the switch's telemetry.

They are made at run time from a descriptor, which suits every version of protobuf's library.
`telemetry.binpb` is what protoc makes of `switch/crates/server/telemetry.proto`, which says what fields mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from google.protobuf import descriptor_pb2, message_factory

PACKAGE: Final = "phb.telemetry.v1"

_described = descriptor_pb2.FileDescriptorSet.FromString(
    files("phb.monitor.reading").joinpath("telemetry.binpb").read_bytes()
)
_messages: Final[Mapping[str, Any]] = message_factory.GetMessages(_described.file)

WatchRequest: Final = _messages[f"{PACKAGE}.WatchRequest"]
Range: Final = _messages[f"{PACKAGE}.Range"]
Sample: Final = _messages[f"{PACKAGE}.Sample"]
Cells: Final = _messages[f"{PACKAGE}.Cells"]
Written: Final = _messages[f"{PACKAGE}.Written"]
