"""One event loop per thread that runs coroutines, because gRPC remembers each loop that it has ever met."""

import asyncio
import threading

from phb_lab import event_loop


async def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def _in_threads(count: int) -> list[asyncio.AbstractEventLoop]:
    found: list[asyncio.AbstractEventLoop] = []
    threads = [threading.Thread(target=lambda: found.append(event_loop.run(_loop()))) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_the_main_thread_keeps_one_loop_open_between_calls() -> None:
    first, second = event_loop.run(_loop()), event_loop.run(_loop())
    assert first is second
    assert not first.is_closed()


def test_a_loop_of_somebody_else_in_between_changes_nothing() -> None:
    first = event_loop.run(_loop())
    assert asyncio.run(_loop()) is not first
    assert event_loop.run(_loop()) is first


def test_other_threads_share_one_that_is_not_the_main_thread_s() -> None:
    loops = _in_threads(3)
    assert len(loops) == 3
    assert len(set(map(id, loops))) == 1
    assert loops[0] is not event_loop.run(_loop())
