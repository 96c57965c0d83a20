"""mgen (MGEN 5) in place of datagrams; its log gives arrivals and one-way delays."""

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path

from phb_lab.description import Datagrams, Flow
from phb_lab.emulation.clock import Span
from phb_lab.emulation.jobs import Received, Sent
from phb_lab.emulation.tools.tool import SECOND, Context, Tool, end, start

_DAY_NS = 86_400 * SECOND
_PATTERNS = {"periodic": "PERIODIC", "poisson": "POISSON"}
_RECEIVED = re.compile(r"(\S+) RECV .* seq>(\d+) .* sent>(\S+) size>(\d+) ")
_SENT = re.compile(r"\S+ SEND ")


class Mgen(Tool):
    """A sender and a receiver per flow. It marks, counts and stamps by itself."""

    name = "mgen"
    what = "datagrams"
    commands = {"mgen": "mgen"}  # noqa: RUF012  (as a constant of the class)

    def takes(self, flow: Flow) -> bool:
        """Datagrams."""
        return isinstance(flow, Datagrams)

    async def serve(self, number: int, flow: Flow, context: Context) -> None:
        """Listen until the end, then read the log."""
        received = context.report.received[number] = Received()
        log = context.folder / f"mgen-{number}-received.log"
        event = f"LISTEN UDP {flow.server_port}"
        try:
            await _run(["mgen", "flush", "event", event, "output", str(log)])
        finally:
            take(log, context.span, received)

    async def ask(self, number: int, flow: Flow, context: Context) -> None:
        """Send from the flow's start to its end."""
        assert isinstance(flow, Datagrams)
        sent = context.report.sent[number] = Sent()
        log = context.folder / f"mgen-{number}-sent.log"
        await context.until(flow.start_ns)
        pattern = f"{_PATTERNS[flow.pattern]} [{SECOND / flow.interval_ns:.6f} {flow.payload_bytes}]"
        event = f"ON {number + 1} UDP DST {flow.server_address}/{flow.server_port} {pattern} TOS {flow.tos:#x}"
        stop = f"{(context.stop_ns(flow) - context.span.now()) / SECOND:.3f} OFF {number + 1}"
        command = ["mgen", "flush", "txlog", "event", event, "event", stop, "output", str(log)]
        try:
            await _run(command)
        finally:
            sent.packets = sum(1 for line in _lines(log) if _SENT.match(line))
            sent.octets = sent.packets * flow.payload_bytes


def take(log: Path, span: Span, received: Received) -> None:
    """Read arrivals from a receiver's log; its times are those of the day (UTC)."""
    seen = set()
    midnight = span.of_realtime(_midnight_ns())
    for line in _lines(log):
        found = _RECEIVED.match(line)
        if found is None or found[2] in seen:
            continue
        seen.add(found[2])
        at = midnight + _of_day(found[1])
        if at > span.now():
            at -= _DAY_NS  # it came before the midnight that has passed since
        received.packets += 1
        received.count(at, int(found[4]))
        received.delays_ns.append((at, (_of_day(found[1]) - _of_day(found[3])) % _DAY_NS))


def _midnight_ns() -> int:
    return int(datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0).timestamp()) * SECOND


def _of_day(text: str) -> int:
    hours, minutes, seconds = text.split(":")
    return round(((int(hours) * 60 + int(minutes)) * 60 + float(seconds)) * SECOND)


def _lines(log: Path) -> list[str]:
    return log.read_text(errors="replace").splitlines() if log.exists() else []


async def _run(command: list[str]) -> None:
    process = await start(command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL)
    try:
        await process.wait()
    finally:
        await end(process)
