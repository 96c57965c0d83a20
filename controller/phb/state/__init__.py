"""The state, an SQLite file or a PostgreSQL database: pushes with their files, who changes which switch, and who lives.

tables, holders > members > database > locks, overview > history > following, recording, copying
"""

from phb.database import Place, default_path, place_of
from phb.state.database import State
from phb.state.following import FollowedHistory
from phb.state.history import Course, File, History, Names, Push, PushOutcome
from phb.state.holders import Holder
from phb.state.locks import Lock, LockedError, LockLostError, Locks
from phb.state.members import Living, Member, Members
from phb.state.recording import Recorder
from phb.state.tables import SCHEMA_VERSION

__all__ = [
    "SCHEMA_VERSION",
    "Course",
    "File",
    "FollowedHistory",
    "History",
    "Holder",
    "Living",
    "Lock",
    "LockLostError",
    "LockedError",
    "Locks",
    "Member",
    "Members",
    "Names",
    "Place",
    "Push",
    "PushOutcome",
    "Recorder",
    "State",
    "default_path",
    "place_of",
]
