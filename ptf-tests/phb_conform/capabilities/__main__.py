"""Try what targets can do, and write their tables: ``python -m phb_conform.capabilities [TARGET...]``."""

from __future__ import annotations

import sys

from phb.targets import names
from phb_conform.capabilities.record import changed, probe_all, write
from phb_device import Ports, missing, open_device


def _tell(capability: str) -> None:
    print(f"trying {capability}", file=sys.stderr)


def main(targets: list[str]) -> int:
    """Return 1 where a fact has changed, so that its reason must be written anew, 2 for an unknown target."""
    unknown = [target for target in targets if target not in names()]
    if unknown:
        print(f"found target '{unknown[0]}', expected one of {', '.join(names())}", file=sys.stderr)
        return 2
    code = 0
    for target in targets or names():
        if reason := missing(target, Ports.MEMORY):
            print(f"{target}: {reason}, its table stays as it is", file=sys.stderr)
            continue
        with open_device(target, Ports.MEMORY) as device:
            seen = probe_all(device, _tell)
        for capability in changed(target, seen):
            print(f"{target}: {capability}: {seen[capability].measured}: its reason needs new words", file=sys.stderr)
            code = 1
        write(target, seen)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
