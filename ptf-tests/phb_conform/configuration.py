"""Requirements on configuration: phb warns of what the RFCs exclude."""

from __future__ import annotations

import tempfile
from pathlib import Path

from phb_conform import metered
from phb_conform.check import Finding, judged
from phb_device import AT
from phb_model.token_buckets import Meter


def warned(meter: Meter, kind: str) -> Finding:
    """Find out whether `phb lint` warns of this kind for a node with this meter."""
    from phb.lint import lint
    from phb.sources import read_sources

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.yaml"
        path.write_text(metered.policy(meter))
        found = [finding for finding in lint(read_sources([str(path)]), at=AT) if finding.kind == kind]
    return judged(bool(found), f"phb lint: {found[0].what}" if found else f"phb lint finds no {kind}")
