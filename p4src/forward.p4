/*
 * Stage forward: a wire between two ports, or longest-prefix routing with next-hop rewrite.
 *
 *   wire, or: arrival (is the frame for us?) > route (longest prefix) > martians, hops > next hop (MTU, MAC addresses)
 *
 * Whatever of this makes an exception goes to the control plane as it came, if it asks for it, or else is dropped.
 * Sets egress_spec; the stages after it belong to that port.
 */
#ifndef PHB_FORWARD_P4
#define PHB_FORWARD_P4

#include "headers.p4"
#include "interface.p4"
#include "next_hop.p4"

control Forward(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {

    Arrival() arrival;
    Martians() martians;
    NextHop() next_hop;

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

    // A next hop whose MAC address is the neighbour table's business.
    action via_ipv4(port_t port, bit<32> address) {
        standard_metadata.egress_spec = port;
        meta.router.next_hop = 96w0xffff ++ address;
    }

    action via_ipv6(port_t port, bit<128> address) {
        standard_metadata.egress_spec = port;
        meta.router.next_hop = address;
    }

    action attached_ipv4(port_t port) {
        via_ipv4(port, hdr.ipv4.destination);
    }

    action attached_ipv6(port_t port) {
        via_ipv6(port, hdr.ipv6.destination);
    }

    // An address of the router itself, at this port of its.
    action own(port_t port) {
        meta.verdict.drop_reason = DropReason.FOR_ROUTER;
        meta.verdict.exception = ForwardingException.FOR_ROUTER;
    }

    // The broadcast address of a network behind a port (RFC 2644).
    action broadcast() {
        meta.verdict.drop_reason = DropReason.BROADCAST;
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
        actions = { route; via_ipv4; attached_ipv4; own; broadcast; discard; @defaultonly no_route; }
        const default_action = no_route();
        size = 65536;
    }

    table ipv6_route {
        key = { hdr.ipv6.destination : lpm @name("destination"); }
        actions = { route; via_ipv6; attached_ipv6; own; discard; @defaultonly no_route; }
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
        mac_t source_mac = hdr.ethernet.source;
        mac_t destination_mac = hdr.ethernet.destination;
        arrival.apply(hdr, meta, standard_metadata);
        if (meta.verdict.drop_reason == DropReason.NONE) {
            bit<8> hops = 0;
            // RFC 1812 section 5.2.2: the header must be there to its end, and lie inside the datagram.
            if (hdr.ipv4.isValid() && hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5
                && (hdr.ipv4.ihl == 5 || hdr.ipv4_options.isValid())
                && hdr.ipv4.total_length >= (bit<16>)hdr.ipv4.ihl << 2) {
                hops = hdr.ipv4.ttl;
                ipv4_route.apply();
            } else if (hdr.ipv6.isValid() && hdr.ipv6.version == 6) {
                hops = hdr.ipv6.hop_limit;
                ipv6_route.apply();
            } else {
                meta.verdict.drop_reason = DropReason.NOT_IP;
            }
            // What is for the router itself may have any source, and its last hop behind it.
            if (meta.verdict.drop_reason != DropReason.NOT_IP
                && meta.verdict.exception != ForwardingException.FOR_ROUTER) {
                if (hops <= 1) {
                    ttl_expired();
                }
                if (meta.router.is_interface) {
                    martians.apply(hdr, meta);
                }
            }
            if (meta.verdict.drop_reason == DropReason.NONE) {
                next_hop.apply(hdr, meta, standard_metadata);
            }
        }
        if (meta.verdict.drop_reason == DropReason.NONE) {
            if (hdr.ipv4.isValid()) {
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            } else {
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
            }
        } else if (meta.verdict.exception != ForwardingException.NONE) {
            // The controller gets the packet as it arrived: a route may have written its addresses already.
            hdr.ethernet.source = source_mac;
            hdr.ethernet.destination = destination_mac;
            exception.apply();
        }
    }
}

#endif
