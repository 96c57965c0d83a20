"""``phb-lab replay``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from phb_lab.cli.application import app, check_result_file
from phb_lab.cli.showing import Listen
from phb_lab.errors import UsageError


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="a recording, of phb-lab run --record or phb monitor --record")],
    listen: Listen = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="write one page with all of it, and end")] = None,
) -> None:
    """Show a recording on a page, with time as a slider, until Ctrl-C; or make one file of both.

    Examples:
      phb-lab replay s390.jsonl.gz

      phb-lab replay s390.jsonl.gz --listen 127.0.0.1:8010

      phb-lab replay s390.jsonl.gz --page s390.html
    """
    from phb.monitor.live import Live, line_of
    from phb.monitor.live.recording import read_recording
    from phb.monitor.page import page_of
    from phb_lab.live.serving import ANYWHERE, serving, stay
    from phb_lab.report.files import write_text

    if page is not None:
        if listen is not None:
            raise UsageError("--page and --listen: expected one of them")
        check_result_file("--page", page)
    recording = read_recording(file)
    hello = recording.hello
    if recording.cut_at:
        note = f"{file}:{recording.cut_at}: it is cut off here, and shown up to here"
        Console(stderr=True, markup=False, highlight=False).print(note, soft_wrap=True)
    lines = [line_of(hello), *recording.lines]
    console = Console(markup=False, highlight=False)
    if page is not None:
        write_text(page, page_of(line.decode() for line in lines))
        console.print(f"page: {page}", soft_wrap=True)
        return
    now_ns = int(hello["now"]) * 1_000_000
    live = Live(hello["switches"], hello["links"], hello["interval"], title=hello["title"], clock_ns=lambda: now_ns)
    live.ended(hello["recording"])
    with serving(listen or ANYWHERE, live, lambda: (line + b"\n" for line in lines)) as address:
        console.print(f"page: {address} (Ctrl-C ends it)", soft_wrap=True)
        stay()
