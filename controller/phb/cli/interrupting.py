"""Ctrl-C beside gRPC's threads, and commands that run until a signal.

The kernel gives a process's signal to any of its threads, and Python acts on it in the main thread, which doesn't
notice while it waits in the kernel. So a thread reads each signal (`signal.set_wakeup_fd`) and wakes the main thread by
another one, which does nothing by itself.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Coroutine

from phb.cli.application import INTERRUPTED, OK

_WAKING = signal.SIGURG  # As a rule ignored, and nothing here has urgent data.


def wake_for_ctrl_c() -> None:
    """Let Ctrl-C end the main thread's waits from now on, whichever thread gets it; call once, in the main thread."""
    told, tell = socket.socketpair()
    tell.setblocking(False)
    signal.signal(_WAKING, lambda number, frame: None)
    signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(told, tell), daemon=True).start()


def _listen(told: socket.socket, tell: socket.socket) -> None:
    # `tell` is an argument only so that it stays open.
    main = threading.main_thread().ident
    assert main is not None
    while numbers := told.recv(64):
        if signal.SIGINT in numbers:
            signal.pthread_kill(main, _WAKING)


def run_until_signal(work: Coroutine[None, None, None]) -> int:
    """Run until it ends or a signal cancels it; give the exit code, 0 for SIGTERM and 130 for Ctrl-C."""
    import asyncio

    ended = OK

    async def run() -> None:
        task = asyncio.create_task(work)

        def end(code: int) -> None:
            nonlocal ended
            ended = code
            task.cancel()

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, end, OK)
        loop.add_signal_handler(signal.SIGINT, end, INTERRUPTED)
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()

    asyncio.run(run())
    return ended
