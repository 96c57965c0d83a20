"""Random kills, for as long as one likes: three controllers share rollouts and die or freeze at any moment.

`PYTHONPATH=controller/tests python -m controller.tests.rollout.killing --seconds 600 --seed 7 --state URL` prints a
line for each rollout, and ends with 1 at the first entry that a switch was written twice, or holds wrongly. Every third
rollout is taken back.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from controller.tests.rollout import dying
from controller.tests.rollout.fleet import FencedSwitch, begun, prepared, route
from phb import Artifact
from phb.rollout.records import Condition, Rollouts
from phb.state import State

SWITCHES = 30
CONTROLLERS = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state")
    said = parser.parse_args()
    draw = random.Random(said.seed)
    until = time.monotonic() + said.seconds
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place = said.state or str(folder / "state.sqlite")
        fleet = [FencedSwitch() for _ in range(SWITCHES)]
        for switch in fleet:
            stack.callback(switch.start())
        state = stack.enter_context(State(place, patience_s=60))
        version, held = 3, None
        while time.monotonic() < until:
            number = begun(state, prepared(folder, fleet, version, Artifact.load()), (2, 8, 20))
            kills = _until_ended(state, place, number, draw)
            goes_back = held is not None and version % 3 == 0
            problems = _problems(fleet, version)
            if goes_back:
                for switch in fleet:
                    switch.writes.clear()
                Rollouts(state).abort(number, "a test")
                kills += _until_ended(state, place, number, draw)
                problems += _problems(fleet, held)
            print(f"rollout {number}: {kills} killed or frozen, {len(problems)} problems", flush=True)
            if problems:
                print("\n".join(problems))
                sys.exit(1)
            for switch in fleet:
                switch.writes.clear()
            held = held if goes_back else version
            version = 3 + (version - 2) % 200


def _until_ended(state, place, number, draw):
    """Let controllers work on a rollout, and kill or freeze one after the other, until it has ended."""
    running, frozen, kills = [], [], 0
    while Rollouts(state).get(number).condition in (Condition.RUNNING, Condition.TAKING_BACK):
        running = [process for process in running if process.is_alive()]
        while len(running) < CONTROLLERS:
            running.append(dying.dying(place, number, "claim", "before", 0))
        time.sleep(draw.uniform(0.1, 1.5))
        victim = draw.choice(running)
        how = signal.SIGKILL if draw.random() < 0.7 or place.endswith("sqlite") else signal.SIGSTOP
        with suppress(ProcessLookupError):
            os.kill(victim.pid, how)
            kills += 1
        if how == signal.SIGSTOP:
            running.remove(victim)
            frozen.append(victim)
    for process in frozen:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)
    for process in (*running, *frozen):
        process.join(30)
        process.kill()
        process.join()
    return kills


def _problems(fleet, version):
    """What is wrong with switches that should hold a version, each entry of it written once."""
    found = []
    for number, switch in enumerate(fleet):
        twice = [count for count in switch.updates().values() if count > 1]
        if twice:
            found.append(f"s{number}: {len(twice)} updates were written more than once")
        if route(switch) != version:
            found.append(f"s{number}: holds {route(switch)}, not {version}")
    return found


if __name__ == "__main__":
    main()
