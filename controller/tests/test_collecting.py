"""The garbage collector rests while a tree is built, and only then."""

import gc

import pytest

from phb.collecting import without_collecting


def test_it_rests_and_goes_on():
    assert gc.isenabled()
    with without_collecting():
        assert not gc.isenabled()
        with without_collecting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error():
    with pytest.raises(KeyError), without_collecting():
        raise KeyError
    assert gc.isenabled()


def test_who_switched_it_off_keeps_it_off():
    gc.disable()
    try:
        with without_collecting():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
