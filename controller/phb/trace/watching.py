"""Traces from a switch while it forwards: its service ``phb.trace.v1.Tracing``, at the port of P4Runtime."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import grpc

from phb.device.channel import open_channel
from phb.errors import InputError, SwitchError
from phb.inventory import Switch
from phb.origin import Origin
from phb.trace.messages import PACKAGE, Trace, WatchRequest, WatchResponse, as_dict

METHOD: Final = f"/{PACKAGE}.Tracing/Watch"


async def watch(
    switch: Switch, *, packets: str = "", count: int = 0, frame_bytes: int = 0
) -> AsyncIterator[Trace | None]:
    """Give traces of packets that arrive from now on; first None, when the switch has begun.

    Args:
        switch: Where, with its certificates and the seconds that it may take to begin.
        packets: Which packets, in the language of ``phb-switch --trace-filter``; empty is all.
        count: End after so many; 0 is never.
        frame_bytes: Bytes of each frame that are kept; 0 is its headers.

    Raises:
        InputError: The switch doesn't understand `packets`.
        SwitchError: It can't be reached, tells no traces, has ended the call, or wasn't quick enough.
    """
    tls = switch.certificates
    credentials = None if tls is None else tls.credentials()
    async with open_channel(switch.address, credentials, switch.timeout) as channel:
        method = channel.unary_stream(
            METHOD,
            request_serializer=WatchRequest.SerializeToString,
            response_deserializer=WatchResponse.FromString,
        )
        call: Any = method(WatchRequest(filter=packets, count=count, frame_bytes=frame_bytes))
        given = 0
        try:
            async with asyncio.timeout(switch.timeout):
                response = await call.read()
            while response is not grpc.aio.EOF:
                if response.WhichOneof("response") == "started":
                    yield None
                elif response.WhichOneof("response") == "trace":
                    given += 1
                    yield as_dict(response.trace)
                response = await call.read()
        except TimeoutError:
            raise SwitchError(switch.address, f"no answer to Watch within {switch.timeout:g} s (--timeout)") from None
        except grpc.RpcError as error:
            raise _failed(error, switch, packets) from None
        finally:
            call.cancel()
        if not count or given < count:
            raise SwitchError(switch.address, "the switch ended the call")


def _failed(error: grpc.RpcError, switch: Switch, packets: str) -> InputError | SwitchError:
    code, words = error.code(), (error.details() or error.code().name)[:2000]
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        return InputError(Origin("--filter"), f"'{packets}'", f"a filter of packets: {words.removeprefix('filter: ')}")
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return SwitchError(switch.address, "the switch tells no traces (phb-switch does)")
    if code is grpc.StatusCode.UNAVAILABLE:
        tls = switch.certificates
        return SwitchError(
            switch.address, f"the switch can't be reached ({words if tls is None else tls.explain(words)})"
        )
    return SwitchError(switch.address, f"the switch refused: {code.name}: {words}")
