"""The command ``phb-lab``: one module per command.

Exit codes: 0 done; 1 the run could not go on (a switch refused an entry, packets unaccounted for) or a check failed;
2 an option, a policy file or an artifact is wrong; 130 interrupted.
"""

from phb_lab.cli import clean, compare, networks, new, plan, replay, run, sweep, what_if
from phb_lab.cli.application import app, main

__all__ = ["app", "clean", "compare", "main", "networks", "new", "plan", "replay", "run", "sweep", "what_if"]
