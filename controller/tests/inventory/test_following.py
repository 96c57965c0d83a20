"""Inventories that are read again: what changes, what is wrong or hard to believe, and what holds on meanwhile."""

import asyncio
import time

import pytest
import yaml

from phb.errors import InputError
from phb.inventory.following import FollowedInventory


def fragment(*names):
    return {
        "phb-inventory": 1,
        "switches": [{"name": name, "address": f"{name}:1", "policies": ["p.yaml"]} for name in names],
    }


class Place:
    """A followed inventory in a folder, its clock, and what it tells."""

    def __init__(self, folder):
        self.folder = folder
        self.now = 0.0
        self.told = []

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))

    def begin(self, name="network.yaml"):
        self.followed = FollowedInventory(self.folder / name, self.told.append, lambda: self.now)
        return self.names()

    def names(self):
        return [switch.name for switch in self.followed.current.switches]

    def look(self, seconds=1.0, times=2, **options):
        """The names after so many looks, None where nothing has changed; and what was told."""
        found = None
        for _ in range(times):
            self.now += seconds
            found = self.followed.look(**options) or found
        told, self.told[:] = list(self.told), []
        return found and [switch.name for switch in found.switches], told


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_files_that_change(place):
    place.write("network.yaml", fragment("a") | {"from": [{"directory": "more"}, {"file": "c.yaml"}]})
    place.write("more/b.yaml", fragment("b"))
    place.write("c.yaml", fragment("c"))
    assert place.begin() == ["a", "b", "c"]
    assert place.look() == (None, [])
    place.write("more/d.yaml", fragment("d"))
    # A change counts when two looks have seen the same.
    assert place.look(times=1) == (None, [])
    assert place.look(times=1) == (["a", "b", "d", "c"], [])
    (place.folder / "more/b.yaml").unlink()
    place.write("network.yaml", fragment("a", "e") | {"from": [{"file": "c.yaml"}, {"directory": "more"}]})
    assert place.look() == (["a", "e", "c", "d"], [])
    # Written anew, with the same in it.
    place.write("c.yaml", fragment("c"))
    assert place.look() == (None, [])


def test_what_is_wrong_is_told_once_and_the_rest_goes_on(place):
    place.write("network.yaml", fragment("a") | {"from": [{"directory": "more"}, {"file": "c.yaml"}]})
    place.write("more/b.yaml", fragment("b"))
    place.write("c.yaml", fragment("c"))
    place.begin()
    place.write("c.yaml", "phb-inventory: 1\nswitches: [")
    found, (told,) = place.look()
    assert found is None
    assert told.startswith(f"{place.folder}/c.yaml:3: found broken YAML")
    assert told.endswith("; what it said before holds on")
    place.write("more/b.yaml", fragment("b", "d"))
    assert place.look() == (["a", "b", "d", "c"], [])
    # What only the whole shows: a name twice.
    place.write("c.yaml", fragment("b"))
    found, (told,) = place.look()
    assert (found, told.split(": ", 1)[1].split(";")[0]) == (
        None,
        "found switch 'b' again, expected it once",
    )
    place.write("c.yaml", fragment("c", "e"))
    assert place.look() == (["a", "b", "d", "c", "e"], [])
    # The file itself.
    (place.folder / "network.yaml").rename(place.folder / "away.yaml")
    found, (told,) = place.look(times=4)
    assert "no such file or directory" in told
    assert told.endswith("; the inventory before holds on")
    (place.folder / "away.yaml").rename(place.folder / "network.yaml")
    assert place.look() == (None, [])


def command(place, text, **more):
    place.write("give.sh", f"#!/bin/sh\n{text}\n")
    (place.folder / "give.sh").chmod(0o700)
    return {"command": ["./give.sh"], **more}


def test_a_command_is_run_when_its_time_has_come(place):
    source = command(place, "echo x >> runs; cat said.yaml", every=10)
    place.write("said.yaml", fragment("a"))
    place.write("network.yaml", {"phb-inventory": 1, "from": [source]})
    place.begin()
    place.write("said.yaml", fragment("a", "b"))
    assert place.look(4.0) == (None, [])
    assert place.look(4.0) == (["a", "b"], [])
    assert (place.folder / "runs").read_text() == "x\n" * 2
    # It fails again and again: told once, and what it said before holds on.
    place.write("said.yaml", fragment("c"))
    command(place, "echo no token >&2; exit 1")
    found, (told,) = place.look(11.0, 3)
    assert (found, place.names()) == (None, ["a", "b"])
    assert "found './give.sh', which ended with exit code 1: no token, expected" in told
    command(place, "cat said.yaml")
    assert place.look(11.0, 1) == (["c"], [])


def test_the_file_names_a_command_that_fails_at_first(place):
    place.write("network.yaml", fragment("a"))
    place.begin()
    source = command(place, "exit 1", every=20)
    place.write("network.yaml", fragment("b") | {"from": [source]})
    found, (told,) = place.look()
    assert (found, told.split("; ")[-1]) == (None, "the inventory before holds on")
    place.write("said.yaml", fragment("c"))
    command(place, "cat said.yaml")
    assert place.look(25.0, 3) == (["b", "c"], [])


DOUBTED = {
    "a file": {"file": "more/s.yaml", "doubt": 100},
    "a folder": {"directory": "more", "doubt": 100},
    "a command": {"command": ["cat", "more/s.yaml"], "every": 1, "doubt": 100},
}


@pytest.mark.parametrize("case", DOUBTED)
def test_a_source_that_loses_more_than_half_is_not_believed_at_once(place, case):
    source = DOUBTED[case]
    place.write("network.yaml", fragment("z") | {"from": [source]})
    place.write("more/s.yaml", fragment("a", "b", "c", "d"))
    place.begin()
    # Half of them may go.
    place.write("more/s.yaml", fragment("a", "b"))
    assert place.look() == (["z", "a", "b"], [])
    place.write("more/s.yaml", fragment("a", "b", "c", "d", "e"))
    assert place.look() == (["z", "a", "b", "c", "d", "e"], [])
    place.write("more/s.yaml", fragment("a"))
    found, (told,) = place.look()
    assert found is None
    assert "gives 1 switches instead of 5; what it said before holds on until it has said so for 100 s" in told
    assert place.look(40.0) == (None, [])
    # Back, and away again: from then on it is doubted anew.
    place.write("more/s.yaml", fragment("a", "b", "c", "d", "e"))
    assert place.look(1.0, 3) == (None, [])
    place.write("more/s.yaml", fragment("b"))
    assert len(place.look(1.0, 3)[1]) == 1
    assert place.look(40.0) == (None, [])
    assert place.look(40.0, 1) == (["z", "b"], [])
    # Somebody who asks for it is believed.
    place.write("more/s.yaml", fragment("a", "b", "c", "d", "e"))
    place.look()
    place.write("more/s.yaml", fragment("c"))
    assert place.look(times=1, believe=True) == (["z", "c"], [])


def test_the_file_itself_is_doubted_but_not_where_switches_only_move(place):
    place.write("network.yaml", fragment("a", "b", "c"))
    place.begin()
    place.write("network.yaml", fragment("a"))
    found, (told,) = place.look()
    assert (found, "gives 1 switches instead of 3" in told) == (None, True)
    place.write("more/s.yaml", fragment("a", "b", "c"))
    place.write("network.yaml", {"phb-inventory": 1, "from": [{"directory": "more"}]})
    # Other ones in so far as their policies are in another folder.
    assert place.look() == (["a", "b", "c"], [])
    place.write("more/t.yaml", fragment("t"))
    assert place.look() == (["a", "b", "c", "t"], [])


def test_a_folder(place):
    place.write("more/a.yaml", fragment("a"))
    assert place.begin("more") == ["a"]
    place.write("more/b.yaml", fragment("b"))
    assert place.look() == (["a", "b"], [])


def test_wrong_at_the_start(place):
    place.write("network.yaml", {"phb-inventory": 1, "from": [{"file": "none"}]})
    with pytest.raises(InputError, match="no such file"):
        place.begin()


def test_followed_until_cancelled_even_while_a_command_hangs(place):
    source = command(place, "echo x >> runs; [ -e hang ] && exec sleep 60; cat said.yaml", every=1)
    place.write("said.yaml", fragment("a"))
    place.write("network.yaml", {"phb-inventory": 1, "from": [source]})
    place.begin()

    async def run():
        followed = FollowedInventory(place.folder / "network.yaml", place.told.append)
        taken, asked = asyncio.Queue(), asyncio.Event()
        task = asyncio.create_task(followed.follow(taken.put_nowait, asked))
        place.write("said.yaml", fragment("a", "b"))
        asked.set()
        found = await asyncio.wait_for(taken.get(), 30)
        assert [switch.name for switch in found.switches] == ["a", "b"]
        place.write("hang", "")
        runs = (place.folder / "runs").read_text()
        asked.set()
        async with asyncio.timeout(30):
            while (place.folder / "runs").read_text() == runs:
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])

    began = time.monotonic()
    asyncio.run(run())
    assert time.monotonic() - began < 45
