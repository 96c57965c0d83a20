"""P4Runtime calls to one switch, whose failures are errors in the switch's own words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from finsy import GRPCStatusCode, P4ClientError
from finsy.proto import p4r
from google.protobuf.message import DecodeError

from phb.device.artifact import Artifact
from phb.device.deadlines import LARGEST_MESSAGE, PATIENCE, understood
from phb.device.describe import describe_update
from phb.device.tls import Tls
from phb.entries import Update
from phb.errors import SwitchError

LONGEST_WORDS = 2_000


@dataclass(frozen=True)
class Calls:
    """The calls of one connection; `timeout_s` is how long one answer may take, in seconds."""

    stub: Any
    address: str
    timeout_s: float
    tls: Tls | None
    artifact: Artifact

    async def call(self, method: str, request: Any) -> Any:
        """Make a call with one answer.

        Raises:
            P4ClientError: The switch refused.
            SwitchError: It fell silent, or its refusal makes no sense.
        """
        try:
            return await getattr(self.stub, method)(request)
        except grpc.RpcError as error:
            raise self.failed(error, method, self.timeout_s) from None

    async def read(self, request: p4r.ReadRequest, most: int) -> AsyncIterator[p4r.Entity]:
        """Give the answers to a Read, at most so many; refusals are SwitchErrors, too."""
        async with self.refusals():
            async for entity in self.entities(request, most):
                yield entity

    async def entities(self, request: p4r.ReadRequest, most: int) -> AsyncIterator[p4r.Entity]:
        """Give what the switch answers, one by one, at most so many.

        Raises:
            P4ClientError: It refused.
            SwitchError: It fell silent, doesn't end, or says more than it can hold.
        """
        call = self.stub.Read(request, timeout=PATIENCE * self.timeout_s)
        clock = asyncio.get_running_loop().time
        until = clock() + self.timeout_s
        left = most
        try:
            while True:
                async with asyncio.timeout_at(until):
                    response = await call.read()
                if response is grpc.aio.EOF:
                    return
                left -= len(response.entities)
                if left < 0:
                    raise SwitchError(self.address, f"the switch answered Read with more than {most} entries or cells")
                # A message with nothing in it is no progress.
                if response.entities:
                    until = clock() + self.timeout_s
                for entity in response.entities:
                    yield entity
        except TimeoutError:
            raise self._silent("Read", self.timeout_s) from None
        except grpc.RpcError as error:
            raise self.failed(error, "Read", PATIENCE * self.timeout_s) from None
        finally:
            call.cancel()

    @asynccontextmanager
    async def refusals(self) -> AsyncIterator[None]:
        """Turn refusals inside into SwitchErrors."""
        try:
            yield
        except P4ClientError as error:
            raise self.error(error) from None

    def failed(self, error: grpc.RpcError, method: str, seconds: float) -> P4ClientError | SwitchError:
        """Give the error of a failed call: the switch's refusal, or why there is none."""
        if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            return self._silent(method, seconds)
        if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in (error.details() or ""):
            return SwitchError(self.address, f"an answer to {method} of more than {LARGEST_MESSAGE >> 20} MiB")
        try:
            return P4ClientError(error, method)
        except (DecodeError, ValueError, TypeError):
            return SwitchError(
                self.address, f"the switch refused {method} in words that make no sense ({error.code().name})"
            )

    def _silent(self, method: str, seconds: float) -> SwitchError:
        return SwitchError(self.address, f"no answer to {method} within {seconds:g} s (--timeout)")

    def error(self, error: P4ClientError, updates: Sequence[Update] = ()) -> SwitchError:
        """Give a refusal in the switch's words, with a line for each update that it refused."""
        try:
            with understood(self.address):
                return self._refusal(error, updates)
        except SwitchError as odd:
            return odd

    def _refusal(self, error: P4ClientError, updates: Sequence[Update]) -> SwitchError:
        if error.code == GRPCStatusCode.UNAVAILABLE:
            words = _brief(error.message) if self.tls is None else self.tls.explain(_brief(error.message))
            return SwitchError(self.address, f"the switch can't be reached ({words})")
        refusals = []
        for index, detail in sorted(error.details.items()):
            # The rest of an atomic batch is reported as aborted; the user wants the cause.
            if detail.canonical_code == GRPCStatusCode.ABORTED and len(error.details) > 1:
                continue
            words = f"{detail.canonical_code.name}: {_brief(detail.message)}"
            what = describe_update(updates[index], self.artifact) if index < len(updates) else f"update {index}"
            refusals.append(f"{what}: {words}")
        message = f"the switch refused: {error.code.name}" + (f": {_brief(error.message)}" if error.message else "")
        return SwitchError(self.address, message, refusals)


def _brief(words: str) -> str:
    """Shorten a switch's words, which the history keeps."""
    return words if len(words) <= LONGEST_WORDS else f"{words[:LONGEST_WORDS]}..."
