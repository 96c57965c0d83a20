/*
 * The last step to a next hop: how long a packet may be on its link, and which MAC addresses the frame gets.
 *
 * Neighbours are what ARP and neighbour discovery have learnt; whoever runs those writes them, and no policy does.
 */
#ifndef PHB_NEXT_HOP_P4
#define PHB_NEXT_HOP_P4

#include "headers.p4"

control NextHop(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {

    mac_t own = 0;
    bit<16> longest = 0;         // bytes of an IP packet; 0: as long as it likes

    action frame(mac_t mac, bit<16> mtu) {
        own = mac;
        longest = mtu;
    }

    table send {
        key = { standard_metadata.egress_spec : exact @name("egress_port"); }
        actions = { frame; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    action reach(mac_t mac) {
        hdr.ethernet.destination = mac;
        hdr.ethernet.source = own;
    }

    action ask() {
        meta.verdict.drop_reason = DropReason.NO_NEIGHBOUR;
        meta.verdict.exception = ForwardingException.NO_NEIGHBOUR;
    }

    table neighbour {
        key = {
            standard_metadata.egress_spec : exact @name("egress_port");
            meta.router.next_hop          : exact @name("address");
        }
        actions = { reach; @defaultonly ask; }
        const default_action = ask();
        size = 65536;
    }

    apply {
        send.apply();
        if (longest != 0 && (hdr.ipv4.isValid() && hdr.ipv4.total_length > longest
                             || hdr.ipv6.isValid() && hdr.ipv6.payload_length > longest - IPV6_BYTES)) {
            meta.verdict.drop_reason = DropReason.TOO_BIG;
            meta.verdict.exception = ForwardingException.TOO_BIG;
        } else if (meta.router.next_hop != 0) {
            neighbour.apply();
        }
    }
}

#endif
