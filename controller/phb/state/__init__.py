"""The state, one SQLite file: pushes with their files, names of numbers, and who is changing which switch.

database > holders > locks, history
"""

from phb.state.database import SCHEMA_VERSION, State, default_path
from phb.state.history import Course, File, History, Names, Push, PushOutcome
from phb.state.holders import Holder
from phb.state.locks import Lock, LockedError, Locks

__all__ = [
    "SCHEMA_VERSION",
    "Course",
    "File",
    "History",
    "Holder",
    "Lock",
    "LockedError",
    "Locks",
    "Names",
    "Push",
    "PushOutcome",
    "State",
    "default_path",
]
