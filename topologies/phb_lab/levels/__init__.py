"""Service levels of a run in virtual time: what objectives ask of a network, and what it gives.

    asked (whose objectives) > achieved (what became of them) > watching (switches are read at each second, and judged
    as `phb monitor` does), telling, picture

Objectives change nothing in a network: results are the same with them and without.
"""

from phb_lab.levels.achieved import PERIOD_NS, Achieved, Bound
from phb_lab.levels.asked import Asked, Looks, with_objectives

__all__ = ["PERIOD_NS", "Achieved", "Asked", "Bound", "Looks", "with_objectives"]
