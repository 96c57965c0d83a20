"""The faults, one function each, described by its docstring. Those of clients are in `clients`."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable

from phb_device import interfaces
from phb_device.control import Control
from soak import clients
from soak.field import FAULT_S, Field
from soak.policies import PORTS, draw_policy
from soak.target import COMMAND_WITHIN_S, set_links, switch_end, tester_end

Fault = Callable[[Field], None]

_TIMES = 3
_ENDS_WITHIN_S = 20.0


def overload(field: Field) -> None:
    """Send random flows to every port, many times its rate, at times as many as possible."""
    with field.flood(per_second=field.random.choice([5_000, 20_000, 0])):
        pass


def overload_of_one_port(field: Field) -> None:
    """Send from all other ports to one."""
    with field.flood(per_second=20_000, egress=field.random.choice(PORTS)):
        pass


def links_down(field: Field) -> None:
    """Take links down and up again under a flood, at either end."""
    with field.flood():
        for _ in range(_TIMES):
            names = [
                field.random.choice([switch_end(port), tester_end(port)]) for port in field.random.sample(PORTS, 2)
            ]
            set_links(names, "down")
            time.sleep(field.random.uniform(0.05, 1.0))
            set_links(names, "up")
            field.counts["links down"] += len(names)
            time.sleep(0.2)


def interfaces_gone(field: Field) -> None:
    """Delete interfaces under a flood, and make them anew."""
    with field.flood():
        for port in field.random.sample(PORTS, 2):
            interfaces.remove_pair(switch_end(port))
            time.sleep(field.random.uniform(0.05, 1.0))
            interfaces.make_pair(switch_end(port), tester_end(port))
            field.counts["interfaces deleted"] += 1


def pushes(field: Field) -> None:
    """Push policies under a flood, one after the other."""
    with field.flood(seconds=2 * FAULT_S):
        for _ in range(_TIMES):
            field.push()


def pushes_at_once(field: Field) -> None:
    """Push different policies from several controllers at one time."""
    with field.flood():
        files = [field.target.folder / f"concurrent-{number}.yaml" for number in range(_TIMES)]
        for file in files:
            file.write_text(draw_policy(field.random))
        started = [field.target.start_phb("push", "--wait", "30", file) for file in files]
        codes = []
        for process in started:
            words = _await(field, process)
            codes.append(process.returncode)
            if process.returncode not in (0, 1):
                field.problems.append(f"phb push: exit code {process.returncode}: {words}")
        field.counts["pushes"] += len(codes)
        field.counts["pushes refused"] += sum(code == 1 for code in codes)
    field.stale = True


def rollback(field: Field) -> None:
    """Push a policy and roll it back under a flood."""
    with field.flood(seconds=2 * FAULT_S):
        field.push()
        done = field.target.phb("rollback")
        field.counts["rollbacks"] += 1
        if done.returncode != 0:
            field.problems.append(f"phb rollback: exit code {done.returncode}: {done.stderr.strip()}")


def pushes_killed(field: Field) -> None:
    """End pushes by SIGKILL, somewhere between their start and their last write."""
    with field.flood():
        for _ in range(_TIMES):
            field.new_policy()
            process = field.target.start_phb("push", field.target.policy)
            _kill(process, field.random.uniform(0.3, 2.0))
            field.counts["pushes killed" if process.returncode < 0 else "pushes"] += 1
    field.stale = True


def watch_killed(field: Field) -> None:
    """End a watch by SIGKILL while it writes a new policy; another one takes over, and is ended as a user does."""
    with field.flood(seconds=2 * FAULT_S):
        process = field.target.start_phb("watch", "--interval", "1", field.target.policy)
        time.sleep(field.random.uniform(1.0, 2.0))
        field.new_policy()
        _kill(process, field.random.uniform(0.0, 1.5))
        field.counts["watches killed"] += 1
        second = field.target.start_phb("watch", "--interval", "1", field.target.policy)
        time.sleep(2.0)
        second.send_signal(signal.SIGTERM)
        words = _await(field, second)
        if second.returncode not in (0, -signal.SIGTERM):
            field.problems.append(f"phb watch: exit code {second.returncode}: {words}")
    field.stale = True


def switch_stopped(field: Field) -> None:
    """Stop the switch (SIGSTOP) under a flood, and continue it."""
    with field.flood():
        for _ in range(2):
            os.kill(field.target.switch.pid, signal.SIGSTOP)
            time.sleep(field.random.uniform(0.2, 1.5))
            os.kill(field.target.switch.pid, signal.SIGCONT)
            field.counts["stops"] += 1
            time.sleep(0.3)
            if field.target.switch.ended:
                return


def all_killed(field: Field) -> None:
    """End switch and controller by SIGKILL under a flood, in the middle of a push."""
    with field.flood():
        field.new_policy()
        process = field.target.start_phb("push", field.target.policy)
        time.sleep(field.random.uniform(0.3, 1.5))
        field.target.switch.kill()
        _kill(process, 0.0)
        field.counts["switches killed"] += 1
    field.killed = field.stale = True


def program_reloaded(field: Field) -> None:
    """Load the program anew under a flood: all its state is gone."""
    with field.flood():
        with Control(field.target.switch.address, clients.ELECTION_ID) as control:
            control.set_program()
        field.counts["programs loaded"] += 1
        time.sleep(0.5)
        field.stale = field.reloaded = True


def _kill(process: subprocess.Popen[str], after_s: float) -> None:
    try:
        process.communicate(timeout=after_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _await(field: Field, process: subprocess.Popen[str]) -> str:
    """Wait for its end; return its output."""
    try:
        return process.communicate(timeout=COMMAND_WITHIN_S)[0].strip()
    except subprocess.TimeoutExpired:
        field.problems.append(f"{process.args!r} has not ended after {COMMAND_WITHIN_S:g} s")
        process.kill()
        return process.communicate()[0].strip()


WARMING: tuple[Fault, ...] = (
    overload,
    clients.streams,
    clients.slow_readers,
    clients.deaf_controller,
    clients.wrong_requests,
)
"""Come first: behind them the switch is as large as its queues, its threads and requests of megabytes make it."""

FAULTS: tuple[Fault, ...] = (
    *WARMING,
    overload_of_one_port,
    links_down,
    interfaces_gone,
    pushes,
    pushes_at_once,
    rollback,
    pushes_killed,
    watch_killed,
    switch_stopped,
    program_reloaded,
    clients.half_open,
    clients.packet_outs,
    clients.port_settings,
)
"""Drawn in any order, each once before any comes again."""

CLOSING: Fault = all_killed
"""Comes last, and so only once: until then one process has to hold."""


def name(fault: Fault) -> str:
    """Return its name in reports."""
    return fault.__name__.replace("_", "-")
