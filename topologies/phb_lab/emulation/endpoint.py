"""The traffic of one host, over kernel sockets: `python -m phb_lab.emulation.endpoint JOB REPORT`.

It listens, prints `ready`, reads the start and the end of the run from standard input, runs its flows, and writes a
report. It ends at once when standard input does, because then the runner is gone.
"""

import asyncio
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from phb_lab.description import Datagrams, Flow, Messages, RequestResponse, Stream
from phb_lab.emulation.clock import Span
from phb_lab.emulation.jobs import HostJob, Received, Report, Sent, of_kind
from phb_lab.emulation.sockets import Options, arrival_ns, unacknowledged
from phb_lab.emulation.tools import tool_for
from phb_lab.emulation.tools.tool import Context

READY = "ready"

_SECOND = 1_000_000_000
# For datagrams on their way at the end of the run; those that come later count as lost.
_DRAIN_NS = 2 * _SECOND
# As virtual time's hosts: how long a client waits before it opens a connection again.
_RECONNECT_NS = 1 * _SECOND
# How often to look whether everything is acknowledged: far below the time that a queue takes.
_LOOK_S = 0.01
_READ_BYTES = 1 << 18
_BACKLOG = 4096
# A message begins with its length, a stream with the number of its flow, a datagram with both numbers and a time.
_WORD = 8
_DATAGRAM_HEADER = 16
_DATAGRAM_BYTES = 65_535


class Endpoint:
    """The traffic of one host: it sends, answers and counts."""

    def __init__(self, job: HostJob, folder: Path) -> None:
        self._job = job
        self._folder = folder
        self._options = Options(job.host)
        self._report = Report()
        self._listening: list[tuple[socket.socket, Callable[[socket.socket], Coroutine[Any, Any, None]]]] = []
        self._datagrams: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._seen: dict[int, set[int]] = {}
        self._span = Span(0, 0)

    def listen(self) -> None:
        """Open the sockets of all services; several flows may share one."""
        services: dict[tuple[str, int], Flow] = {}
        for number, flow in self._ours(self._job.servers).items():
            place = (flow.server_address, flow.server_port)
            if isinstance(flow, Stream | Datagrams):
                self._report.received[number] = Received()
            if place in services:
                continue
            services[place] = flow
            if isinstance(flow, Datagrams):
                udp = self._options.udp(flow.tos)
                udp.bind(place)
                udp.setblocking(False)
                self._datagrams.append(udp)
            else:
                tcp = self._options.tcp(flow.tos)
                tcp.bind(place)
                tcp.listen(_BACKLOG)
                self._listening.append((tcp, self._server(flow)))

    async def run(self, span: Span) -> Report:
        """Run all flows from the start to the end of the run."""
        self._span = span
        loop = asyncio.get_running_loop()
        clients = self._ours(self._job.clients)
        self._start_tools()
        for tcp, serve in self._listening:
            self._keep(self._accept(tcp, serve))
        for udp in self._datagrams:
            loop.add_reader(udp, self._take_datagrams, udp)
        for number, asking in of_kind(clients, RequestResponse):
            self._keep(self._ask(number, asking))
        for number, messages in of_kind(clients, Messages):
            self._keep(self._submit(number, messages))
        for number, stream in of_kind(clients, Stream):
            self._report.sent[number] = Sent()
            self._keep(self._stream(number, stream))
        for number, datagrams in of_kind(clients, Datagrams):
            self._report.sent[number] = Sent()
            # A thread's sleep ends within some 0.1 ms; that of the event loop is a millisecond coarse.
            threading.Thread(target=self._send_datagrams, args=(number, datagrams), daemon=True).start()
        await self._until(span.duration_ns)
        for task in self._tasks:
            task.cancel()
        outcomes = await asyncio.gather(*self._tasks, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        if self._datagrams:
            await self._until(span.duration_ns + _DRAIN_NS)
        for udp in self._datagrams:
            self._take_datagrams(udp)
        return self._report

    def _ours(self, flows: Mapping[int, Flow]) -> dict[int, Flow]:
        """Flows without a tool."""
        return {number: flow for number, flow in flows.items() if tool_for(flow, self._job.tools) is None}

    def _start_tools(self) -> None:
        context = Context(self._job.host, self._span, self._report, self._folder)
        for number, flow in self._job.servers.items():
            if (tool := tool_for(flow, self._job.tools)) is not None:
                self._keep(tool.serve(number, flow, context))
        for number, flow in self._job.clients.items():
            if (tool := tool_for(flow, self._job.tools)) is not None:
                self._keep(tool.ask(number, flow, context))

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)

    async def _until(self, at_ns: int) -> None:
        while (left := at_ns - self._span.now()) > 0:
            await asyncio.sleep(left / _SECOND)

    # Servers.

    def _server(self, flow: Flow) -> Callable[[socket.socket], Coroutine[Any, Any, None]]:
        if isinstance(flow, RequestResponse):
            return lambda connection: self._answer(connection, flow)
        if isinstance(flow, Messages):
            return lambda connection: self._take_messages(connection, flow)
        return self._take_stream

    async def _accept(
        self, listening: socket.socket, serve: Callable[[socket.socket], Coroutine[Any, Any, None]]
    ) -> None:
        loop = asyncio.get_running_loop()
        with listening:
            while True:
                connection, _ = await loop.sock_accept(listening)
                self._keep(self._served(connection, serve))

    async def _served(
        self, connection: socket.socket, serve: Callable[[socket.socket], Coroutine[Any, Any, None]]
    ) -> None:
        with connection, suppress(OSError, EOFError):
            await serve(connection)

    async def _answer(self, connection: socket.socket, flow: RequestResponse) -> None:
        reply = bytes(flow.reply_bytes)
        while True:
            await self._receive(connection, flow.request_bytes)
            if flow.think_ns:
                await asyncio.sleep(flow.think_ns / _SECOND)
            await self._send(connection, reply)

    async def _take_messages(self, connection: socket.socket, flow: Messages) -> None:
        answer = bytes(flow.answer_bytes)
        while True:
            head = await self._receive(connection, _WORD)
            await self._receive(connection, int.from_bytes(head, "big") - _WORD)
            await self._send(connection, answer)

    async def _take_stream(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        received = self._report.received[int.from_bytes(head := await self._receive(connection, _WORD), "big")]
        received.count(self._span.now(), len(head))
        while data := await loop.sock_recv(connection, _READ_BYTES):
            received.count(self._span.now(), len(data))
            self._options.after_read(connection)

    def _take_datagrams(self, udp: socket.socket) -> None:
        with suppress(BlockingIOError):
            while True:
                data, ancillary, _, _ = udp.recvmsg(_DATAGRAM_BYTES, 256)
                stamped = arrival_ns(ancillary)
                now = self._span.now() if stamped is None else self._span.of_realtime(stamped)
                number, sequence = int.from_bytes(data[:4], "big"), int.from_bytes(data[4:8], "big")
                seen = self._seen.setdefault(number, set())
                received = self._report.received.get(number)
                if received is None or sequence in seen:
                    continue
                seen.add(sequence)
                if now > self._span.duration_ns:
                    received.late += 1
                    continue
                received.packets += 1
                received.count(now, len(data))
                received.delays_ns.append((now, now - int.from_bytes(data[8:_DATAGRAM_HEADER], "big")))

    # Clients.

    async def _connect(self, flow: Flow) -> socket.socket:
        connection = self._options.tcp(flow.tos)
        try:
            connection.bind((flow.client_address, 0))
            await asyncio.get_running_loop().sock_connect(connection, (flow.server_address, flow.server_port))
        except BaseException:
            connection.close()
            raise
        return connection

    async def _send(self, connection: socket.socket, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        held_back = self._options.held_back(connection, len(data))
        await loop.sock_sendall(connection, data[: len(data) - held_back])
        if held_back:
            while unacknowledged(connection):
                await asyncio.sleep(_LOOK_S)
            await loop.sock_sendall(connection, data[len(data) - held_back :])

    async def _receive(self, connection: socket.socket, octets: int) -> bytes:
        """Read so many octets; gives the first eight."""
        loop = asyncio.get_running_loop()
        head = b""
        while octets > 0:
            data = await loop.sock_recv(connection, min(octets, _READ_BYTES))
            if not data:
                raise EOFError("the connection has ended")
            self._options.after_read(connection)
            head = (head + data)[:_WORD] if len(head) < _WORD else head
            octets -= len(data)
        return head

    async def _again(self, attempt: Callable[[], Awaitable[bool]]) -> None:
        """Repeat until done; a broken connection is counted, and opened again after a while."""
        while True:
            try:
                if await attempt():
                    return
            except (OSError, EOFError) as error:
                self._report.fail(str(error))
                await asyncio.sleep(_RECONNECT_NS / _SECOND)

    async def _ask(self, number: int, flow: RequestResponse) -> None:
        stop_ns = self._span.duration_ns if flow.stop_ns is None else flow.stop_ns
        request = bytes(flow.request_bytes)

        async def one_connection() -> bool:
            with await self._connect(flow) as connection:
                for _ in range(flow.records_per_connection):
                    start = self._span.now()
                    if start >= stop_ns:
                        return True
                    await self._send(connection, request)
                    await self._receive(connection, flow.reply_bytes)
                    self._report.transactions.append((number, start, self._span.now()))
                    if flow.pause_ns:
                        await asyncio.sleep(flow.pause_ns / _SECOND)
            return False

        await self._until(flow.start_ns)
        await self._again(one_connection)

    async def _submit(self, number: int, flow: Messages) -> None:
        waiting = list(reversed(flow.schedule))

        async def transfer(connection: socket.socket) -> None:
            submitted, octets = waiting[-1]
            await self._send(connection, octets.to_bytes(_WORD, "big") + bytes(octets - _WORD))
            await self._receive(connection, flow.answer_bytes)
            self._report.transactions.append((number, submitted, self._span.now()))
            waiting.pop()

        async def one_connection() -> bool:
            if not flow.permanent and waiting:
                await self._until(waiting[-1][0])
            with await self._connect(flow) as connection:
                while waiting:
                    await self._until(waiting[-1][0])
                    await transfer(connection)
                    if not flow.permanent:
                        break
            return not waiting

        await self._until(flow.start_ns)
        await self._again(one_connection)

    async def _stream(self, number: int, flow: Stream) -> None:
        loop = asyncio.get_running_loop()
        stop_ns = self._span.duration_ns if flow.stop_ns is None else flow.stop_ns
        sent = self._report.sent[number]

        async def one_connection() -> bool:
            with await self._connect(flow) as connection:
                head = number.to_bytes(_WORD, "big")
                while self._span.now() < stop_ns:
                    left = flow.write_bytes if flow.total_bytes is None else flow.total_bytes - sent.octets
                    if left <= 0:
                        break
                    data = head + bytes(min(left, flow.write_bytes) - len(head))
                    await loop.sock_sendall(connection, data)
                    sent.octets += len(data)
                    head = b""
            return True

        await self._until(flow.start_ns)
        await self._again(one_connection)

    def _send_datagrams(self, number: int, flow: Datagrams) -> None:
        """Send by the clock; what is late is sent at once, so that the rate stays."""
        stop_ns = self._span.duration_ns if flow.stop_ns is None else flow.stop_ns
        random = Random(f"{self._job.seed}/{flow.name}")
        sent = self._report.sent[number]
        padding = bytes(flow.payload_bytes - _DATAGRAM_HEADER)
        due, sequence = flow.start_ns, 0
        with self._options.udp(flow.tos) as udp:
            udp.bind((flow.client_address, 0))
            udp.connect((flow.server_address, flow.server_port))
            while due < stop_ns:
                ahead = due - self._span.now()
                if ahead > 0:
                    time.sleep(ahead / _SECOND)
                numbers = number.to_bytes(4, "big") + sequence.to_bytes(4, "big")
                # ICMP has reported that an earlier one was refused; this one is sent all the same.
                with suppress(ConnectionRefusedError):
                    udp.send(numbers + self._span.now().to_bytes(8, "big") + padding)
                sequence += 1
                sent.packets, sent.octets = sequence, sequence * flow.payload_bytes
                interval = random.expovariate(1 / flow.interval_ns) if flow.pattern == "poisson" else flow.interval_ns
                due += round(interval)


def main() -> None:
    """Serve the job that the command line names."""
    job, report = (Path(argument) for argument in sys.argv[1:])
    endpoint = Endpoint(HostJob.read(job), report.parent)
    endpoint.listen()
    print(READY, flush=True)
    told = sys.stdin.readline()
    if not told:
        return
    threading.Thread(target=_end_with_input, daemon=True).start()
    asyncio.run(endpoint.run(Span(**json.loads(told)))).write(report)


def _end_with_input() -> None:
    sys.stdin.read()
    # The runner is gone or has enough; a report would not be read.
    os._exit(1)


if __name__ == "__main__":
    main()
