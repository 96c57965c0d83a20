"""`phb watch` in processes of their own, and what they tell."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import grpc
import pytest
from finsy.proto import p4r

from phb_switch import P4RuntimeServer, Switch

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
PATIENCE = 60.0  # seconds until a test gives up: how long things take is measured in benchmarks/, not here


class Watch:
    """A running `phb watch --json`."""

    def __init__(self, arguments):
        self.events = []
        self._next = 0
        self._news = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "phb", "watch", "--json", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self):
        for line in self.process.stdout:
            with self._news:
                self.events.append(json.loads(line))
                self._news.notify_all()

    def wait_for(self, kind, *words):
        """The next event of that kind whose message has the words; those before it are passed over."""
        until = time.monotonic() + PATIENCE
        with self._news:
            while True:
                while self._next < len(self.events):
                    event = self.events[self._next]
                    self._next += 1
                    if event["event"] == kind and all(word in event["message"] for word in words):
                        return event
                assert self.process.poll() is None, self.process.stderr.read()
                assert time.monotonic() < until, f"no {kind} {words} among {self.events}"
                self._news.wait(0.1)

    def end(self, how=signal.SIGTERM):
        """End it; give its exit code and what it wrote to standard error."""
        with suppress(ProcessLookupError):
            self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        self._thread.join()
        errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, errors

    def kinds(self):
        return [event["event"] for event in self.events]


@pytest.fixture
def watch(tmp_path):
    """Start watches, and kill those that are left after the test."""
    running = []

    def start(*arguments, state="state.sqlite"):
        running.append(Watch([*arguments, "--state", state if "://" in state else tmp_path / state]))
        return running[-1]

    yield start
    for each in running:
        if not each.process.stdout.closed:
            each.end(signal.SIGKILL)


class Link:
    """A link between controller and switch that can be cut: a TCP proxy."""

    def __init__(self, address):
        host, _, port = address.rpartition(":")
        self._switch = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._up = True
        self._open = []
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Break what is open, and refuse what is new."""
        with self._lock:
            self._up = False
            for end in self._open:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def mend(self):
        self._up = True

    def close(self):
        self.cut()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(self._switch) if self._up else None
            except OSError:
                far = None
            if far is None:
                near.close()
                continue
            with self._lock:
                self._open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one, other):
        with one:
            try:
                while data := one.recv(65536):
                    other.sendall(data)
            except OSError:
                pass
            with suppress(OSError):
                other.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def link():
    links = []

    def make(address):
        links.append(Link(address))
        return links[-1]

    yield make
    for each in links:
        each.close()


class Counter(grpc.GenericRpcHandler):
    """A switch in this process, behind a server that passes every call on and notes the updates that were written."""

    def __init__(self):
        self.updates = []
        self._switch = P4RuntimeServer(Switch("s1", {}), device_id=1)
        self._channel = grpc.insecure_channel(f"127.0.0.1:{self._switch.start()}")
        self._server = grpc.server(ThreadPoolExecutor(16), handlers=[self])
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def service(self, details):
        def carry(requests, context):
            noted = []
            call = self._channel.stream_stream(details.method)(self._noted(details.method, requests, noted))
            context.add_callback(call.cancel)
            try:
                yield from call
                self.updates += noted
            except grpc.RpcError as error:
                context.set_trailing_metadata(error.trailing_metadata())
                context.abort(error.code(), error.details())

        return grpc.stream_stream_rpc_method_handler(carry)

    def _noted(self, method, requests, noted):
        for request in requests:
            if method.endswith("/Write"):
                noted.extend(p4r.WriteRequest.FromString(request).updates)
            yield request

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.stop(None).wait()
        self._channel.close()
        self._switch.stop()


ROUTE = """\
phb: 1
node: r1
ports: [{number: 1, name: a, address: 10.0.1.1}, {number: 2, name: b, address: 10.0.2.1}]
routes:
  - {destination: 10.0.%d.0/24, port: b, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
"""


@pytest.fixture
def policy(tmp_path):
    """Write a policy whose route says which version it is, as editors do; give its path."""

    def write(number, name="policy.yaml"):
        path = tmp_path / name
        beside = tmp_path / f".{name}.swp"
        beside.write_text(ROUTE % number)
        beside.replace(path)
        return path

    return write
