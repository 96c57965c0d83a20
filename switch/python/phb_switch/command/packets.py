"""Lines of the log about packets."""

import logging
import threading
from contextlib import ExitStack

from phb_switch._native import Switch
from phb_switch.command.log import LOG
from phb_switch.command.options import Logging

_POLL_MS = 100

_WORDS = {"to_controller": "to a controller"}


def log_packets(switch: Switch, options: Logging, stack: ExitStack) -> None:
    """Logs what happens to packets until `stack` is closed, if the options ask for it.

    At `debug` and below there is a line for each arrival, departure and drop, and what the program says (`log_msg`).
    With `--dump-packet-data`, arrivals and departures come at `info` already, with the first bytes of the frame, as in
    bmv2.
    """
    dumping = options.dump_bytes > 0 and LOG.isEnabledFor(logging.INFO)
    if not options.is_apart or not (dumping or LOG.isEnabledFor(logging.DEBUG)):
        return
    switch.log_packets(options.dump_bytes)
    stopping = threading.Event()
    thread = threading.Thread(target=_write, args=(switch, stopping), name="packet-log", daemon=True)

    def stop() -> None:
        stopping.set()
        thread.join()
        _write_lines(switch, 0)
        switch.log_packets(None)

    thread.start()
    stack.callback(stop)


def _write(switch: Switch, stopping: threading.Event) -> None:
    while not stopping.is_set():
        _write_lines(switch, _POLL_MS)


def _write_lines(switch: Switch, timeout_ms: int) -> None:
    lines, lost = switch.packet_log(timeout_ms)
    for time, event, port, length, reason, data in lines:
        if event == "message":
            LOG.debug("%.6f s program: %s", time / 1e9, data.decode(errors="replace"))
            continue
        where = "no port" if port is None else f"port {port}"
        what = f"dropped ({reason})" if reason else f"{_WORDS.get(event, event)}, {length} bytes"
        dump = f": {data.hex()}" if data else ""
        LOG.log(logging.INFO if data else logging.DEBUG, "%.6f s %s: %s%s", time / 1e9, where, what, dump)
    if lost:
        LOG.warning("%d lines about packets are missing: there were more than could be written", lost)
