"""iperf3 in place of streams."""

import asyncio
import json
from typing import Any

from phb_lab.description import Flow, Stream
from phb_lab.emulation.jobs import Received, Sent
from phb_lab.emulation.tools.tool import SECOND, Context, Tool, end, start

# Its report at the end passes the same queue as its data, and has to be there before the run ends.
_MARGIN_S = 5
_AGAIN_S = 0.2


class Iperf3(Tool):
    """One server and one client per stream; the congestion control is iperf3's own option, as is the window."""

    name = "iperf3"
    what = "streams"
    commands = {"iperf3": "iperf3"}  # noqa: RUF012  (as a constant of the class)

    def takes(self, flow: Flow) -> bool:
        """Streams."""
        return isinstance(flow, Stream)

    async def serve(self, number: int, flow: Flow, context: Context) -> None:
        """Serve one test, then read its report."""
        received = context.report.received[number] = Received()
        command = ["iperf3", "--server", "--one-off", "--json"]
        command += ["--bind", flow.server_address, "--port", str(flow.server_port)]
        process = await start(command, stdout=asyncio.subprocess.PIPE)
        try:
            said, _ = await process.communicate()
        except asyncio.CancelledError:
            context.report.fail("iperf3: not done at the end of the run")
            raise
        finally:
            await end(process)
        take(json.loads(said), flow.start_ns, received)

    async def ask(self, number: int, flow: Flow, context: Context) -> None:
        """Run the same test from its other end; again until the server listens."""
        assert isinstance(flow, Stream)
        sent = context.report.sent[number] = Sent()
        await context.until(flow.start_ns)
        seconds = max((context.stop_ns(flow) - flow.start_ns) // SECOND - _MARGIN_S, 1)
        host = context.host
        command = ["iperf3", "--client", flow.server_address, "--port", str(flow.server_port), "--json"]
        command += ["--bind", flow.client_address, "--congestion", host.congestion_control, "--tos", str(flow.tos)]
        command += ["--window", str(host.window_bytes), "--length", str(flow.write_bytes)]
        command += ["--time", str(seconds)] if flow.total_bytes is None else ["--bytes", str(flow.total_bytes)]
        command += [] if host.nagle else ["--no-delay"]
        while True:
            process = await start(command, stdout=asyncio.subprocess.PIPE)
            try:
                said, _ = await process.communicate()
            finally:
                await end(process)
            if process.returncode == 0:
                sent.octets = int(json.loads(said)["end"]["sum_sent"]["bytes"])
                return
            context.report.fail(str(json.loads(said).get("error", "iperf3 failed")))
            await asyncio.sleep(_AGAIN_S)


def take(document: dict[str, Any], start_ns: int, received: Received) -> None:
    """Read a server's report: octets per interval of about a second, put where the interval ends."""
    for interval in document["intervals"]:
        received.count(start_ns + round(interval["sum"]["end"] * SECOND) - 1, int(interval["sum"]["bytes"]))
