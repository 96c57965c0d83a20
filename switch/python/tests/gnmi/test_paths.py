"""Paths and their wildcards."""

import pytest
from finsy.proto import gnmi

from phb_switch.errors import StatusError
from phb_switch.gnmi.paths import covers, is_pattern, read, text, write

from .support import elements, path


@pytest.mark.parametrize(
    ("pattern", "place", "expected"),
    [
        ("/", "/a/b", True),
        ("/a", "/a/b", True),
        ("/a/b", "/a", False),
        ("/a/c", "/a/b", False),
        ("/a/*", "/a/b/c", True),
        ("/*/c", "/a/b", False),
        ("/a[k=1]", "/a[k=1]/b", True),
        ("/a[k=2]", "/a[k=1]/b", False),
        ("/a[k=*]", "/a[k=1]/b", True),
        ("/a", "/a[k=1]", True),
        ("/a[k=*]", "/a", False),
        ("/*[k=1]", "/a[k=1]", True),
        ("/...", "/a", True),
        ("/.../c", "/a/b/c/d", True),
        ("/.../c", "/c", True),
        ("/.../x", "/a/b/c", False),
        ("/a/.../c", "/a/c", True),
        ("/a/...", "/b", False),
    ],
)
def test_covers(pattern: str, place: str, expected: bool) -> None:
    assert covers(elements(pattern), elements(place)) == expected


@pytest.mark.parametrize(
    ("given", "expected"), [("/a/b", False), ("/a/*", True), ("/.../b", True), ("/a[k=*]", True), ("/a[k=1]", False)]
)
def test_is_pattern(given: str, expected: bool) -> None:
    assert is_pattern(elements(given)) == expected


def test_read_and_write() -> None:
    given = path("/interfaces/interface[name=a/b]".replace("a/b", "a:b"))
    assert text(read(given)) == "/interfaces/interface[name=a:b]"
    assert write(read(given)) == given
    prefix = gnmi.Path(origin="openconfig", elem=[gnmi.PathElem(name="openconfig-interfaces:interfaces")])
    assert text(read(gnmi.Path(elem=[gnmi.PathElem(name="interface")]), prefix)) == "/interfaces/interface"
    assert text(read(gnmi.Path(element=["a", "b"]))) == "/a/b"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (gnmi.Path(origin="cli"), "there is no origin 'cli' here"),
        (gnmi.Path(elem=[gnmi.PathElem()]), "an element of the path has no name"),
        (gnmi.Path(elem=[gnmi.PathElem(name="a")] * 33), "a path of 33 elements"),
    ],
)
def test_refused(given: gnmi.Path, words: str) -> None:
    with pytest.raises(StatusError, match=words):
        read(given)


def test_wildcards_for_any_depth_that_follow_each_other_are_one() -> None:
    given = gnmi.Path(elem=[gnmi.PathElem(name="...")] * 1000)
    assert text(read(given, path("/a/..."))) == "/a/..."
