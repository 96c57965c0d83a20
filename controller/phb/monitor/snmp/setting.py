"""Sets: managers write scalars of SLAPM-MIB, and make, change and end rows of its monitor table.

A set is tested whole, then done whole or not at all (RFC 2741, section 7.2.4). Rows are those of RFC 2579's RowStatus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from phb.monitor.snmp import slapm
from phb.monitor.snmp.agentx import Error, Oid, Syntax, VarBind
from phb.monitor.snmp.master import SetError
from phb.monitor.snmp.monitors import INTERVAL_S, OWN, Control, Monitor, RowStatus, Window, copy_of
from phb.monitor.snmp.slapm import Base
from phb.monitor.snmp.switches import KnownSwitch

MOST_MONITORS: Final = 1_000
"""Rows that managers may make, at all switches together."""
MOST_OWNER: Final = 16
"""Bytes of an owner's name."""

_DEFAULT_CONTROL: Final = frozenset({Control.MINIMUM_RATE, Control.MAXIMUM_RATE, Control.MAXIMUM_DELAY})
_POSSIBLE: Final = frozenset({*_DEFAULT_CONTROL, Control.AGGREGATE_TRAPS})
_THRESHOLDS: Final = {
    slapm.MINIMUM_LOW: (Control.MINIMUM_RATE, False),
    slapm.MINIMUM_HIGH: (Control.MINIMUM_RATE, True),
    slapm.MAXIMUM_HIGH: (Control.MAXIMUM_RATE, False),
    slapm.MAXIMUM_LOW: (Control.MAXIMUM_RATE, True),
    slapm.DELAY_HIGH: (Control.MAXIMUM_DELAY, False),
    slapm.DELAY_LOW: (Control.MAXIMUM_DELAY, True),
}
# Number, and the least and the most value of each scalar that may be written.
_SCALARS: Final = {
    1: ("spin_lock", 0, 2**31 - 1),
    6: ("purge_s", 0, 3600),
    7: ("trap_enable", 1, 2),
    8: ("trap_filter", 0, 64),
}

Rows = dict[tuple[str, int], Monitor]
Find = Callable[[bytes], tuple[KnownSwitch, Rows] | None]


@dataclass(slots=True)
class Draft:
    """A row as it would be; `asked` is what the set asks of its RowStatus, with the place of the binding."""

    monitor: Monitor
    exists: bool
    asked: tuple[RowStatus, int] | None = None
    place: int = 0


@dataclass(slots=True)
class SetOf:
    """A set that was tested."""

    base: Base
    scalars: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[Rows, tuple[str, int], Monitor | None]] = field(default_factory=list)
    changed: Callable[[], None] = lambda: None
    _before: list[tuple[Rows, tuple[str, int], Monitor | None]] = field(default_factory=list)
    _scalars_before: dict[str, int] = field(default_factory=dict)

    def commit(self) -> None:
        """Do it."""
        self._scalars_before = {name: getattr(self.base, name) for name in self.scalars}
        self._before = [(rows, key, rows.get(key)) for rows, key, _ in self.rows]
        self._write(self.scalars, self.rows)

    def undo(self) -> None:
        """Have everything as it was before."""
        self._write(self._scalars_before, self._before)

    def _write(self, scalars: Mapping[str, int], rows: Sequence[tuple[Rows, tuple[str, int], Monitor | None]]) -> None:
        for name, value in scalars.items():
            setattr(self.base, name, value)
        for where, key, monitor in rows:
            if monitor is None:
                where.pop(key, None)
            else:
                where[key] = monitor
        if rows:
            self.changed()


def prepare(base: Base, bindings: Sequence[VarBind], find: Find, made: int, changed: Callable[[], None]) -> SetOf:
    """Test a set.

    Args:
        base: The agent's scalars.
        bindings: What is to be set.
        find: Gives the switch with a system address, and its monitors.
        made: Rows that managers have made so far.
        changed: Called when rows came, went or changed.

    Raises:
        SetError: It can't be done; the first binding at fault says why.
    """
    wanted = SetOf(base, changed=changed)
    drafts: dict[tuple[int, str, int], tuple[Rows, Draft]] = {}
    depth = len(slapm.MONITORS)
    for place, binding in enumerate(bindings):
        if binding.name[: len(slapm.BASE)] == slapm.BASE:
            _scalar(wanted, binding, place)
        elif binding.name[:depth] == slapm.MONITORS and len(binding.name) > depth:
            column, index = binding.name[depth], binding.name[depth + 1 :]
            rows, draft = _draft(index, place, find, drafts)
            _column(draft, column, binding, place)
        else:
            raise SetError(Error.NOT_WRITABLE, place)
    for rows, draft in drafts.values():
        monitor = _settled(draft)
        made += (monitor is not None) - draft.exists
        if made > MOST_MONITORS and not draft.exists:
            raise SetError(Error.RESOURCE_UNAVAILABLE, draft.place)
        wanted.rows.append((rows, draft.monitor.key, monitor))
    return wanted


def _scalar(wanted: SetOf, binding: VarBind, place: int) -> None:
    number, *rest = binding.name[len(slapm.BASE) :] or (0,)
    if number not in _SCALARS or rest != [0]:
        raise SetError(Error.NOT_WRITABLE, place)
    name, least, most = _SCALARS[number]
    value = _number(binding, Syntax.INTEGER, least, most, place)
    if name == "spin_lock":  # TestAndIncr of RFC 2579
        if value != wanted.base.spin_lock:
            raise SetError(Error.INCONSISTENT_VALUE, place)
        value = (value + 1) % (1 << 31)
    wanted.scalars[name] = value


def _draft(
    index: Oid, place: int, find: Find, drafts: dict[tuple[int, str, int], tuple[Rows, Draft]]
) -> tuple[Rows, Draft]:
    """Find what a set's row is, or would be."""
    try:
        owner_octets, rest = _octets(index)
        address, (number,) = _octets(rest)
        owner = owner_octets.decode()
    except (ValueError, IndexError):
        raise SetError(Error.NO_CREATION, place) from None
    found = find(address)
    if len(owner_octets) > MOST_OWNER or found is None:
        raise SetError(Error.NO_CREATION, place)
    if owner == OWN:
        raise SetError(Error.NOT_WRITABLE, place)
    switch, rows = found
    key = id(rows), owner, number
    if key not in drafts:
        existing = rows.get((owner, number))
        if existing is None:
            entry = next((each for each in switch.present() if each.number == number), None)
            if entry is None:
                raise SetError(Error.INCONSISTENT_NAME, place)
            draft = Draft(Monitor(entry, owner, _DEFAULT_CONTROL, Window(INTERVAL_S)), False, place=place)
        else:
            draft = Draft(copy_of(existing), True, place=place)
        drafts[key] = rows, draft
    return drafts[key]


def _octets(index: Oid) -> tuple[bytes, Oid]:
    length = index[0]
    if length >= len(index):
        raise ValueError
    return bytes(index[1 : length + 1]), index[length + 1 :]


def _column(draft: Draft, column: int, binding: VarBind, place: int) -> None:
    monitor = draft.monitor
    if column == slapm.ROW_STATUS:
        draft.asked = RowStatus(_number(binding, Syntax.INTEGER, 1, 6, place)), place
        return
    if column not in (slapm.CONTROL, slapm.INTERVAL, *_THRESHOLDS):
        raise SetError(Error.NOT_WRITABLE, place)
    if draft.exists and monitor.status is RowStatus.ACTIVE:
        raise SetError(Error.INCONSISTENT_VALUE, place)
    if column == slapm.CONTROL:
        if binding.syntax is not Syntax.OCTETS or not isinstance(binding.value, bytes):
            raise SetError(Error.WRONG_TYPE, place)
        control = slapm.places_of(binding.value)
        if len(binding.value) > 1 or not control <= _POSSIBLE:
            raise SetError(Error.WRONG_VALUE, place)
        monitor.control = control
    elif column == slapm.INTERVAL:
        monitor.window = Window(_number(binding, Syntax.GAUGE32, 15, 86_400, place))
    else:
        value = _number(binding, Syntax.GAUGE32, 0, 2**32 - 1, place)
        monitor.given = {**monitor.given, _THRESHOLDS[column]: value}


def _settled(draft: Draft) -> Monitor | None:
    """Give the row as it is after the set; None is no row."""
    monitor = draft.monitor
    asked, place = draft.asked or (None, draft.place)
    if asked is RowStatus.DESTROY:
        return None
    creates = asked in (RowStatus.CREATE_AND_GO, RowStatus.CREATE_AND_WAIT)
    if asked is RowStatus.NOT_READY:
        raise SetError(Error.WRONG_VALUE, place)
    if asked is None and not draft.exists:
        raise SetError(Error.INCONSISTENT_NAME, place)
    if creates is draft.exists and asked is not None:
        raise SetError(Error.INCONSISTENT_VALUE, place)
    if asked in (RowStatus.ACTIVE, RowStatus.CREATE_AND_GO):
        if not monitor.ready:
            raise SetError(Error.INCONSISTENT_VALUE, place)
        return replace(monitor, status=RowStatus.ACTIVE)
    return replace(monitor, status=RowStatus.NOT_IN_SERVICE if monitor.ready else RowStatus.NOT_READY)


def _number(binding: VarBind, syntax: Syntax, least: int, most: int, place: int) -> int:
    if binding.syntax is not syntax or not isinstance(binding.value, int):
        raise SetError(Error.WRONG_TYPE, place)
    if not least <= binding.value <= most:
        raise SetError(Error.WRONG_VALUE, place)
    return binding.value
