"""What a switch outside of this process says happened to packets: its traces, over gRPC."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any, Self

import grpc

from phb.trace.messages import Trace, WatchRequest, WatchResponse, as_dict
from phb.trace.watching import METHOD

_BEGINS_WITHIN_S = 10.0
_QUIET_S = 0.2
_LOOKS_EVERY_S = 0.02
_KEPT = 1_000


class RemoteTraces:
    """Traces of packets that arrive from now on, for ``with``; none from a switch that doesn't tell any."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._taken: deque[Trace] = deque(maxlen=_KEPT)
        self._begun = threading.Event()

    def __enter__(self) -> Self:
        self._channel = grpc.insecure_channel(self._address)
        method = self._channel.unary_stream(
            METHOD, request_serializer=WatchRequest.SerializeToString, response_deserializer=WatchResponse.FromString
        )
        self._call: Any = method(WatchRequest())
        threading.Thread(target=self._read, daemon=True).start()
        self._begun.wait(_BEGINS_WITHIN_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._call.cancel()
        self._channel.close()

    def _read(self) -> None:
        try:
            for response in self._call:
                if response.WhichOneof("response") == "trace":
                    self._taken.append(as_dict(response.trace))
                self._begun.set()
        except grpc.RpcError:
            # Ended by us, or a switch without traces.
            self._begun.set()

    def take(self) -> list[Trace]:
        """Take the traces that have come, after none has come for a moment."""
        before = -1
        deadline = time.monotonic() + _QUIET_S
        while len(self._taken) != before or time.monotonic() < deadline:
            if len(self._taken) != before:
                before, deadline = len(self._taken), time.monotonic() + _QUIET_S
            time.sleep(_LOOKS_EVERY_S)
        return [self._taken.popleft() for _ in range(before)]
