"""bmv2's data plane as a file's statements see it, without a bmv2."""

import pytest

from phb_switch.stf import bmv2
from phb_switch.stf.client import RefusedError, UnreachableError


def test_a_frame_is_what_its_message_says():
    frame = bytes(range(256)) * 2
    # With fields before and after, as bmv2 may send them.
    message = bmv2._field(1, 300) + bmv2._field(2, 1) + bmv2._field(3, 511) + bmv2._field(4, frame)
    assert bmv2._frame(message) == (511, frame)
    assert bmv2._frame(bmv2._field(4, b"")) == (0, b"")


def test_one_that_can_t_be_reached_is_replaced_but_not_for_ever():
    tried = []

    def fails_twice():
        tried.append(1)
        if len(tried) < 3:
            raise UnreachableError("gone")
        return "done"

    assert bmv2._with_a_new_one(fails_twice) == "done"
    tried.clear()

    def always():
        tried.append(1)
        raise UnreachableError("gone")

    with pytest.raises(UnreachableError):
        bmv2._with_a_new_one(always)
    assert len(tried) == 3


def test_one_that_refuses_is_asked_once():
    tried = []

    def refuses():
        tried.append(1)
        raise RefusedError("no")

    with pytest.raises(RefusedError):
        bmv2._with_a_new_one(refuses)
    assert len(tried) == 1
