"""Freed memory goes back to the system: a server's threads share the C library's arenas instead of keeping one each."""

import ctypes
import re
import subprocess
import sys

import pytest

from phb_switch.command import memory

ARENAS = """
import ctypes, threading
from phb_switch.command import memory

{before}
together = threading.Barrier(8)

def take():
    held = [bytes(4096) for _ in range(100)]
    together.wait()
    held.clear()

threads = [threading.Thread(target=take) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ctypes.CDLL(None).malloc_stats()
"""


def arenas(before):
    code = ARENAS.format(before=before)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return len(re.findall(r"^Arena \d+:", done.stderr, flags=re.MULTILINE))


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library isn't glibc")
def test_threads_share_arenas():
    assert arenas("memory.give_back()") <= 2
    # As the C library does it by itself, which is why.
    assert arenas("") > 2


def test_another_c_library_is_left_as_it_is(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    memory.give_back()
