"""The scheduling tables of docs/inside/scheduling.md: the runs of the checks, measured anew."""

from __future__ import annotations

from fractions import Fraction

from phb_conform import rfc3246
from phb_conform.fair_queueing import SCHEDULERS
from phb_conform.scheduling import delays_of, run_fairly, service_of
from phb_device import Device
from phb_model.packets import Session

BEGIN = (
    "<!-- measured: PHB_RECORD=1 pytest ptf-tests/tests/conform/scheduling writes what stands between these lines -->\n"
)
END = "<!-- end of measured -->\n"


def rewrite(document: str, tables: str) -> str:
    """Return the document with these tables between its marks."""
    before, rest = document.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}{tables}{END}{after}"


def measure(device: Device) -> str:
    """Return all tables; the device is one of virtual time."""
    service, delay = _fair_queueing(device)
    return f"{service}\n{delay}\n{_expedited(device)}"


def _fair_queueing(device: Device) -> tuple[str, str]:
    service = [
        "| scheduler | traffic | packets, over all pairs | sessions furthest apart | part of the bound |",
        "|---|---|---|---|---|",
    ]
    delay = [
        "| scheduler | session | share | backlogged: behind reserved rate (bound), behind fluid server | bursty |",
        "|---|---|---|---|---|",
    ]
    for scheduler in SCHEDULERS:
        total = sum(scheduler.shares.values())
        columns: dict[Session, list[str]] = {session: [] for session in scheduler.shares}
        for pattern, outcome in run_fairly(device, scheduler).items():
            gaps = service_of(scheduler, outcome)
            worst = max(gaps, key=lambda gap: gap.measured / gap.bound)
            packets = sum(gap.packets for gap in gaps)
            part = float(worst.measured / worst.bound)
            service.append(f"| {scheduler.name} | {pattern} | {packets} | {worst.one}, {worst.other} | {part:.3f} |")
            for each in delays_of(scheduler, outcome):
                columns[each.session].append(
                    f"{_ms(each.behind_reserved)} ({_ms(each.bound)}), {_ms(each.behind_fluid)}"
                )
        for session, share in scheduler.shares.items():
            part = 100 * float(share / total)
            delay.append(f"| {scheduler.name} | {session} | {part:.2f} % | {' | '.join(columns[session])} |")
    return "".join(f"{row}\n" for row in service), "".join(f"{row}\n" for row in delay)


def _expedited(device: Device) -> str:
    rows = [
        "| line, Mbit/s | other classes' packets, bytes | transmit ring | E_a, µs | E_p, µs | theory, µs |",
        "|---|---|---|---|---|---|",
    ]
    device.reset()
    device.push(rfc3246.POLICY)
    for setting in rfc3246.SETTINGS:
        _, _, terms = rfc3246.measure(device, setting)
        rows.append(
            f"| {setting.line_bps // 1_000_000} | {setting.longest} | {setting.transmit_ring} "
            f"| {_us(terms.aggregate)} | {_us(terms.packet)} | {_us(setting.theory_ns)} |"
        )
    return "".join(f"{row}\n" for row in rows)


def _ms(time_ns: Fraction) -> str:
    return f"{float(time_ns) / 1e6:.3f}"


def _us(time_ns: Fraction) -> str:
    return f"{float(time_ns) / 1e3:,.1f}"
