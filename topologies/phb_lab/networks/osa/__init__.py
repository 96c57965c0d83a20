"""OSA-Express in QDIO mode: what z/OS Communications Server's performance functions gain (SHARE, 2015).

::

    zos --- osa ======= LAN ======= osa --- zos         (or nic --- aix)
    TCP     processors, interrupts, input queues

Each test runs both sides of a comparison at the same time, in islands that no wire joins: its figures are gains. What
an adapter and its host's processors do is ``switch/crates/adapters/src/osa``; the parameters are in
``data/adapters.yaml``. Workloads have the source's names: RR1 and RR10 are 1 and 10 connections that ask 100 bytes and
get 800, STR1 is one that asks 1 byte and gets 20,000,000.
"""

from .study import STUDY as STUDY
