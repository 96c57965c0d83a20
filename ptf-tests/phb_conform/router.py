"""A router under test: ports with addresses, and the control plane beside the switch."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from phb.router.running import Place, serve
from phb_device import Device
from phb_device.device import artifact

MAC = "02:00:00:00:00:09"
ROUTER = f"""phb: 1
node: dut
ports:
  - {{number: 1, name: line, mac: '02:00:00:00:00:08', addresses: [10.0.2.254/24], mtu: 1000}}
  - {{number: 2, name: lan, mac: '{MAC}', addresses: [10.0.1.254/24]}}
  - {{number: 3, name: third}}
  - {{number: 4, name: fourth}}
routes:
  - {{destination: 10.9.0.0/16, next-hop: 10.0.1.1}}
"""
_READY_WITHIN_S = 20.0


@contextmanager
def control_plane(device: Device) -> Iterator[None]:
    """Run the control plane for the device, in a thread with a loop of its own."""
    loop, ready = asyncio.new_event_loop(), threading.Event()

    def tell(event: str, _: str) -> None:
        if event == "answering":
            ready.set()

    task = loop.create_task(serve(Place(device.address), artifact(), tell))

    def run() -> None:
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        finally:
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        if not ready.wait(_READY_WITHIN_S):
            raise TimeoutError("the control plane sees no router's ports")
        yield
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
