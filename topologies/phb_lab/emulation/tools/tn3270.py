"""s3270 against a TN3270E server of ours in place of interactive traffic (request/response with short replies)."""

import asyncio

from phb_lab.description import Flow, RequestResponse
from phb_lab.emulation.sockets import Options
from phb_lab.emulation.tools.tool import Context, Tool, end, start
from phb_lab.tn3270 import screen
from phb_lab.tn3270.server import Server

# Beside the data stream: TN3270E's header, and IAC EOR.
_FRAMING = 5 + 2
# Attention identifier, cursor, and the order and address of one field.
_FIELD = 1 + 2 + 1 + 2
_LONGEST = screen.ROWS * screen.COLUMNS
_AGAIN_S = 1.0


class Tn3270(Tool):
    """A terminal per flow: text into a field, Enter; the reply is complete when the keyboard is free again."""

    name = "tn3270"
    what = "interactive traffic (replies that fit a screen)"
    commands = {"s3270": "s3270"}  # noqa: RUF012  (as a constant of the class)

    def takes(self, flow: Flow) -> bool:
        """Replies that fit a screen."""
        return isinstance(flow, RequestResponse) and 100 <= flow.reply_bytes <= _LONGEST - 200

    async def serve(self, number: int, flow: Flow, context: Context) -> None:
        """Serve the flow's port."""
        assert isinstance(flow, RequestResponse)
        listening = Options(context.host).tcp(flow.tos)
        listening.bind((flow.server_address, flow.server_port))
        server = await asyncio.start_server(Server(flow.reply_bytes - _FRAMING).serve, sock=listening)
        async with server:
            await server.serve_forever()

    async def ask(self, number: int, flow: Flow, context: Context) -> None:
        """Press Enter over and over; a connection carries as many records as described."""
        assert isinstance(flow, RequestResponse)
        await context.until(flow.start_ns)
        typed = "X" * max(min(flow.request_bytes - _FRAMING - _FIELD, screen.INPUT_BYTES), 1)
        process = await start(["s3270"], stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        try:
            while context.span.now() < context.stop_ns(flow):
                await _do(process, f"Connect({flow.server_address}:{flow.server_port})")
                ready = await _do(process, "Wait(InputField)")
                for _ in range(flow.records_per_connection if ready else 0):
                    await _do(process, f'String("{typed}")')
                    started = context.span.now()
                    if not await _do(process, "Enter()") or not await _do(process, "Wait(InputField)"):
                        break
                    context.report.transactions.append((number, started, context.span.now()))
                else:
                    await _do(process, "Disconnect()")
                    if ready:
                        continue
                context.report.fail("s3270 lost its session")
                await asyncio.sleep(_AGAIN_S)
        finally:
            await end(process)


async def _do(process: asyncio.subprocess.Process, action: str) -> bool:
    """Do one action of s3270; its answer ends in `ok` or `error`."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(action.encode() + b"\n")
    await process.stdin.drain()
    while line := await process.stdout.readline():
        if line in (b"ok\n", b"error\n"):
            return line == b"ok\n"
    return False
