"""Known kinds of differences from bmv2, each with its reason and how a difference is recognized as one.

Where it is possible, by trying: one of the two switches gets an artifact changed so that the reason is gone, or both
get the packet alone, and what no longer differs is of that kind.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from phb_switch import LoadError
from phb_switch.differential.trial import Difference, Outcome, differences_from_bmv2, ours
from phb_switch.stf.client import RefusedError
from phb_switch.stf.statements import SendPacket

Change = Callable[[Any], bool]
"""Changes an artifact in place; False if there is nothing to change."""


def _accept_without_case(artifact: Any) -> bool:
    """Has states accept where no case fits, as bmv2 does."""
    changed = False
    for parser in artifact["parsers"]:
        for state in parser["parse_states"]:
            cases = state["transitions"]
            if cases and not any("default" in (each.get("type"), each["value"]) for each in cases):
                cases.append({"type": "default", "value": None, "mask": None, "next_state": None})
                changed = True
    return changed


def _clear_headers(artifact: Any) -> bool:
    """Sets the fields of all headers to zero where a parser begins, as ours has them."""
    types = {each["name"]: each["fields"] for each in artifact["header_types"]}
    cleared = [
        {
            "op": "set",
            "parameters": [{"type": "field", "value": [header["name"], name]}, {"type": "hexstr", "value": "0x0"}],
        }
        for header in artifact["headers"]
        if not header["metadata"]
        for name, bits, *_ in types[header["header_type"]]
        if bits != "*"
    ]
    for parser in artifact["parsers"]:
        for state in parser["parse_states"]:
            if state["name"] == parser["init_state"]:
                state["parser_ops"] = cleared + state["parser_ops"]
    return bool(cleared)


@dataclass(frozen=True)
class Kind:
    """A known kind of difference.

    Attributes:
        name: in the report
        reason: why the switches differ, and which of them is right by what
        ours: changes the artifact so that ours does as bmv2 does with the program's own
        theirs: changes the artifact so that bmv2 does as ours does with the program's own
        of_earlier: bmv2 does as ours with a packet that comes alone, with which ours does as it does behind others
        of_program: words of an artifact that depend on what the two can't have in common
        of_message: words of a difference; with `of_program`, both have to be there
    """

    name: str
    reason: str
    ours: Change | None = None
    theirs: Change | None = None
    of_earlier: bool = False
    of_program: re.Pattern[str] | None = None
    of_message: re.Pattern[str] | None = None


_OF_TIME = "|".join(
    (
        r'_metadata","((in|e)gress_global_timestamp|enq_timestamp|enq_qdepth|deq_timedelta|deq_qdepth)"',
        '"op":"modify_field_rng_uniform"',
        '"op":"execute_meter"',
        '"direct_meters":"',
    )
)

_OF_CELL = (
    r'"op":"(count|register_write|register_read|execute_meter)","parameters":'
    r'\[[^]]*"type":"(field|runtime_data|expression)"'
)

KINDS = (
    Kind(
        "not in its P4Runtime",
        "bmv2's P4Runtime has no registers, takes no keys for which the p4info has no width (`error`), and no entries "
        "where a type has another width for controllers than in the program (`@p4runtime_translation`); Thrift does.",
        of_message=re.compile(
            r"^statement: .* refuses \((Register (reads|writes) are not supported yet"
            r"|Bytestring provided does not fit within 0 bits|Error when adding match entry to target)\)"
        ),
    ),
    Kind(
        "NoMatch",
        "A select has no case that fits. P4_16 (12.6) has the parser end with `error.NoMatch`, as ours does; bmv2 "
        "accepts without an error.",
        ours=_accept_without_case,
    ),
    Kind(
        "no such cell",
        "An index beyond the end of counters, meters or registers. A bmv2 that was built with NDEBUG, as for speed, "
        "doesn't check it, and uses the memory that is there: other cells, or it ends.",
        of_program=re.compile(_OF_CELL),
        of_message=re.compile(r", cell \d+: "),
    ),
    Kind(
        "left over",
        "A program reads a field of a header that isn't valid, e.g. because the frame was too short for it. P4_16 "
        "(8.25) leaves the value open. Ours is zero; bmv2 marks headers as not valid between packets and keeps their "
        "fields (`PHV::reset`; copies get those of valid headers only, `PHV::copy_headers`), so that it reads what an "
        "earlier packet had there.",
        theirs=_clear_headers,
        of_earlier=True,
    ),
    Kind(
        "beyond the end",
        "A header of P4_14 whose length is an expression of its own fields: bmv2 looks whether the frame has its fixed "
        "part, and then reads as many bytes as the expression says, also beyond its end (`Header::extract_VL`). "
        "Ours ends parsing with `error.PacketTooShort`, as both do in P4_16.",
        of_program=re.compile('"length_exp":{'),
    ),
    Kind(
        "loop",
        "A loop, or a packet that is resubmitted or recirculated, goes on for ever, or for very long: ours drops the "
        "packet after a million steps or 64 passes (`passes`); bmv2 goes on, and what comes after it waits.",
        of_program=re.compile('"op":"(_jump|resubmit|recirculate)"'),
        of_message=re.compile("didn't come"),
    ),
    Kind(
        "time",
        "The program reads the time, queues or random numbers, or meters packets, and bmv2 runs by the clock.",
        of_program=re.compile(_OF_TIME),
    ),
)


@dataclass(frozen=True)
class Named:
    """A difference and its kind, None if it is of none that is known."""

    difference: Difference
    kind: Kind | None


def named(outcome: Outcome) -> list[Named]:
    """An outcome's differences with their kinds; for some kinds the case runs again."""
    found: list[Named] = []
    left = [each for each in outcome.differences if each.is_of_bmv2]
    program = json.dumps(json.loads(outcome.case.program.artifact) | {"field_aliases": []}, separators=(",", ":"))
    for kind in KINDS:
        if not left:
            break
        still = _without(kind, outcome, left, program)
        found += [Named(each, kind) for each in left if each not in still]
        left = still
    return [*found, *(Named(each, None) for each in outcome.differences if each in left or not each.is_of_bmv2)]


def _without(kind: Kind, outcome: Outcome, left: Sequence[Difference], program: str) -> list[Difference]:
    """The differences that aren't of a kind."""
    if kind.ours or kind.theirs:
        still = _tried_without(kind, outcome, left)
        return [each for each in still if not (kind.of_earlier and _is_of_earlier(each, outcome))]
    if kind.of_program is not None and not kind.of_program.search(program):
        return list(left)
    return [each for each in left if kind.of_message and not kind.of_message.search(each.message)]


def _tried_without(kind: Kind, outcome: Outcome, left: Sequence[Difference]) -> list[Difference]:
    changed = [json.loads(outcome.case.program.artifact) for _ in range(2)]
    did = [
        change is not None and change(artifact)
        for change, artifact in zip((kind.ours, kind.theirs), changed, strict=True)
    ]
    if not any(did):
        return list(left)
    # What was refused didn't run.
    still = [each for each in left if each.is_of_statement]
    left = [each for each in left if not each.is_of_statement]
    for plane in dict.fromkeys(each.plane for each in left):
        mine = [each for each in left if each.plane == plane]
        case = outcome.ran[plane]
        try:
            result = ours(case, plane, json.dumps(changed[0]))
            places = {each.place for each in differences_from_bmv2(case, plane, result, json.dumps(changed[1]))}
        except (RefusedError, LoadError):
            still += mine
        else:
            still += [each for each in mine if each.place in places]
    return still


def _is_of_earlier(difference: Difference, outcome: Outcome) -> bool:
    """Whether it is for the packets before: alone, it leaves both switches as it leaves ours behind them."""
    if difference.port is None or not difference.line:
        return False
    case, plane = outcome.ran[difference.plane], difference.plane
    others = {each.line for each in case.statements if isinstance(each, SendPacket)} - {difference.line}
    alone = case.without(others)
    result = ours(alone, plane)
    behind = [each for each in ours(case, plane).sent.get(difference.port, ()) if each.line == difference.line]
    if result.sent.get(difference.port, []) != behind:
        return False
    return difference.place not in {each.place for each in differences_from_bmv2(alone, plane, result)}
