"""A server for the operations page that tells what a test wants, when it wants it."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from urllib.parse import parse_qs, unquote, urlsplit

from phb.monitor.page import assets

# As the monitor's server has it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)

HANGS_S = 40


class PageServer:
    """Answers of a path, asked for without its parameters: a value, or a function of the parameters that gives one.

    Attributes:
        first: Messages that each new stream begins with.
        answers: By path; ``Refusal`` gives an error, others are told as JSON.
        wait_s: Seconds before each answer of the API.
        posted: Paths, headers and bodies of POST requests.
        opened: Parameters of the streams so far.
    """

    def __init__(self):
        self.first = []
        self.answers = {}
        self.wait_s = 0.0
        self.posted = []
        self.opened = []
        self.refusing = False
        self._streams = {}
        self._changed = threading.Condition()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.answer(self, urlsplit(self.path))

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                server.posted.append((unquote(self.path), dict(self.headers), body))
                server.answer(self, urlsplit(self.path))

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def answer(self, handler, url):
        path, asked = unquote(url.path), {name: one[-1] for name, one in parse_qs(url.query).items()}
        if path in assets():
            content_type, body = assets()[path]
            return self._send(handler, 200, content_type, body, ("Content-Security-Policy", POLICY))
        if path == "/events" and not self.refusing:
            return self._stream(handler, asked)
        time.sleep(self.wait_s)
        answer = self.answers.get(path, Refusal(404, "no such thing"))
        answer = answer(asked) if callable(answer) else answer
        if isinstance(answer, Refusal):
            return self._send(handler, answer.status, "application/json", json.dumps({"error": answer.words}).encode())
        if isinstance(answer, bytes):
            return self._send(handler, 200, "application/jsonl", answer)
        return self._send(handler, 200, "application/json", json.dumps(answer).encode())

    def _send(self, handler, status, content_type, body, *headers):
        handler.send_response(status)
        for name, value in (("Content-Type", content_type), ("Content-Length", str(len(body))), *headers):
            handler.send_header(name, value)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(body)
        handler.close_connection = True

    def _stream(self, handler, asked):
        told = SimpleQueue()
        with self._changed:
            self.opened.append(asked)
            for message in self.first:
                told.put(message)
            self._streams[told] = asked.get("switch")
            self._changed.notify_all()
        try:
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.send_header("Connection", "close")
            handler.end_headers()
            while (message := told.get()) is not None:
                data = json.dumps(message)
                handler.wfile.write(f"event: {message['kind']}\ndata: {data}\n\n".encode())
                handler.wfile.flush()
        except OSError:
            pass
        finally:
            with self._changed:
                del self._streams[told]
            handler.close_connection = True

    def tell(self, *messages):
        """Tell all streams that are open, or about to be; of a switch's details those that asked for it."""
        with self._changed:
            for message in messages:
                of = message["switch"] if message["kind"] == "detail" else None

                def takers(of=of):
                    return [told for told, asked in self._streams.items() if of in (None, asked)]

                assert self._changed.wait_for(takers, HANGS_S), f"no page asked for {message['kind']}"
                for told in takers():
                    told.put(message)

    def cut(self):
        """End all streams."""
        with self._changed:
            for told in self._streams:
                told.put(None)

    def close(self):
        self._server.shutdown()
        self.cut()
        self._thread.join()
        self._server.server_close()


class Refusal:
    def __init__(self, status, words):
        self.status, self.words = status, words


@contextmanager
def page_server():
    server = PageServer()
    try:
        yield server
    finally:
        server.close()
