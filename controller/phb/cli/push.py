"""``phb push``: bring a switch to what the files say."""

from __future__ import annotations

from phb.cli import pushing
from phb.cli.application import app, epilog
from phb.cli.options import (
    DryRun,
    ElectionId,
    Files,
    Json,
    ProgramOptions,
    ReadingOptions,
    SwitchOptions,
    grouped,
)


@app.command(
    epilog=epilog(
        "phb push --address 192.0.2.1:9559 --device-id 1 mvs074.yaml mvs074-osa2.yaml policy.conf",
        "phb push --dry-run c7513.yaml c7513-fifo.yaml",
    )
)
@grouped
def push(
    files: Files,
    switch: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    election_id: ElectionId = 1,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Make the switch do exactly what the files say; if it refuses anything, it stays as it was."""
    pushing.push(files, switch, reading, program, election_id=election_id, dry_run=dry_run, json=json)
