"""Result files side by side: the figures that all of them have, and how far each is from the first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from rich.table import Table
from rich.text import Text

from phb_lab.errors import UsageError
from phb_lab.figures import Figure
from phb_lab.report import judging
from phb_lab.report.document import ResultsFile
from phb_lab.report.table import Name
from phb_lab.tables import plain


@dataclass(frozen=True)
class ComparedFigure:
    """One figure in several runs, in the order of the files.

    ``reference`` is the first file's value, or of a single file the published one.
    """

    figures: tuple[Figure, ...]
    reference: float | None

    @property
    def ratios(self) -> tuple[float | None, ...]:
        """Each value that is compared, over the reference; None where that is nothing or 0."""
        return tuple(value / self.reference if self.reference else None for value in self._compared)

    def differs(self, within: float) -> bool:
        """Whether any of them is further from the reference than this share of it."""
        if self.reference is None:
            return False
        return any(abs(value - self.reference) > within * abs(self.reference) for value in self._compared)

    @property
    def _compared(self) -> tuple[float, ...]:
        values = tuple(figure.measured for figure in self.figures)
        return values[1:] if len(values) > 1 else values


@dataclass(frozen=True)
class Comparison:
    """Several results files of one network, or a single one with what the source publishes."""

    files: tuple[ResultsFile, ...]
    rows: tuple[ComparedFigure, ...]

    def beyond(self, within: float) -> tuple[ComparedFigure, ...]:
        """The figures that differ by more than this share."""
        return tuple(row for row in self.rows if row.differs(within))


def compare(files: Sequence[ResultsFile], only: Sequence[str] = ()) -> Comparison:
    """Put files of one network side by side; ``only`` are quantities, or ``TEST QUANTITY``, with ``*`` and ``?``.

    Raises:
        UsageError: they are of different networks, or have no figure in common.
    """
    first = files[0]
    for file in files[1:]:
        if file.network != first.network:
            raise UsageError(f"{file.path}: found network {file.network}, expected {first.network} as in {first.path}")
    tables = [{(figure.test, figure.quantity): figure for figure in file.figures} for file in files]
    for file, table in zip(files, tables, strict=True):
        if len(table) < len(file.figures):
            twice = Counter((figure.test, figure.quantity) for figure in file.figures).most_common(1)[0][0]
            raise UsageError(f"{file.path}: found two figures called {' '.join(twice)}, expected one")
    common = [key for key in tables[0] if all(key in table for table in tables[1:])]
    if not common and len(files) == 1:
        raise UsageError(f"{first.path}: found no figure")
    if not common:
        raise UsageError(f"{files[-1].path}: found no figure in common with {first.path}")
    chosen = [key for key in common if not only or any(_matches(key, pattern) for pattern in only)]
    if not chosen:
        known = ", ".join(list(dict.fromkeys(quantity for _, quantity in common))[:6])
        raise UsageError(f"--only {only[0]}: found no such quantity, expected one of: {known}, ...")
    rows = []
    for key in chosen:
        figures = tuple(table[key] for table in tables)
        rows.append(ComparedFigure(figures, figures[0].measured if len(files) > 1 else figures[0].published))
    return Comparison(tuple(files), tuple(rows))


def table(comparison: Comparison, within: float | None) -> Table:
    """A row per figure, a section per test: published, each file, each ratio."""
    several = len(comparison.files) > 1
    names = [chr(ord("A") + number) if number < 26 else str(number + 1) for number in range(len(comparison.files))]
    columns = ["published", *(names if several else ["measured"])]
    columns += [f"{name}/A" for name in names[1:]] if several else ["ratio"]
    shown = plain("quantity", *columns, folds=True)
    shown.add_column("", no_wrap=True)
    previous = ""
    for row in comparison.rows:
        figure = row.figures[0]
        if figure.test != previous:
            shown.add_section()
            shown.add_row(Name(figure.test, "bold"))
        shown.add_row(
            Name(judging.with_unit(figure.quantity, figure.unit), indent=2),
            "-" if figure.published is None else judging.number(figure.published, figure.unit),
            *(judging.number(each.measured, each.unit) for each in row.figures),
            *(judging.ratio(ratio) for ratio in row.ratios),
            Text("differs", "bold red") if within is not None and row.differs(within) else "",
        )
        previous = figure.test
    return shown


def legend(comparison: Comparison) -> list[str]:
    """Explain each letter of the table, and say what was left out."""
    lines = []
    for number, file in enumerate(comparison.files):
        name = f"{chr(ord('A') + number)}: " if len(comparison.files) > 1 else ""
        lines.append(f"{name}{file.path} ({file.network}, {file.mode}, {file.target}, seed {file.seed})")
        alone = {(figure.test, figure.quantity) for figure in file.figures}
        for other in comparison.files:
            alone -= {(figure.test, figure.quantity) for figure in other.figures} if other is not file else set()
        if alone and len(comparison.files) > 1:
            lines.append(f"   {len(alone)} figure{'s' if len(alone) > 1 else ''} only there")
    return lines


def as_json(comparison: Comparison, within: float | None) -> dict[str, Any]:
    """The comparison as JSON."""
    return {
        "network": comparison.files[0].network,
        "files": [
            {"path": str(file.path), "mode": file.mode, "target": file.target, "seed": file.seed}
            for file in comparison.files
        ],
        "figures": [
            {
                "test": row.figures[0].test,
                "quantity": row.figures[0].quantity,
                "unit": row.figures[0].unit,
                "published": row.figures[0].published,
                "measured": [figure.measured for figure in row.figures],
                "ratios": [None if ratio is None else round(ratio, 6) for ratio in row.ratios],
                **({} if within is None else {"differs": row.differs(within)}),
            }
            for row in comparison.rows
        ],
    }


def _matches(key: tuple[str, str], pattern: str) -> bool:
    test, quantity = key
    return fnmatchcase(quantity, pattern) or fnmatchcase(f"{test} {quantity}", pattern)
