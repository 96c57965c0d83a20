"""A program on a terminal of its own: what it draws, keys, and how it ends."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from contextlib import suppress

PATIENCE_S = 60  # what a busy machine may take


class Terminal:
    """Runs a command on a new terminal; ``with`` kills it at the end.

    Attributes:
        drawn: All that it has written.
    """

    def __init__(self, command, env=None, cwd=None, rows=24, columns=80):
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.settings = termios.tcgetattr(self._master)
        self.drawn = b""
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=(os.environ if env is None else env) | {"TERM": "xterm-256color"},
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.close()

    def until(self, text, since=0):
        """Wait until it has drawn a text after so many bytes."""
        end = time.monotonic() + PATIENCE_S
        while text.encode() not in self.drawn[since:]:
            assert time.monotonic() < end, self.drawn[-4000:]
            assert self._read() or self.process.poll() is None, self.drawn[-4000:]

    def press(self, keys):
        """Press keys; give how much was drawn before."""
        os.write(self._master, keys.encode())
        return len(self.drawn)

    def ended(self):
        """Wait until it has ended; give its exit code, and whether it has put the terminal's settings back."""
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < end, self.drawn[-4000:]
            self._read()
        while self._read():
            pass
        return self.process.returncode, termios.tcgetattr(self._master) == self.settings

    def close(self):
        """Close the terminal, as whoever closes its window does."""
        if self._master is not None:
            os.close(self._master)
            self._master = None

    def _read(self):
        # Reading fails where the program has ended.
        with suppress(OSError):
            if select.select([self._master], [], [], 0.05)[0]:
                found = os.read(self._master, 65536)
                self.drawn += found
                return bool(found)
        return False
