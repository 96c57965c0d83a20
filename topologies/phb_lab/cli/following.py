"""``--trace``: what became of the packets that were followed."""

from pathlib import Path
from typing import Any

from rich.console import Console

from phb.trace.page import Page, read_program
from phb_lab.following.telling import lines, table
from phb_lab.report.files import write_text
from phb_lab.report.table import print_table
from phb_lab.study import Run
from phb_p4 import artifact_path


def tell_journeys(console: Console, run: Run[Any], folder: Path | None) -> None:
    """Print where each millisecond went; into the folder, if there is one, go picture and traces of the switches."""
    if run.journeys is None:
        return
    console.print(f"\n{run.test.name}: where each millisecond went", highlight=False, soft_wrap=True)
    for line in lines(run.journeys):
        console.print(line, highlight=False, soft_wrap=True)
    if not run.journeys.each:
        return
    console.print()
    print_table(console, table("", run.journeys))
    if folder is None:
        return
    from phb_lab.following.picture import draw

    name = f"trace-{run.test.name}"
    title = f"{run.test.title}: where each millisecond went, {run.journeys.flow}"
    draw(title, run.journeys, folder / name)
    page = Page(likely=read_program(artifact_path()))
    for journey in run.journeys.each:
        for trace in journey.traces:
            page.add(trace)
    write_text(folder / f"{name}.html", page.text(f"{run.test.title}: {run.journeys.flow}"))
    console.print(f"followed packets: {folder / name}.html, .png, .svg", highlight=False, soft_wrap=True)
