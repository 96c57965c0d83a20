"""What a command of an inventory prints: no shell, no input, a time, a size, and nothing of it that goes on running."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from phb.errors import InputError
from phb.files import LARGEST, in_words
from phb.origin import Origin

EXPECTED = "a command that prints switches"
_CHUNK = 1 << 16
_LAST = 4096  # bytes of standard error that are kept for its last line


def output_of(
    command: Sequence[str],
    folder: Path,
    timeout_s: float,
    origin: Origin,
    started: Callable[[subprocess.Popen[bytes]], None] = lambda process: None,
) -> bytes:
    """Run a command in a folder, and give what it prints.

    `started` is told of its process, so that another thread may end it (`end`).

    Raises:
        InputError: It can't be run, takes too long, prints too much, or ends with another code than 0. It stands at
            `origin` in the inventory.
    """
    shown = f"'{' '.join(command)}'"
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # so that what it starts ends with it
        )
    except (OSError, ValueError) as error:
        words = in_words(error) if isinstance(error, OSError) else str(error)
        raise InputError(origin, f"{shown}, which can't be run ({words})", EXPECTED) from None
    with process:
        try:
            started(process)
            printed, said = _read(process, timeout_s)
        finally:
            end(process)
    last = said.decode(errors="replace").strip().rpartition("\n")[2].strip()
    told = f": {last}" if last else ""
    if printed is None:
        raise InputError(origin, f"{shown}, which took more than {timeout_s:g} s{told}", EXPECTED)
    if len(printed) > LARGEST:
        raise InputError(origin, f"{shown}, which prints more than {LARGEST >> 20} MiB", EXPECTED)
    if process.returncode:
        code = process.returncode
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        raise InputError(origin, f"{shown}, which ended with {how}{told}", EXPECTED)
    return printed


def end(process: subprocess.Popen[bytes]) -> None:
    """End a command, and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _read(process: subprocess.Popen[bytes], timeout_s: float) -> tuple[bytes | None, bytes]:
    """Give what it prints until it ends, and the end of its standard error; None where it takes too long."""
    assert process.stdout is not None
    assert process.stderr is not None
    until = time.monotonic() + timeout_s
    printed, said = bytearray(), bytearray()
    with selectors.DefaultSelector() as waiting:
        for pipe, kept in ((process.stdout, printed), (process.stderr, said)):
            waiting.register(pipe, selectors.EVENT_READ, kept)
        while waiting.get_map():
            for key, _ in waiting.select(max(0.0, until - time.monotonic())):
                chunk = os.read(key.fd, _CHUNK)
                key.data.extend(chunk)
                if not chunk:
                    waiting.unregister(key.fileobj)
            del said[:-_LAST]
            if len(printed) > LARGEST:
                return bytes(printed), b""
            if time.monotonic() >= until and waiting.get_map():
                return None, bytes(said)
    try:
        process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None, bytes(said)
    return bytes(printed), bytes(said)
