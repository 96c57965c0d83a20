r"""IBM S/390 and Cisco 7513/3640 over 256 kbit/s PPP: eight five-minute tests (Cisco and IBM, 2000).

::

    os390 --- mvs074 ---- cip ---- c7513 === 256 kbit/s PPP === c3640 --- branch
    TCP host  marks   \\-- osa2 --/  queues    (the bottleneck)             TCP host

``mvs074`` is the marking half of the host's TCP/IP stack: the Policy Agent. Three interactive connections (100 bytes
asked, 1,400 answered) and thirty file transfers (100 asked, 10,000 answered) flow to the branch. The tests differ in
how the host marks (differentiated services or IP precedence), how the 7513 queues (FIFO or flow WFQ), and through
which adapter the host is attached (CIP or OSA-2).
"""

from .study import STUDY as STUDY
