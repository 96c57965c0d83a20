"""Real tools in place of our generators: one module each, by the name that `--tool` takes.

A tool takes the flows of one kind. Its processes are children of the endpoints of the flow's hosts, in their
namespaces, and what they print becomes the same report.
"""

from collections.abc import Sequence

from phb_lab.description import Flow, Network
from phb_lab.emulation.tools import ftp, iperf3, mgen, tn3270
from phb_lab.emulation.tools.tool import Tool
from phb_lab.errors import UsageError

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (iperf3.Iperf3(), mgen.Mgen(), ftp.Ftp(), tn3270.Tn3270())}


def chosen(names: Sequence[str]) -> tuple[Tool, ...]:
    """The tools of these names.

    Raises:
        UsageError: there is no such tool, or it isn't installed.
    """
    for name in names:
        if name not in TOOLS:
            raise UsageError(f"--tool {name}: expected one of: {', '.join(TOOLS)}")
        reason = TOOLS[name].missing()
        if reason is not None:
            raise UsageError(f"--tool {name}: {reason}")
    return tuple(TOOLS[name] for name in names)


def tool_for(flow: Flow, names: Sequence[str]) -> Tool | None:
    """The tool that takes a flow; None leaves it to our generators."""
    return next((TOOLS[name] for name in names if TOOLS[name].takes(flow)), None)


def check(network: Network, names: Sequence[str]) -> None:
    """See that each tool has something to do, and can tell its flows apart.

    Raises:
        UsageError: it hasn't, or can't.
    """
    for name in names:
        flows = [flow for flow in network.flows if tool_for(flow, names) is TOOLS[name]]
        if not flows:
            raise UsageError(f"--tool {name}: {network.name} has no {TOOLS[name].what}")
        places = [(flow.server, flow.server_address, flow.server_port) for flow in flows]
        if len(set(places)) < len(places):
            raise UsageError(f"--tool {name}: two flows of {network.name} share a server port")
