/*
 * A port that is a router's: which frames it takes (RFC 1812 sections 5.2.2, 5.3.4 and 5.3.7).
 *
 * A port is a router's when `receive` has an entry for it; packets of other ports are asked nothing here. What a packet
 * must not be, if it is to be forwarded, is in two constant tables: RFC 1812 wants these checks to be on, and nobody needs
 * others.
 */
#ifndef PHB_INTERFACE_P4
#define PHB_INTERFACE_P4

#include "headers.p4"

// Whether a frame is for this router, and whole.
control Arrival(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {

    action take(mac_t mac) {
        meta.router.is_interface = true;
        meta.router.mac = mac;
    }

    table receive {
        key = { standard_metadata.ingress_port : exact @name("ingress_port"); }
        actions = { take; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    apply {
        if (!receive.apply().hit) {
            return;
        }
        bool to_group = hdr.ethernet.destination & 0x010000000000 != 0;     // IEEE 802: the individual/group bit
        bit<32> bytes = 0;
        if (hdr.ipv4.isValid()) {
            bytes = (bit<32>)hdr.ipv4.total_length;
        } else if (hdr.ipv6.isValid()) {
            bytes = (bit<32>)hdr.ipv6.payload_length + IPV6_BYTES;
        }
        bytes = bytes + ETHERNET_BYTES;
        if (hdr.vlan.isValid()) {
            bytes = bytes + VLAN_BYTES;
        }
        if (!to_group && hdr.ethernet.destination != meta.router.mac) {
            meta.verdict.drop_reason = DropReason.OTHER_STATION;
        } else if (hdr.ethernet.ethertype == ETHERTYPE_ARP) {
            meta.verdict.drop_reason = DropReason.FOR_ROUTER;
            meta.verdict.exception = ForwardingException.FOR_ROUTER;
        } else if (to_group && (hdr.ipv4.isValid() && hdr.ipv4.destination[31:28] != 0xe
                                || hdr.ipv6.isValid() && hdr.ipv6.destination[127:120] != 0xff)) {
            meta.verdict.drop_reason = DropReason.BROADCAST;
        } else if ((hdr.ipv4.isValid() || hdr.ipv6.isValid()) && bytes > standard_metadata.packet_length) {
            meta.verdict.drop_reason = DropReason.TRUNCATED;
        } else if (hdr.ipv4_options.isValid()) {
            // Whatever they ask for, or not: options are read by the control plane.
            meta.verdict.drop_reason = DropReason.FOR_ROUTER;
            meta.verdict.exception = ForwardingException.OPTIONS;
        }
    }
}

// Addresses that no packet has that is forwarded.
control Martians(inout headers_t hdr, inout metadata_t meta) {

    action martian() {
        meta.verdict.drop_reason = DropReason.MARTIAN;
        meta.verdict.exception = ForwardingException.NONE;
    }

    // RFC 1812 section 5.3.7: this network, loopback, groups as sources, class E with the limited broadcast.
    table martian_ipv4 {
        key = {
            hdr.ipv4.source      : ternary @name("source");
            hdr.ipv4.destination : ternary @name("destination");
        }
        actions = { martian; @defaultonly NoAction; }
        const default_action = NoAction;
        const entries = {
            (0x00000000 &&& 0xff000000, _) : martian();
            (0x7f000000 &&& 0xff000000, _) : martian();
            (0xe0000000 &&& 0xe0000000, _) : martian();
            (_, 0x00000000 &&& 0xff000000) : martian();
            (_, 0x7f000000 &&& 0xff000000) : martian();
            (_, 0xf0000000 &&& 0xf0000000) : martian();
        }
    }

    // RFC 4291: unspecified, loopback, mapped IPv4, link-local; groups as sources, and groups of no larger scope than a
    // link (scopes 0, 1 and 2).
    table martian_ipv6 {
        key = {
            hdr.ipv6.source      : ternary @name("source");
            hdr.ipv6.destination : ternary @name("destination");
        }
        actions = { martian; @defaultonly NoAction; }
        const default_action = NoAction;
        const entries = {
            (0 &&& 0xfffffffffffffffffffffffffffffffe, _) : martian();
            (0xffff00000000 &&& 0xffffffffffffffffffffffff00000000, _) : martian();
            (0xfe800000000000000000000000000000 &&& 0xffc00000000000000000000000000000, _) : martian();
            (0xff000000000000000000000000000000 &&& 0xff000000000000000000000000000000, _) : martian();
            (_, 0 &&& 0xfffffffffffffffffffffffffffffffe) : martian();
            (_, 0xffff00000000 &&& 0xffffffffffffffffffffffff00000000) : martian();
            (_, 0xfe800000000000000000000000000000 &&& 0xffc00000000000000000000000000000) : martian();
            (_, 0xff000000000000000000000000000000 &&& 0xff0e0000000000000000000000000000) : martian();
            (_, 0xff020000000000000000000000000000 &&& 0xff0f0000000000000000000000000000) : martian();
        }
    }

    apply {
        if (hdr.ipv4.isValid()) {
            martian_ipv4.apply();
        } else if (hdr.ipv6.isValid()) {
            martian_ipv6.apply();
        }
    }
}

#endif
