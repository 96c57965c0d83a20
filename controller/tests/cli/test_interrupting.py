"""Ctrl-C that the kernel gives to another thread than the main one."""

import os
import signal
import subprocess
import sys

import pytest

# The main thread refuses the signal, so the kernel gives it to the other one; Python acts on it in the main thread.
PROGRAM = """
import asyncio, signal, sys, threading, time
from phb.cli.interrupting import wake_for_ctrl_c

signal.signal(signal.SIGINT, signal.default_int_handler)
wake_for_ctrl_c()
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
try:
    print("waits", flush=True)
    WAIT
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("wait", ["time.sleep(600)", "asyncio.run(asyncio.sleep(600))"])
def test_another_thread_gets_the_signal(wait):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.replace("WAIT", wait)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout.readline() == "waits\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "interrupted\n"
