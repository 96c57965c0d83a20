r"""Cisco's Channel Interface Processor: customers' acceptance tests of capacity (MCI, EDS and Citicorp with Cisco).

::

    ping         rsp4 ----------- cip ===ESCON=== hds                 4 KB datagrams one way, on one or two channels
    tcp          lpar1 ===ESCON=== cip --- c7513 --- cip ===ESCON=== lpar2       12 streams, one CIP for both channels
    ftp          4 workstations --- c7513 --- cip ===ESCON=== hds     file transfers, and one ping beside them
    csna         dominos --------- cip ===ESCON=== hds                SNA stations, ITPECHO
    csna-bulk    lpar1 ===ESCON=== cip ----------- cip ===ESCON=== lpar2         4 KB frames one way, one CIP
    tn3270       generator --- c7513 --- cip ===ESCON=== hds          TCP sessions to the server on the CIP, ITPECHO
    cmpc         lpar1 ===ESCON=== cip ----------- cip ===ESCON=== lpar2         4 KB frames one way, two CIPs

A CIP is a half-duplex channel that moves blocks, or two, and one CPU (``data/adapters.yaml``). Every test saturates
something, which the run shows.
"""

from .study import STUDY as STUDY
