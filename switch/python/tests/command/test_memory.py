"""Freed memory goes back to the system, from whichever thread it was taken."""

import ctypes
import subprocess
import sys

import pytest

from phb_switch.command import memory

# What eight threads take is more than one keeps: blocks small enough to come from their arenas, all given back.
TAKEN = """
import threading
from pathlib import Path
from phb_switch.command import memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20

memory.give_back()
held = []
threads = [threading.Thread(target=lambda: held.append([bytes(4096) for _ in range(2000)])) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
taken = resident()
held.clear()
print(taken - resident())
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library isn't glibc")
def test_what_threads_took_goes_back():
    done = subprocess.run([sys.executable, "-c", TAKEN], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 40


def test_another_c_library_is_left_as_it_is(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    memory.give_back()
