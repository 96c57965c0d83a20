"""Cells of a switch's counters and registers: its service ``phb.telemetry.v1.Telemetry``, at the port of P4Runtime."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Final

import grpc

from phb.monitor.reading.messages import PACKAGE, Range, Sample, WatchRequest

METHOD: Final = f"/{PACKAGE}.Telemetry/Watch"


async def watch(
    channel: grpc.aio.Channel, device_id: int, ranges: Sequence[tuple[int, int, int]], interval_ns: int = 0
) -> AsyncGenerator[Any, None]:
    """Give samples as messages `Sample`, each with all cells of its moment.

    The first one, and the first of another `instance`, has all cells that aren't zero, a later one those that changed
    since the one before. A range may come more than once in a sample, with different cells.

    Args:
        channel: To the switch.
        device_id: P4Runtime's number of it.
        ranges: Of arrays: the id, the first cell, and how many; 0 is to the array's end.
        interval_ns: From one sample to the next, at least 10 ms; 0 is one sample and the end.

    Raises:
        grpc.RpcError: As the switch ends the call: NOT_FOUND and OUT_OF_RANGE name a wrong range,
            FAILED_PRECONDITION says that there is no program, or another one without such ranges.
    """
    method = channel.unary_stream(
        METHOD, request_serializer=WatchRequest.SerializeToString, response_deserializer=Sample.FromString
    )
    wanted = [Range(array_id=array, first=first, count=count) for array, first, count in ranges]
    call: Any = method(WatchRequest(device_id=device_id, interval_ns=interval_ns, ranges=wanted))
    try:
        sample = None
        while (message := await call.read()) is not grpc.aio.EOF:
            if sample is None:
                sample = message
            else:
                sample.cells.extend(message.cells)
            if not message.more:
                sample.more = False
                yield sample
                sample = None
    finally:
        call.cancel()
