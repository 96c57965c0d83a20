"""Frames over gRPC against a server that refuses as bmv2 does: late on a busy machine, and a second stream always."""

import threading
import time
from concurrent import futures

import grpc
import pytest

from phb_device.data_plane import _METHOD, DataPlane, _Packet


class _Server:
    """Sends every frame back. Refuses streams that begin before it is ready, some time after they began."""

    def __init__(self, ready_after_s, refuses_after_s):
        self._ready_at = time.monotonic() + ready_after_s
        self._refuses_after_s = refuses_after_s
        self._reads = threading.Lock()
        self._server = grpc.server(futures.ThreadPoolExecutor(8))
        method = grpc.stream_stream_rpc_method_handler(self._stream, _Packet.FromString, _Packet.SerializeToString)
        service, name = _METHOD.strip("/").split("/")
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {name: method}),))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def _stream(self, requests, context):
        if time.monotonic() < self._ready_at:
            time.sleep(self._refuses_after_s)
            context.abort(grpc.StatusCode.UNAVAILABLE, "not ready")
        if not self._reads.acquire(blocking=False):
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "only one client authorized at a time")
        try:
            yield from requests
        finally:
            self._reads.release()

    def stop(self):
        self._server.stop(0).wait()


@pytest.mark.parametrize(("ready_after_s", "refuses_after_s"), [(0, 0), (0.3, 0), (0.3, 0.2)])
def test_a_frame_sent_to_an_open_stream_arrives(ready_after_s, refuses_after_s):
    server = _Server(ready_after_s, refuses_after_s)
    plane = DataPlane(server.address)
    try:
        plane.open()
        plane.send(3, b"frame")
        assert plane.poll(5) == (3, b"frame")
    finally:
        plane.close()
        server.stop()
