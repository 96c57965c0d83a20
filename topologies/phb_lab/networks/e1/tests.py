"""The measurement points: size of the buffers, and MTU."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import phb_examples
from phb_lab.study import Test

EXAMPLES = Path(phb_examples.__file__).parent / "e1"


@dataclass(frozen=True)
class Setting(Test):
    """Buffers and MTU of one measurement point."""

    buffers: Literal["small", "large"] = "small"
    mtu_bytes: int = 500

    @property
    def published_delays(self) -> str:
        """The key of its table of delays."""
        return {"small": "delay_ms_by_mtu", "large": "delay_ms_by_mtu_large_buffers"}[self.buffers]

    @property
    def buffers_file(self) -> Path:
        """Its buffers as the router's policy: those limited in packets have a file per MTU."""
        own = EXAMPLES / f"buffers-{self.buffers}-{self.mtu_bytes}.yaml"
        return own if own.exists() else EXAMPLES / f"buffers-{self.buffers}.yaml"


# Two minutes, as the source. Its points were repeated "to check for stability"; ours are, by seeds.
DURATION_S = 120
_TITLES = {"small": "27,500 bytes or 50 packets of buffers", "large": "110,000 bytes or 200 packets of buffers"}

_POINTS: tuple[tuple[Literal["small", "large"], tuple[int, ...]], ...] = (
    ("small", (500, 1000, 1500)),
    ("large", (100, 250, 500, 1000, 1500)),
)

TESTS = tuple(
    Setting(
        name=f"{buffers}-{mtu}",
        title=f"{_TITLES[buffers]}, MTU {mtu}",
        duration_s=DURATION_S,
        buffers=buffers,
        mtu_bytes=mtu,
    )
    for buffers, mtus in _POINTS
    for mtu in mtus
)
