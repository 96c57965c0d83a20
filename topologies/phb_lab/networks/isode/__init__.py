r"""Messages of different precedence over 512 kbit/s behind a Cisco 2811 (Isode, for NATO).

::

    naples ------------------------------ sar2811 ============= WAN ============= act
    MTA 10.10.64.10                       queues, shaper        2 Mbit/s          MTA 10.10.80.10
    loads .31 and .11 (CS1), .40 (CS2)

A message transfer agent (MTA) in Naples sends messages to one at ACT, over one connection for each precedence, whose
packets it marks itself. A dummy load of 1 Mbit/s, which nothing slows down, comes from the same LAN; the router marks
it by its source address. The tests differ in how the router queues, in whether the load runs, and in what is sent.
"""

from .study import STUDY as STUDY
