"""``phb plan``: the difference between the files and the live switch."""

from __future__ import annotations

from phb.cli import pushing
from phb.cli.application import app, epilog
from phb.cli.options import Files, Json, ProgramOptions, ReadingOptions, SwitchOptions, grouped


@app.command(epilog=epilog("phb plan --address 192.0.2.1:9559 c7513.yaml c7513-wfq.yaml"))
@grouped
def plan(
    files: Files, switch: SwitchOptions, reading: ReadingOptions, program: ProgramOptions, json: Json = False
) -> None:
    """Show what a push would change on the live switch; nothing is written."""
    pushing.push(files, switch, reading, program, dry_run=True, json=json)
