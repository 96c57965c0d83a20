"""Paths and URLs: which are read, and that no password is ever shown."""

from pathlib import Path

import pytest

from phb.database import place_of
from phb.errors import InputError

SQLITE = {
    "state.sqlite": "state.sqlite",
    "sqlite:///relative/state.sqlite": "relative/state.sqlite",
    "sqlite:////var/lib/phb/state.sqlite": "/var/lib/phb/state.sqlite",
    "sqlite:////a b/100%.sqlite": "/a b/100%.sqlite",
    "a:b/c": "a:b/c",
}


@pytest.mark.parametrize("said", SQLITE)
def test_files(said):
    assert place_of(said).path == Path(SQLITE[said])
    assert str(place_of(said)) == SQLITE[said]


SHOWN = {
    "postgresql://me:secret@db.example:5433/phb": "postgresql://me@db.example:5433/phb",
    "postgres://me:secret@db.example/phb": "postgresql://me@db.example/phb",
    "postgresql+psycopg://db/phb": "postgresql://db/phb",
    "postgresql://m%40e:s%2Fe%3Ac@[::1]:5433/ph%25b": "postgresql://m%40e@[::1]:5433/ph%25b",
    "postgresql:///phb?host=/run/postgresql&password=secret": "postgresql://%2Frun%2Fpostgresql/phb",
    "postgresql://a:1,b:2/phb?target_session_attrs=read-write": "postgresql://a:1,b:2/phb",
    "postgresql://?service=phb&sslpassword=secret": "postgresql://?service=phb",
}


@pytest.mark.parametrize("said", SHOWN)
def test_urls_are_shown_without_their_password(said):
    pytest.importorskip("psycopg")
    place = place_of(said)
    assert str(place) == SHOWN[said]
    assert "sec" not in repr(place)


WRONG = {
    "mysql://me:secret@db/phb": "mysql://: found a URL of another kind, expected a path, sqlite:///PATH or postgresql",
    "sqlite://state.sqlite": "sqlite://state.sqlite: found no path after three slashes, or more than a path",
    "sqlite:///": "found no path after three slashes",
    "sqlite:///state.sqlite?mode=ro": "found no path after three slashes, or more than a path",
    "postgresql://me:sec@ret@db/phb": "postgresql://: found an @ or / too many, expected %40 and ",
    "postgresql://me:sec/ret@db/phb": "found an @ or / too many",
    "postgresql://me:secret%zz@db/phb": 'found a URL that can\'t be read (invalid percent-encoded token: "...")',
    "postgresql://db/phb?secret=1": 'found a URL that can\'t be read (invalid URI query parameter: "...")',
}


@pytest.mark.parametrize("said", WRONG)
def test_wrong_ones_are_one_error_without_the_password(said):
    from phb.database.place import parameters

    with pytest.raises(InputError) as caught:
        parameters(place_of(said))
    assert WRONG[said] in str(caught.value)
    assert "sec" not in str(caught.value)


def test_a_missing_driver_names_what_to_install(monkeypatch):
    import sys

    from phb.database.place import parameters

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        InputError, match=r"found no driver for PostgreSQL \(.*\), expected phb\[postgresql\] to be inst"
    ):
        parameters(place_of("postgresql://db/phb"))
