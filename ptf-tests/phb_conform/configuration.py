"""What RFCs ask of how a node is configured: that phb warns of what they exclude."""

from __future__ import annotations

import tempfile
from pathlib import Path

from phb_conform import metered
from phb_conform.check import Finding, judged
from phb_conform.measures.token_buckets import Meter
from phb_device import AT


def warned(meter: Meter, kind: str) -> Finding:
    """`phb lint` has a finding of this kind for a node with this meter."""
    from phb.lint import lint
    from phb.sources import read_sources

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.yaml"
        path.write_text(metered.policy(meter))
        found = [finding for finding in lint(read_sources([str(path)]), at=AT) if finding.kind == kind]
    return judged(bool(found), f"phb lint: {found[0].what}" if found else f"phb lint finds no {kind}")
