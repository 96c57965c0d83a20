"""From a load to adapters and routers, each step with its arithmetic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10

from phb_lab.errors import UsageError
from phb_lab.planning.capacity import KINDS, Capacities, Capacity
from phb_lab.planning.requirement import Requirement

SECONDS_PER_HOUR = 3_600
MEGA = 1_000_000
GIGA = 1_000_000_000


@dataclass(frozen=True)
class Step:
    """One line of the calculation.

    Attributes:
        name: its key in a solution's ``published``.
        label: in words.
        arithmetic: as one would write it down; empty for what is given.
        published: the source's own result.
        origin: of a capacity.
    """

    name: str
    label: str
    arithmetic: str
    value: float
    unit: str
    published: float | None = None
    origin: str = ""


@dataclass(frozen=True)
class Failure:
    """CIPs that are left when units fail, those first that have most CIPs.

    Attributes:
        unit: ``CIP`` or ``router``.
        failed: how many of them.
        cips_left: how many share the load.
        use: load and limit of each CIP that is left, by kind of :data:`KINDS`.
        carried: whether each load is within its limit.
    """

    unit: str
    failed: int
    cips_left: int
    use: Mapping[str, tuple[Fraction, Fraction]]
    carried: bool


@dataclass(frozen=True)
class Plan:
    """CIPs and routers that a load takes, with the arithmetic.

    Attributes:
        cips: planned.
        cips_needed: by the arithmetic.
        routers: with spares.
        cips_may_fail: how many CIPs, any of them, so that the load is within every capacity of those that are left.
        routers_may_fail: how many routers, likewise.
        failures: of one CIP, of one router, and of as many routers as may fail.
        met: whether the planned CIPs carry the load.
    """

    requirement: Requirement
    steps: tuple[Step, ...]
    cips: int
    cips_needed: int
    routers: int
    cips_may_fail: int
    routers_may_fail: int
    failures: tuple[Failure, ...]
    met: bool
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class _Demand:
    """One kind of load: how much, what a CIP is planned for, and its limit."""

    kind: str
    amount: Fraction
    planned: Fraction
    most: Fraction
    why: str


class _Sheet:
    def __init__(self, requirement: Requirement) -> None:
        self._published = requirement.published or {}
        self.steps: list[Step] = []

    def write(
        self, name: str, label: str, arithmetic: str, value: Fraction | int, unit: str, origin: str = ""
    ) -> Fraction:
        shown = int(value) if value == int(value) else float(value)
        self.steps.append(Step(name, label, arithmetic, shown, unit, self._published.get(name), origin))
        return Fraction(value)


def plan(requirement: Requirement, capacities: Capacities) -> Plan:
    """Work out a requirement.

    Raises:
        UsageError: it needs a capacity that is not known of this mode.
    """
    sheet = _Sheet(requirement)
    demands = _demands(requirement, capacities, sheet)
    needed = max(_needed(demand, sheet) for demand in demands)
    sheet.write("cips-needed", "CIPs needed", "the largest of these", needed, "CIPs")
    cips = requirement.cips or needed
    label = "CIPs planned" if requirement.cips is None else "CIPs planned, as given"
    sheet.write("cips", label, "", cips, "CIPs")
    for demand in demands:
        _show_use(demand, cips, requirement, sheet)

    per_router = requirement.cips_per_router
    working = ceil(cips / per_router)
    spare = requirement.spare_routers
    routers = working + spare
    sheet.write(
        "routers",
        "routers",
        f"{count_of(cips, 'CIP')} / {per_router:,} per router, rounded up, + {spare:,} spare",
        routers,
        "",
    )
    amounts = {demand.kind: demand.amount for demand in demands}
    total = cips + spare * per_router

    def after(unit: str, failed: int) -> Failure:
        left = total - failed if unit == "CIP" else _left_by_routers(total, per_router, failed)
        use = _use(requirement, capacities, amounts, left) if left else {}
        return Failure(unit, failed, left, use, left > 0 and all(each <= most for each, most in use.values()))

    cips_may_fail = _most(total, lambda failed: after("CIP", failed).carried)
    may_fail = _most(routers, lambda failed: after("router", failed).carried)
    sheet.write("cips-may-fail", "CIPs that may fail", _left(after("CIP", cips_may_fail)), cips_may_fail, "")
    sheet.write("may-fail", "routers that may fail", _left(after("router", may_fail)), may_fail, "")
    failures = [after("CIP", 1), after("router", 1), *([after("router", may_fail)] if may_fail > 1 else [])]
    met = all(each <= most for each, most in _use(requirement, capacities, amounts, cips).values())
    return Plan(
        requirement=requirement,
        steps=tuple(sheet.steps),
        cips=cips,
        cips_needed=needed,
        routers=routers,
        cips_may_fail=cips_may_fail,
        routers_may_fail=may_fail,
        failures=tuple(failures),
        met=met,
        remarks=(*requirement.remarks, *_remarks(requirement, demands, cips, needed, met=met)),
    )


def _left_by_routers(total: int, per_router: int, failed: int) -> int:
    """CIPs of the other routers when the fullest fail. Spare routers are full, too, and take load."""
    return max(0, total - failed * per_router)


def _use(
    requirement: Requirement, capacities: Capacities, amounts: Mapping[str, Fraction], cips: int
) -> dict[str, tuple[Fraction, Fraction]]:
    """By kind, load and limit of each of so many CIPs; the limit is that with as many sessions."""
    sessions = amounts["lus"] / cips if "lus" in amounts else None
    return {
        kind: (amount / cips, _find(requirement, capacities, kind, sessions).value) for kind, amount in amounts.items()
    }


def _most(units: int, carried: Callable[[int], bool]) -> int:
    """How many units may fail, by halving: the fewer are left, the more each gets."""
    enough, too_many = 0, units + 1
    while too_many - enough > 1:
        middle = (enough + too_many) // 2
        enough, too_many = (middle, too_many) if carried(middle) else (enough, middle)
    return enough


def _left(failure: Failure) -> str:
    if not failure.failed:
        return "the failure of one leaves too few"
    each = ", ".join(
        f"{in_digits(amount / KINDS[kind][1])} of {in_digits(most / KINDS[kind][1])} {KINDS[kind][0]}"
        for kind, (amount, most) in failure.use.items()
    )
    left = f"{count_of(failure.cips_left, 'CIP')} {'is' if failure.cips_left == 1 else 'are'} left"
    return f"then {left}, each with {each}"


def in_words(failure: Failure) -> str:
    """Describe a failure's effect in a sentence."""
    who = f"any {failure.unit} fails" if failure.failed == 1 else f"any {count_of(failure.failed, failure.unit)} fail"
    if not failure.cips_left:
        return f"if {who}: no CIP is left"
    return f"if {who}: {_left(failure).removeprefix('then ')}{'' if failure.carried else ': more than it can do'}"


def _demands(requirement: Requirement, capacities: Capacities, sheet: _Sheet) -> list[_Demand]:
    demands = []
    if requirement.data_bytes is not None and requirement.window_s is not None:
        rate = requirement.data_bytes / requirement.window_s
        sheet.write(
            "rate",
            "rate asked for",
            f"{in_digits(requirement.data_bytes / GIGA)} GB / {in_digits(requirement.window_s)} s",
            rate / MEGA,
            "MB/s",
        )
        demands.append(_rated("bytes_per_s", rate, _find(requirement, capacities, "bytes_per_s"), sheet))
    sessions_per_cip = None
    if requirement.lus is not None:
        active = requirement.lus * requirement.active
        share = f"{in_digits(requirement.active * 100)} %"
        arithmetic = f"{in_digits(requirement.lus)} x {share}" if requirement.active < 1 else ""
        sheet.write("active", "sessions at a time", arithmetic, active, "sessions")
        limit = _find(requirement, capacities, "lus")
        sheet.write("lus-limit", "sessions of a CIP", "", limit.value, "sessions", limit.origin)
        planned = Fraction(requirement.lus_per_cip or limit.value)
        if planned > limit.value:
            raise UsageError(f"lus-per-cip: found {in_digits(planned)}, expected at most {in_digits(limit.value)}")
        if requirement.lus_per_cip is not None:
            sheet.write("lus-per-cip", "sessions planned for a CIP", "", planned, "sessions", "given")
        sessions_per_cip = planned
        demands.append(_Demand("lus", active, planned, limit.value, "sessions"))
    if requirement.pus is not None:
        limit = _find(requirement, capacities, "pus")
        sheet.write("pus-limit", "physical units of a CIP", "", limit.value, "physical units", limit.origin)
        demands.append(_Demand("pus", Fraction(requirement.pus), limit.value, limit.value, "physical units"))
    if requirement.transactions_per_s is not None:
        rate = requirement.transactions_per_s
        sheet.write("transactions", "transactions asked for", "", rate, "transactions/s")
        capacity = _find(requirement, capacities, "transactions_per_s", sessions_per_cip)
        demands.append(_rated("transactions_per_s", rate, capacity, sheet))
    return demands


def _rated(kind: str, amount: Fraction, capacity: Capacity, sheet: _Sheet) -> _Demand:
    unit, scale = KINDS[kind]
    sheet.write(f"{kind}-limit", "one CIP", "", capacity.value / scale, unit, capacity.origin)
    return _Demand(kind, amount, capacity.value, capacity.value, unit)


def _find(requirement: Requirement, capacities: Capacities, kind: str, sessions: Fraction | None = None) -> Capacity:
    """The capacity measured with at least so many sessions, or with the most there are."""
    if kind not in capacities:
        known = ", ".join(KINDS[each][0] for each in capacities)
        raise UsageError(f"mode {requirement.mode}: {KINDS[kind][0]} are not known of it, only {known}")
    found = sorted(capacities[kind], key=lambda capacity: capacity.at or 0)
    if sessions is not None:
        for capacity in found:
            if capacity.at is not None and capacity.at >= sessions:
                return capacity
    return found[-1]


def _needed(demand: _Demand, sheet: _Sheet) -> int:
    unit, scale = KINDS[demand.kind]
    amount, planned = in_digits(demand.amount / scale), in_digits(demand.planned / scale)
    ratio = demand.amount / demand.planned
    count = ceil(ratio)
    arithmetic = f"{amount} / {planned} {unit} = {in_digits(ratio, whole=False)}, rounded up"
    sheet.write(f"cips-for-{demand.kind}", f"CIPs for {demand.why}", arithmetic, count, "CIPs")
    return count


def _show_use(demand: _Demand, cips: int, requirement: Requirement, sheet: _Sheet) -> None:
    unit, scale = KINDS[demand.kind]
    most = demand.most / scale
    arithmetic = f"{cips:,} x {in_digits(most)} {unit}"
    if demand.kind == "bytes_per_s":
        rate = sheet.write("rate-of-plan", "rate of the plan", arithmetic, cips * most, unit)
        per_hour = sheet.write(
            "per-hour", "in an hour", f"{in_digits(rate)} MB/s x 3,600 s", rate * SECONDS_PER_HOUR / 1_000, "GB"
        )
        data = Fraction(requirement.data_bytes or 0) / GIGA
        hours = sheet.write(
            "hours", "time it takes", f"{in_digits(data)} GB / {in_digits(per_hour)} GB/h", data / per_hour, "h"
        )
        sheet.write("minutes", "in minutes", f"{in_digits(hours, decimals=3)} h x 60", hours * 60, "min")
    elif demand.kind == "transactions_per_s":
        rate = sheet.write("transactions-of-plan", "transactions of the plan", arithmetic, cips * most, unit)
        sheet.write(
            "transactions-per-hour",
            "in an hour",
            f"{in_digits(rate)}/s x 3,600 s",
            rate * SECONDS_PER_HOUR,
            "transactions",
        )
    elif demand.kind == "lus":
        sheet.write("sessions-of-plan", "sessions of the plan", arithmetic, cips * most, unit)
    used = demand.amount / (cips * demand.most)
    sheet.write(
        f"use-of-{demand.kind}",
        f"used of it ({unit})",
        f"{in_digits(demand.amount / scale)} / {in_digits(cips * most)}",
        used * 100,
        "%",
    )


def _remarks(requirement: Requirement, demands: list[_Demand], cips: int, needed: int, *, met: bool) -> list[str]:
    remarks = []
    if not met:
        remarks.append(f"{count_of(cips, 'CIP')} {'does' if cips == 1 else 'do'} not carry it: {needed:,} are needed")
    elif cips < needed:
        each = ", ".join(
            f"{in_digits(demand.amount / cips / KINDS[demand.kind][1])} {KINDS[demand.kind][0]}"
            for demand in demands
            if demand.amount / cips > demand.planned
        )
        remarks.append(
            f"{count_of(cips, 'CIP')} {'is' if cips == 1 else 'are'} fewer than the {needed:,} of the arithmetic: "
            f"each gets {each}, more than planned"
        )
    if cips > needed and requirement.cips is not None:
        remarks.append(f"{count_of(needed, 'CIP')} would do")
    return remarks


def in_digits(value: Fraction | float, *, decimals: int = 2, whole: bool = True) -> str:
    """Format with separators and no needless digits: 250, 16,000, 36.8, 132.48; three of what is small: 0.000125.

    Without ``whole``, zeros behind the point stay.
    """
    if 0 < value < 0.1:
        decimals = 2 - floor(log10(value))
    text = f"{float(value):,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if whole else text


def count_of(number: int, what: str) -> str:
    """A number of things: 1 CIP, 2 CIPs."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
