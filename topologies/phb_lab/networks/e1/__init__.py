r"""The IBM 2212 on an E1 line: six streams, private and shared buffers (draft-nadas-diffserv-experience-01, 1999).

::

    taconic --- ibm2212 === 2.048 Mbit/s PPP === far-router --+-- esopus       EF    UDP
    sends       streams,     (the bottleneck)                 +-- beaverkill   AF1   TCP
                buffers,                                      +-- delaware     AF2   TCP
                SCFQ 90/10                                    +-- lab760el     AF3   TCP
                                                              +-- h-one        AF4   TCP
                                                              +-- phoencia     BE    TCP

One UDP stream (EF) is policed and has a queue of its own. Five TCP connections, one per class, share the other queue;
what each gets of the line is what it holds of the queue's buffers. The tests differ in the size of the buffers and in
the MTU. A few small datagrams beside each TCP connection measure its one-way delay, as MGEN did.
"""

from .study import STUDY as STUDY
