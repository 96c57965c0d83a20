"""Inputs to begin with: ``python switch/fuzz/seeds.py FOLDER``.

What makes choices of its bytes gets nowhere with a few of them, and libFuzzer is slow to try more: with nothing to
begin with, it covered less than half of what it does of programs that are made up of these.
"""

import random
import sys
from pathlib import Path

SEEDS = 20
# Enough for a program, its entries and some packets.
LENGTH = 8192


def main() -> None:
    """Write them."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(SEEDS):
        (folder / f"seed-{seed}").write_bytes(random.Random(seed).randbytes(LENGTH))


if __name__ == "__main__":
    main()
