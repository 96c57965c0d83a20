"""curl against pyftpdlib in place of file transfers (request/response traffic with long replies)."""

import asyncio
import sys
from importlib.util import find_spec

from phb_lab.description import Flow, RequestResponse
from phb_lab.emulation.tools.tool import SECOND, Context, Tool, end, start

# The least reply of a file transfer: more than fits a screen.
_LEAST_BYTES = 4_000
_AGAIN_S = 1.0


class Ftp(Tool):
    """A server per flow, and a client that fetches a file of the reply's length over and over.

    A control connection lives for the flow's records per connection; each file has a data connection of its own (FTP).
    The route gives both ends their congestion control, for neither has an option.
    """

    name = "ftp"
    what = "file transfers (replies of 4,000 bytes and more)"
    commands = {"curl": "curl"}  # noqa: RUF012  (as a constant of the class)

    def missing(self) -> str | None:
        """Name what isn't installed."""
        if find_spec("pyftpdlib") is None:
            return "needs pyftpdlib (pip install 'phb[emulation]')"
        return super().missing()

    def takes(self, flow: Flow) -> bool:
        """Long replies."""
        return isinstance(flow, RequestResponse) and flow.reply_bytes >= _LEAST_BYTES

    async def serve(self, number: int, flow: Flow, context: Context) -> None:
        """Serve one file."""
        assert isinstance(flow, RequestResponse)
        folder = context.folder / f"ftp-{number}"
        folder.mkdir()
        (folder / "record").write_bytes(bytes(flow.reply_bytes))
        command = [sys.executable, "-m", "pyftpdlib", "-i", flow.server_address, "-p", str(flow.server_port)]
        process = await start(
            [*command, "-d", str(folder)], stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )
        try:
            await process.wait()
        finally:
            await end(process)

    async def ask(self, number: int, flow: Flow, context: Context) -> None:
        """Fetch it again and again; curl says of each how long it took."""
        assert isinstance(flow, RequestResponse)
        await context.until(flow.start_ns)
        command = ["curl", "--silent", "--no-buffer", "--interface", flow.client_address]
        one = ["--output", "/dev/null", f"ftp://{flow.server_address}:{flow.server_port}/record"]
        fetched = one * flow.records_per_connection
        # On standard error: curl writes standard output to a pipe only when its buffer is full.
        command += ["--write-out", "%{stderr}%{time_total} %{size_download}\n"]
        while context.span.now() < context.stop_ns(flow):
            process = await start([*command, *fetched], stderr=asyncio.subprocess.PIPE)
            try:
                assert process.stderr is not None
                while line := await process.stderr.readline():
                    self._note(number, flow, line.decode(), context)
                await process.wait()
            finally:
                await end(process)
            if process.returncode:
                context.report.fail(f"curl ended with {process.returncode}")
                await asyncio.sleep(_AGAIN_S)

    def _note(self, number: int, flow: RequestResponse, line: str, context: Context) -> None:
        seconds, octets = line.split()
        if int(octets) == flow.reply_bytes:
            now = context.span.now()
            context.report.transactions.append((number, now - round(float(seconds) * SECOND), now))
