"""gNMI paths: as the protocol carries them, as text, and as patterns with wildcards.

gNMI specification, 2.2.2 and "gNMI path conventions": `*` stands for any name or key, `...` for any number of elements,
and a key that is left out for any value of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from finsy.proto import gnmi

from phb_switch.errors import INVALID_ARGUMENT, StatusError

ANY: Final = "*"
ANY_DEPTH: Final = "..."

ORIGINS: Final = ("", "openconfig")

MOST_ELEMENTS: Final = 32


@dataclass(frozen=True, slots=True)
class Element:
    """One level of a path."""

    name: str
    keys: tuple[tuple[str, str], ...] = ()
    """Name and value, ordered by name."""

    def __str__(self) -> str:
        return self.name + "".join(f"[{name}={value}]" for name, value in self.keys)

    def matches(self, other: "Element") -> bool:
        """Whether this, as a pattern, covers `other`."""
        if self.name not in (ANY, other.name):
            return False
        values = dict(other.keys)
        return all(name in values and value in (ANY, values[name]) for name, value in self.keys)


Path = tuple[Element, ...]


def text(path: Sequence[Element]) -> str:
    """A path for people: /interfaces/interface[name=eth0]."""
    return "/" + "/".join(str(element) for element in path)


def is_pattern(path: Sequence[Element]) -> bool:
    """Whether it may stand for several paths."""
    return any(element.name in (ANY, ANY_DEPTH) or any(value == ANY for _, value in element.keys) for element in path)


def covers(pattern: Sequence[Element], path: Sequence[Element]) -> bool:
    """Whether a path is at or below what a pattern stands for."""
    if not pattern:
        return True
    if pattern[0].name == ANY_DEPTH:
        return any(covers(pattern[1:], path[skipped:]) for skipped in range(len(path) + 1))
    return bool(path) and pattern[0].matches(path[0]) and covers(pattern[1:], path[1:])


def read(path: gnmi.Path, prefix: gnmi.Path | None = None) -> Path:
    """Brings a path of a request, behind the request's prefix, into our form.

    Raises:
        StatusError: an origin that is not ours, or elements that make no sense.

    """
    parts = [each for each in (prefix, path) if each is not None]
    for part in parts:
        if part.origin not in ORIGINS:
            raise StatusError(INVALID_ARGUMENT, f"there is no origin {part.origin!r} here, only 'openconfig'")
    result: list[Element] = []
    for part in parts:
        for element in _elements(part):
            # One after the other they mean no more than one, and would take ever longer to match.
            if element.name != ANY_DEPTH or not result or result[-1].name != ANY_DEPTH:
                result.append(element)
    if len(result) > MOST_ELEMENTS:
        raise StatusError(
            INVALID_ARGUMENT, f"a path of {len(result)} elements; no more than {MOST_ELEMENTS} make sense"
        )
    return tuple(result)


def _elements(path: gnmi.Path) -> Iterator[Element]:
    if path.element and not path.elem:
        # The form of before gNMI 0.4, which the specification keeps for older clients.
        yield from (Element(_bare(name)) for name in path.element)
        return
    for each in path.elem:
        if not each.name:
            raise StatusError(INVALID_ARGUMENT, "an element of the path has no name")
        yield Element(_bare(each.name), tuple(sorted((_bare(name), value) for name, value in each.key.items())))


def _bare(name: str) -> str:
    """Without the module that some clients put before a name."""
    return name.rpartition(":")[2]


def write(path: Sequence[Element]) -> gnmi.Path:
    """A path as the protocol carries it."""
    return gnmi.Path(elem=[gnmi.PathElem(name=element.name, key=dict(element.keys)) for element in path])
