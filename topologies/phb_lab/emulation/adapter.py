"""A host adapter in real time: `python -m phb_lab.emulation.adapter NAME KIND PARAMETERS`.

The node is the one that virtual time runs; here it stands between the interfaces `eth0` (host) and `eth1` (network) of
its namespace. It runs until standard input ends, and then says what it has counted.
"""

import json
import sys
from typing import Any

from phb_switch import Network, Port, RealTime

READY = "ready"


def main() -> None:
    """Run the adapter that the command line describes."""
    name, kind, parameters = sys.argv[1:]
    network = Network(1)
    add: Any = getattr(network, f"add_{kind}")
    add(name, **json.loads(parameters))
    runner = RealTime(network.adapter(name), {0: Port.interface("eth0"), 1: Port.interface("eth1")})
    runner.start()
    print(READY, flush=True)
    sys.stdin.read()
    runner.stop()
    print(json.dumps({"adapter": network.statistics()["adapters"][name], "runner": runner.statistics()}))


if __name__ == "__main__":
    main()
