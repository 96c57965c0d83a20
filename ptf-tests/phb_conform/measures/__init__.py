"""Figures from arrivals and departures: pure functions, the same for every switch.

    passages    which packet came when, left when, and whose it was
    service     how far two sessions' services lie apart (Golestani 1994)
    delay       how long after its reserved rate, and after the fluid server, a packet leaves
    levels      packets that started while a more urgent one waited
    expedited   the error terms of EF (RFC 3246)
    reordering  packets that came out of order (RFC 4737)
    offered     what is offered to a meter, and the colours and bytes that the arithmetic has for it

Times are in ns, lengths in bits, exact: what a proven bound is compared with isn't rounded.
"""
