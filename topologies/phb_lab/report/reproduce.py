"""The command line that runs the same again."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phb_lab.report.document import policy_name
from phb_lab.study import Run, Study


def command(study: Study[Any], runs: Sequence[Run[Any]], extra: Sequence[Run[Any]]) -> str:
    """``phb-lab run`` with the options that differ from the defaults, and the seed."""
    first = runs[0]
    # The first five words are those of a whole run at the source's own settings.
    words = ["phb-lab", "run", study.given_as, "--seed", str(first.seed)]
    if [run.test.name for run in runs] != [test.name for test in study.tests]:
        for run in runs:
            words += ["--test", run.test.name]
    if first.mode != "virtual":
        words += ["--mode", first.mode]
    if first.target != "phb-switch":
        words += ["--target", first.target]
    defaults = study.defaults()
    for name, value in first.options.items():
        if value != defaults.get(name):
            words += ["--set", f"{name}={value}"]
    for name, files in _own_policies(study, runs).items():
        words += ["--policy", f"{name}={','.join(policy_name(path) for path in files)}"]
    whole = len(words) == 5 and all(run.duration_s == run.test.duration_s for run in runs)
    if any(run.duration_s != run.test.duration_s for run in runs):
        short = all(run.duration_s == min(run.test.duration_s, run.test.short_s) for run in runs)
        words += ["--short"] if short else ["--duration", str(first.duration_s)]
    if extra and not whole:
        words.append("--extra")
    if whole and not extra and study.extra_runs(study.tests, defaults):
        words.append("--no-extra")
    return shlex.join(words)


def _own_policies(study: Study[Any], runs: Sequence[Run[Any]]) -> dict[str, tuple[Path, ...]]:
    """Policy files by switch where they aren't the study's own."""
    found = {}
    for run in runs:
        described = study.network(run.test, seed=run.seed, options=run.options)
        own = {switch.name: switch.policy_files for switch in described.switches}
        for switch in run.network.switches:
            if own.get(switch.name) != switch.policy_files:
                found[switch.name] = switch.policy_files
    return found
