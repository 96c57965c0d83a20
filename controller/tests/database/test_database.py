"""Transactions on both kinds of databases: whole or not at all, again when broken off, and what is wrong in words."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest
from postgresql import PASSWORD
from sqlalchemy import Column, MetaData, insert, select, text, update

from phb.database import BIG, REAL, Database, Schema, place_of
from phb.database.schema import table
from phb.errors import DatabaseAwayError, DatabaseError, InputError

TABLES = MetaData()
THING = table("thing", TABLES, Column("id", BIG, primary_key=True), Column("value", REAL))
SCHEMA = Schema("phb_things", "phb's things", "things", "--things", 0x70687474, 1, TABLES)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """A database of each kind."""
    return tmp_path / "things.sqlite" if request.param == "sqlite" else request.getfixturevalue("database")


def add(number, value=0.5):
    return lambda connection: connection.execute(insert(THING).values(id=number, value=value))


def values(database):
    return database.read(lambda connection: connection.execute(select(THING.c.id, THING.c.value)).all())


def test_what_one_leaves_the_next_finds(place):
    with Database(place, SCHEMA) as database:
        database.run(add(2**63 - 1, 1 / 3))
    with Database(place, SCHEMA) as database:
        assert values(database) == [(2**63 - 1, 1 / 3)]


def test_an_exception_undoes_the_whole_step(place):
    with Database(place, SCHEMA) as database:

        def fail(connection):
            add(1)(connection)
            raise RuntimeError

        with pytest.raises(RuntimeError):
            database.run(fail)
        assert values(database) == []


def test_several_make_it_at_once(place):
    with ThreadPoolExecutor(6) as pool:
        for database in pool.map(lambda _: Database(place, SCHEMA), range(6)):
            database.close()


def test_threads_write_side_by_side(place):
    with Database(place, SCHEMA) as database, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: database.run(add(number)), range(40)))
        assert sorted(number for number, _ in values(database)) == list(range(40))


def test_a_deadlock_is_run_again(database):
    with Database(database, SCHEMA) as opened:
        opened.run(lambda connection: (add(1)(connection), add(2)(connection)))
        both = threading.Barrier(2)
        runs = []

        def change(first, second):
            met = False

            def body(connection):
                nonlocal met
                runs.append(first)
                for number in first, second:
                    connection.execute(update(THING).where(THING.c.id == number).values(value=THING.c.value + 1))
                    if not met:
                        met = True
                        both.wait(60)

            opened.run(body)

        threads = [threading.Thread(target=change, args=order) for order in ((1, 2), (2, 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(runs) == 3
        assert sorted(values(opened)) == [(1, 2.5), (2, 2.5)]


def test_a_restart_is_survived_without_one_of_ours(postgresql, database):
    with Database(database, SCHEMA) as opened:
        opened.run(add(1))
        for number, how in enumerate(("fast", "immediate", "kill"), 2):
            postgresql.restart(how)
            opened.run(add(number))
        assert len(values(opened)) == 4


def test_away_is_one_error_and_over_when_it_is_back(postgresql, database):
    with Database(database, SCHEMA) as opened:
        postgresql.stop()
        with pytest.raises(DatabaseAwayError) as caught:
            opened.run(add(1))
        assert str(caught.value).startswith(f"{opened.place}: the database doesn't answer (")
        assert "\n" not in str(caught.value)
        postgresql.start()
        opened.run(add(1))
        assert len(values(opened)) == 1


def test_waiting_for_one_that_is_away(postgresql, database):
    with Database(database, SCHEMA, patience_s=60) as opened:
        postgresql.stop()
        with ThreadPoolExecutor(1) as pool:
            added = pool.submit(opened.run, add(1))
            time.sleep(0.1)
            postgresql.start()
            added.result()
        assert len(values(opened)) == 1


def test_who_goes_on_without_it_waits_once(postgresql, database):
    with Database(f"{database}&connect_timeout=1", SCHEMA, fails_fast=True, answer_s=0.2) as opened:
        postgresql.freeze()
        with pytest.raises(DatabaseAwayError):
            opened.run(add(1))
        before = time.monotonic()
        for _ in range(1000):
            with pytest.raises(DatabaseAwayError):
                opened.run(add(1))
        # Each would have waited for more than a second.
        assert time.monotonic() - before < 60
        postgresql.thaw()
        until = time.monotonic() + 60
        while opened.away is not None:
            assert time.monotonic() < until
            time.sleep(0.02)
        opened.run(add(1))


def test_a_backend_that_is_ended_loses_only_its_transaction(postgresql, database):
    with Database(database, SCHEMA, patience_s=30) as opened:
        ended = []

        def body(connection):
            add(1)(connection)
            if not ended:
                ended.append(True)
                pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
                postgresql.sql(f"SELECT pg_terminate_backend({pid}, 10000)")
            add(2)(connection)

        opened.run(body)
        assert [number for number, _ in values(opened)] == [1, 2]


def test_an_answer_that_takes_too_long(database):
    with Database(database, SCHEMA, answer_s=0.1) as opened:
        with pytest.raises(DatabaseAwayError, match="canceling statement due to statement timeout"):
            opened.read(lambda connection: connection.execute(text("SELECT pg_sleep(30)")))
        assert values(opened) == []


def test_who_stops_in_the_middle_holds_up_nobody(database):
    with Database(database, SCHEMA, answer_s=0.3) as slow, Database(database, SCHEMA) as other:
        slow.run(add(1))
        change = update(THING).values(value=7)

        def fall_asleep(connection):
            connection.execute(change)
            other.run(lambda connection: connection.execute(change))
            connection.execute(change)

        with pytest.raises(DatabaseAwayError, match="idle-in-transaction timeout"):
            slow.run(fall_asleep)


def readonly(postgresql, name):
    Database(postgresql.url(name), SCHEMA).close()


def only_read(postgresql, name):
    readonly(postgresql, name)
    postgresql.sql(
        "GRANT USAGE ON SCHEMA phb_things TO plain",
        "GRANT SELECT ON ALL TABLES IN SCHEMA phb_things TO plain",
        name=name,
    )


def foreign(postgresql, name):
    postgresql.sql("CREATE SCHEMA phb_things", "CREATE TABLE phb_things.songs (title text)", name=name)


def newer(postgresql, name):
    readonly(postgresql, name)
    postgresql.sql("UPDATE phb_things.about SET version = 2", name=name)


def changed(postgresql, name):
    readonly(postgresql, name)
    postgresql.sql("DROP TABLE phb_things.thing", name=name)


def standby(postgresql, name):
    postgresql.sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")


def nothing(postgresql, name):
    pass


WRONG = {
    "wrong password": (
        nothing,
        "with_password:wrong",
        '{}: found password authentication failed for user "with_password"',
    ),
    "no such role": (
        nothing,
        "nobody",
        '{}: found role "nobody" does not exist, expected a database that lets us in (--th',
    ),
    "no rights": (nothing, "plain", "{}: found a role without rights (permission denied for database "),
    "may only read": (
        only_read,
        "plain",
        "{}: found a role without rights (permission denied for table thing), expected one",
    ),
    "another program's": (
        foreign,
        "postgres",
        "{}: found a schema phb_things of another program, expected phb's things",
    ),
    "newer": (newer, "postgres", "{}: found things of schema version 2, expected version 1: another version of phb"),
    "changed by hand": (
        changed,
        "postgres",
        '{}: found tables that aren\'t as they were made (relation "thing" does not',
    ),
    "a standby": (standby, "postgres", "{}: found a database that can't be written (cannot execute "),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_database_is_one_error_that_names_it(postgresql, monkeypatch, case):
    prepare, user, message = WRONG[case]
    name = postgresql.fresh()
    prepare(postgresql, name)
    place = place_of(postgresql.url(name, user=user))
    with pytest.raises(InputError) as caught, Database(place, SCHEMA) as opened:
        opened.run(add(1))
    assert str(caught.value).startswith(message.format(place))
    assert "\n" not in str(caught.value)
    assert "wrong" not in str(caught.value).replace("wrongly", "")


def test_no_such_database(postgresql):
    with pytest.raises(InputError, match='found database "none" does not exist, expected a database that lets us in'):
        Database(postgresql.url("none"), SCHEMA)


def test_a_password_of_odd_letters(postgresql, monkeypatch, tmp_path):
    name = postgresql.fresh()
    postgresql.sql(f"GRANT CREATE ON DATABASE {name} TO with_password")
    Database(postgresql.url(name, user=f"with_password:{quote(PASSWORD, safe='')}"), SCHEMA).close()
    # As for psql.
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    Database(postgresql.url(name, user="with_password"), SCHEMA).close()
    monkeypatch.delenv("PGPASSWORD")
    file = tmp_path / "pgpass"
    escaped = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
    file.write_text(f"127.0.0.1:*:*:with_password:{escaped}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    Database(postgresql.url(name, user="with_password"), SCHEMA).close()
    service = tmp_path / "services"
    service.write_text(f"[things]\nhost=127.0.0.1\nport={postgresql.port}\ndbname={name}\nuser=with_password\n")
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    Database("postgresql://?service=things", SCHEMA).close()


LIBPQ = {
    "sslmode=require": "server does not support SSL",
    "sslmode=perhaps": 'invalid sslmode value: "perhaps"',
    "port=x": 'invalid integer value "x" for connection option "port"',
    "service=none": 'definition of service "none" not found',
}


@pytest.mark.parametrize("said", LIBPQ)
def test_the_rest_is_libpqs(postgresql, said):
    with pytest.raises(InputError, match=LIBPQ[said]):
        Database(f"{postgresql.url()}?{said}", SCHEMA)


def test_two_schemas_share_a_database(database):
    other = Schema("phb_others", "phb's others", "others", "--others", 0x7068746F, 1, TABLES)
    with Database(database, SCHEMA) as first, Database(database, other) as second:
        first.run(add(1))
        assert values(second) == []


def test_what_a_database_refuses_otherwise(database):
    with (
        Database(database, SCHEMA) as opened,
        pytest.raises(DatabaseError, match=r"the database refused \(division by zero"),
    ):
        opened.read(lambda connection: connection.execute(text("SELECT 1 / 0")))
