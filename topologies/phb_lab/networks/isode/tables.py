"""Tables of the messages, and of the same messages with other options."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from phb_lab.report import judging
from phb_lab.study import Run
from phb_lab.tables import plain

from .evaluation import Details, Transfer
from .tests import Setting


def details_of(run: Run[Setting]) -> Details:
    """Give the details of one of this network's runs."""
    found: Details = run.details
    return found


def transfer_table(runs: Sequence[Run[Setting]]) -> Table:
    """Every message and the load, and what the captures of the router say of them."""
    table = plain(
        "test, message",
        *("size", "seconds", "kbit/s", "sent", "lost", "again", "inside", "load"),
        title="Messages, and what the captures of the router say of their data segments",
        caption="sent: segments; lost: dropped by the router; again: sent once more. inside: mean seconds in the "
        "router. load: share of its datagrams that arrived.",
    )
    for run in runs:
        loads = [delivery for delivery in run.outcome.deliveries if delivery.sent_packets]
        told = sum(each.received_packets + each.lost_packets for each in loads)
        share = sum(each.received_packets for each in loads) / told if told else 0
        table.add_row(run.test.name, *[""] * 7, f"{share:.0%}".replace("%", " %") if loads else "")
        for transfer in details_of(run).transfers:
            done = transfer.transaction is not None
            table.add_row(
                f"  {transfer.sending.precedence}",
                transfer.sending.size,
                judging.number(transfer.seconds, "s") if done else "-",
                judging.number(transfer.kbps, "kbit/s") if done else "-",
                *_counts(transfer),
            )
    return table


def _counts(transfer: Transfer) -> tuple[str, ...]:
    if not transfer.segments:
        return ("", "", "", "")
    return f"{transfer.segments}", f"{transfer.lost}", f"{transfer.repeated}", judging.number(transfer.inside_s, "s")


def circumstances_table(runs: Sequence[Run[Setting]], defaults: Mapping[str, int]) -> Table:
    """Rates of the same messages with other options, a row for each run."""
    table = plain(
        "test",
        folds=True,
        title="The same tests under other circumstances: kbit/s, and the share of the unloaded rate",
        caption="-: not delivered within the test",
    )
    for column in ("with", "messages"):
        table.add_column(column, overflow="fold")
    for run in runs:
        changed = ", ".join(f"{name} {value}" for name, value in run.options.items() if value != defaults[name])
        best = {figure.quantity: figure.measured for figure in run.figures}
        parts = []
        for quantity in dict.fromkeys(transfer.sending.quantity for transfer in details_of(run).transfers):
            rate = f"{best[f'{quantity}.kbps']:.3g}" if f"{quantity}.s" in best else "-"
            share = f" ({best[f'{quantity}.of_base']:.0%})" if f"{quantity}.of_base" in best else ""
            parts.append(f"{quantity.replace('_', ' ')} {rate}{share}")
        table.add_row(run.test.name, changed or "as above", ", ".join(parts))
    return table
