"""Of sessions of test packets, history keeps events, and takes them for no switch."""

import sqlite3
from contextlib import closing

from made_up import BEGAN_NS, a_session, observations

from phb.monitor.history import History
from phb.monitor.observation import Event, EventKind, Observation


def test_events_are_kept_alone(tmp_path):
    away = Event(BEGAN_NS, "", EventKind.REFLECTOR_AWAY, "session 'calls' (class voice): no reply to 10 packets")
    with History(tmp_path / "h", lambda _: None) as history:
        history.take(Observation("", BEGAN_NS, None, events=(away,), sessions=(a_session(),)))
        for observation in observations(2):
            history.take(observation)
    with closing(sqlite3.connect(tmp_path / "h")) as file:
        kept = file.execute("SELECT time_ns, switch, kind, message FROM event").fetchall()
        assert kept == [(BEGAN_NS, "", "reflector-away", away.message)]
        assert file.execute("SELECT name FROM switch").fetchall() == [("edge",)]
