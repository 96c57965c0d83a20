"""README's table and picture, made from a run so that they are what this tree measures: ``make readme``."""

import sys
from collections.abc import Sequence
from pathlib import Path

from phb_lab.experiment import DEFAULT_SEED, run_test
from phb_lab.networks import s390
from phb_lab.report.pictures import draw_summary
from phb_lab.study import Run

BEGIN = "<!-- measured: `make readme` writes what stands between these lines -->"
END = "<!-- end of measured -->"

_QUANTITIES = ("interactive.n", "interactive.avg", "ftp.n", "ftp.avg")


def run_all(seed: int = DEFAULT_SEED) -> list[Run]:
    """The eight tests at the source's own settings."""
    return [run_test(s390.STUDY, test, seed=seed) for test in s390.STUDY.tests]


def table(runs: Sequence[Run]) -> str:
    """A Markdown table: published and measured, a row per test."""
    lines = [
        "| test | interactive transactions | interactive response [s] | transfers | transfer response [s] |",
        "|---|---|---|---|---|",
    ]
    for run in runs:
        cells = []
        for quantity in _QUANTITIES:
            figure = run.figure(quantity)
            shape = ",.0f" if quantity.endswith(".n") else ".3f"
            cells.append(f"{figure.published or 0:{shape}} / **{figure.measured:{shape}}**")
        lines.append(f"| {run.test.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def with_table(text: str, measured: str) -> str:
    """The README with the measured part replaced.

    Raises:
        ValueError: the README has lost its markers.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md: expected the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n{measured}\n{END}{after}"


def main(root: Path) -> None:
    """Rewrite README.md and its picture below ``root``."""
    runs = run_all()
    readme = root / "README.md"
    readme.write_text(with_table(readme.read_text(), table(runs)))
    traffic = s390.STUDY.published()["traffic"]
    by_test = {run.test.name: run.outcome.transactions for run in runs}
    draw_summary(by_test, traffic["graph_trim_s"], traffic["duration_s"], root / "docs" / "pictures" / "s390-figure-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
