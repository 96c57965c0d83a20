"""A router's control plane beside the switch: ARP, neighbour discovery, ICMP, options, fragments.

    packet-in > agent (pure: time and bytes in, frames and neighbours out) > packet-out, neighbour entries

What the router is, ports, addresses, routes, it reads from the entries on the switch: it answers for what was pushed,
and needs no policy file. One file per protocol: `arp`, `neighbour_discovery`, `icmp`, `options`, `fragmentation`;
`rate_limit` bounds what it can be made to send; `running` is the P4Runtime session.
"""
