/*
 * Stage forward: a wire between two ports, or longest-prefix routing with next-hop rewrite.
 *
 * Sets egress_spec; the stages after it belong to that port.
 */
#ifndef PHB_FORWARD_P4
#define PHB_FORWARD_P4

#include "headers.p4"

control Forward(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {

    action connect(port_t port) {
        standard_metadata.egress_spec = port;
    }

    // A node that marks beside a host is part of that host: it must not count as a hop.
    table cross_connect {
        key = { standard_metadata.ingress_port : exact @name("ingress_port"); }
        actions = { connect; @defaultonly NoAction; }
        const default_action = NoAction;
        size = PORTS;
    }

    action route(port_t port, mac_t source_mac, mac_t destination_mac) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.source = source_mac;
        hdr.ethernet.destination = destination_mac;
    }

    action discard() {
        meta.verdict.drop_reason = DropReason.DISCARD_ROUTE;
    }

    action no_route() {
        meta.verdict.drop_reason = DropReason.NO_ROUTE;
        meta.verdict.exception = ForwardingException.NO_ROUTE;
    }

    table ipv4_route {
        key = { hdr.ipv4.destination : lpm @name("destination"); }
        actions = { route; discard; @defaultonly no_route; }
        const default_action = no_route();
        size = 65536;
    }

    table ipv6_route {
        key = { hdr.ipv6.destination : lpm @name("destination"); }
        actions = { route; discard; @defaultonly no_route; }
        const default_action = no_route();
        size = 65536;
    }

    action ttl_expired() {
        meta.verdict.drop_reason = DropReason.TTL_EXPIRED;
        meta.verdict.exception = ForwardingException.TTL_EXPIRED;
    }

    action to_controller() {
        meta.verdict.drop_reason = DropReason.NONE;
        standard_metadata.egress_spec = CPU_PORT;
    }

    // Without an entry the packet is dropped and counted; with `to_controller` the controller gets it and may answer
    // with ICMP as RFC 1812 wants of a router.
    table exception {
        key = { meta.verdict.exception : exact @name("code"); }
        actions = { to_controller; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 16;
    }

    apply {
        // Also on a wire: the deparser makes the checksum anew, and must not make a damaged header look sound.
        if (standard_metadata.checksum_error == 1) {
            meta.verdict.drop_reason = DropReason.BAD_CHECKSUM;
            return;
        }
        if (cross_connect.apply().hit) {
            return;
        }
        // RFC 1812 section 5.2.2: the header must be there to its end, and lie inside the datagram.
        if (hdr.ipv4.isValid() && hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5
            && (hdr.ipv4.ihl == 5 || hdr.ipv4_options.isValid())
            && hdr.ipv4.total_length >= (bit<16>)hdr.ipv4.ihl << 2) {
            if (hdr.ipv4.ttl <= 1) {
                ttl_expired();
            } else {
                ipv4_route.apply();
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            }
        } else if (hdr.ipv6.isValid() && hdr.ipv6.version == 6) {
            if (hdr.ipv6.hop_limit <= 1) {
                ttl_expired();
            } else {
                ipv6_route.apply();
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
            }
        } else {
            meta.verdict.drop_reason = DropReason.NOT_IP;
        }
        if (meta.verdict.exception != ForwardingException.NONE) {
            exception.apply();
        }
    }
}

#endif
