"""What a comparison tells: a document of plain values, which the terminal, JSON and pages show in their ways.

All texts are for people and come from policies as they are: who shows them escapes them (`phb.visible`, HTML).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Content:
    """A file, or what another source held, as it was read; `sha256` is of its bytes, in hex."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Side:
    """One of the two policies.

    Attributes:
        words: What was given, such as ``old.yaml``, ``push 17 to r1 (192.0.2.1:9559)`` or ``switch 192.0.2.1:9559``.
        contents: What was read; nothing of a switch.
    """

    words: str
    contents: tuple[Content, ...] = ()


@dataclass(frozen=True)
class Place:
    """What decided: a rule or a class, or a port's settings.

    Attributes:
        name: Its name in the policy; empty where nothing decided.
        file: Where that is said; empty where it is said nowhere, as of what no rule takes.
        line: From 1; 0 is the whole file.
        statement: The statement by which it takes the example, such as a line of an access list, in the format's words;
            empty if it is the rule's own.
        statement_line: Its line in the same file.
    """

    name: str
    file: str = ""
    line: int = 0
    statement: str = ""
    statement_line: int = 0

    def __str__(self) -> str:
        if not self.file:
            return self.name or "no rule"
        where = f"{self.name} {self.file}:{self.line}" if self.line else f"{self.name} {self.file}"
        return where.strip() + (f", line {self.statement_line}: {self.statement}" if self.statement else "")


@dataclass(frozen=True)
class Difference:
    """One thing that A and B do differently with the packets of a region.

    Attributes:
        what: Such as ``permission``, ``meter``, ``marks``, ``queue``.
        a: What A does.
        b: What B does.
        a_places: What decided that in A.
        b_places: The same of B.
        checked: How the example shows it: what `phb explain` says of A and of B; empty where one packet can't.
    """

    what: str
    a: str
    b: str
    a_places: tuple[Place, ...] = ()
    b_places: tuple[Place, ...] = ()
    checked: tuple[str, str] | None = None


@dataclass(frozen=True)
class Example:
    """One packet of a region: `text` is what ``phb explain --packet`` takes, `at` what its ``--at`` takes, or None."""

    text: str
    at: str | None = None


@dataclass(frozen=True)
class Region:
    """Packets with which A and B do different things.

    Attributes:
        number: From 1, the one that matters most first.
        packets: Parts in words; a packet of the region lies in one of them.
        matches: The same parts for programs, as mappings in the words of the YAML format.
        more_parts: Sets of packets that aren't in `packets` and `matches`, where a region has very many.
        share: Of all packets that there are, from 0 to 1; it may be tiny. Each kind of packet (IP version or none,
            protocol, with a tag or without) counts the same, in it each packet.
        capture_packets: Packets of the capture that lie in it; None without a capture.
        capture_bytes: Their bytes.
        differences: At least one.
        example: None where the region has no packet that can be sent.
        failed: Why the example doesn't show the difference, an error of phb; None where it does.
    """

    number: int
    packets: tuple[str, ...]
    matches: tuple[Mapping[str, Any], ...]
    share: float
    differences: tuple[Difference, ...]
    example: Example | None
    capture_packets: int | None = None
    capture_bytes: int | None = None
    more_parts: int = 0
    failed: str | None = None


@dataclass(frozen=True)
class OpenQuestion:
    """Packets of which it isn't known whether A and B treat them alike, in words, and why."""

    packets: str
    why: str


@dataclass(frozen=True)
class Comparison:
    """What two policies do differently.

    Attributes:
        a, b: The two.
        node: The node of two inventories; None of files.
        regions: In the order of what matters; at most as many as were wanted.
        more: Regions that aren't listed.
        open: Questions that weren't answered in the time that was allowed.
        left_out: What isn't compared although one of them says it, in words.
        measure: What regions are ordered by: ``bytes in FILE``, or ``number of packets that there could be``.
        capture_packets: All packets of the capture, None without one.
        capture_bytes: Their bytes.
        moments: Examples of the moments in which different rules count, ISO 8601; one if none asks for the time.
        seconds: How long it took.
        made_up: What no file says and was made up, in words; examples are explained in the same way.
        warnings: What one of them says without effect, and so isn't compared either.
    """

    a: Side
    b: Side
    regions: tuple[Region, ...] = ()
    node: str | None = None
    more: int = 0
    open: tuple[OpenQuestion, ...] = ()
    left_out: tuple[str, ...] = ()
    measure: str = "number of packets that there could be"
    capture_packets: int | None = None
    capture_bytes: int | None = None
    moments: tuple[str, ...] = ()
    seconds: float = 0.0
    made_up: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def alike(self) -> bool:
        """Whether every packet is treated alike, with nothing left open."""
        return not (self.regions or self.more or self.open)


@dataclass(frozen=True)
class Document:
    """Comparisons of one or more nodes.

    Attributes:
        only_a, only_b: Nodes that only one of two inventories has.
        made: When, ISO 8601.
        made_by: ``phb`` and its version.
    """

    comparisons: tuple[Comparison, ...]
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    made: str = ""
    made_by: str = field(default="phb")

    @property
    def alike(self) -> bool:
        """Whether all nodes are there on both sides and treat every packet alike."""
        return not (self.only_a or self.only_b) and all(each.alike for each in self.comparisons)

    def as_json(self) -> dict[str, Any]:
        """Give it for programs; the fields are those of the classes here, and ``alike``."""
        made = asdict(self)
        for each, comparison in zip(made["comparisons"], self.comparisons, strict=True):
            each["alike"] = comparison.alike
        return {"alike": self.alike, **made}
