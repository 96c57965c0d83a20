/*
 * Stage mark: DSCP, precedence or the whole ToS octet, under a mask (RFC 2474, RFC 791).
 *
 * Comes after police (a colour may decide the mark) and before schedule (precedence decides the weight).
 */
#ifndef PHB_MARK_P4
#define PHB_MARK_P4

#include "headers.p4"

control Mark(inout headers_t hdr, inout metadata_t meta) {

    // Bits outside the mask keep their value, so ECN (RFC 3168) survives a DSCP remark with mask 0xfc.
    action set_tos(bit<8> value, bit<8> mask) {
        meta.flow.tos = (meta.flow.tos & ~mask) | (value & mask);
    }

    table remark {
        key = { meta.verdict.policy : exact @name("policy"); }
        actions = { set_tos; @defaultonly NoAction; }
        const default_action = NoAction;
        size = POLICIES;
    }

    // Reserved for the TCP-window clamp by which a host keeps a connection between MinRate and MaxRate. It has no action
    // yet: the controller keeps the rates in its model and warns that they are not enforced.
    table window_clamp {
        key = { meta.verdict.policy : exact @name("policy"); }
        actions = { NoAction; }
        const default_action = NoAction;
        size = POLICIES;
    }

    apply {
        remark.apply();
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.tos = meta.flow.tos;
        } else if (hdr.ipv6.isValid()) {
            hdr.ipv6.traffic_class = meta.flow.tos;
        }
        if (hdr.tcp.isValid()) {
            window_clamp.apply();
        }
    }
}

#endif
