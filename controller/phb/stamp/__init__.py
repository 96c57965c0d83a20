"""Active measurement with STAMP (RFC 8762): test packets that a reflector sends back, with four times in each.

    timestamps > packets > figures, sockets > session > lines > sending, continuing
    timestamps > packets > reflecting

`packets` is the format, `figures` what the times of many packets say; neither reads a clock or a socket, so that the
lab's hosts, which send the same packets in virtual time, have their figures from here, too.
"""

from phb.stamp.figures import Figures, Probe, figures_of
from phb.stamp.packets import PORT, Reply, Request

__all__ = ["PORT", "Figures", "Probe", "Reply", "Request", "figures_of"]
