"""One self-contained HTML page of a network: the published figures beside ours, why they differ, and how it was run.

The page has no script, font or address; its content security policy tells the browser so. The same seed gives the same
bytes.
"""

import re
import tempfile
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from phb_lab.report import judging, reproduce
from phb_lab.report.document import assumptions
from phb_lab.report.page import charts, content, topology
from phb_lab.study import Run, Study

_FOLDER = Path(__file__).resolve().parent


def page(
    study: Study[Any], runs: Sequence[Run[Any]], extra: Sequence[Run[Any]], pictures: Sequence[Path] | None = None
) -> str:
    """The page of tests of one study, run the same way.

    The study's own tables show the runs of ``extra``, too. Without ``pictures``, the study draws them.
    """
    if pictures is None:
        with tempfile.TemporaryDirectory(prefix="phb-lab-") as scratch:
            shown = content.pictures(study.pictures(runs, extra, Path(scratch)))
    else:
        shown = content.pictures(pictures)
    figures = [figure for run in runs for figure in run.figures]
    titles = {run.test.name: run.test.title for run in runs}

    def label(name: str) -> str:
        return titles.get(name) or study.label(name)

    groups = [
        (name, label(name), [content.figure_row(figure, label) for figure in found])
        for name, found in judging.by_test(figures).items()
    ]
    return _template().render(
        study=study,
        runs=runs,
        first=runs[0],
        shorter=_shorter(runs),
        tally=judging.tally(figures),
        finding=study.finding(runs, extra),
        groups=groups,
        ratios=[row for _, _, rows in groups for row in rows if row.track is not None],
        ratio_ticks=[charts.Tick(charts.ratio_at(value), label) for value, label in _RATIOS],
        near=(charts.ratio_at(1 - judging.EXPLAINED_BEYOND), charts.ratio_at(1 + judging.EXPLAINED_BEYOND)),
        charts=charts.charts(figures, label),
        describe=partial(charts.describe, label=label),
        number=judging.number,
        verdict=judging.verdict,
        pictures=shown,
        tables=[content.plain_table(table) for table in study.tables(runs, extra)],
        conclusions=study.conclusions(runs, extra),
        topologies=topology.drawings(runs),
        traffic=content.traffic(runs),
        displays={run.test.name: study.displays(run) for run in runs},
        adapters=content.adapters(runs),
        assumptions=assumptions(runs),
        policies=content.policies(runs),
        command=reproduce.command(study, runs, extra),
        css=(_FOLDER / "page.css").read_text(),
    )


_RATIOS = ((0.25, "¼"), (0.5, "½"), (1.0, "1"), (2.0, "2"), (4.0, "4"))


def breakable(name: str) -> Markup:
    """A name that may be broken after its dots, dashes and underlines where it doesn't fit."""
    return Markup(re.sub(r"([._-])(?=.)", r"\1<wbr>", str(escape(name))))


def _shorter(runs: Sequence[Run[Any]]) -> list[str]:
    found: dict[int, list[str]] = {}
    for run in runs:
        if run.duration_s < run.test.duration_s:
            found.setdefault(run.duration_s, []).append(run.test.name)
    everything = f"All {len(runs)} tests" if len(runs) > 1 else "The test"
    return [
        f"{everything if len(names) == len(runs) else ', '.join(names)} ran for {duration} s"
        for duration, names in found.items()
    ]


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["breakable"] = breakable
    return environment.get_template("page.html.j2")
