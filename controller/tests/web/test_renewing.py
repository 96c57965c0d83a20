"""Files that are used anew when they have changed."""

import pytest

from phb.errors import InputError
from phb.origin import Origin
from phb.web.renewing import LOOK_S, Renewed


def test_what_cannot_be_used_leaves_the_one_before(tmp_path):
    path, now, told = tmp_path / "file", [0.0], []

    def make():
        words = path.read_text() if path.exists() else ""
        if not words:
            raise InputError(Origin(str(path)), "nothing", "something")
        return words

    with pytest.raises(InputError):
        Renewed((path,), make, told.append, lambda: now[0])
    path.write_text("one")
    renewed = Renewed((path,), make, told.append, lambda: now[0])
    path.write_text("two, longer")
    assert renewed() == "one"
    now[0] += LOOK_S
    assert renewed() == "two, longer"
    path.unlink()
    for _ in range(3):
        now[0] += LOOK_S
        assert renewed() == "two, longer"
    assert told == [f"{path}: found nothing, expected something; the one before holds on"]
